//! Calls that are allowed and of which the supervisor is told first, so that it can say what the sandbox refused.
//!
//! Pure: which calls, and where in their arguments the path or address is.
//! INVARIANT (only told): being observed changes nothing about what a call may do. Paths can be exchanged by another thread
//! after they were read, so what is learned here is for the report and never for a decision.

use serde::{Deserialize, Serialize};

/// How much is told of what the list allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Observe {
    /// Only what the filter itself refuses.
    Nothing,
    /// Also that extended attributes change, of which one is an access list: it changes a mode and leaves a setuid bit.
    Attributes,
    /// Opening, executing, changing and connecting.
    Attempts,
    /// Also mere looks: stat, access, readlink and their kin. Hundreds of thousands in a large build.
    Everything,
}

/// What a call wants with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Its flags are in this argument.
    Open {
        flags: u8,
    },
    /// `creat`: for writing, made or emptied.
    Create,
    Execute,
    /// Remove a name that is not a directory's.
    Remove,
    /// Remove an empty directory.
    RemoveDir,
    /// One or the other, as the flags in this argument say.
    RemoveEither {
        flags: u8,
    },
    /// Make a name.
    Make,
    /// Make a directory.
    MakeDir,
    /// Move the first name to the second. Its flags, if it has any, are in this argument.
    Rename {
        flags: Option<u8>,
    },
    /// Give the first a second name. Flags, if it has any, are in this argument.
    Link {
        flags: Option<u8>,
    },
    /// Change the file, or what is noted of it. Flags, if it has any, are in this argument: they say whether a link is
    /// followed.
    Change {
        what: Change,
        flags: Option<u8>,
    },
    /// The same of a link, and not of what it leads to.
    ChangeItself(Change),
    /// Go into a directory.
    Enter,
    /// Look whether it is there, or what it is. What is to be allowed with it, and the flags, may be in these arguments.
    Look {
        mode: Option<u8>,
        flags: Option<u8>,
    },
    /// The same of a link, and not of what it leads to.
    LookItself,
    /// Where a link leads.
    ReadLink,
    /// An attribute is read, with the name in this argument. Flags, if it has any, are in that.
    LookAttribute {
        name: u8,
        flags: Option<u8>,
    },
    /// The same of a link, and not of what it leads to.
    LookAttributeItself {
        name: u8,
    },
    /// Be told what becomes of it.
    Watch {
        flags: u8,
    },
}

/// What of a file is changed: it decides who may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Length,
    /// An attribute is set, with the name in this argument.
    Attribute {
        name: u8,
    },
    /// The same, and it is removed.
    NoAttribute {
        name: u8,
    },
    Mode,
    /// The user is in this argument, the group in the next.
    Owner {
        user: u8,
    },
    /// A pointer in this argument; null means now.
    Times {
        pointer: u8,
    },
}

/// A path among the arguments: a pointer, and the directory descriptor it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub dir: Option<u8>,
    pub path: u8,
}

/// What an observed call looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Path {
        act: Act,
        place: Place,
        second: Option<Place>,
    },
    /// Address and length.
    Connect {
        address: u8,
        length: u8,
    },
    Bind {
        address: u8,
        length: u8,
    },
    /// As `Connect`, only if there is an address.
    Send {
        address: u8,
        length: u8,
    },
    /// An extended attribute is set or removed. That it happens is all that is told.
    Attribute,
    /// Messages with an address each, or none: `msghdr` at a pointer, or as many `mmsghdr` as an argument says.
    Messages {
        list: u8,
        count: Option<u8>,
    },
}

const fn at(path: u8) -> Place {
    Place { dir: None, path }
}

const fn in_dir(dir: u8, path: u8) -> Place {
    Place { dir: Some(dir), path }
}

const fn one(act: Act, place: Place) -> Shape {
    Shape::Path {
        act,
        place,
        second: None,
    }
}

/// A change of what a path leads to.
const fn change(what: Change, place: Place) -> Shape {
    one(Act::Change { what, flags: None }, place)
}

/// The same, with flags in this argument.
const fn change_by(what: Change, place: Place, flags: u8) -> Shape {
    let flags = Some(flags);
    one(Act::Change { what, flags }, place)
}

const fn two(act: Act, place: Place, second: Place) -> Shape {
    Shape::Path {
        act,
        place,
        second: Some(second),
    }
}

impl Observe {
    /// What is told of the call of this name.
    #[must_use]
    pub fn shape(self, name: &str) -> Option<Shape> {
        let attempt = match name {
            "open" => one(Act::Open { flags: 1 }, at(0)),
            "openat" => one(Act::Open { flags: 2 }, in_dir(0, 1)),
            "creat" => one(Act::Create, at(0)),
            "execve" => one(Act::Execute, at(0)),
            "execveat" => one(Act::Execute, in_dir(0, 1)),
            "unlink" => one(Act::Remove, at(0)),
            "rmdir" => one(Act::RemoveDir, at(0)),
            "unlinkat" => one(Act::RemoveEither { flags: 2 }, in_dir(0, 1)),
            "mkdir" => one(Act::MakeDir, at(0)),
            "mkdirat" => one(Act::MakeDir, in_dir(0, 1)),
            "mknod" => one(Act::Make, at(0)),
            "mknodat" => one(Act::Make, in_dir(0, 1)),
            "symlink" => one(Act::Make, at(1)),
            "symlinkat" => one(Act::Make, in_dir(1, 2)),
            "rename" => two(Act::Rename { flags: None }, at(0), at(1)),
            "renameat" => two(Act::Rename { flags: None }, in_dir(0, 1), in_dir(2, 3)),
            "renameat2" => two(Act::Rename { flags: Some(4) }, in_dir(0, 1), in_dir(2, 3)),
            "link" => two(Act::Link { flags: None }, at(0), at(1)),
            "linkat" => two(Act::Link { flags: Some(4) }, in_dir(0, 1), in_dir(2, 3)),
            "setxattr" | "lsetxattr" | "fsetxattr" | "setxattrat" | "removexattr" | "lremovexattr" | "fremovexattr"
            | "removexattrat"
                if self == Self::Attributes =>
            {
                return Some(Shape::Attribute);
            }
            "truncate" => change(Change::Length, at(0)),
            "setxattr" => change(Change::Attribute { name: 1 }, at(0)),
            "removexattr" => change(Change::NoAttribute { name: 1 }, at(0)),
            "lsetxattr" => one(Act::ChangeItself(Change::Attribute { name: 1 }), at(0)),
            "lremovexattr" => one(Act::ChangeItself(Change::NoAttribute { name: 1 }), at(0)),
            "setxattrat" => change_by(Change::Attribute { name: 3 }, in_dir(0, 1), 2),
            "removexattrat" => change_by(Change::NoAttribute { name: 3 }, in_dir(0, 1), 2),
            "chmod" => change(Change::Mode, at(0)),
            "fchmodat" => change(Change::Mode, in_dir(0, 1)),
            "fchmodat2" => change_by(Change::Mode, in_dir(0, 1), 3),
            "chown" => change(Change::Owner { user: 1 }, at(0)),
            "lchown" => one(Act::ChangeItself(Change::Owner { user: 1 }), at(0)),
            "fchownat" => change_by(Change::Owner { user: 2 }, in_dir(0, 1), 4),
            "utime" | "utimes" => change(Change::Times { pointer: 1 }, at(0)),
            "futimesat" => change(Change::Times { pointer: 2 }, in_dir(0, 1)),
            "utimensat" => change_by(Change::Times { pointer: 2 }, in_dir(0, 1), 3),
            "chdir" => one(Act::Enter, at(0)),
            "connect" => Shape::Connect { address: 1, length: 2 },
            "bind" => Shape::Bind { address: 1, length: 2 },
            "sendto" => Shape::Send { address: 4, length: 5 },
            "sendmsg" => Shape::Messages { list: 1, count: None },
            "sendmmsg" => Shape::Messages {
                list: 1,
                count: Some(2),
            },
            _ => return self.look(name),
        };
        (self >= Self::Attempts).then_some(attempt)
    }

    fn look(self, name: &str) -> Option<Shape> {
        let look = |mode, flags| Act::Look { mode, flags };
        let (act, place) = match name {
            "stat" | "statfs" | "listxattr" => (look(None, None), at(0)),
            "lstat" | "llistxattr" => (Act::LookItself, at(0)),
            "readlink" => (Act::ReadLink, at(0)),
            "readlinkat" => (Act::ReadLink, in_dir(0, 1)),
            "getxattr" => (Act::LookAttribute { name: 1, flags: None }, at(0)),
            "lgetxattr" => (Act::LookAttributeItself { name: 1 }, at(0)),
            "getxattrat" => {
                let flags = Some(2);
                (Act::LookAttribute { name: 3, flags }, in_dir(0, 1))
            }
            "newfstatat" => (look(None, Some(3)), in_dir(0, 1)),
            "statx" | "listxattrat" => (look(None, Some(2)), in_dir(0, 1)),
            "access" => (look(Some(1), None), at(0)),
            "faccessat" => (look(Some(2), None), in_dir(0, 1)),
            "faccessat2" => (look(Some(2), Some(3)), in_dir(0, 1)),
            "inotify_add_watch" => (Act::Watch { flags: 2 }, at(1)),
            _ => return None,
        };
        (self >= Self::Everything).then_some(one(act, place))
    }

    /// When the supervisor is told of the call of this name.
    pub(super) fn told(self, name: &str) -> Told {
        // Not a comparison with every name, at each start.
        match (self != Self::Nothing).then(|| self.shape(name)).flatten() {
            None => Told::Never,
            Some(Shape::Send { address, .. }) => Told::WithPointer(address),
            // Without a path the descriptor is meant, which was opened for it.
            Some(Shape::Path { place, .. }) if matches!(name, "utimensat" | "futimesat") => {
                Told::WithPointer(place.path)
            }
            // With a flag it is the talk of browsers and buses with themselves, and our own stages': they hand over what
            // the listener listens on. Datagrams are sent without.
            Some(Shape::Messages { count: None, .. }) => Told::WithoutFlags(2),
            Some(
                Shape::Path { .. }
                | Shape::Connect { .. }
                | Shape::Bind { .. }
                | Shape::Messages { .. }
                | Shape::Attribute,
            ) => Told::Always,
        }
    }
}

/// When the supervisor is told of a call that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    Never,
    Always,
    /// If this argument is not a null pointer: both halves count.
    WithPointer(u8),
    /// If this argument, an `int`, is zero.
    WithoutFlags(u8),
}

impl Told {
    pub(super) fn holds(self, args: &[u64; 6]) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::WithPointer(arg) => args.get(usize::from(arg)).is_some_and(|value| *value != 0),
            Self::WithoutFlags(arg) => args.get(usize::from(arg)).is_some_and(|value| *value as u32 == 0),
        }
    }
}
