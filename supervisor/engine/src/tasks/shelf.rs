//! Where the CLIs' own conversations are kept between the runs of a session: a directory for each, shown to its runs alone.
//!
//! What lies there was written in a sandbox. It is read for its digest only, without following a link, and bounded; it is shown
//! to no other session. INVARIANT: only what a completed turn left is kept.

use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::folder::Folder;
use crate::sessions::{Kept, SessionId, Sessions, StateDigest};

/// Below a project's part of the state.
const DIR: &str = "conversations";
/// More than this is no conversation worth keeping.
const MOST_FILES: usize = 4096;
const MOST_BYTES: u64 = 64 << 20;

/// The conversations of a project.
#[derive(Debug)]
pub(super) struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    pub(super) fn open(project: &Path) -> io::Result<Self> {
        let state = crate::state::of_project(project)?;
        let folder = Folder::of_user(&state.path().join(DIR))?;
        Ok(Self {
            dir: folder.path().to_owned(),
        })
    }

    /// The directory of a session, made if missing.
    pub(super) fn place(&self, id: &SessionId) -> io::Result<PathBuf> {
        let place = self.dir.join(id.as_str());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        Ok(place)
    }

    /// What is there of a session's conversation.
    pub(super) fn kept(&self, id: &SessionId) -> Kept {
        match digest(&self.dir.join(id.as_str())) {
            Ok(Some(digest)) => Kept::Files(digest),
            Ok(None) | Err(_) => Kept::Nothing,
        }
    }

    /// Removes a session's conversation. What was written there may not want to go.
    pub(super) fn clear(&self, id: &SessionId) -> io::Result<()> {
        let place = self.dir.join(id.as_str());
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_up(&place)?;
                fs::remove_dir_all(&place)
            }
            other => other,
        }
    }
}

/// Removes what the CLIs themselves have kept of sessions that are gone.
pub fn forget(project: &Path, sessions: &Sessions) -> io::Result<()> {
    let shelf = Shelf::open(project)?;
    for entry in fs::read_dir(&shelf.dir)? {
        let id = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(id) = id.filter(|id| !sessions.has(id)) {
            // One that cannot be removed is shown to nobody; the others must go all the same.
            let _ = shelf.clear(&id);
        }
    }
    Ok(())
}

/// Gives its owner the right to empty every directory.
fn open_up(top: &Path) -> io::Result<()> {
    let mut left = vec![top.to_owned()];
    while let Some(dir) = left.pop() {
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                left.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Over the names and contents of all files; `None` for an empty tree, for one with anything but files and directories, and for
/// one that is too large.
fn digest(top: &Path) -> io::Result<Option<StateDigest>> {
    let mut left = vec![top.to_owned()];
    let mut files = Vec::new();
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            } else {
                return Ok(None);
            }
        }
        if files.len() + left.len() > MOST_FILES {
            return Ok(None);
        }
    }
    if files.is_empty() {
        return Ok(None);
    }
    files.sort();
    let (mut all, mut room) = (Sha256::new(), MOST_BYTES);
    for path in files {
        let name = path.strip_prefix(top).unwrap_or(&path).as_os_str().as_bytes();
        let mut file = Sha256::new();
        // Nobody writes here any more: the run is over.
        let read = io::copy(&mut fs::File::open(&path)?.take(room + 1), &mut Hashed(&mut file))?;
        let Some(rest) = room.checked_sub(read) else {
            return Ok(None);
        };
        room = rest;
        all.update(Sha256::digest(name));
        all.update(file.finalize());
    }
    Ok(Some(crate::hex::Hex(all.finalize().into())))
}

struct Hashed<'a>(&'a mut Sha256);

impl io::Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "shelf_tests.rs"]
mod tests;
