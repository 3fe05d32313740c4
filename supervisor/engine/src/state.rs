//! The user's state directory: what the supervisor itself remembers. No sandbox shows it.

use std::env;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_sandbox::sys::process::geteuid;

use crate::folder::Folder;
use crate::library::digest;

/// Root's, where its home is not its own or is not known.
const SYSTEM: &str = "/var/lib/glee";

/// `$XDG_STATE_HOME/glee`, else `~/.local/state/glee`; for root without a home of its own `/var/lib/glee`.
///
/// Root with another user's HOME (`sudo`) would leave files there that the user could not use afterwards.
#[must_use]
pub fn state_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = absolute("XDG_STATE_HOME").map(|base| (base.clone(), base));
    let base = named.or_else(|| absolute("HOME").map(|home| (home.join(".local/state"), home)));
    let is_root = geteuid() == 0;
    match base {
        Some((base, owned)) if !is_root || is_roots(&owned) => Some(base.join("glee")),
        Some(_) | None => is_root.then(|| SYSTEM.into()),
    }
}

/// Does the nearest directory that is there belong to root?
fn is_roots(path: &Path) -> bool {
    let mut found = path.ancestors().filter_map(|dir| fs::metadata(dir).ok());
    found.next().is_some_and(|meta| meta.uid() == 0)
}

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
pub(crate) fn nowhere() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        "there is no place for it: neither XDG_STATE_HOME nor HOME is set",
    )
}
