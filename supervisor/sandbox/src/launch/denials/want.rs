//! What a call wants, read off its arguments.
//!
//! Pure.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::seccomp::{Act, Change};
use crate::sys::look::Last;

/// What is wanted of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Read,
    /// List a directory.
    List,
    /// Go into a directory.
    Enter,
    /// Write to what is there.
    Write,
    /// Write to it, made if it is not there.
    WriteOrMake,
    /// Read it, made if it is not there.
    ReadOrMake,
    /// Make a file without a name in this directory.
    MakeIn,
    /// Make a name that is not there.
    Make,
    /// Make a directory, and those above it if they are not there: programs begin with the last.
    MakeDir,
    /// Put something under a name.
    Replace(Over),
    Remove(Target),
    /// Change its length, mode, owner, times or attributes.
    Change(Part),
    Execute,
    Look(Look),
    /// Connect to a socket.
    Connect,
}

/// What is to be known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    There,
    Directory,
    /// Where a link leads.
    Link,
    /// What gets a second name.
    Named,
    /// Whether it may be read, written or executed: `R_OK` and its kin.
    May(u8),
}

/// What may be under a name when something is put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Anything,
    Nothing,
    /// Something must, and takes the other's place.
    Exchanged,
}

/// What is to go away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    File,
    EmptyDir,
    Anything,
}

/// What of it is changed: it decides who may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Length,
    /// One is set.
    Attribute,
    /// One is removed.
    NoAttribute,
    Mode,
    /// To these; `UNCHANGED` stays as it is.
    Owner {
        user: u32,
        group: u32,
    },
    Times,
    /// Its times, to the present one.
    Now,
}

/// As `chown` writes it.
pub(super) const UNCHANGED: u32 = u32::MAX;

impl Want {
    /// Its letter in keys of what is remembered.
    pub(super) fn letter(self) -> u8 {
        match self {
            Self::Read => b'r',
            Self::List => b'L',
            Self::Enter => b'e',
            Self::Write => b'w',
            Self::WriteOrMake => b'W',
            Self::ReadOrMake => b'R',
            Self::MakeIn => b't',
            Self::Make => b'm',
            Self::MakeDir => b'M',
            Self::Replace(_) => b'p',
            Self::Remove(_) => b'd',
            Self::Change(_) => b'c',
            Self::Execute => b'x',
            Self::Look(Look::There) => b'l',
            Self::Look(Look::Directory) => b'D',
            Self::Look(Look::Link) => b'k',
            Self::Look(Look::Named) => b'n',
            Self::Look(Look::May(mode)) => b'0' + mode,
            Self::Connect => b's',
        }
    }

    /// Does its letter say everything about it?
    pub(super) fn is_all(self) -> bool {
        match self {
            Self::Replace(_) | Self::Remove(_) | Self::Change(_) => false,
            Self::Read
            | Self::List
            | Self::Enter
            | Self::Write
            | Self::WriteOrMake
            | Self::ReadOrMake
            | Self::MakeIn
            | Self::Make
            | Self::MakeDir
            | Self::Execute
            | Self::Look(_)
            | Self::Connect => true,
        }
    }

    /// Is it the directory that must allow it, and not the file?
    pub(super) fn is_about_the_name(self) -> bool {
        match self {
            Self::Make | Self::MakeDir | Self::Replace(_) | Self::Remove(_) => true,
            Self::Read
            | Self::List
            | Self::Enter
            | Self::Write
            | Self::WriteOrMake
            | Self::ReadOrMake
            | Self::MakeIn
            | Self::Change(_)
            | Self::Execute
            | Self::Look(_)
            | Self::Connect => false,
        }
    }

    /// Can it be done anywhere with a path that ends so?
    pub(super) fn is_possible(self, ending: Ending) -> bool {
        match ending {
            Ending::Name => true,
            Ending::Dot if self.is_about_the_name() => false,
            Ending::Slash | Ending::Dot => match self {
                Self::Read
                | Self::List
                | Self::Enter
                | Self::MakeIn
                | Self::Look(_)
                | Self::Change(_)
                | Self::MakeDir
                | Self::Replace(_)
                | Self::Remove(Target::EmptyDir | Target::Anything) => true,
                Self::Write
                | Self::WriteOrMake
                | Self::ReadOrMake
                | Self::Make
                | Self::Remove(Target::File)
                | Self::Execute
                | Self::Connect => false,
            },
        }
    }
}

/// How a path ends: with a slash or `.` only a directory is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Name,
    Slash,
    Dot,
}

impl Ending {
    pub(super) fn of(path: &Path) -> Self {
        match path.as_os_str().as_bytes() {
            [.., b'/', b'.'] => Self::Dot,
            [_, .., b'/'] => Self::Slash,
            _ => Self::Name,
        }
    }
}

/// What a call wants of its first and second path. `None` where a path does not matter.
pub(super) fn of(act: Act, args: &[u64; 6]) -> [Option<(Want, Last)>; 2] {
    match act {
        Act::Open { flags } => [open(word(args, flags) as libc::c_int), None],
        Act::Create => [Some((Want::WriteOrMake, Last::Follow)), None],
        Act::Execute => [Some((Want::Execute, Last::Follow)), None],
        Act::Remove => [Some((Want::Remove(Target::File), Last::Itself)), None],
        Act::RemoveDir => [Some((Want::Remove(Target::EmptyDir), Last::Itself)), None],
        Act::RemoveEither { flags } => {
            let target = if word(args, flags) & libc::AT_REMOVEDIR as u32 == 0 {
                Target::File
            } else {
                Target::EmptyDir
            };
            [Some((Want::Remove(target), Last::Itself)), None]
        }
        Act::Make => [Some((Want::Make, Last::Itself)), None],
        Act::MakeDir => [Some((Want::MakeDir, Last::Itself)), None],
        Act::Rename { flags } => {
            let over = over(flags.map_or(0, |flags| word(args, flags)));
            [
                Some((Want::Remove(Target::Anything), Last::Itself)),
                Some((Want::Replace(over), Last::Itself)),
            ]
        }
        Act::Link { flags } => {
            let follows = flags.is_some_and(|flags| word(args, flags) & libc::AT_SYMLINK_FOLLOW as u32 != 0);
            let last = if follows { Last::Follow } else { Last::Itself };
            [Some((Want::Look(Look::Named), last)), Some((Want::Make, Last::Itself))]
        }
        Act::Change { what, flags } => {
            let last = last(flags, libc::AT_SYMLINK_NOFOLLOW as u32, args);
            [Some((Want::Change(part(what, args)), last)), None]
        }
        Act::ChangeItself(what) => [Some((Want::Change(part(what, args)), Last::Itself)), None],
        Act::Enter => [Some((Want::Enter, Last::Follow)), None],
        Act::Look { mode, flags } => {
            let look = match mode.map_or(0, |mode| word(args, mode) & 7) {
                0 => Look::There,
                mode => Look::May(mode as u8),
            };
            let last = last(flags, libc::AT_SYMLINK_NOFOLLOW as u32, args);
            [Some((Want::Look(look), last)), None]
        }
        Act::ReadLink => [Some((Want::Look(Look::Link), Last::Itself)), None],
        Act::LookAttribute { flags, .. } => {
            let last = last(flags, libc::AT_SYMLINK_NOFOLLOW as u32, args);
            [Some((Want::Look(Look::There), last)), None]
        }
        Act::LookItself | Act::LookAttributeItself { .. } => [Some((Want::Look(Look::There), Last::Itself)), None],
        Act::Watch { flags } => {
            let last = last(Some(flags), libc::IN_DONT_FOLLOW, args);
            [Some((Want::Look(Look::May(libc::R_OK as u8)), last)), None]
        }
    }
}

/// Is a link at the end followed? Not with this flag.
fn last(flags: Option<u8>, itself: u32, args: &[u64; 6]) -> Last {
    if flags.is_some_and(|flags| word(args, flags) & itself != 0) {
        Last::Itself
    } else {
        Last::Follow
    }
}

/// An argument that the kernel reads as 32 bits.
fn word(args: &[u64; 6], arg: u8) -> u32 {
    args.get(usize::from(arg)).map_or(0, |value| *value as u32)
}

fn over(flags: u32) -> Over {
    if flags & libc::RENAME_NOREPLACE != 0 {
        Over::Nothing
    } else if flags & libc::RENAME_EXCHANGE != 0 {
        Over::Exchanged
    } else {
        Over::Anything
    }
}

fn part(change: Change, args: &[u64; 6]) -> Part {
    match change {
        Change::Length => Part::Length,
        Change::Attribute { .. } => Part::Attribute,
        Change::NoAttribute { .. } => Part::NoAttribute,
        Change::Mode => Part::Mode,
        Change::Owner { user } => Part::Owner {
            user: word(args, user),
            group: word(args, user + 1),
        },
        Change::Times { pointer } => match args.get(usize::from(pointer)) {
            Some(0) | None => Part::Now,
            Some(_) => Part::Times,
        },
    }
}

/// The argument with the name of the attribute that a call is about.
pub(super) fn attribute(act: Act) -> Option<u8> {
    let what = match act {
        Act::Change { what, .. } | Act::ChangeItself(what) => what,
        Act::LookAttribute { name, .. } | Act::LookAttributeItself { name } => return Some(name),
        Act::Open { .. }
        | Act::Create
        | Act::Execute
        | Act::Remove
        | Act::RemoveDir
        | Act::RemoveEither { .. }
        | Act::Make
        | Act::MakeDir
        | Act::Rename { .. }
        | Act::Link { .. }
        | Act::Enter
        | Act::Look { .. }
        | Act::LookItself
        | Act::ReadLink
        | Act::Watch { .. } => return None,
    };
    match what {
        Change::Attribute { name } | Change::NoAttribute { name } => Some(name),
        Change::Length | Change::Mode | Change::Owner { .. } | Change::Times { .. } => None,
    }
}

fn open(flags: libc::c_int) -> Option<(Want, Last)> {
    let last = if flags & libc::O_NOFOLLOW != 0 {
        Last::Itself
    } else {
        Last::Follow
    };
    if flags & libc::O_PATH != 0 {
        let dir = flags & libc::O_DIRECTORY != 0;
        return Some((Want::Look(if dir { Look::Directory } else { Look::There }), last));
    }
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        return Some((Want::MakeIn, last));
    }
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
    let makes = flags & libc::O_CREAT != 0;
    if flags & libc::O_DIRECTORY != 0 {
        // No directory is opened for writing.
        return (!writes && !makes).then_some((Want::List, last));
    }
    if makes && flags & libc::O_EXCL != 0 {
        return Some((Want::Make, Last::Itself));
    }
    let want = match (writes, makes) {
        (true, true) => Want::WriteOrMake,
        (true, false) => Want::Write,
        (false, true) => Want::ReadOrMake,
        (false, false) => Want::Read,
    };
    Some((want, last))
}

#[cfg(test)]
#[path = "want_tests.rs"]
mod tests;
