//! Names of a result made, replaced and removed in the project, one by one.
//!
//! INVARIANT: what is written under a name is whole before it has that name; every name is reached through directories only.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use glee_sandbox::sys::path;

use super::Change;
use super::apply::{Roots, is_dir};
use super::node::Node;
use super::store::Kept;
use crate::folder::give;

#[derive(PartialEq, Eq)]
pub(super) enum Removed {
    Yes,
    NotEmpty,
}

pub(super) struct Work<'a> {
    pub(super) roots: &'a Roots,
    pub(super) kept: &'a Kept,
    /// What a file is called until it is whole. The same for every try, so that a cut-off one leaves nothing for good.
    pub(super) draft: OsString,
}

impl Work<'_> {
    /// Removes what is there, if something else or nothing takes its place.
    pub(super) fn remove(&self, change: &Change) -> io::Result<Removed> {
        let goes = change.was.is_some() && (change.now.is_none() || is_dir(&change.was) != is_dir(&change.now));
        if !goes {
            return Ok(Removed::Yes);
        }
        let (dir, name) = self.roots.place(change)?;
        if !is_dir(&change.was) {
            return path::unlink_at(dir.as_fd(), name).map(|()| Removed::Yes);
        }
        match path::rmdir_at(dir.as_fd(), name) {
            Err(error) if error.raw_os_error() == Some(libc::ENOTEMPTY) && change.now.is_none() => {
                Ok(Removed::NotEmpty)
            }
            other => other.map(|()| Removed::Yes),
        }
    }

    pub(super) fn make(&self, change: &Change) -> io::Result<()> {
        let Some(now) = &change.now else { return Ok(()) };
        let (dir, name) = self.roots.place(change)?;
        match now {
            Node::Dir { .. } => {
                if let Err(error) = path::mkdir_new_at(dir.as_fd(), name, 0o700)
                    && error.kind() != io::ErrorKind::AlreadyExists
                {
                    return Err(error);
                }
                Ok(())
            }
            Node::File { mode, .. } => {
                self.clear(dir.as_fd())?;
                let mut file = File::from(path::create_at(dir.as_fd(), Path::new(&self.draft), 0o600)?);
                io::copy(&mut self.kept.content(change)?, &mut file)?;
                self.finish(dir.as_fd(), file, *mode)?;
                path::rename_at(dir.as_fd(), &self.draft, name)
            }
            Node::Symlink { target } => {
                self.clear(dir.as_fd())?;
                path::symlink_at(target.as_path(), dir.as_fd(), Path::new(&self.draft))?;
                path::rename_at(dir.as_fd(), &self.draft, name)
            }
            Node::Other => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Gives a directory its mode.
    pub(super) fn close(&self, change: &Change) -> io::Result<()> {
        let Some(Node::Dir { mode }) = change.now else {
            return Ok(());
        };
        let (dir, name) = self.roots.place(change)?;
        let made = path::open_dir_beneath(dir.as_fd(), Path::new(name))?;
        self.finish(dir.as_fd(), File::from(made), mode)
    }

    fn finish(&self, dir: BorrowedFd<'_>, made: File, mode: u32) -> io::Result<()> {
        give(made.as_fd(), &path::lstat_at(dir, OsStr::new(""))?)?;
        made.set_permissions(fs::Permissions::from_mode(mode & 0o777))
    }

    fn clear(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        match path::unlink_at(dir, &self.draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
