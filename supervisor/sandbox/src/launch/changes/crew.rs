//! One look through a tree, by several threads where that is worth starting them.
//!
//! The first directories are looked at by one, until there is enough to share; what each finds is put together at the end.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use super::after::{Look, Then};
use super::before::Names;
use super::walk::{self, Here, Visit};
use crate::sys::dir::Listing;
use crate::sys::path;

/// Directories to share between threads.
const SHARES: usize = 64;
/// Directories that are looked at before that.
const AHEAD: usize = 256;
const THREADS: usize = 4;
/// A path from the top that is longer is not made longer still: what lies below is reached step by step.
const LONGEST: usize = 2048;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::launch) enum Crew {
    /// This thread. For a process that was cloned from another one.
    Alone,
    /// As many threads as there are processors, but not many.
    Several,
}

/// A directory yet to be looked through, by its path from the top.
struct Share {
    below: PathBuf,
    then: Then,
}

/// Looks through everything in `top`, which lies or lay at `tree`.
pub(super) fn look<'a>(top: io::Result<OwnedFd>, tree: &Path, mut look: Look<'a>, crew: Crew) -> Look<'a> {
    let then = look.memory.map_or(Then::NotAsked, |_| Then::Known(Names::top()));
    let top = match top {
        Ok(top) => top,
        Err(error) => {
            // A tree that is not where it was may be elsewhere.
            look.unreadable(tree, then, &io::Error::other(error));
            return look;
        }
    };
    match crew {
        Crew::Alone => {
            if let Err(error) = walk::walk(top, tree, then, &mut look) {
                look.unreadable(tree, then, &error);
            }
        }
        Crew::Several => shared(&top, tree, then, &mut look),
    }
    look
}

fn shared(top: &OwnedFd, tree: &Path, then: Then, look: &mut Look<'_>) {
    let below = PathBuf::new();
    let mut shares = std::collections::VecDeque::from([Share { below, then }]);
    let mut deep = Vec::new();
    let mut list = Listing::default();
    for _ in 0..AHEAD {
        if shares.len() >= SHARES {
            break;
        }
        let Some(share) = shares.pop_front() else { break };
        if share.below.as_os_str().len() > LONGEST {
            deep.push(share);
            continue;
        }
        let mut found = Vec::new();
        match open(top.as_fd(), &share.below) {
            Ok(dir) => {
                let path = at(tree, &share.below);
                let here = Here {
                    dir: dir.as_fd(),
                    path: &path,
                };
                look.enter(&here, share.then, &mut list, &mut found);
            }
            Err(error) => refused(top.as_fd(), tree, &share, &error, look),
        }
        let next = |(name, then): (OsString, Then)| Share {
            below: share.below.join(name),
            then,
        };
        shares.extend(found.into_iter().map(next));
    }
    shares.extend(deep);
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(THREADS)
        .min(shares.len());
    let shares = Mutex::new(Vec::from(shares));
    let mut rest: Vec<Look<'_>> = (1..threads).map(|_| look.again()).collect();
    thread::scope(|scope| {
        for look in &mut rest {
            // Without a thread this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, || work(top, tree, &shares, look));
        }
        work(top, tree, &shares, look);
    });
    rest.into_iter().for_each(|one| look.merge(one));
}

fn work(top: &OwnedFd, tree: &Path, shares: &Mutex<Vec<Share>>, look: &mut Look<'_>) {
    let next = || shares.lock().ok().and_then(|mut shares| shares.pop());
    while let Some(share) = next() {
        match open(top.as_fd(), &share.below) {
            Ok(dir) => {
                let path = at(tree, &share.below);
                if let Err(error) = walk::walk(dir, &path, share.then, look) {
                    look.unreadable(&path, share.then, &error);
                }
            }
            Err(error) => refused(top.as_fd(), tree, &share, &error, look),
        }
    }
}

fn at(tree: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        tree.to_owned()
    } else {
        tree.join(below)
    }
}

fn open(top: BorrowedFd<'_>, below: &Path) -> io::Result<OwnedFd> {
    let below = if below.as_os_str().is_empty() {
        Path::new(".")
    } else {
        below
    };
    path::open_dir_on_mount(top, below.as_os_str())
}

fn refused(top: BorrowedFd<'_>, tree: &Path, share: &Share, error: &io::Error, look: &mut Look<'_>) {
    if error.raw_os_error() == Some(libc::EXDEV) {
        return look.mounted(&at(tree, &share.below), share.then);
    }
    let above = share.below.parent().unwrap_or(Path::new(""));
    match path::open_beneath(top, above) {
        Ok(dir) => look.refused(dir.as_fd(), &at(tree, &share.below), share.then, error),
        Err(error) => look.unreadable(&at(tree, &share.below), share.then, &error),
    }
}
