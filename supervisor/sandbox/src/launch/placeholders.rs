//! Names that must not come into being: made before the run as empty mount points, removed after it.
//!
//! A lock for each directory they lie in counts the runs that rely on them (`locks`): removing a name on the host also
//! removes what covers it in every sandbox, so only the last run may clean up, and it does so for those before it: each has noted
//! its names beside the lock. A placeholder is recognised by what it is, whoever names it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::locks::{Begun, DirLock};
use super::places::Places;
use crate::plan::{Placeholder, PlaceholderKind};
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path::{Readers, Stat};
use crate::sys::{fd, path};

/// What `commondir` says while it is a placeholder: the git directory itself.
const COMMON_DIR: &str = ".\n";

/// What a configuration file says while it is a placeholder.
const GIT_CONFIG: &str = "# held by glee-supervisor while a command runs\n";

/// How often a name that keeps changing is looked at.
const LOOKS: u32 = 16;

/// Placeholders of one run, and the locks that keep them.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    dirs: BTreeMap<PathBuf, Dir>,
}

#[derive(Debug)]
struct Dir {
    fd: OwnedFd,
    lock: DirLock,
    names: Vec<Name>,
    begun: Begun,
}

/// One placeholder of a directory.
pub(super) type Name = (OsString, PlaceholderKind);

/// A name that could not be protected.
#[derive(Debug)]
pub(crate) struct Unprotected {
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

impl Placeholders {
    /// Takes the shared locks and makes what is missing.
    pub(crate) fn make(list: &[Placeholder]) -> Result<Self, Unprotected> {
        let mut made = Self::default();
        for (dir, names) in by_dir(list) {
            if let Err(unprotected) = made.hold(dir, names) {
                made.remove();
                return Err(unprotected);
            }
        }
        Ok(made)
    }

    fn hold(&mut self, at: &Path, names: Vec<Name>) -> Result<(), Unprotected> {
        let unprotected = |name: &OsStr, error| Unprotected {
            path: at.join(name),
            error,
        };
        let first = names.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let opened = path::open_dir_exact(at).and_then(|fd| Ok((DirLock::share(fd.as_fd())?, fd)));
        let (lock, fd) = opened.map_err(|error| unprotected(&first, error))?;
        // First: whoever is killed from here on leaves nothing of which nobody knows.
        let begun = lock.note(&names);
        // All of them, made or not: on a full disk a file is made and then not written.
        let dir = self.dirs.entry(at.to_owned()).or_insert(Dir { fd, lock, names, begun });
        // Of which more names can be made.
        let mut socket = None;
        for (name, kind) in &dir.names {
            create(dir.fd.as_fd(), name, *kind, &mut socket).map_err(|error| unprotected(name, error))?;
        }
        Ok(())
    }

    /// The descriptors that hold the locks.
    pub(crate) fn locks(&self) -> impl Iterator<Item = &OwnedFd> {
        self.dirs.values().map(|dir| dir.lock.file())
    }

    /// Removes them, unless another run still relies on them; then that one will.
    pub(crate) fn remove(&self) {
        for dir in self.dirs.values() {
            if !dir.lock.become_alone() {
                continue;
            }
            // The command may have closed it.
            let opened = dir.fd.try_clone().and_then(|fd| Opened::held(fd, Purpose::Change));
            let held = opened.as_ref().map_or(dir.fd.as_fd(), Opened::as_fd);
            clear(held, &dir.lock, &dir.names, dir.begun);
        }
    }
}

/// Removes what a dead supervisor left, unless another run relies on it.
///
/// A dying process closes its descriptors one after the other: its lock may outlive the pipe that told of its death.
pub(super) fn sweep(list: &[Placeholder], places: &Places, patience: Duration) {
    let end = Instant::now() + patience;
    for (dir, names) in by_dir(list) {
        let Ok(dir) = places.get(dir).and_then(|held| Opened::held(held, Purpose::Change)) else {
            continue;
        };
        let Ok(lock) = DirLock::alone(dir.as_fd(), end) else {
            continue;
        };
        clear(dir.as_fd(), &lock, &names, Begun::UNKNOWN);
    }
}

fn by_dir(list: &[Placeholder]) -> BTreeMap<&Path, Vec<Name>> {
    let mut dirs: BTreeMap<&Path, Vec<Name>> = BTreeMap::new();
    for Placeholder { dir, name, kind } in list {
        dirs.entry(dir).or_default().push((name.clone(), *kind));
    }
    dirs
}

/// Removes all that lies there of any run, and the lock. Nobody else may have it.
fn clear(dir: BorrowedFd<'_>, lock: &DirLock, own: &[Name], begun: Begun) {
    let noted = lock.noted(begun);
    let others = noted.iter().filter(|name| !own.contains(name));
    let mut all_gone = true;
    for (name, kind) in own.iter().chain(others) {
        all_gone &= remove_if_ours(dir, name, *kind);
    }
    if all_gone {
        lock.forget();
    }
    lock.retire();
}

/// Makes a placeholder in an open directory.
fn create(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    kind: PlaceholderKind,
    socket: &mut Option<(Readers, OwnedFd)>,
) -> io::Result<()> {
    let made = match content_of(kind) {
        Content::Socket(readers) => create_socket(dir, name, readers, socket),
        Content::Text(text) => path::create_at(dir, Path::new(name), 0o444).and_then(|file| {
            match fd::write(file.as_fd(), text.as_bytes())? {
                written if written == text.len() => Ok(()),
                _ => Err(io::ErrorKind::StorageFull.into()),
            }
        }),
    };
    match made {
        // Another run's, or one that came into being meanwhile: it is covered all the same.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// A second name for a socket of ours costs a hundredth of an inode, for which a filesystem may have to search.
fn create_socket(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    readers: Readers,
    socket: &mut Option<(Readers, OwnedFd)>,
) -> io::Result<()> {
    if let Some((_, held)) = socket.as_ref().filter(|(of, _)| *of == readers) {
        match path::link_held_at(held.as_fd(), dir, name) {
            // Not every filesystem has such names, and another run may have removed the last of that one.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => *socket = None,
            done => return done,
        }
    }
    path::mksock_at(dir, name, readers)?;
    let held = path::open_beneath(dir, Path::new(name));
    let is_ours =
        |held: &OwnedFd| path::lstat_at(held.as_fd(), OsStr::new("")).is_ok_and(|s| s.is_placeholder_socket());
    *socket = held.ok().filter(is_ours).map(|held| (readers, held));
    Ok(())
}

/// What lies at the name.
enum Content {
    Socket(Readers),
    Text(&'static str),
}

fn content_of(kind: PlaceholderKind) -> Content {
    match kind {
        PlaceholderKind::Socket => Content::Socket(Readers::All),
        PlaceholderKind::Shut => Content::Socket(Readers::Nobody),
        PlaceholderKind::CommonDir => Content::Text(COMMON_DIR),
        PlaceholderKind::GitConfig => Content::Text(GIT_CONFIG),
    }
}

/// The kind that a name gets.
#[must_use]
pub(crate) fn kind_for(name: &OsStr) -> PlaceholderKind {
    match name.as_encoded_bytes() {
        b"commondir" => PlaceholderKind::CommonDir,
        b"config.worktree" => PlaceholderKind::GitConfig,
        _ => PlaceholderKind::Socket,
    }
}

/// What lies at a name that other runs may be making or removing right now.
#[derive(Debug)]
pub(crate) enum Found {
    Absent,
    /// Of this run or of another.
    Placeholder(PlaceholderKind),
    Other(fs::Metadata),
}

/// Looks until two looks agree: a placeholder that goes between them would else pass for something of the host's own,
/// and nobody would remove its successor.
pub(crate) fn look(path: &Path) -> Found {
    let identity = |meta: &fs::Metadata| (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec());
    let mut last = None;
    for _ in 0..LOOKS {
        let Ok(meta) = fs::symlink_metadata(path) else {
            return Found::Absent;
        };
        if let Some(kind) = is_placeholder(path) {
            return Found::Placeholder(kind);
        }
        if last == Some(identity(&meta)) {
            return Found::Other(meta);
        }
        last = Some(identity(&meta));
    }
    // Never the same twice: somebody's, whoever that is.
    fs::symlink_metadata(path).map_or(Found::Absent, Found::Other)
}

/// Is this name a placeholder of ours, of this run or of another?
pub(crate) fn is_placeholder(path: &Path) -> Option<PlaceholderKind> {
    let (dir, name) = (path.parent()?, path.file_name()?);
    let dir = path::open_dir_exact(dir).ok()?;
    placeholder_at(dir.as_fd(), name)
}

/// The same for a name in an open directory.
#[must_use]
pub fn placeholder_at(dir: BorrowedFd<'_>, name: &OsStr) -> Option<PlaceholderKind> {
    let kind = kind_for(name);
    if is_ours(dir, name, kind) {
        return Some(kind);
    }
    // An included file of git's configuration may have any name; an empty one is somebody's own.
    let included = path::lstat_at(dir, name).is_ok_and(is_held)
        && path::read_small_at(dir, name).is_ok_and(|found| found == GIT_CONFIG.as_bytes());
    included.then_some(PlaceholderKind::GitConfig)
}

/// As we make a file. Nobody gives it a second name while it is covered.
fn is_held(stat: Stat) -> bool {
    stat.is_unwritable_file() && !stat.has_other_names()
}

fn is_ours(dir: BorrowedFd<'_>, name: &OsStr, kind: PlaceholderKind) -> bool {
    match content_of(kind) {
        Content::Socket(_) => path::lstat_at(dir, name).is_ok_and(|stat| stat.is_placeholder_socket()),
        // Not whole: whoever made it was killed before it had written, or had no room. Git itself writes neither file so.
        Content::Text(text) => {
            path::lstat_at(dir, name).is_ok_and(is_held)
                && path::read_small_at(dir, name).is_ok_and(|found| text.as_bytes().starts_with(&found))
        }
    }
}

/// False if it is there still. It is inert; the next run in this directory tries again.
fn remove_if_ours(dir: BorrowedFd<'_>, name: &OsStr, kind: PlaceholderKind) -> bool {
    !is_ours(dir, name, kind) || path::unlink_at(dir, name).is_ok()
}

#[cfg(test)]
#[path = "placeholders_tests.rs"]
mod tests;
