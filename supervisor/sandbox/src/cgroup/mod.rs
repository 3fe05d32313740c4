//! The control groups of a run: memory, pids and cpu limits, and the kill switch of its tree.
//!
//! Touches cgroupfs and a handful of files in /proc. Starts no process, sends no signal, holds no lock.
//! INVARIANT (nothing silent): each requested limit is set in a group or named in the `Missing` list.
//! INVARIANT (limits nest): a group lies directly below the caller's own cgroup, so it never escapes a limit of ours.
//! INVARIANT (nothing left): what a failed step made is removed before `create` returns; `Group` removes the rest.
//!
//! The way in matters: moving a process from outside (`cgroup.procs`) waits for an RCU grace period, 5 to 20 ms on an
//! idle Linux 6.18. `CLONE_INTO_CGROUP` (v2) and [`Entry::enter`] (v1, by the child itself) do not wait.

mod entry;
mod facts;
mod files;
mod group;
mod owner;
mod plan;
mod proc_text;
mod reason;
mod remove;
mod verdict;

#[cfg(test)]
mod facts_tests;
#[cfg(test)]
mod group_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod proc_text_tests;
#[cfg(test)]
mod remove_tests;

pub use entry::Entry;
pub use facts::{Facts, Place, Unified, detect};
pub(crate) use files::read;
pub use group::{Group, create, makes_v2, may_create};
pub(crate) use plan::besides;
pub(crate) use proc_text::unescape;
pub use reason::{Action, Missing, Reason};
pub use remove::{any_left, remove_paths, sweep_stale};
pub use verdict::Verdict;

use serde::Serialize;

/// What else holds a run's processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// A pid namespace, whose end is the end of them all: a group without limits would only cost time.
    Namespace,
    /// Nothing: a v2 group is worth having for `cgroup.kill`, also without limits.
    Loose,
}

/// What the run may use. An absent value asks for no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `[a-z0-9-]`, 1 to 64 characters: it becomes part of a directory's name.
    pub run: String,
    /// In MiB, swap included.
    pub memory_mb: Option<u64>,
    /// Processes and threads together, the run's own pid 1 included.
    pub pids: Option<u64>,
    /// In thousandths of a CPU.
    pub cpu_millis: Option<u64>,
    pub tree: Tree,
}

/// A kernel controller that carries one of our limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Controller {
    Memory,
    Pids,
    Cpu,
}

impl Controller {
    pub const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// The kernel's name for it, in mount options and in `cgroup.controllers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }
}

impl std::fmt::Display for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
