//! The end of a worktree: removed if it holds nothing, kept if it does.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use glee_sandbox::launch;
use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path;
use serde::{Deserialize, Serialize};

use super::aside::Errand;
use super::make::{BACK, LOCK, PLOT, READY, all, back_pointer};
use super::{Plot, is_object_id, remove};
use crate::folder::Folder;
use crate::run_id::is_run_id;
use crate::workspaces::PathBytes;

/// What became of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    Removed,
    Kept {
        commits: u64,
        /// Is there work in it that is in no commit?
        uncommitted: bool,
        /// Of repositories in the worktree, which whoever takes the work with git would enter: renamed, by the old name. Empty
        /// for the worktree itself stands for more than are told.
        aside: Vec<PathBytes>,
        /// Some could not be renamed, or not all of the worktree was looked at.
        armed: bool,
    },
}

/// More bytes of names than these are not told: the answer must fit into one message, however they are written.
const TOLD: usize = 700;
/// A description is short.
const LONGEST: usize = 1 << 16;

/// Decides and acts. Everything of the run must be over.
pub(super) fn finish(plot: &Plot) -> Ended {
    let mut ended = judge(plot);
    match &mut ended {
        Ended::Removed => remove::all(plot),
        Ended::Kept { aside, armed, .. } => {
            // All of it is the command's.
            let (renamed, left) = launch::nested(&plot.tree());
            *aside = told(&plot.tree(), &renamed);
            *armed = !left.is_empty();
            remove::scaffold(plot);
        }
    }
    ended
}

fn told(tree: &Path, paths: &[PathBuf]) -> Vec<PathBytes> {
    let mut left = TOLD;
    let mut told: Vec<PathBytes> = Vec::new();
    for path in paths.iter().map(|path| path.strip_prefix(tree).unwrap_or(path)) {
        match left.checked_sub(path.as_os_str().len() + 8) {
            Some(rest) => left = rest,
            None => {
                told.push(Path::new("").into());
                break;
            }
        }
        told.push(path.into());
    }
    told
}

/// In doubt it is kept.
fn judge(plot: &Plot) -> Ended {
    let tree = plot.tree();
    if !is_ready(plot) {
        return Ended::Removed;
    }
    let script = "set -e; git rev-list --count \"$1..HEAD\"; git rev-list --count \"$1..refs/heads/$2\"
         git status --porcelain -unormal | head -n 1; echo end";
    let kept = |commits, uncommitted| Ended::Kept {
        commits,
        uncommitted,
        aside: Vec::new(),
        armed: false,
    };
    let unknown = kept(0, true);
    // A link in its place was made by somebody else, and leads to something else.
    if path::open_dir_exact(&tree).is_err() {
        return unknown;
    }
    let done = Errand::shell("restricted", &tree, script, &[&plot.base, &plot.branch()]);
    let done = done.looks().run();
    let Ok(done) = done else { return unknown };
    let lines: Vec<&str> = done.stdout.lines().collect();
    let (commits, uncommitted) = match (done.status, lines.as_slice()) {
        (0, [here, there, "end"]) => (most(here, there), false),
        (0, [here, there, _, "end"]) => (most(here, there), true),
        _ => return unknown,
    };
    match (commits, uncommitted) {
        (0, false) => Ended::Removed,
        (commits, uncommitted) => kept(commits, uncommitted),
    }
}

fn most(here: &str, there: &str) -> u64 {
    // What cannot be read is something.
    let number = |text: &str| text.trim().parse().unwrap_or(1);
    number(here).max(number(there))
}

fn is_ready(plot: &Plot) -> bool {
    plot.known.as_path().join(READY).exists()
}

/// Sees to the worktrees of supervisors that died together with their stewards. `places`: where they lie, and where it is
/// said what they are.
pub(super) fn sweep(places: &[PathBuf; 2]) {
    let [parent, known] = places;
    // Unless somebody is at it.
    let Some(folder) = known.is_dir().then(|| Folder::of_user(known).ok()).flatten() else {
        return;
    };
    let Ok(held) = folder.lock() else { return };
    for own in all(parent) {
        // Its tree was taken away by its owner. Refused for any that is not empty.
        let _ = fs::remove_dir(&own);
    }
    let mut left = Vec::new();
    for at in all(known) {
        let lock = path::open_dir_exact(&at).and_then(|_| path::open_read_write(&at.join(LOCK)));
        let Ok(lock) = lock.and_then(|lock| flock(lock.as_fd(), Lock::TryExclusive).map(|()| lock)) else {
            continue;
        };
        match described(places, &at) {
            Some(plot) if is_of_its_repository(&plot) => left.push((plot, lock)),
            // The repository is elsewhere, or is another one: what lies in the worktree is its owner's.
            Some(plot) if is_ready(&plot) => remove::scaffold(&plot),
            Some(plot) => remove::half_made(&[plot.own.as_path(), &at]),
            // Not yet described: nothing was made but this.
            None => remove::half_made(&[&at]),
        }
    }
    drop(held);
    for (plot, _lock) in &left {
        finish(plot);
    }
}

/// What is said of a worktree, if it could have been said by us.
fn described([parent, known]: &[PathBuf; 2], at: &Path) -> Option<Plot> {
    let text = path::read_file(&at.join(PLOT), LONGEST).ok()?;
    let plot = serde_json::from_slice::<Plot>(&text).ok()?;
    let id = &plot.run_id;
    let is_ours = is_run_id(id)
        && is_object_id(&plot.base)
        && at == known.join(id)
        && plot.known.as_path() == at
        && plot.own.as_path() == parent.join(id);
    is_ours.then_some(plot)
}

/// Does the repository point to the worktree, and is there one?
fn is_of_its_repository(plot: &Plot) -> bool {
    let way = Path::new("worktrees").join(&plot.run_id);
    let back = path::open_dir_exact(plot.common.as_path())
        .and_then(|root| path::open_dir_beneath(root.as_fd(), &way))
        .and_then(|dir| path::read_at(dir.as_fd(), OsStr::new(BACK), LONGEST));
    back.is_ok_and(|back| back == back_pointer(plot)) && path::open_dir_exact(&plot.tree()).is_ok()
}
