//! Goes through a tree that a stranger may have shaped.
//!
//! INVARIANT: no link is followed, no mount is crossed, nothing but directories is opened. A tree may be deeper than there are
//! descriptors, or than a path is long: only the first levels stay open, from the others the way back is `..`, and
//! that it leads where we came from is checked.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::sys::dir::Listing;
use crate::sys::path;

/// Levels that stay open.
const OPEN: usize = 32;

/// What is done on the way.
pub(super) trait Visit {
    /// What a directory's parent knows of it.
    type Tag: Copy;

    /// Lists a directory. Adds the directories in it that are to be entered.
    fn enter(&mut self, dir: &Here<'_>, tag: Self::Tag, list: &mut Listing, below: &mut Vec<(OsString, Self::Tag)>);

    /// A directory could not be entered. `dir` is the one that it lies in.
    fn refused(&mut self, dir: BorrowedFd<'_>, at: &Path, tag: Self::Tag, error: &io::Error);

    /// A directory is the top of another mount, and is not entered.
    fn mounted(&mut self, at: &Path, tag: Self::Tag);
}

/// The directory that is being visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) dir: BorrowedFd<'a>,
    pub(super) path: &'a Path,
}

struct Level<T> {
    dir: Held,
    below: Vec<(OsString, T)>,
}

enum Held {
    Open(OwnedFd),
    /// Too many would be open: device and inode, to know it again.
    Left(u64, u64),
}

/// Visits `top`, which lies at `path`, and everything below it.
pub(super) fn walk<V: Visit>(top: OwnedFd, path: &Path, tag: V::Tag, visit: &mut V) -> io::Result<()> {
    let mut list = Listing::default();
    let mut path = path.to_owned();
    let mut levels: Vec<Level<V::Tag>> = Vec::new();
    let mut here = top;
    let mut entered = tag;
    loop {
        let mut below = Vec::new();
        let place = Here {
            dir: here.as_fd(),
            path: &path,
        };
        visit.enter(&place, entered, &mut list, &mut below);
        let dir = Held::Open(here);
        levels.push(Level { dir, below });
        match next(&mut levels, &mut path, visit)? {
            Some((dir, tag)) => (here, entered) = (dir, tag),
            None => return Ok(()),
        }
    }
}

/// Opens the next directory, above if there is none below. `None` at the end.
fn next<V: Visit>(
    levels: &mut Vec<Level<V::Tag>>,
    path: &mut PathBuf,
    visit: &mut V,
) -> io::Result<Option<(OwnedFd, V::Tag)>> {
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else {
            return Ok(None);
        };
        let Held::Open(dir) = &level.dir else {
            return Err(changed_meanwhile());
        };
        if let Some((name, tag)) = level.below.pop() {
            match path::open_dir_on_mount(dir.as_fd(), &name) {
                Ok(found) => {
                    path.push(&name);
                    if depth > OPEN {
                        let (device, inode) = identity(dir.as_fd())?;
                        level.dir = Held::Left(device, inode);
                    }
                    return Ok(Some((found, tag)));
                }
                Err(error) => {
                    path.push(&name);
                    if error.raw_os_error() == Some(libc::EXDEV) {
                        visit.mounted(path, tag);
                    } else {
                        visit.refused(dir.as_fd(), path, tag, &error);
                    }
                    path.pop();
                }
            }
            continue;
        }
        let done = levels.pop().map(|level| level.dir);
        let (Some(above), Some(Held::Open(done))) = (levels.last_mut(), done) else {
            continue;
        };
        path.pop();
        if let Held::Left(device, inode) = above.dir {
            let parent = path::open_parent(done.as_fd())?;
            if identity(parent.as_fd())? != (device, inode) {
                return Err(changed_meanwhile());
            }
            above.dir = Held::Open(parent);
        }
    }
}

fn identity(dir: BorrowedFd<'_>) -> io::Result<(u64, u64)> {
    path::lstat_at(dir, OsStr::new("")).map(|stat| (stat.dev, stat.ino))
}

fn changed_meanwhile() -> io::Error {
    io::Error::from_raw_os_error(libc::ESTALE)
}
