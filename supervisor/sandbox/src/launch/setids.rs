//! After a run that root started: no program that could give away root's rights was changed by the command and keeps them.
//!
//! In a tree whose owner is mapped to the sandbox's user the command may write root's files. Writing drops the setuid and
//! setgid bits and the file capabilities, but writing through a shared mapping does not. Who was changed during the run tells
//! the time of the last change of the inode, which nobody can set; on tmpfs a mapping leaves no trace, so there every such
//! file counts as changed.
//! INVARIANT: no link is followed, no mount is crossed, nothing outside the trees is touched.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::plan::{Access, Kind, MountStep, SandboxPlan};
use crate::sys::event;
use crate::sys::path::{self, Stat};

const SETID: u32 = 0o6000;

/// Since when a change counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since(Duration);

impl Since {
    /// Now. Without a clock every change counts.
    pub(super) fn now() -> Self {
        Self(event::inode_clock().unwrap_or_default())
    }

    fn is_before(self, meta: &fs::Metadata) -> bool {
        let seconds = u64::try_from(meta.ctime()).unwrap_or(0);
        let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
        // Some filesystems keep whole seconds only.
        let since = if nanos == 0 {
            Duration::from_secs(self.0.as_secs())
        } else {
            self.0
        };
        Duration::new(seconds, nanos) >= since
    }
}

/// The trees to look through: written with the rights of another owner, which only root can give.
fn trees(plan: &SandboxPlan) -> impl Iterator<Item = (&Path, Kind)> {
    plan.mounts.iter().filter_map(|step| match step {
        MountStep::Bind {
            from,
            kind,
            access: Access::ReadWrite,
            idmap: Some(_),
            ..
        } => Some((from.as_path(), *kind)),
        MountStep::Bind { .. }
        | MountStep::Dir { .. }
        | MountStep::Symlink { .. }
        | MountStep::File { .. }
        | MountStep::Copy { .. }
        | MountStep::Private { .. }
        | MountStep::Compose { .. }
        | MountStep::Proc { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. }
        | MountStep::Protect { .. }
        | MountStep::Hide { .. } => None,
    })
}

/// Is there anything to look through when this run has ended?
pub(super) fn concerns(plan: &SandboxPlan) -> bool {
    trees(plan).next().is_some()
}

/// Takes the bits and capabilities from what was changed. Returns the files, and the trees that could not be looked through.
pub(super) fn strip(plan: &SandboxPlan, since: Since) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut stripped, mut failed) = (Vec::new(), Vec::new());
    for (tree, kind) in trees(plan) {
        let looked = match kind {
            Kind::Dir => Walk::new(tree, since).and_then(|walk| walk.go(&mut stripped)),
            Kind::File => path::open_exact(tree)
                .and_then(|file| Ok((path::on_memory(file.as_fd())?, file)))
                .and_then(|(in_memory, file)| judge(&file, in_memory, since))
                .map(|done| stripped.extend(done.then(|| tree.to_owned()))),
        };
        if looked.is_err() {
            failed.push(tree.to_owned());
        }
    }
    (stripped, failed)
}

/// A walk that holds one directory open at a time: a tree may be deeper than there are descriptors, or than a path is long.
struct Walk {
    here: OwnedFd,
    levels: Vec<Level>,
    path: PathBuf,
    since: Since,
    in_memory: bool,
}

struct Level {
    stat: Stat,
    dirs: Vec<OsString>,
}

impl Walk {
    fn new(top: &Path, since: Since) -> io::Result<Self> {
        let here = path::open_dir_exact(top)?;
        Ok(Self {
            in_memory: path::on_memory(here.as_fd())?,
            here,
            levels: Vec::new(),
            path: top.to_owned(),
            since,
        })
    }

    fn go(mut self, stripped: &mut Vec<PathBuf>) -> io::Result<()> {
        self.list(stripped)?;
        while let Some(level) = self.levels.last_mut() {
            match level.dirs.pop() {
                Some(name) => match path::open_dir_on_mount(self.here.as_fd(), &name) {
                    Ok(below) => {
                        self.here = below;
                        self.path.push(&name);
                        self.list(stripped)?;
                    }
                    // Another mount, which the sandbox did not see.
                    Err(e) if e.raw_os_error() == Some(libc::EXDEV) => {}
                    Err(e) => return Err(e),
                },
                None => {
                    self.levels.pop();
                    if let Some(above) = self.levels.last() {
                        self.here = path::open_parent(self.here.as_fd())?;
                        if path::lstat_at(self.here.as_fd(), OsStr::new(""))? != above.stat {
                            return Err(io::Error::from(io::ErrorKind::NotFound));
                        }
                        self.path.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// Judges the files of the current directory and notes its directories.
    fn list(&mut self, stripped: &mut Vec<PathBuf>) -> io::Result<()> {
        let mut dirs = Vec::new();
        for entry in fs::read_dir(by_number(self.here.as_fd()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                dirs.push(entry.file_name());
            } else if kind.is_file() && (self.in_memory || self.since.is_before(&entry.metadata()?)) {
                match path::open_on_mount(self.here.as_fd(), &entry.file_name()) {
                    Ok(file) => {
                        if judge(&file, self.in_memory, self.since)? {
                            stripped.push(self.path.join(entry.file_name()));
                        }
                    }
                    Err(e) if e.raw_os_error() == Some(libc::EXDEV) => {}
                    Err(e) => return Err(e),
                }
            }
        }
        let stat = path::lstat_at(self.here.as_fd(), OsStr::new(""))?;
        self.levels.push(Level { stat, dirs });
        Ok(())
    }
}

/// A path that leads to an open file, whatever became of its name.
fn by_number(fd: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

/// True if the file had something that it must not keep.
fn judge(file: &OwnedFd, in_memory: bool, since: Since) -> io::Result<bool> {
    let name = by_number(file.as_fd());
    let meta = fs::metadata(&name)?;
    if !meta.is_file() || !(in_memory || since.is_before(&meta)) {
        return Ok(false);
    }
    let mode = meta.permissions().mode();
    let marked = mode & SETID != 0;
    if marked {
        fs::set_permissions(&name, fs::Permissions::from_mode(mode & 0o7777 & !SETID))?;
    }
    Ok(path::remove_capability(&name)? || marked)
}
