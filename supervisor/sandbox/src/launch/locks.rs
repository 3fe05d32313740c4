//! One lock per directory in which placeholders lie, held by every run that relies on them.
//!
//! The lock is a file of the supervisor's own, outside everything a sandbox sees: a lock on the directory itself could be
//! taken by the command, which then keeps other runs waiting or their placeholders for good. Its place depends on nothing
//! that differs between two runs of one user (no variable of the environment), since they must agree on it; root uses the
//! place of the directory's owner, to agree with that user's own runs.
//! The file is as old as the oldest of the runs that hold it: what changed since may be the work of one of them.
//! Beside it lies the list of all that its holders have made (`notes`).
//! INVARIANT: nobody waits for ever, and the last to leave removes the files and their directory.

mod notes;
mod tree;

pub(super) use notes::Begun;
pub use tree::{NoTreeLock, TreeLock, holder};

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::sys::fd::{self, Lock};
use crate::sys::{dir, path, process};

/// How long another run may take to clean up.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// A lock that is held, shared or alone.
#[derive(Debug)]
pub(super) struct DirLock {
    file: OwnedFd,
    place: Place,
    name: OsString,
}

/// The directory of lock files, open.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    fd: OwnedFd,
    owner: u32,
}

impl DirLock {
    /// Takes a share. Another run that is cleaning up is waited for.
    pub(super) fn share(dir: BorrowedFd<'_>) -> io::Result<Self> {
        acquire(known_as(dir)?, Lock::TryShared, Instant::now() + PATIENCE)
    }

    /// Takes the lock for itself, if nobody has it before `end`.
    pub(super) fn alone(dir: BorrowedFd<'_>, end: Instant) -> io::Result<Self> {
        acquire(known_as(dir)?, Lock::TryExclusive, end)
    }

    /// Makes a share the only one, if no other run has any.
    ///
    /// Two runs that end together would each see the other's: so the own one is given up first, and a little time passes.
    pub(super) fn become_alone(&self) -> bool {
        for attempt in 0..11 {
            if attempt > 0 {
                let _ = fd::flock(self.file.as_fd(), Lock::Release);
                std::thread::sleep(PAUSE);
            }
            // Without a share the file may have been removed meanwhile by another run that was alone.
            if fd::flock(self.file.as_fd(), Lock::TryExclusive).is_ok() {
                return self.is_current();
            }
        }
        false
    }

    /// The file, for whoever must hold the lock beyond our own life.
    pub(super) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Removes the lock. Only who is alone may.
    pub(super) fn retire(&self) {
        // What fails leaves an empty file of ours, which the next run uses and removes.
        let _ = path::unlink_at(self.place.fd.as_fd(), &self.name);
        let _ = std::fs::remove_dir(&self.place.path);
    }

    /// Is the file that we hold still the one that others would find?
    fn is_current(&self) -> bool {
        let ours = path::lstat_at(self.file.as_fd(), "".as_ref());
        let found = path::lstat_at(self.place.fd.as_fd(), &self.name);
        matches!((ours, found), (Ok(ours), Ok(found)) if (ours.dev, ours.ino) == (found.dev, found.ino))
    }
}

/// Since when a run has been holding the lock of this directory, if one does, by the clock that stamps inodes.
pub(crate) fn held_since(dir: &Path) -> Option<Duration> {
    let (owner, name) = known_as(path::open_exact(dir).ok()?.as_fd()).ok()?;
    let held = places(owner).into_iter().filter_map(|place| {
        let place = path::open_dir_exact(&place)
            .ok()
            .filter(|place| is_private(place.as_fd(), owner))?;
        let file = path::open_file_at(place.as_fd(), &name).ok()?;
        // Left by runs that were killed.
        let is_free = fd::flock(file.as_fd(), Lock::TryExclusive).is_ok();
        let made = dir::facts_at(file.as_fd(), "".as_ref()).ok()?.changed;
        // From the future: the clock was set back, and no time tells anything. Since Linux 6.13 a stamp can be ahead of the
        // clock that moves in ticks, never of the precise one.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = if made > now { Duration::ZERO } else { made };
        (!is_free).then_some(since)
    });
    held.min()
}

/// Does another run hold the lock of one of these directories, or of one above them? The own one holds it once, however many
/// processes have it. By the kernel's list: whoever asked for the lock itself would lose the own share meanwhile.
pub(crate) fn others_hold<'p>(dirs: impl Iterator<Item = &'p Path>) -> bool {
    let all: BTreeSet<&Path> = dirs.flat_map(Path::ancestors).collect();
    let files: BTreeSet<String> = all.into_iter().filter_map(files_of).flatten().collect();
    let list = fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut seen = BTreeSet::new();
    let shares = list.lines().filter(|line| line.contains(" FLOCK "));
    let known = shares.filter_map(|line| line.split_whitespace().find(|word| files.contains(*word)));
    known.into_iter().any(|file| !seen.insert(file))
}

/// The files of a directory's lock, as the kernel's list names them.
fn files_of(dir: &Path) -> Option<Vec<String>> {
    let (owner, name) = known_as(path::open_exact(dir).ok()?.as_fd()).ok()?;
    let files = places(owner)
        .into_iter()
        .filter_map(|place| fs::symlink_metadata(place.join(&name)).ok());
    Some(files.map(|meta| listed(meta.dev(), meta.ino())).collect())
}

fn listed(device: u64, inode: u64) -> String {
    let (major, minor) = (libc::major(device), libc::minor(device));
    format!("{major:02x}:{minor:02x}:{inode}")
}

/// Whose lock it is, and the name of its file.
fn known_as(dir: BorrowedFd<'_>) -> io::Result<(u32, OsString)> {
    let of = path::lstat_at(dir, "".as_ref())?;
    let caller = process::geteuid();
    let owner = if caller == 0 { of.uid } else { caller };
    Ok((owner, OsString::from(format!("{:x}-{:x}", of.dev, of.ino))))
}

fn acquire((owner, name): (u32, OsString), how: Lock, end: Instant) -> io::Result<DirLock> {
    loop {
        // The file, or its directory, may be removed between any two of these steps: then all of them again.
        match Place::open(owner).and_then(|place| attempt(place, &name, how)) {
            Ok(lock) if lock.is_current() => return Ok(lock),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound) => {
                std::thread::sleep(PAUSE);
            }
            Err(e) => return Err(e),
        }
        if Instant::now() >= end {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
    }
}

fn attempt(place: Place, name: &OsString, how: Lock) -> io::Result<DirLock> {
    let (file, found) = match place.file(name) {
        Ok(file) => file,
        Err(error) => {
            // Unless somebody uses it: whatever fails leaves nothing behind.
            let _ = std::fs::remove_dir(&place.path);
            return Err(error);
        }
    };
    let lock = DirLock {
        file,
        place,
        name: name.clone(),
    };
    let is_shared = how == Lock::TryShared;
    if found && is_shared && fd::flock(lock.file.as_fd(), Lock::TryExclusive).is_ok() && lock.is_current() {
        // Left by runs that were killed, and older than any that is.
        let _ = path::unlink_at(lock.place.fd.as_fd(), name);
        return Err(io::ErrorKind::NotFound.into());
    }
    fd::flock(lock.file.as_fd(), how)?;
    Ok(lock)
}

/// The fixed places, in order.
pub(crate) fn places(owner: u32) -> Vec<PathBuf> {
    let root = (owner == 0).then(|| PathBuf::from("/run/glee-locks"));
    let shared = ["/dev/shm", "/tmp"].map(|dir| Path::new(dir).join(format!("glee-locks-{owner}")));
    root.into_iter().chain(shared).collect()
}

impl Place {
    /// The first of the fixed places that is this user's own and nobody else's.
    fn open(owner: u32) -> io::Result<Self> {
        let mut refused = io::Error::from(io::ErrorKind::Unsupported);
        for path in places(owner) {
            match open_private(&path, owner) {
                Ok(fd) => return Ok(Self { path, fd, owner }),
                Err(e) if is_refusal(&e) => refused = e,
                // Another time this place would do, and others use it: the next one is not theirs.
                Err(e) => return Err(e),
            }
        }
        Err(refused)
    }

    /// The lock file, and whether it was there.
    fn file(&self, name: &OsString) -> io::Result<(OwnedFd, bool)> {
        match path::open_file_at(self.fd.as_fd(), name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(|file| (file, true)),
        }
        match path::create_at(self.fd.as_fd(), Path::new(name), 0o600) {
            Ok(file) => {
                give(file.as_fd(), self.owner)?;
                Ok((file, false))
            }
            // Another run was faster.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                path::open_file_at(self.fd.as_fd(), name).map(|file| (file, true))
            }
            Err(e) => Err(e),
        }
    }
}

/// Is a place not for this user, today or tomorrow? Want of descriptors or memory passes.
fn is_refusal(error: &io::Error) -> bool {
    let refusals = [libc::EACCES, libc::EPERM, libc::EROFS, libc::ENOTDIR, libc::ELOOP];
    let by_us = [io::ErrorKind::Unsupported, io::ErrorKind::PermissionDenied];
    match error.raw_os_error() {
        Some(number) => refusals.contains(&number),
        None => by_us.contains(&error.kind()),
    }
}

fn open_private(dir: &Path, owner: u32) -> io::Result<OwnedFd> {
    let (above, name) = (dir.parent().unwrap_or(dir), dir.file_name().unwrap_or_default());
    let above = path::open_path(above).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            io::ErrorKind::Unsupported.into()
        } else {
            error
        }
    })?;
    let made = match path::mkdir_new_at(above.as_fd(), name, 0o700) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
        other => other.map(|()| true)?,
    };
    let opened = path::open_dir_beneath(above.as_fd(), Path::new(name)).and_then(|opened| {
        give(opened.as_fd(), owner)?;
        Ok(opened)
    });
    match opened {
        Ok(opened) if is_private(opened.as_fd(), owner) => Ok(opened),
        Ok(_) => {
            let what = format!("`{}` is not this user's own, or open to others", dir.display());
            Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
        }
        Err(error) => {
            if made {
                let _ = path::rmdir_at(above.as_fd(), name);
            }
            Err(error)
        }
    }
}

fn is_private(dir: BorrowedFd<'_>, owner: u32) -> bool {
    path::lstat_at(dir, "".as_ref()).is_ok_and(|stat| stat.uid == owner && stat.mode & 0o077 == 0)
}

/// What root has made for another user becomes that user's: they would else not share it.
fn give(file: BorrowedFd<'_>, owner: u32) -> io::Result<()> {
    if owner != 0 && process::geteuid() == 0 && path::lstat_at(file, "".as_ref())?.uid == 0 {
        fchown(file, Some(owner), None)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "locks_tests.rs"]
mod tests;
