//! What lies at a name, as far as moving it or something onto it asks.
//!
//! INVARIANT: of a directory no more than a name is read beyond those that the run holds itself.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::want::Over;
use crate::sys::look;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    /// Whatever is no directory.
    File,
    EmptyDir,
    FullDir,
}

impl Thing {
    /// `held`: names that are not there without the run.
    pub(super) fn of(handle: BorrowedFd<'_>, path: &Path, held: &BTreeSet<PathBuf>) -> Self {
        let is_dir = look::facts(handle).is_ok_and(|facts| facts.mode & libc::S_IFMT == libc::S_IFDIR);
        if !is_dir {
            return Self::File;
        }
        let names = fs::read_dir(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let is_empty = |names: fs::ReadDir| names.flatten().all(|name| held.contains(&path.join(name.file_name())));
        // What cannot be listed may be empty.
        if names.map_or(true, is_empty) {
            Self::EmptyDir
        } else {
            Self::FullDir
        }
    }

    fn is_dir(self) -> bool {
        match self {
            Self::File => false,
            Self::EmptyDir | Self::FullDir => true,
        }
    }
}

/// What is done with two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Move(Over),
    /// A path that ends with a slash: only a directory is moved.
    MoveDir(Over),
    Link,
    /// The same, and a path ends with a slash: a directory gets no second name.
    LinkDir,
}

impl Deed {
    /// Does what lies at both names allow it?
    pub(super) fn is_possible(self, from: (&Path, Option<Thing>), to: (&Path, Option<Thing>)) -> bool {
        let ((from, Some(source)), (to, target)) = (from, to) else {
            return false;
        };
        let over = match self {
            Self::Link => return !source.is_dir() && target.is_none(),
            Self::LinkDir => return false,
            Self::MoveDir(_) if !source.is_dir() => return false,
            Self::Move(over) | Self::MoveDir(over) => over,
        };
        let into_itself = source.is_dir() && from != to && to.starts_with(from);
        !into_itself
            && match (over, target) {
                (Over::Nothing, target) => target.is_none(),
                (Over::Exchanged, target) => target.is_some() && !from.starts_with(to),
                (Over::Anything, None) => true,
                (Over::Anything, Some(Thing::File)) => !source.is_dir(),
                (Over::Anything, Some(Thing::EmptyDir)) => source.is_dir(),
                (Over::Anything, Some(Thing::FullDir)) => from == to,
            }
    }
}

#[cfg(test)]
#[path = "thing_tests.rs"]
mod tests;
