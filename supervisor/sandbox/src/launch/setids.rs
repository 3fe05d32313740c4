//! After a run that root started: no program that could give away root's rights was changed by the command and keeps them.
//!
//! In a tree whose owner is mapped to the sandbox's user the command may write root's files. Writing drops the setuid and
//! setgid bits and the file capabilities, but writing through a shared mapping does not. Who was changed during the run tells
//! the time of the last change of the inode, which nobody can set; where that time cannot be relied on (on tmpfs a mapping
//! leaves no trace), every such file counts as changed. The walk is that of `changes`.
//! INVARIANT: no link is followed, nothing outside the trees is touched. No mount is crossed: one that lies in a tree, and that the
//! sandbox sees with it, is looked through by itself.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::changes::Since;
use crate::plan::{Access, Kind, MountStep, SandboxPlan};
use crate::sys::dir::{self, Facts, FileKind, Times};
use crate::sys::path;
use crate::workspace::below;

const SETID: u32 = 0o6000;

/// The trees to look through: written with the rights of another owner, which only root can give.
pub(super) fn trees(plan: &SandboxPlan) -> impl Iterator<Item = (&Path, Kind)> {
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
    plan.mounts.iter().any(MountStep::is_written_as_owner)
}

/// What is mounted on the host. Mounts that lie in a tree come along with it.
#[derive(Debug)]
pub(super) struct Mounts(Vec<u8>);

impl Mounts {
    pub(super) fn read() -> io::Result<Self> {
        fs::read("/proc/self/mountinfo").map(Self)
    }

    pub(super) fn any_below(&self, dir: &Path) -> bool {
        !self.below(dir).is_empty()
    }

    /// All in a directory, parents first.
    pub(super) fn below(&self, dir: &Path) -> Vec<PathBuf> {
        below::points(&self.0, dir)
    }

    /// Those that can be written to.
    pub(super) fn writable_below(&self, dir: &Path) -> Vec<PathBuf> {
        below::writable(&self.0, dir)
    }

    /// Those in the trees of a plan: each is to be looked through like a tree, since a walk crosses no mount.
    pub(super) fn nested(&self, plan: &SandboxPlan) -> Vec<(PathBuf, Kind)> {
        let dirs = trees(plan).filter(|(_, kind)| *kind == Kind::Dir);
        let mut nested: Vec<(PathBuf, Kind)> = dirs
            .flat_map(|(dir, _)| self.writable_below(dir))
            .map(|point| {
                let is_dir = fs::symlink_metadata(&point).is_ok_and(|facts| facts.is_dir());
                (point, if is_dir { Kind::Dir } else { Kind::File })
            })
            .collect();
        nested.sort_by(|(one, _), (other, _)| one.cmp(other));
        nested.dedup();
        nested
    }
}

/// Has an open file something that it must not keep if the command has changed it?
pub(super) fn is_privileged(file: BorrowedFd<'_>) -> io::Result<bool> {
    let facts = dir::facts_at(file, OsStr::new(""))?;
    Ok(facts.kind == FileKind::File && (facts.mode & SETID != 0 || path::has_capability(file)?))
}

/// Takes the bits and capabilities from what was changed in one tree.
#[derive(Debug)]
pub(super) struct Strip {
    times: Times,
    pub(super) stripped: Vec<PathBuf>,
    /// Something could not be looked at.
    pub(super) failed: bool,
}

impl Strip {
    pub(super) fn new(times: Times) -> Self {
        Self {
            times,
            stripped: Vec::new(),
            failed: false,
        }
    }

    /// Another one for the same tree.
    pub(super) fn again(&self) -> Self {
        Self::new(self.times)
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.stripped.extend(other.stripped);
        self.failed |= other.failed;
    }

    /// Looks at a name that `facts` were found for.
    pub(super) fn file(&mut self, dir: BorrowedFd<'_>, at: &Path, name: &OsStr, facts: &Facts, since: Since) {
        if !self.concerns(facts, since) {
            return;
        }
        let done = match path::open_on_mount(dir, name) {
            Ok(file) => self.judge(&file, since),
            Err(e) if e.raw_os_error() == Some(libc::EXDEV) => Ok(false),
            Err(e) => Err(e),
        };
        match done {
            Ok(true) => self.stripped.push(at.join(name)),
            Ok(false) => {}
            Err(error) => self.refused(&error),
        }
    }

    /// Something could not be looked at. What its owner removed meanwhile gives away nothing.
    pub(super) fn refused(&mut self, error: &io::Error) {
        self.failed |= error.raw_os_error() != Some(libc::ENOENT);
    }

    /// A tree that is a single file, which lies or lay at `at`.
    pub(super) fn single(&mut self, file: io::Result<OwnedFd>, at: &Path, since: Since) {
        match file.and_then(|file| self.judge(&file, since)) {
            Ok(true) => self.stripped.push(at.to_owned()),
            Ok(false) => {}
            Err(_) => self.failed = true,
        }
    }

    fn concerns(&self, facts: &Facts, since: Since) -> bool {
        let changed = match self.times {
            Times::Tell => since.covers(facts.changed),
            Times::MissMappings | Times::Elsewhere => true,
        };
        facts.kind == FileKind::File && changed
    }

    /// True if the file had something that it must not keep.
    fn judge(&self, file: &OwnedFd, since: Since) -> io::Result<bool> {
        let facts = dir::facts_at(file.as_fd(), OsStr::new(""))?;
        if !self.concerns(&facts, since) {
            return Ok(false);
        }
        // A path that leads to an open file, whatever became of its name.
        let name = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let marked = facts.mode & SETID != 0;
        if marked {
            fs::set_permissions(&name, fs::Permissions::from_mode(facts.mode & !SETID))?;
        }
        Ok(path::remove_capability(&name)? || marked)
    }
}

#[cfg(test)]
#[path = "setids_tests.rs"]
mod tests;
