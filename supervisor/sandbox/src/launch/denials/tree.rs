//! What lies at a path of the sandbox, found from outside.
//!
//! INVARIANT (never out): every lookup starts at the sandbox's root and stays below it, wherever links lead.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::sys::look::{self, Facts, Last, MountFlags};

/// Links that are followed before a path is given up, fewer than the kernel would.
const MOST_LINKS: usize = 8;

/// Something that is there.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) facts: Facts,
    pub(super) mount: MountFlags,
}

/// What a lookup ended at.
pub(super) enum Place {
    Found(Found),
    /// `above` is there, and `path` below it is not.
    Missing {
        above: Found,
        path: PathBuf,
    },
    /// Neither: a loop, a name that is too long, a file where a directory should be.
    Unclear,
}

/// The sandbox's own tree, held open at its root.
#[derive(Debug)]
pub(super) struct Tree {
    root: OwnedFd,
}

impl Tree {
    pub(super) fn new(root: OwnedFd) -> Self {
        Self { root }
    }

    /// A handle on what lies at a path that leads through no link.
    pub(super) fn plainly(&self, path: &Path) -> io::Result<OwnedFd> {
        look::plainly_in_root(self.root.as_fd(), path)
    }

    /// A handle, and the path without links.
    pub(super) fn handle(&self, path: &Path, last: Last) -> io::Result<(OwnedFd, PathBuf)> {
        if is_plain(path) {
            match self.plainly(path) {
                // No link on the way, so this is its name.
                Ok(handle) => return Ok((handle, path.to_owned())),
                Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {}
                Err(error) => return Err(error),
            }
        }
        let handle = look::in_root(self.root.as_fd(), path, last)?;
        let path = look::name_of(handle.as_fd())?;
        // What has been removed meanwhile has no name, and what is no path (`pipe:[…]`) leads nowhere.
        if !path.is_absolute() || path.as_os_str().as_encoded_bytes().ends_with(b" (deleted)") {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        Ok((handle, path))
    }

    pub(super) fn open(&self, path: &Path, last: Last) -> io::Result<Found> {
        let (handle, path) = self.handle(path, last)?;
        Ok(Found {
            facts: look::facts(handle.as_fd())?,
            mount: look::mount_flags(handle.as_fd())?,
            path,
        })
    }

    pub(super) fn lacks(&self, path: &Path) -> bool {
        self.handle(path, Last::Follow).is_err_and(|error| is_missing(&error))
    }

    pub(super) fn find(&self, path: &Path, last: Last) -> Place {
        self.follow(path, last, MOST_LINKS)
    }

    fn follow(&self, path: &Path, last: Last, links: usize) -> Place {
        match self.open(path, last) {
            Ok(found) => return Place::Found(found),
            Err(error) if is_missing(&error) => {}
            Err(_) => return Place::Unclear,
        }
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        // Mostly it is only the last name. Else, what is there comes before what is not: with a path of thousands of names,
        // looking at each would take long.
        let nearest = match above.first() {
            Some(parent) if self.lacks(parent) => above.partition_point(|dir| self.lacks(dir)),
            Some(_) | None => 0,
        };
        let Some(dir) = above.get(nearest) else {
            return Place::Unclear;
        };
        match (self.open(dir, Last::Follow), path.strip_prefix(dir)) {
            (Ok(found), Ok(rest)) => self.below(found, rest, last, links),
            (Err(_), _) | (_, Err(_)) => Place::Unclear,
        }
    }

    /// The first name of `rest` cannot be entered: it is not there, or a link that leads nowhere.
    fn below(&self, above: Found, rest: &Path, last: Last, links: usize) -> Place {
        let mut names = rest.components();
        let first = names.next().map(|name| name.as_os_str().to_owned()).unwrap_or_default();
        let left = names.as_path();
        let full = above.path.join(&first);
        let link = look::in_root(self.root.as_fd(), &full, Last::Itself).and_then(|h| look::link_of(h.as_fd()));
        match link {
            Ok(target) if links > 0 => {
                let mut next = above.path.join(target);
                if left != OsStr::new("") {
                    next.push(left);
                }
                self.follow(&next, last, links - 1)
            }
            Ok(_) => Place::Unclear,
            Err(_) => Place::Missing {
                path: missing(&full, left),
                above,
            },
        }
    }
}

/// The path to name for what lies at `left` below a name that is not there. What leads out of it again is as far as it came.
fn missing(first: &Path, left: &Path) -> PathBuf {
    let path = without_dots(&first.join(left));
    if path.starts_with(first) {
        path
    } else {
        first.to_owned()
    }
}

/// Each name once: no `.`, no empty names, and each `..` taken together with the name before it.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(_) | Component::RootDir | Component::CurDir | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}

pub(super) fn has_dots(path: &Path) -> bool {
    let mut names = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    names.any(|name| name == b"..")
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EACCES))
}

/// Is each of its names one that lies in a directory: nothing empty, no `.` and no `..`?
fn is_plain(path: &Path) -> bool {
    let Some(names) = path.as_os_str().as_bytes().strip_prefix(b"/") else {
        return false;
    };
    let mut names = names.split(|byte| *byte == b'/');
    names.all(|name| !matches!(name, b"" | b"." | b".."))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
