//! Removing a worktree, or what was only needed while its run lasted.
//!
//! A command could write the repository's own directory: nothing here follows a link that it may have left there.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use glee_sandbox::sys::dir::{FileKind, Listing, facts_at};
use glee_sandbox::sys::path;

use super::Plot;
use super::aside::Errand;
use super::make::{LOCK, PLOT, READY};

/// Directories within each other that are removed.
const DEEPEST: usize = 256;

/// Everything: the branch (if it still is where it began), the repository's part, the tree.
pub(super) fn all(plot: &Plot) {
    let script = "git update-ref --no-deref -d \"refs/heads/$1\" \"$2\"";
    let errand = Errand::shell("workspace", &plot.tree(), script, &[&plot.branch(), &plot.base]).looks();
    let branch = path::open_dir_exact(&plot.tree()).and_then(|_| errand.run());
    if !branch.is_ok_and(|done| done.status == 0) {
        // Nothing was in it: the branch is the file that was made for it.
        let _ = in_common(plot, Path::new("refs/heads/glee"), |dir| {
            path::unlink_at(dir, OsStr::new(&plot.run_id))
        });
    }
    let _ = in_common(plot, Path::new("worktrees"), |dir| {
        tree(dir, OsStr::new(&plot.run_id), 0)
    });
    // Both stay unless they are empty.
    let _ = in_common(plot, Path::new("refs/heads"), |dir| {
        path::rmdir_at(dir, OsStr::new("glee"))
    });
    let _ = in_common(plot, Path::new("."), |dir| path::rmdir_at(dir, OsStr::new("worktrees")));
    let own = plot.own.as_path();
    let _ = path::open_dir_exact(own).and_then(|dir| tree(dir.as_fd(), OsStr::new("tree"), 0));
    scaffold(plot);
    empty(own);
}

/// Directories of a run in which nothing was done yet.
pub(super) fn half_made(dirs: &[&Path]) {
    for dir in dirs {
        if let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) {
            let _ = path::open_dir_exact(parent).and_then(|dir| tree(dir.as_fd(), name, 0));
        }
    }
}

/// A directory, if nothing is left in it.
fn empty(dir: &Path) {
    if let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) {
        let _ = path::open_dir_exact(parent).and_then(|dir| path::rmdir_at(dir.as_fd(), name));
    }
}

/// What the run needed and its owner does not.
pub(super) fn scaffold(plot: &Plot) {
    let _ = in_common(plot, &Path::new("worktrees").join(&plot.run_id), |dir| {
        path::unlink_at(dir, OsStr::new("locked"))
    });
    empty(&plot.own.as_path().join("git"));
    let Ok(known) = path::open_dir_exact(plot.known.as_path()) else {
        return;
    };
    // The lock goes last: until then the next start would try again.
    for name in ["inside-dotgit", "inside-gitdir", "checkout.yml", READY, PLOT, LOCK] {
        let _ = path::unlink_at(known.as_fd(), OsStr::new(name));
    }
    empty(plot.known.as_path());
}

fn in_common(plot: &Plot, below: &Path, act: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>) -> io::Result<()> {
    let root = path::open_dir_exact(plot.common.as_path())?;
    act(path::open_dir_beneath(root.as_fd(), below)?.as_fd())
}

/// A name and everything below it.
fn tree(dir: BorrowedFd<'_>, name: &OsStr, depth: usize) -> io::Result<()> {
    let facts = facts_at(dir, name)?;
    if facts.kind != FileKind::Dir {
        return path::unlink_at(dir, name);
    }
    if depth > DEEPEST {
        return Err(io::ErrorKind::Unsupported.into());
    }
    if facts.mode & 0o700 != 0o700 {
        path::chmod_at(dir, name, 0o700)?;
    }
    let inside = path::open_dir_on_mount(dir, name)?;
    let mut names: Vec<OsString> = Vec::new();
    Listing::default().read(inside.as_fd(), &mut |entry| names.push(entry.name.to_owned()))?;
    for name in &names {
        tree(inside.as_fd(), name, depth + 1)?;
    }
    path::rmdir_at(dir, name)
}
