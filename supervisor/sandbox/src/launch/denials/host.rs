//! Could the caller have done it without the sandbox? Asked of the host, after the call has gone on.
//!
//! Nothing is opened but handles on paths, a directory to see whether it is empty, and the start of what was to be executed. INVARIANT (nothing is set going): a
//! path that leads through a mount that somebody else serves (automounts, FUSE, network filesystems) is not looked at: the
//! command must not be able to make the host fetch things.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::grounds::held;
use super::interpreter::{self, LEVELS, Needed};
use super::thing::Thing;
use super::tree::without_dots;
use super::want::{Look, Over, Part, Target, UNCHANGED, Want};
use crate::plan::SandboxPlan;
use crate::sys::look::{self, Facts, Last};
use crate::sys::process;

/// Filesystems whose answers come from elsewhere.
const SERVED: &[&str] = &[
    "autofs", "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "fuse", "fuseblk",
];

/// The kernel's bound on a name.
const NAME_MAX: usize = 255;

#[derive(Debug)]
pub(super) struct Host {
    served: Vec<PathBuf>,
    /// Names that are taken while the run lasts: without it, nothing is there.
    held: BTreeSet<PathBuf>,
    caller: Caller,
}

/// Who we are, and so whoever started the run.
#[derive(Debug)]
struct Caller {
    user: u32,
    groups: Vec<u32>,
}

impl Caller {
    fn new() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let groups = status.lines().find_map(|line| line.strip_prefix("Groups:"));
        let groups = groups.unwrap_or_default().split_ascii_whitespace();
        Self {
            user: process::geteuid(),
            groups: groups
                .filter_map(|group| group.parse().ok())
                .chain([process::getegid()])
                .collect(),
        }
    }

    fn owns(&self, facts: &Facts) -> bool {
        self.user == 0 || self.user == facts.uid
    }

    /// `writes`: may we write to it?
    fn changes(&self, part: Part, facts: &Facts, writes: impl Fn() -> bool) -> bool {
        let kind = facts.mode & libc::S_IFMT;
        match part {
            Part::Length => kind == libc::S_IFREG && writes(),
            // Its name decides.
            Part::Attribute | Part::NoAttribute => true,
            // A link has none of its own.
            Part::Mode => kind != libc::S_IFLNK && self.owns(facts),
            Part::Owner { user, group } => self.gives(facts, user, group),
            Part::Times => self.owns(facts),
            Part::Now => self.owns(facts) || writes(),
        }
    }

    /// Can we give it to this user and group?
    fn gives(&self, facts: &Facts, user: u32, group: u32) -> bool {
        let keeps = user == UNCHANGED || (self.owns(facts) && user == facts.uid);
        let ours = group == UNCHANGED || (self.owns(facts) && (group == facts.gid || self.groups.contains(&group)));
        self.user == 0 || (keeps && ours)
    }
}

impl Host {
    pub(super) fn new(plan: &SandboxPlan) -> Self {
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        Self {
            served: mounts.split(|byte| *byte == b'\n').filter_map(served).collect(),
            held: held(plan),
            caller: Caller::new(),
        }
    }

    /// What a call that makes a file only if it is not there comes to.
    pub(super) fn meant(&self, path: &Path, want: Want, last: Last) -> Want {
        if want != Want::ReadOrMake {
            return want;
        }
        match self.there(path, last).map(|handle| look::facts(handle.as_fd())) {
            // It can be read, but not made.
            Some(Ok(facts)) if facts.mode & libc::S_IFMT == libc::S_IFDIR => want,
            Some(_) => Want::Read,
            None => Want::WriteOrMake,
        }
    }

    /// Where a path with `..` leads: a name before them may be a link that is hidden inside.
    pub(super) fn led(&self, asked: &Path) -> Option<PathBuf> {
        let (dir, name) = match asked.file_name() {
            Some(name) => (asked.parent()?, name),
            None => (asked, OsStr::new("")),
        };
        let mut way = PathBuf::new();
        for part in dir.components() {
            way.push(part);
            if self.is_elsewhere(&without_dots(&way)) {
                return None;
            }
        }
        let handle = look::on_host(dir, Last::Follow).ok()?;
        let dir = look::name_of(handle.as_fd()).ok()?;
        Some(if name.is_empty() { dir } else { dir.join(name) })
    }

    pub(super) fn could(&self, path: &Path, want: Want, last: Last) -> bool {
        if self.is_elsewhere(path) {
            return false;
        }
        let found = self.there(path, last);
        let facts = found.as_ref().and_then(|handle| look::facts(handle.as_fd()).ok());
        let kind = facts.map(|facts| facts.mode & libc::S_IFMT);
        let may = |mode| found.as_ref().is_some_and(|handle| look::may(handle.as_fd(), mode));
        // Neither a socket nor a link that is not followed can be opened.
        let opens = ![Some(libc::S_IFSOCK), Some(libc::S_IFLNK)].contains(&kind);
        match want {
            Want::ReadOrMake if found.is_none() => self.takes(path, None),
            Want::ReadOrMake if kind == Some(libc::S_IFDIR) => false,
            Want::Read | Want::ReadOrMake => opens && may(libc::R_OK),
            Want::List => kind == Some(libc::S_IFDIR) && may(libc::R_OK),
            Want::Enter => kind == Some(libc::S_IFDIR) && may(libc::X_OK),
            Want::Execute => self.program(path).is_some_and(|program| self.starts(program.as_fd())),
            Want::Look(Look::There | Look::Named) => found.is_some(),
            Want::Look(Look::Link) => kind == Some(libc::S_IFLNK),
            Want::Look(Look::Directory) => kind == Some(libc::S_IFDIR),
            Want::Look(Look::May(mode)) => may(mode.into()),
            Want::Connect => kind == Some(libc::S_IFSOCK) && may(libc::W_OK),
            Want::Write => opens && kind != Some(libc::S_IFDIR) && may(libc::W_OK),
            Want::WriteOrMake if found.is_none() => self.takes(path, None),
            Want::WriteOrMake => opens && kind != Some(libc::S_IFDIR) && may(libc::W_OK),
            Want::MakeIn => kind == Some(libc::S_IFDIR) && may(libc::W_OK | libc::X_OK),
            Want::Change(part) => facts.is_some_and(|facts| self.caller.changes(part, &facts, || may(libc::W_OK))),
            Want::Make | Want::MakeDir | Want::Replace(Over::Nothing) => facts.is_none() && self.takes(path, None),
            Want::Replace(over @ (Over::Anything | Over::Exchanged)) => match facts {
                Some(old) => self.takes(path, Some(&old)),
                None => over == Over::Anything && self.takes(path, None),
            },
            Want::Remove(target) => {
                let fits = match (target, self.thing(path)) {
                    (Target::File, Some(Thing::File)) | (Target::EmptyDir, Some(Thing::EmptyDir)) => true,
                    (Target::Anything, Some(_)) => true,
                    (Target::File | Target::EmptyDir, Some(_)) | (_, None) => false,
                };
                fits && facts.is_some_and(|old| self.takes(path, Some(&old)))
            }
        }
    }

    /// Can an attribute of this name be set or, where it is, removed?
    pub(super) fn could_attribute(&self, path: &Path, part: Part, name: &CStr, last: Last) -> bool {
        let Some(handle) = self.there(path, last) else {
            return false;
        };
        let Ok(facts) = look::facts(handle.as_fd()) else {
            return false;
        };
        let kind = facts.mode & libc::S_IFMT;
        let text = name.to_bytes();
        let may = if text.starts_with(b"user.") {
            [libc::S_IFREG, libc::S_IFDIR].contains(&kind) && look::may(handle.as_fd(), libc::W_OK)
        } else if text.starts_with(b"system.") {
            kind != libc::S_IFLNK && self.caller.owns(&facts)
        } else {
            self.caller.user == 0
        };
        may && (part != Part::NoAttribute || look::has_attribute(handle.as_fd(), name))
    }

    pub(super) fn has_attribute(&self, path: &Path, name: &CStr, last: Last) -> bool {
        let handle = self.there(path, last);
        handle.is_some_and(|handle| look::has_attribute(handle.as_fd(), name))
    }

    /// What lies at a name.
    pub(super) fn thing(&self, path: &Path) -> Option<Thing> {
        let handle = self.there(path, Last::Itself)?;
        Some(Thing::of(handle.as_fd(), path, &self.held))
    }

    pub(super) fn is_dir(&self, path: &Path) -> bool {
        let facts = self
            .there(path, Last::Follow)
            .and_then(|handle| look::facts(handle.as_fd()).ok());
        facts.is_some_and(|facts| facts.mode & libc::S_IFMT == libc::S_IFDIR)
    }

    /// Something that may be executed.
    fn program(&self, path: &Path) -> Option<OwnedFd> {
        let handle = self.there(path, Last::Follow)?;
        let is_file = look::facts(handle.as_fd()).is_ok_and(|facts| facts.mode & libc::S_IFMT == libc::S_IFREG);
        (is_file && look::may(handle.as_fd(), libc::X_OK)).then_some(handle)
    }

    /// Is what it needs to be started there, too?
    fn starts(&self, program: BorrowedFd<'_>) -> bool {
        let mut needed = interpreter::needed(program);
        for _ in 0..LEVELS {
            let Some(next) = needed else {
                return true;
            };
            let Some(handle) = self.program(next.path()) else {
                return false;
            };
            needed = match next {
                Needed::Program(_) => interpreter::needed(handle.as_fd()),
                Needed::Loader(_) => None,
            };
        }
        false
    }

    pub(super) fn is_elsewhere(&self, path: &Path) -> bool {
        self.served.iter().any(|mount| path.starts_with(mount)) || is_about_a_process(path)
    }

    fn there(&self, path: &Path, last: Last) -> Option<OwnedFd> {
        if self.is_elsewhere(path) || self.held.contains(path) {
            return None;
        }
        look::on_host(path, last).ok()
    }

    /// Can a name be made here, or taken from what has it now?
    fn takes(&self, path: &Path, old: Option<&Facts>) -> bool {
        if path.file_name().is_some_and(|name| name.len() > NAME_MAX) {
            return false;
        }
        let above = path.parent().and_then(|dir| self.there(dir, Last::Follow));
        above.is_some_and(|dir| {
            // In a sticky directory others' names stay.
            let free = |dir: Facts| {
                dir.mode & libc::S_ISVTX == 0 || self.caller.owns(&dir) || old.is_none_or(|old| self.caller.owns(old))
            };
            look::may(dir.as_fd(), libc::W_OK | libc::X_OK)
                && old.is_none_or(|old| !old.is_mount)
                && look::facts(dir.as_fd()).is_ok_and(free)
        })
    }

    /// Does a socket of this name without a file exist in our network namespace?
    pub(super) fn has_abstract(&self, name: &[u8]) -> bool {
        let shown: Vec<u8> = name.iter().map(|byte| if *byte == 0 { b'@' } else { *byte }).collect();
        let wanted = [b" @".as_slice(), &shown].concat();
        let sockets = fs::read("/proc/self/net/unix").unwrap_or_default();
        sockets.split(|byte| *byte == b'\n').any(|line| line.ends_with(&wanted))
    }
}

/// Directories of processes have the same names on both sides, and are not the same.
fn is_about_a_process(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let first = rest.components().next().map(|name| name.as_os_str().as_bytes());
    first.is_none_or(|name| {
        name.first().is_some_and(u8::is_ascii_digit) || [&b"self"[..], b"thread-self"].contains(&name)
    })
}

/// The mount point of a line of mountinfo, if somebody else serves it.
fn served(line: &[u8]) -> Option<PathBuf> {
    let mut fields = line.split(|byte| *byte == b' ');
    let at = fields.nth(4)?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let kind = std::str::from_utf8(kind).ok()?;
    let first = kind.split('.').next().unwrap_or(kind);
    (SERVED.contains(&kind) || SERVED.contains(&first)).then(|| PathBuf::from(OsStr::from_bytes(&unescape(at))))
}

/// `\040` and its kin.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, tail)) = rest.split_first() {
        let code = tail.get(..3).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(value) if *byte == b'\\' => {
                out.push(value);
                rest = tail.get(3..).unwrap_or_default();
            }
            Some(_) | None => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
