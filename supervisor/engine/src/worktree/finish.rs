//! The end of a worktree: removed if it holds nothing, kept if it does.

use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path;
use serde::{Deserialize, Serialize};

use super::aside::Errand;
use super::make::{LOCK, PLOT, READY, all};
use super::{Plot, remove};
use crate::folder::Folder;

/// What became of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    Removed,
    Kept {
        commits: u64,
        /// Is there work in it that is in no commit?
        uncommitted: bool,
    },
}

/// A description is short.
const LONGEST: usize = 1 << 16;

/// Decides and acts. Everything of the run must be over.
pub(super) fn finish(plot: &Plot) -> Ended {
    let ended = judge(plot);
    match ended {
        Ended::Removed => remove::all(plot),
        Ended::Kept { .. } => remove::scaffold(plot),
    }
    ended
}

/// In doubt it is kept.
fn judge(plot: &Plot) -> Ended {
    let tree = plot.tree();
    let (base, branch) = (&plot.base, plot.branch());
    if !plot.own.as_path().join(READY).exists() {
        return Ended::Removed;
    }
    let script = format!(
        "set -e; git rev-list --count {base}..HEAD; git rev-list --count {base}..refs/heads/{branch}
         git status --porcelain -unormal | head -n 1; echo end"
    );
    let done = Errand::shell("restricted", &tree, &script).run();
    let unknown = Ended::Kept {
        commits: 0,
        uncommitted: true,
    };
    let Ok(done) = done else { return unknown };
    let lines: Vec<&str> = done.stdout.lines().collect();
    let (commits, uncommitted) = match (done.status, lines.as_slice()) {
        (0, [here, there, "end"]) => (most(here, there), false),
        (0, [here, there, _, "end"]) => (most(here, there), true),
        _ => return unknown,
    };
    match (commits, uncommitted) {
        (0, false) => Ended::Removed,
        (commits, uncommitted) => Ended::Kept { commits, uncommitted },
    }
}

fn most(here: &str, there: &str) -> u64 {
    // What cannot be read is something.
    let number = |text: &str| text.trim().parse().unwrap_or(1);
    number(here).max(number(there))
}

/// Sees to the worktrees of supervisors that died together with their stewards.
pub(super) fn sweep(parent: &Path) {
    // Unless somebody is at it.
    let Some(folder) = parent.is_dir().then(|| Folder::of_user(parent).ok()).flatten() else {
        return;
    };
    let Ok(held) = folder.lock() else { return };
    let mut left = Vec::new();
    for own in all(parent) {
        // Its tree was taken away by its owner. Refused for any that is not empty.
        if fs::remove_dir(&own).is_ok() {
            continue;
        }
        let lock = path::open_read_write(&own.join(LOCK));
        let Ok(lock) = lock.and_then(|lock| flock(lock.as_fd(), Lock::TryExclusive).map(|()| lock)) else {
            continue;
        };
        let text = path::read_file(&own.join(PLOT), LONGEST).unwrap_or_default();
        match serde_json::from_slice::<Plot>(&text) {
            Ok(plot) if plot.own.as_path() == own => left.push((plot, lock)),
            // Not yet described: nothing was made but this.
            Ok(_) | Err(_) => remove::half_made(&own),
        }
    }
    drop(held);
    for (plot, _lock) in &left {
        finish(plot);
    }
}
