//! Takes the arms of one git directory: hooks, configuration, pointers to another directory.
//!
//! The directory is the caller's own, but the command chose its modes: what cannot be opened or changed is opened up for as
//! long as that takes. INVARIANT: everything is reached from the tree's own handle, beneath it, through no link.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Disarmed;
use super::harmless::harmless_part;
use crate::launch::placeholders::is_placeholder;
use crate::sys::path;

/// Appended to a name that is set aside.
const ASIDE: &str = ".set-aside";
/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;
/// Names in a git directory that lead git elsewhere.
const POINTERS: [&str; 2] = ["commondir", "config.worktree"];

/// What a directory is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
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

/// An open directory that gets its own mode back in the end.
#[derive(Debug)]
pub(super) struct Opened {
    fd: OwnedFd,
    mode: Option<u32>,
}

impl Opened {
    pub(super) fn beneath(root: BorrowedFd<'_>, dir: &Path, purpose: Purpose) -> io::Result<Self> {
        let held = path::open_beneath(root, dir)?;
        let stat = path::lstat_at(held.as_fd(), OsStr::new(""))?;
        if !stat.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let bits = stat.mode & 0o7777;
        let narrow = bits & purpose.bits() != purpose.bits();
        if narrow {
            chmod(held.as_fd(), bits | purpose.bits())?;
        }
        let mode = narrow.then_some(bits);
        // From here on dropping gives the mode back.
        let mut opened = Self { fd: held, mode };
        opened.fd = path::open_dir_beneath(opened.fd.as_fd(), Path::new("."))?;
        Ok(opened)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Its entries. An error ends the list.
    pub(super) fn entries(&self) -> impl Iterator<Item = fs::DirEntry> {
        let here = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        fs::read_dir(here).into_iter().flatten().flatten()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(mode) = self.mode {
            // What stays too wide is the owner's all the same.
            let _ = chmod(self.fd.as_fd(), mode);
        }
    }
}

fn chmod(held: BorrowedFd<'_>, mode: u32) -> io::Result<()> {
    let name = format!("/proc/self/fd/{}", held.as_raw_fd());
    fs::set_permissions(name, Permissions::from_mode(mode))
}

/// Disarms the `.git` of `dir` (relative to `tree`), if there is one.
pub(super) fn dot_git(tree: &Path, dir: &Path, out: &mut Disarmed) {
    let name = OsStr::new(".git");
    let full = tree.join(dir).join(name);
    let Ok(root) = path::open_exact(tree) else { return };
    let Ok(parent) = path::open_beneath(root.as_fd(), dir) else {
        return;
    };
    match path::lstat_at(parent.as_fd(), name) {
        Err(_) => {}
        Ok(stat) if stat.is_placeholder_socket() => {}
        Ok(stat) if stat.is_dir() => git_dir(tree, &dir.join(name), out),
        // A pointer or a link to a git directory of the command's choosing.
        Ok(_) => out.note(full, rename_in(tree, dir, name)),
    }
}

/// Disarms the git directory `dir` (relative to `tree`).
pub(super) fn git_dir(tree: &Path, dir: &Path, out: &mut Disarmed) {
    let full = tree.join(dir);
    let open = |root: OwnedFd| Opened::beneath(root.as_fd(), dir, Purpose::Change);
    let Ok(git) = path::open_exact(tree).and_then(open) else {
        if full.symlink_metadata().is_ok() {
            out.armed.push(full);
        }
        return;
    };
    for name in POINTERS
        .into_iter()
        .chain(["hooks"])
        .filter(|name| is_armed(&git, &full, name))
    {
        out.note(full.join(name), set_aside(git.as_fd(), OsStr::new(name)));
    }
    if let Some(harmless) = less_harmful(git.as_fd()) {
        let done = set_aside(git.as_fd(), OsStr::new("config"));
        if done.is_ok()
            && let Ok(file) = path::create_at(git.as_fd(), Path::new("config"), 0o644)
        {
            // Without a configuration git still reads the repository, so a failure here is safe.
            let mut file = fs::File::from(file);
            let _ = file.write_all(harmless.as_bytes());
            // Root made it, but it is the owner's.
            if let Ok(owner) = path::lstat_at(git.as_fd(), OsStr::new("")) {
                let _ = std::os::unix::fs::fchown(&file, Some(owner.uid), Some(owner.gid));
            }
        }
        out.note(full.join("config"), done);
    }
}

/// A directory that has itself become a git directory: without `HEAD` it is none. Left alone if it has no arms.
pub(super) fn bare(tree: &Path, out: &mut Disarmed) {
    let Ok(root) = path::open_exact(tree) else { return };
    let Ok(git) = Opened::beneath(root.as_fd(), Path::new("."), Purpose::Change) else {
        return;
    };
    let there = |name: &str| path::lstat_at(git.as_fd(), OsStr::new(name)).is_ok();
    let is_git = there("HEAD") && (there("commondir") || (there("objects") && there("refs")));
    let armed = || {
        POINTERS
            .into_iter()
            .chain(["hooks"])
            .any(|name| is_armed(&git, tree, name))
    };
    if is_git && (armed() || less_harmful(git.as_fd()).is_some()) {
        out.note(tree.join("HEAD"), set_aside(git.as_fd(), OsStr::new("HEAD")));
    }
}

/// Does this name in a git directory make git run or read something?
fn is_armed(git: &Opened, full: &Path, name: &str) -> bool {
    if path::lstat_at(git.as_fd(), OsStr::new(name)).is_err() || is_placeholder(&full.join(name)).is_some() {
        return false;
    }
    if name != "hooks" {
        return true;
    }
    // Is there anything but git's own samples? What is not a directory, or cannot be opened, counts as such.
    Opened::beneath(git.as_fd(), Path::new(name), Purpose::List).map_or(true, |hooks| {
        hooks
            .entries()
            .any(|entry| !entry.file_name().as_encoded_bytes().ends_with(b".sample"))
    })
}

/// The harmless part of a configuration that says more than that.
fn less_harmful(git: BorrowedFd<'_>) -> Option<String> {
    let name = OsStr::new("config");
    if path::lstat_at(git, name).map_or(true, |stat| stat.is_placeholder_socket()) {
        return None;
    }
    let text = path::read_at(git, name, LARGEST)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let harmless = text.as_deref().map(harmless_part).unwrap_or_default();
    (text.as_deref() != Some(harmless.as_str())).then_some(harmless)
}

/// Sets `name` in `dir` (relative to `tree`) aside.
pub(super) fn rename_in(tree: &Path, dir: &Path, name: &OsStr) -> io::Result<()> {
    let root = path::open_exact(tree)?;
    let parent = Opened::beneath(root.as_fd(), dir, Purpose::Change)?;
    set_aside(parent.as_fd(), name)
}

/// A name that nobody can have taken before: first the plain one, then one of chance.
fn set_aside(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let mut last = Ok(());
    for attempt in 0..8 {
        let mut to: OsString = name.to_owned();
        to.push(ASIDE);
        if attempt > 0 {
            let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
            to.push(format!("-{chance:016x}"));
        }
        last = path::rename_new_at(dir, name, &to);
        match &last {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Ok(()) | Err(_) => return last,
        }
    }
    last
}

#[cfg(test)]
#[path = "disarm_tests.rs"]
mod tests;
