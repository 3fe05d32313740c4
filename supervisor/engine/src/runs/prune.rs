//! Old reports go, so that the state directory stays bounded. The log keeps what they were.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, SystemTime};

use glee_sandbox::sys::path::{rmdir_at, unlink_at};
use serde::Serialize;

use super::{DIR, StoredRun, all, open_month, started_ms};
use crate::audit::place::{PlaceError, State};
use crate::audit::{Event, LogError, append};

/// What stays: at most so many runs, none older, not more bytes. The newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub runs: usize,
    pub age: Duration,
    pub bytes: u64,
}

impl Keep {
    /// What every run sees to, once in a while (docs/audit.md).
    pub const USUAL: Self = Self {
        runs: 2000,
        age: Duration::from_secs(90 * 86_400),
        bytes: 256 << 20,
    };
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pruned {
    pub removed: usize,
    pub kept: usize,
    /// Every run from this one on is kept.
    pub kept_from: Option<String>,
}

/// Removes the reports of the oldest runs, and says so in the log first.
pub fn prune(state: &State, keep: Keep) -> Result<Pruned, LogError> {
    let runs = all(state)?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let oldest = u64::try_from(now.saturating_sub(keep.age).as_millis()).unwrap_or(u64::MAX);
    let mut bytes: u64 = 0;
    let kept = runs
        .iter()
        .rev()
        .take(keep.runs)
        .take_while(|run| started_ms(&run.id).is_some_and(|at| at >= oldest))
        .take_while(|run| {
            bytes = bytes.saturating_add(length(state, run));
            bytes <= keep.bytes
        })
        .count();
    let (gone, stay) = runs.split_at_checked(runs.len() - kept).unwrap_or((&runs, &[]));
    let kept_from = match (stay.first(), gone.last()) {
        (Some(first), _) => Some(first.id.clone()),
        // Any run after the last that goes.
        (None, Some(last)) => Some(format!("{}~", last.id)),
        (None, None) => None,
    };
    let pruned = Pruned {
        removed: gone.len(),
        kept,
        kept_from,
    };
    if pruned.removed > 0 {
        append(
            state,
            &Event::Pruned {
                removed: pruned.removed,
                kept_from: pruned.kept_from.clone(),
            },
        )?;
    }
    for run in gone {
        remove(state, run)?;
        crate::workspaces::forget(state, &run.id);
    }
    Ok(pruned)
}

fn length(state: &State, run: &StoredRun) -> u64 {
    let path = state.path.join(DIR).join(&run.month).join(format!("{}.json", run.id));
    std::fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}

fn remove(state: &State, run: &StoredRun) -> Result<(), PlaceError> {
    let name = format!("{}.json", run.id);
    let removed = open_month(state, &run.month).and_then(|dir| unlink_at(dir.as_fd(), OsStr::new(&name)));
    match removed {
        // Another run prunes too.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(PlaceError::Io {
                path: state.path.join(DIR).join(&run.month).join(name),
                error,
            });
        }
        Ok(()) | Err(_) => {}
    }
    // Refused unless it is empty.
    let _ = rmdir_at(state.dir.as_fd(), Path::new(DIR).join(&run.month).as_os_str());
    Ok(())
}
