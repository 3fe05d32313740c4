//! The quick way into v1 groups: the child enters by itself.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The open `tasks` files of a run's v1 groups, close-on-exec.
///
/// A thread that writes `0` moves itself without the lock that every other move takes, which waits for an RCU grace
/// period. The kernel judges by the rights of who opened the file, so it works after the child gave up its own.
#[derive(Debug)]
pub struct Entry {
    tasks: Vec<File>,
}

impl Entry {
    pub(super) fn open<'a>(dirs: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let tasks: io::Result<Vec<File>> = dirs
            .map(|dir| OpenOptions::new().write(true).open(dir.join("tasks")))
            .collect();
        Ok(Self { tasks: tasks? })
    }

    /// Moves the calling thread into the groups. Meant for a freshly forked child, whose only thread it is: memory is
    /// charged to the group of the main thread.
    ///
    /// One `write(2)` per group and nothing else: no allocation, no lock, safe between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        self.tasks
            .iter()
            .try_for_each(|mut tasks| tasks.write(b"0").map(|_written| ()))
    }

    /// To be handed to the child, if it was born before the groups.
    pub fn files(&self) -> Vec<BorrowedFd<'_>> {
        self.tasks.iter().map(AsFd::as_fd).collect()
    }

    /// What the child was handed.
    #[must_use]
    pub fn from_files(files: Vec<OwnedFd>) -> Self {
        Self {
            tasks: files.into_iter().map(File::from).collect(),
        }
    }
}
