//! Directories of the caller's whose modes somebody else has chosen: opened up for as long as that takes.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{path, process};

/// What a directory is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    List,
    Change,
}

impl Purpose {
    fn bits(self) -> u32 {
        match self {
            Self::List => 0o500,
            Self::Change => 0o700,
        }
    }
}

/// An open directory that gets its own mode back in the end, and so do those above it.
#[derive(Debug)]
pub struct Opened {
    fd: OwnedFd,
    mode: Option<u32>,
    /// Those above that were closed, topmost first.
    above: Vec<Opened>,
}

impl Opened {
    /// Below `root`, through no link.
    pub fn beneath(root: BorrowedFd<'_>, dir: &Path, purpose: Purpose) -> io::Result<Self> {
        match path::open_beneath(root, dir) {
            Ok(held) => Self::held(held, purpose),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Self::by_steps(root, dir, purpose),
            Err(error) => Err(error),
        }
    }

    /// At an absolute path, of which no part is a link.
    pub fn exact(dir: &Path, purpose: Purpose) -> io::Result<Self> {
        let top = path::open_exact(Path::new("/"))?;
        Self::beneath(top.as_fd(), dir.strip_prefix("/").unwrap_or(dir), purpose)
    }

    fn by_steps(root: BorrowedFd<'_>, dir: &Path, purpose: Purpose) -> io::Result<Self> {
        let mut here = root.try_clone_to_owned()?;
        let mut above = Vec::new();
        for name in dir.components() {
            let name = Path::new(name.as_os_str());
            here = match path::open_beneath(here.as_fd(), name) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    let opened = Self::held(here, Purpose::List)?;
                    let next = path::open_beneath(opened.as_fd(), name)?;
                    above.push(opened);
                    next
                }
                other => other?,
            };
        }
        let mut opened = Self::held(here, purpose)?;
        opened.above = above;
        Ok(opened)
    }

    /// One that is held open.
    pub fn held(held: OwnedFd, purpose: Purpose) -> io::Result<Self> {
        let stat = path::lstat_at(held.as_fd(), OsStr::new(""))?;
        if !stat.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let bits = stat.mode & 0o7777;
        // Root needs none of it.
        let narrow = bits & purpose.bits() != purpose.bits() && process::geteuid() != 0;
        if narrow {
            chmod(held.as_fd(), bits | purpose.bits())?;
        }
        let mode = narrow.then_some(bits);
        // From here on dropping gives the mode back.
        let mut opened = Self {
            fd: held,
            mode,
            above: Vec::new(),
        };
        opened.fd = path::open_dir_beneath(opened.fd.as_fd(), Path::new("."))?;
        Ok(opened)
    }

    /// Its entries. An error ends the list.
    pub fn entries(&self) -> impl Iterator<Item = fs::DirEntry> {
        let here = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        fs::read_dir(here).into_iter().flatten().flatten()
    }
}

impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(mode) = self.mode {
            // What stays too wide is the owner's all the same.
            let _ = chmod(self.fd.as_fd(), mode);
        }
        // From below: what lies above is what leads there.
        while self.above.pop().is_some() {}
    }
}

fn chmod(held: BorrowedFd<'_>, mode: u32) -> io::Result<()> {
    let name = format!("/proc/self/fd/{}", held.as_raw_fd());
    fs::set_permissions(name, Permissions::from_mode(mode))
}
