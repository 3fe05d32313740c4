//! The right to put something into a tree from outside of every sandbox: one process has it at a time.
//!
//! A file like that of a run's lock, in the same place, so that root and the tree's owner agree on it; runs go on meanwhile.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use super::{DirLock, Lock, acquire, known_as, listed};
use crate::sys::path;

/// Held until it is dropped, or its holder dies.
#[derive(Debug)]
pub struct TreeLock(DirLock);

/// Why it was not to be had.
#[derive(Debug)]
pub enum NoTreeLock {
    /// By this process, if the kernel tells.
    Held(Option<u32>),
    Failed(io::Error),
}

impl TreeLock {
    /// Takes it, if nobody else has it before `end`.
    pub fn take(dir: BorrowedFd<'_>, end: Instant) -> Result<Self, NoTreeLock> {
        let (owner, mut name) = known_as(dir).map_err(NoTreeLock::Failed)?;
        name.push(".tree");
        match acquire((owner, name.clone()), Lock::TryExclusive, end) {
            Ok(lock) => Ok(Self(lock)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let files = super::places(owner).into_iter().map(|place| place.join(&name));
                let opened = files.filter_map(|file| path::open_held(&file).ok());
                Err(NoTreeLock::Held(opened.filter_map(|file| holder(file.as_fd())).next()))
            }
            Err(error) => Err(NoTreeLock::Failed(error)),
        }
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        self.0.retire();
    }
}

/// Who has locked this file or directory, by the kernel's list. Not every filesystem's files are known there.
#[must_use]
pub fn holder(locked: BorrowedFd<'_>) -> Option<u32> {
    let of = path::lstat_at(locked, OsStr::new("")).ok()?;
    let file = listed(of.dev, of.ino);
    let list = fs::read_to_string("/proc/locks").ok()?;
    let mut lines = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // `1: FLOCK  ADVISORY  WRITE 123 00:2f:456 0 EOF`; who waits has an arrow in front.
    lines.find_map(|words| match words.as_slice() {
        [_, "FLOCK", _, _, pid, found, ..] if *found == file => pid.parse().ok().filter(|pid| *pid > 0),
        _ => None,
    })
}
