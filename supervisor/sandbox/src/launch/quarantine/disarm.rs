//! Takes the arms of one git directory: hooks, configuration, remotes, pointers to another directory, links.
//!
//! The directory is the caller's own, but the command chose its modes: what cannot be opened or changed is opened up for as
//! long as that takes. INVARIANT: everything is reached from the tree's own handle, beneath it, through no link.

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use glee_policy::set_aside::{NO_REFERENCE, named};

use super::Disarmed;
use super::harmless::harmless_part;
use super::{links, papers};
use crate::launch::placeholders::is_placeholder;
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// The longest name on most filesystems, and one that fits on the others.
const NAME_MAX: usize = 255;
const SHORT: usize = 64;
/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;
/// Names in a git directory that lead git elsewhere.
const POINTERS: [&str; 2] = ["commondir", "config.worktree"];

/// Directories in a git directory whose content git runs, or takes for the way to another repository.
const HOLDERS: [&str; 4] = ["hooks", "modules", "remotes", "branches"];

/// Disarms the `.git` of `dir` (relative to `tree`), if there is one.
pub(super) fn dot_git(tree: &Path, dir: &Path, out: &mut Disarmed) {
    let name = OsStr::new(".git");
    let full = tree.join(dir).join(name);
    let Ok(root) = path::open_exact(tree) else { return };
    let parent = match Opened::beneath(root.as_fd(), dir, Purpose::List) {
        Ok(parent) => parent,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return out.armed.push(full),
        Err(_) => return,
    };
    match path::lstat_at(parent.as_fd(), name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => out.armed.push(full),
        Err(_) => {}
        Ok(stat) if stat.is_placeholder_socket() => {}
        Ok(stat) if stat.is_dir() => {
            git_dir(tree, &dir.join(name), out);
            links::aside(&full, |_, _| false, out);
            papers::of_fresh(&full, out);
        }
        // A pointer or a link to a git directory of the command's choosing.
        Ok(_) => out.note(full, rename_in(tree, dir, name)),
    }
}

/// Disarms the git directory `dir` (relative to `tree`).
pub(super) fn git_dir(tree: &Path, dir: &Path, out: &mut Disarmed) {
    let full = tree.join(dir);
    let open = |root: OwnedFd| Opened::beneath(root.as_fd(), dir, Purpose::Change);
    let Ok(git) = path::open_exact(tree).and_then(open) else {
        match full.symlink_metadata() {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {}
            Ok(_) | Err(_) => out.armed.push(full),
        }
        return;
    };
    let arms = POINTERS.into_iter().chain(HOLDERS);
    for name in arms.filter(|name| is_armed(&git, &full, name)) {
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
        let mut arms = POINTERS.into_iter().chain(HOLDERS);
        arms.any(|name| is_armed(&git, tree, name))
    };
    if is_git && (armed() || less_harmful(git.as_fd()).is_some()) {
        out.note(tree.join("HEAD"), set_aside(git.as_fd(), OsStr::new("HEAD")));
    }
}

/// Is this a name in a git directory by which one could make git run or read something?
pub(in crate::launch) fn is_arm(name: &OsStr) -> bool {
    let mut arms = POINTERS.iter().chain(&HOLDERS).chain(&["config"]);
    arms.any(|arm| {
        name.as_encoded_bytes()
            .strip_suffix(b".lock")
            .unwrap_or(name.as_encoded_bytes())
            == arm.as_bytes()
    })
}

/// Does this name in a git directory make git run or read something?
fn is_armed(git: &Opened, full: &Path, name: &str) -> bool {
    if path::lstat_at(git.as_fd(), OsStr::new(name)).is_err() || is_placeholder(&full.join(name)).is_some() {
        return false;
    }
    if !HOLDERS.contains(&name) {
        return true;
    }
    // Is there anything but git's own samples? What is not a directory, or cannot be opened, counts as such.
    let sample = |entry: &fs::DirEntry| name == "hooks" && entry.file_name().as_encoded_bytes().ends_with(b".sample");
    Opened::beneath(git.as_fd(), Path::new(name), Purpose::List)
        .map_or(true, |dir| dir.entries().any(|entry| !sample(&entry)))
}

/// The harmless part of a configuration that says more than that, or that the next run could write under another name.
fn less_harmful(git: BorrowedFd<'_>) -> Option<String> {
    let name = OsStr::new("config");
    let stat = path::lstat_at(git, name)
        .ok()
        .filter(|stat| !stat.is_placeholder_socket())?;
    let text = path::read_at(git, name, LARGEST)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let harmless = text.as_deref().map(harmless_part).unwrap_or_default();
    (text.as_deref() != Some(harmless.as_str()) || stat.has_other_names()).then_some(harmless)
}

/// Sets `name` in `dir` (relative to `tree`) aside.
pub(super) fn rename_in(tree: &Path, dir: &Path, name: &OsStr) -> io::Result<()> {
    set_aside(to_be_changed(tree, dir)?.as_fd(), name)
}

fn to_be_changed(tree: &Path, dir: &Path) -> io::Result<Opened> {
    let root = path::open_exact(tree)?;
    Opened::beneath(root.as_fd(), dir, Purpose::Change)
}

/// As `rename_in`, and under the new name it is no reference of git's.
pub(super) fn rename_reference_in(tree: &Path, dir: &Path, name: &OsStr) -> io::Result<()> {
    set_aside_as(to_be_changed(tree, dir)?.as_fd(), name, NO_REFERENCE)
}

fn set_aside(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    set_aside_as(dir, name, "")
}

/// A name that nobody can have taken before: first the plain one, then one of chance. Cut where it would be too long.
fn set_aside_as(dir: BorrowedFd<'_>, name: &OsStr, ending: &str) -> io::Result<()> {
    let mut last = Ok(());
    let mut room = NAME_MAX;
    for attempt in 0..8 {
        let chance = || std::collections::hash_map::RandomState::new().build_hasher().finish();
        let to = named(name, (attempt > 0).then(chance), ending, room);
        last = path::rename_new_at(dir, name, &to);
        match &last {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) if e.raw_os_error() == Some(libc::ENAMETOOLONG) => room = SHORT,
            Ok(()) | Err(_) => return last,
        }
    }
    last
}

#[cfg(test)]
#[path = "disarm_tests.rs"]
mod tests;
