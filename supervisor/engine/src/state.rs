//! A project's part of the user's state directory: what the supervisor itself remembers of it. No sandbox shows it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::audit::place::state_dir;
use crate::folder::Folder;
use crate::library::digest;

/// Where a project's part of the state lies: beside it, for what a repository brings along is a stranger's.
#[must_use]
pub fn project_dir(project: &Path) -> Option<PathBuf> {
    let name: String = digest(project.as_os_str().as_bytes()).chars().take(32).collect();
    Some(state_dir()?.join("projects").join(name))
}

/// A project's part of the state, made if missing. A file in it says whose it is.
pub fn of_project(project: &Path) -> io::Result<Folder> {
    let path = project_dir(project).ok_or_else(nowhere)?;
    let folder = Folder::of_user(&path)?;
    let name = "project".as_ref();
    if folder.read(name, 1 << 16)?.is_none() {
        folder.lock()?.put(name, project.as_os_str().as_bytes())?;
    }
    Ok(folder)
}

/// There is no state directory.
fn nowhere() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        "there is no place for it: XDG_STATE_HOME is not set to an absolute path, and HOME not to a directory that is there",
    )
}
