//! What makes a worktree, written by hand: a directory of the run's own, its part of the repository, a branch.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use glee_sandbox::survey;
use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path::{self, Stat};

use super::{Plot, WorktreeError};
use crate::folder::{Folder, give};

/// Where a worktree's own description lies, for whoever finds it without its steward.
pub(super) const PLOT: &str = "plot.json";
pub(super) const LOCK: &str = "lock";
/// There once the worktree is whole, and a command may have worked in it.
pub(super) const READY: &str = "ready";
/// In the repository's part: git's own name for it.
pub(super) const BACK: &str = "gitdir";

/// The run's own directories, with everything that needs no repository. Returns its lock, held.
pub(super) fn own_directory(plot: &Plot) -> io::Result<OwnedFd> {
    let (at, own) = (plot.known.as_path(), plot.own.as_path());
    let above = |path: &Path| {
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        Folder::of_user(parent)
    };
    let (folder, _) = (above(at)?, above(own)?);
    // Whoever sweeps must not find it before it has its own lock, nor the other one while it is empty.
    let sweeping = folder.lock()?;
    let like = owner(plot)?;
    let dir = new_dir(at, &like)?;
    put(dir.as_fd(), LOCK, b"", &like)?;
    let lock = path::open_read_write(&at.join(LOCK))?;
    flock(lock.as_fd(), Lock::TryExclusive)?;
    // Before anything is made elsewhere: what is not described lies in here only.
    put(dir.as_fd(), PLOT, &serde_json::to_vec(plot)?, &like)?;
    let own = new_dir(own, &like)?;
    for name in ["tree", "git"] {
        make_dir(own.as_fd(), OsStr::new(name), &like)?;
    }
    drop(sweeping);
    let inside = plot.common_inside().join("worktrees").join(&plot.run_id);
    let project = plot.project.as_path().join(".git");
    put(dir.as_fd(), "inside-dotgit", &line("gitdir: ", &inside), &like)?;
    put(dir.as_fd(), "inside-gitdir", &line("", &project), &like)?;
    put(dir.as_fd(), "checkout.yml", checkout_policy().as_bytes(), &like)?;
    Ok(lock)
}

/// The checkout brings names of the last commit that no command may write: they are there before it starts.
fn checkout_policy() -> String {
    let names: Vec<String> = survey::protected_names().map(|name| format!("'{name}'")).collect();
    format!("extends: workspace\nunprotect: [{}]\n", names.join(", "))
}

/// The repository's part, and the pointers between the two.
pub(super) fn worktree(plot: &Plot) -> Result<(), WorktreeError> {
    let common = plot.common.as_path();
    let make = || -> io::Result<()> {
        let like = owner(plot)?;
        // Before anything leads here: what does not lead back is set aside by a run that ends meanwhile.
        let tree = path::open_dir_exact(&plot.tree())?;
        put(
            tree.as_fd(),
            ".git",
            &line("gitdir: ", &common.join("worktrees").join(&plot.run_id)),
            &like,
        )?;
        let root = path::open_dir_exact(common)?;
        let worktrees = within(root.as_fd(), &["worktrees"], &like)?;
        make_dir(worktrees.as_fd(), OsStr::new(&plot.run_id), &like)?;
        let own = path::open_dir_beneath(worktrees.as_fd(), Path::new(&plot.run_id))?;
        // The first: by it a sweep knows that this is of our making.
        put(own.as_fd(), BACK, &back_pointer(plot), &like)?;
        put(own.as_fd(), "locked", b"a run of glee-supervisor works in it\n", &like)?;
        put(own.as_fd(), "commondir", b"../..\n", &like)?;
        put(
            own.as_fd(),
            "HEAD",
            format!("ref: refs/heads/{}\n", plot.branch()).as_bytes(),
            &like,
        )?;
        let branches = within(root.as_fd(), &["refs", "heads", "glee"], &like)?;
        put(
            branches.as_fd(),
            &plot.run_id,
            format!("{}\n", plot.base).as_bytes(),
            &like,
        )
    };
    make().map_err(|error| WorktreeError::Make {
        at: common.to_owned(),
        error,
    })
}

/// What the repository says of where the worktree is.
pub(super) fn back_pointer(plot: &Plot) -> Vec<u8> {
    line("", &plot.tree().join(".git"))
}

/// From here on there may be something in it.
pub(super) fn mark_ready(plot: &Plot) -> Result<(), WorktreeError> {
    let at = plot.known.as_path().join(READY);
    File::create_new(&at)
        .map(drop)
        .map_err(|error| WorktreeError::Make { at, error })
}

/// Whom everything belongs to: the owner of the project.
fn owner(plot: &Plot) -> io::Result<Stat> {
    let project = path::open_exact(plot.project.as_path())?;
    path::lstat_at(project.as_fd(), OsStr::new(""))
}

fn line(before: &str, path: &Path) -> Vec<u8> {
    [before.as_bytes(), path.as_os_str().as_bytes(), b"\n"].concat()
}

fn new_dir(at: &Path, like: &Stat) -> io::Result<OwnedFd> {
    DirBuilder::new().mode(0o755).create(at)?;
    let dir = path::open_dir_exact(at)?;
    give(dir.as_fd(), like)?;
    Ok(dir)
}

fn make_dir(dir: BorrowedFd<'_>, name: &OsStr, like: &Stat) -> io::Result<()> {
    path::mkdir_new_at(dir, name, 0o755)?;
    give(path::open_dir_beneath(dir, Path::new(name))?.as_fd(), like)
}

/// A directory below, reached through directories only; what is missing is made.
fn within(root: BorrowedFd<'_>, way: &[&str], like: &Stat) -> io::Result<OwnedFd> {
    let mut dir = path::open_dir_beneath(root, Path::new("."))?;
    for name in way {
        match make_dir(dir.as_fd(), OsStr::new(name), like) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        dir = path::open_dir_beneath(dir.as_fd(), Path::new(name))?;
    }
    Ok(dir)
}

fn put(dir: BorrowedFd<'_>, name: &str, contents: &[u8], like: &Stat) -> io::Result<()> {
    let mut file = File::from(path::create_at(dir, Path::new(name), 0o644)?);
    give(file.as_fd(), like)?;
    file.write_all(contents)
}

/// Every run's own directory.
pub(super) fn all(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
