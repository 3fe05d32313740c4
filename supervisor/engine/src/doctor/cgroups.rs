//! Limits on memory, processes and CPU: a group is made for each, and removed.

use glee_sandbox::cgroup::{self, Controller, Place, Request, Tree};

use super::{Check, Draft};
use crate::run_id::run_id;

/// A row for each controller. None of them is required: the report of a run says what is missing.
pub(super) fn all() -> Vec<Check> {
    let facts = cgroup::detect();
    let request = Request {
        run: run_id(),
        memory_mb: Some(64),
        pids: Some(16),
        cpu_millis: Some(1000),
        tree: Tree::Namespace,
    };
    let (group, missing) = cgroup::create(&facts, &request);
    let rows = Controller::ALL.into_iter().map(|controller| {
        let row = match controller {
            Controller::Memory => Draft::new("cgroup memory", "limits.memory_mb; without it a watchdog counts", false),
            Controller::Pids => Draft::new("cgroup pids", "limits.pids; without it RLIMIT_NPROC counts", false),
            Controller::Cpu => Draft::new("cgroup cpu", "limits.cpus; without it nothing bounds them", false),
        };
        match missing.iter().find(|m| m.limit == controller) {
            Some(missing) => row.missing(&missing.reason, missing.reason.help().unwrap_or_default()),
            None => row.there(match facts.place(controller) {
                Place::V1 { .. } => "yes, v1",
                Place::V2 | Place::None { .. } => "yes, v2",
            }),
        }
    });
    let rows = rows.collect();
    // Nothing ever ran in it, so nothing keeps it.
    let _ = group.remove();
    rows
}
