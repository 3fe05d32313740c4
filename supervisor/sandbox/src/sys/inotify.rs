//! Changes in directories, as the kernel reports them.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Duration;

use super::fd::own;
use super::{check, cpath, socket};

/// A queue of changes.
#[derive(Debug)]
pub struct Inotify(OwnedFd);

/// How often another one is tried for, and how long the pause is between.
const PATIENCE: u32 = 100;
const PAUSE: Duration = Duration::from_millis(5);

impl Drop for Inotify {
    /// Whoever closes the last handle waits until no processor can be looking at a watch, 16 ms at best. So the kernel gets one
    /// of its own to close.
    fn drop(&mut self) {
        // If that fails, our own is the last, and we wait.
        let _ = socket::abandon(self.0.as_fd());
    }
}

/// The number the kernel gives to a watched directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchId(libc::c_int);

/// A name came into being.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Appeared {
        dir: WatchId,
        name: OsString,
        is_dir: bool,
    },
    /// A name is gone.
    Vanished {
        dir: WatchId,
        name: OsString,
        is_dir: bool,
    },
    /// The directory itself is gone; its number means nothing any more.
    Forgotten {
        dir: WatchId,
    },
    /// There were more changes than the kernel keeps.
    Overflow,
}

impl Inotify {
    /// A user may have a certain number of them. Those that were dropped count until the kernel is done with them, so a little
    /// time is given.
    pub fn new() -> io::Result<Self> {
        for _ in 0..PATIENCE {
            match Self::open() {
                Err(error) if error.raw_os_error() == Some(libc::EMFILE) => std::thread::sleep(PAUSE),
                other => return other,
            }
        }
        Self::open()
    }

    fn open() -> io::Result<Self> {
        // SAFETY: inotify_init1 takes an integer.
        check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) }.into()).map(|raw| Self(own(raw)))
    }

    /// Watches a directory (never a link) for names that come and go.
    pub fn watch(&self, dir: &Path) -> io::Result<WatchId> {
        let path = cpath(dir)?;
        let names = libc::IN_CREATE | libc::IN_MOVED_TO | libc::IN_DELETE | libc::IN_MOVED_FROM;
        let mask = names | libc::IN_ONLYDIR | libc::IN_DONT_FOLLOW;
        // SAFETY: `path` is NUL-terminated.
        let id = unsafe { libc::inotify_add_watch(self.0.as_raw_fd(), path.as_ptr(), mask) };
        check(id.into()).map(|_| WatchId(id))
    }

    /// What has changed since the last time.
    pub fn read(&self) -> io::Result<Vec<Change>> {
        let mut buffer = vec![0u8; 64 * 1024];
        let got = match super::fd::read(self.0.as_fd(), &mut buffer) {
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => 0,
            Err(e) => return Err(e),
        };
        let mut rest = buffer.get(..got).unwrap_or_default();
        let mut changes = Vec::new();
        // Each record: watch (4 bytes), mask (4), cookie (4), length (4), name padded with NULs.
        while let Some((head, body)) = rest.split_at_checked(16) {
            let word = |at: usize| {
                head.get(at..at + 4)
                    .and_then(|b| b.try_into().ok())
                    .map_or(0, u32::from_ne_bytes)
            };
            let length = usize::try_from(word(12)).unwrap_or(usize::MAX);
            let Some((name, after)) = body.split_at_checked(length) else {
                break;
            };
            let name: Vec<u8> = name.iter().copied().take_while(|b| *b != 0).collect();
            let mask = word(4);
            let (dir, is_dir) = (WatchId(word(0).cast_signed()), mask & libc::IN_ISDIR != 0);
            if mask & libc::IN_Q_OVERFLOW != 0 {
                changes.push(Change::Overflow);
            } else if mask & libc::IN_IGNORED != 0 {
                changes.push(Change::Forgotten { dir });
            } else if mask & (libc::IN_CREATE | libc::IN_MOVED_TO) != 0 {
                changes.push(Change::Appeared {
                    dir,
                    name: OsString::from_vec(name.clone()),
                    is_dir,
                });
            }
            if mask & (libc::IN_DELETE | libc::IN_MOVED_FROM) != 0 {
                changes.push(Change::Vanished {
                    dir,
                    name: OsString::from_vec(name),
                    is_dir,
                });
            }
            rest = after;
        }
        Ok(changes)
    }
}

impl AsFd for Inotify {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
#[path = "inotify_tests.rs"]
mod tests;
