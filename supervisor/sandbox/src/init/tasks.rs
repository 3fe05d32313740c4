//! The number of processes and threads, where no cgroup counts: the kernel refuses one too many (`RLIMIT_NPROC`) and tells
//! nobody.
//!
//! INVARIANT: this only tells. A look that comes too late misses a limit that was reached for a moment.

use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::tree;
use crate::control::Report;
use crate::plan::SandboxPlan;
use crate::sys::limits::Resource;

/// How often to look while there is room, and while there is little.
const SELDOM: Duration = Duration::from_millis(100);
const OFTEN: Duration = Duration::from_millis(5);

/// What is left of a limit on processes.
#[derive(Debug)]
pub(super) struct Tasks {
    /// `None`: nobody has to look, or it was reached and said.
    limit: Option<u64>,
    pause: Duration,
}

impl Tasks {
    /// The limit that `RLIMIT_NPROC` keeps, if it does.
    pub(super) fn new(plan: &SandboxPlan, unheld: bool) -> Self {
        let kept = plan.rlimits.iter().find(|(resource, _)| *resource == Resource::Nproc);
        Self {
            limit: kept.filter(|_| unheld).map(|(_, limit)| *limit),
            pause: SELDOM,
        }
    }

    /// When to look again, if at all.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.limit.map(|_| self.pause)
    }

    /// Counts, and says if there is no room left. `gone`: were there until just now.
    pub(super) fn look(&mut self, control: BorrowedFd<'_>, gone: u64) {
        let Some(limit) = self.limit else { return };
        // We ourselves count.
        let counted = count().saturating_add(1).saturating_add(gone);
        if counted >= limit {
            self.limit = None;
            // A supervisor that is gone needs no telling.
            let _ = Report::OutOfPids.send(control);
        }
        self.pause = if counted >= limit / 2 { OFTEN } else { SELDOM };
    }
}

/// Threads of every process below us, the dead that nobody has collected included.
fn count() -> u64 {
    let threads = |pid| fs::metadata(format!("/proc/{pid}/task")).map_or(0, |dir| dir.nlink().saturating_sub(2));
    tree::below().into_iter().map(threads).sum()
}
