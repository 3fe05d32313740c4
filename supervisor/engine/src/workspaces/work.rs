//! Names of a result made, replaced and removed in the project, one by one.
//!
//! INVARIANT: what is written under a name is whole before it has that name; every name is reached through directories only.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use glee_sandbox::sys::path;

use super::apply::{Roots, is_dir};
use super::node::Node;
use super::store::Kept;
use super::{Change, Harvest};
use crate::folder::give;

#[derive(PartialEq, Eq)]
pub(super) enum Removed {
    Yes,
    NotEmpty,
}

pub(super) struct Work<'a> {
    pub(super) roots: &'a Roots,
    pub(super) kept: &'a Kept,
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
            Node::File { mode, .. } => self.replace(dir.as_fd(), name, &|| {
                let mut file = File::from(path::create_at(dir.as_fd(), Path::new(&self.draft), 0o600)?);
                io::copy(&mut self.kept.content(change)?, &mut file)?;
                self.finish(dir.as_fd(), file, *mode)
            }),
            Node::Symlink { target } => self.replace(dir.as_fd(), name, &|| {
                path::symlink_at(target.as_path(), dir.as_fd(), Path::new(&self.draft))
            }),
            Node::Other => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn replace(&self, dir: BorrowedFd<'_>, name: &OsStr, make: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
        clear(dir, &self.draft)?;
        let done = make().and_then(|()| path::rename_at(dir, &self.draft, name));
        done.inspect_err(|_| {
            // The next try would remove it too.
            let _ = clear(dir, &self.draft);
        })
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
}

/// What a file of this result is called until it is whole. The same for every try, so that a cut-off one leaves nothing for good.
pub(super) fn draft(harvest: &Harvest) -> OsString {
    OsString::from(format!(".glee-apply-{}", harvest.run_id))
}

/// Removes what a killed try has left in the trees. The result must be held.
pub(super) fn clear_drafts(harvest: &Harvest) {
    // A project that is gone has none.
    let Ok(roots) = Roots::open(harvest) else { return };
    let mut seen = BTreeSet::new();
    for change in harvest.changes.iter().filter(|change| change.now.is_some()) {
        if seen.insert((change.outside, change.path().parent()))
            && let Ok((dir, _)) = roots.place(change)
        {
            // It has a name of ours, which is all that can be said to whoever meets it.
            let _ = clear(dir.as_fd(), &draft(harvest));
        }
    }
}

fn clear(dir: BorrowedFd<'_>, draft: &OsStr) -> io::Result<()> {
    match path::unlink_at(dir, draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
