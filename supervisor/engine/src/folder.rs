//! A directory held open, for files that are replaced whole: what a name meant when the folder was opened, it still means.
//!
//! Names are single components and no link is followed, so nothing outside can be reached through one.
//! INVARIANT (drafts): a draft exists only while its writer holds the folder's lock. Who takes the lock removes what it
//! finds: the draft of somebody who was killed.
//!
//! A directory of a project can be opened, and so locked, by every command that reads it. The lock of such a folder is a file
//! in the user's state directory; the directory's own, which other users' processes know, is waited for only a little. Who
//! does not get it leaves drafts where they are. So two users whose processes write at once wait for each other, but where a
//! command keeps the directory locked: then the later file counts, whole, or one of the two is told that its draft is gone.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, fchown};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use glee_sandbox::sys::fd::{self, Lock};
use glee_sandbox::sys::path::{self, Own, Stat};
use glee_sandbox::sys::process::geteuid;

use crate::audit::place::State;
use crate::hex::hex;
use crate::random;

/// How long another process may hold a folder: it writes one small file meanwhile.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long another user may hold a folder of a project.
const COURTESY: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(1);
/// Lock files, in the state directory.
const LOCKS: &str = "locks";
/// How the names of drafts begin. No file that is kept may begin so.
const DRAFT: &str = ".draft-";

/// An open directory.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    dir: OwnedFd,
    place: Place,
}

/// Who can open a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The user's own programs.
    User,
    /// Sandboxed commands, too.
    Project,
}

/// The right to change what is in a folder. No other process, and no other thread, has it at the same time.
#[derive(Debug)]
pub struct Locked<'a> {
    folder: &'a Folder,
    /// Descriptions of their own: locks of one description do not exclude each other.
    _held: [Option<OwnedFd>; 2],
}

impl Folder {
    /// A directory of the user's alone, made if missing. One that others can write is refused.
    pub fn of_user(at: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(at)?;
        // The way there is the user's own and may have links.
        let path = fs::canonicalize(at)?;
        let dir = path::open_dir_exact(&path)?;
        let facts = path::lstat_at(dir.as_fd(), OsStr::new(""))?;
        if ![geteuid(), 0].contains(&facts.uid) || facts.mode & 0o022 != 0 {
            let what = "not this user's own, or others can write to it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        let place = Place::User;
        Ok(Self { path, dir, place })
    }

    /// A directory below a project, made if missing, private. Made by root, it belongs to whom the project belongs.
    pub fn make_beneath(root: &Path, below: &Path) -> io::Result<Self> {
        let mut dir = path::open_dir_exact(root)?;
        for part in parts(below)? {
            let made = match path::mkdir_new_at(dir.as_fd(), part, 0o700) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                Err(error) => return Err(error),
            };
            let next = path::open_dir_beneath(dir.as_fd(), Path::new(part))?;
            if made {
                give(next.as_fd(), &path::lstat_at(dir.as_fd(), OsStr::new(""))?)?;
            }
            dir = next;
        }
        let path = root.join(below);
        let place = Place::Project;
        Ok(Self { path, dir, place })
    }

    /// A directory below a project; `None` if there is none.
    pub fn find_beneath(root: &Path, below: &Path) -> io::Result<Option<Self>> {
        parts(below)?;
        let root_dir = path::open_dir_exact(root)?;
        match path::open_dir_beneath(root_dir.as_fd(), below) {
            Ok(dir) => Ok(Some(Self {
                path: root.join(below),
                dir,
                place: Place::Project,
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where it was found, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Waits for the lock, and removes what a killed writer has left.
    pub fn lock(&self) -> io::Result<Locked<'_>> {
        let hidden = match self.place {
            Place::User => None,
            Place::Project => self.hidden_lock(),
        };
        let mut patience = PATIENCE;
        if let Some(file) = &hidden {
            wait(file.as_fd(), patience)?;
            patience = COURTESY;
        }
        let open = path::open_dir_beneath(self.fd(), Path::new("."))?;
        let open = match wait(open.as_fd(), patience) {
            Ok(()) => Some(open),
            Err(error) if error.kind() == io::ErrorKind::TimedOut && hidden.is_some() => None,
            Err(error) => return Err(error),
        };
        if open.is_some() {
            for name in self.all_names()?.iter().filter(|name| is_draft(name)) {
                path::unlink_at(self.fd(), name)?;
            }
        }
        Ok(Locked {
            folder: self,
            _held: [hidden, open],
        })
    }

    /// The file that is locked in place of a directory that commands can open. `None` where this user has no state directory:
    /// then the directory alone is locked.
    fn hidden_lock(&self) -> Option<OwnedFd> {
        let of = path::lstat_at(self.fd(), OsStr::new("")).ok()?;
        let place = Self::of_user(&State::make().ok()?.path.join(LOCKS)).ok()?;
        let name = format!("{:x}-{:x}", of.dev, of.ino);
        path::open_own_at(place.fd(), OsStr::new(&name), Own::ReadWrite).ok()
    }

    /// A regular file, up to `most` bytes; `None` if there is none. More than that is an error.
    pub fn read(&self, name: &OsStr, most: usize) -> io::Result<Option<Vec<u8>>> {
        one(name)?;
        match path::read_at(self.fd(), name, most) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        one(name)?;
        path::lstat_at(self.fd(), name)
    }

    pub fn modified(&self, name: &OsStr) -> io::Result<SystemTime> {
        self.metadata(name)?.modified()
    }

    pub fn metadata(&self, name: &OsStr) -> io::Result<fs::Metadata> {
        one(name)?;
        fs::symlink_metadata(self.here().join(name))
    }

    /// Keeps what is in it out of the project's history.
    pub fn ignore_in_git(&self) -> io::Result<()> {
        let name = OsStr::new(".gitignore");
        match self.stat(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.lock()?.put(name, b"*\n"),
            other => other.map(drop),
        }
    }

    /// Every name but those of drafts, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = self.all_names()?;
        names.retain(|name| !is_draft(name));
        names.sort();
        Ok(names)
    }

    /// The directory itself, whatever became of its path.
    fn here(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.dir.as_raw_fd().to_string())
    }

    fn all_names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(self.here())?
            .map(|entry| entry.map(|e| e.file_name()))
            .collect()
    }
}

impl Locked<'_> {
    /// Puts a file in place: whoever looks, also after a crash, sees the old content or the new one.
    pub fn put(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        one(name)?;
        let dir = self.folder.fd();
        let draft = OsString::from(format!("{DRAFT}{}", hex(&random::bytes::<8>()?)));
        let write = || -> io::Result<()> {
            let mut file = File::from(path::create_at(dir, Path::new(&draft), 0o600)?);
            give(file.as_fd(), &path::lstat_at(dir, OsStr::new(""))?)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            path::rename_at(dir, &draft, name)
        };
        write().inspect_err(|_| {
            // What could not be put in place is of no use to anybody; the next who takes the lock would remove it too.
            let _ = path::unlink_at(dir, &draft);
        })?;
        self.settle()
    }

    /// Removes a name. False if it was not there.
    pub fn remove(&self, name: &OsStr) -> io::Result<bool> {
        one(name)?;
        match path::unlink_at(self.folder.fd(), name) {
            Ok(()) => self.settle().map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The names themselves survive a loss of power too.
    fn settle(&self) -> io::Result<()> {
        File::from(path::open_dir_beneath(self.folder.fd(), Path::new("."))?).sync_all()
    }
}

fn wait(held: BorrowedFd<'_>, patience: Duration) -> io::Result<()> {
    let end = Instant::now() + patience;
    loop {
        match fd::flock(held, Lock::TryExclusive) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => {
                std::thread::sleep(PAUSE);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let what = "another process holds its lock";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            other => return other,
        }
    }
}

/// What root has made for another user becomes that user's.
pub(crate) fn give(made: BorrowedFd<'_>, like: &Stat) -> io::Result<()> {
    if geteuid() == 0 && like.uid != 0 {
        fchown(made, Some(like.uid), Some(like.gid))?;
    }
    Ok(())
}

fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(DRAFT.as_bytes())
}

/// A single component that is no draft's.
fn one(name: &OsStr) -> io::Result<()> {
    let mut components = Path::new(name).components();
    let plain = matches!(components.next(), Some(Component::Normal(only)) if only == name);
    if plain && components.next().is_none() && !is_draft(name) {
        Ok(())
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}

fn parts(below: &Path) -> io::Result<Vec<&OsStr>> {
    below
        .components()
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
                Err(io::Error::from(io::ErrorKind::InvalidInput))
            }
        })
        .collect()
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
