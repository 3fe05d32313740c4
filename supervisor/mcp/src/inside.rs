//! What a server offers to an agent in the sandbox, whose task it serves.
//!
//! INVARIANT: by name, so that a new tool is not offered before somebody has thought about it; and nothing that writes.

use glee_engine::project::Scene;
use glee_engine::store::TaskId;
use glee_engine::tasks::{Desk, Refusal};
use rmcp::ErrorData;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::answer::Failure;
use crate::tools::Entry;

/// What only looks.
const LOOKS: [&str; 3] = ["glee_agents_list", "glee_memory_search", "glee_policy_explain"];
/// What starts agents, and deals with those that were started.
const STARTS: [&str; 5] = [
    "glee_task",
    "glee_task_status",
    "glee_task_result",
    "glee_task_cancel",
    "glee_task_list",
];

/// Calls of what does not wait for long that are worked on at once.
const TURNS: usize = 4;

/// The task whose agent speaks, and what it may ask for.
#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) task: TaskId,
    /// Why it may not start agents.
    refused: Option<Refusal>,
    turns: Semaphore,
}

impl Inside {
    pub(crate) fn new(scene: &Scene, task: TaskId) -> Self {
        // What cannot be found out is a no, too.
        let refused = Desk::nests(scene, &task).err();
        Self {
            task,
            refused,
            turns: Semaphore::new(TURNS),
        }
    }

    /// A turn for a call, when there is one.
    pub(crate) async fn turn(&self, entry: &Entry) -> Option<SemaphorePermit<'_>> {
        match entry.waits() {
            true => None,
            false => self.turns.acquire().await.ok(),
        }
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        LOOKS.contains(&tool) || (STARTS.contains(&tool) && self.refused.is_none())
    }

    /// What is said to who calls a tool that is not offered.
    pub(crate) fn refusal(&self, tool: &str) -> Failure {
        match (&self.refused, STARTS.contains(&tool)) {
            (Some(refusal), true) => {
                let told = Failure::told(format!("nested spawn refused: {refusal}"));
                match refusal.help() {
                    Some(help) => told.with_help(help),
                    None => told,
                }
            }
            (Some(_) | None, _) => Failure::told("this tool is not offered inside a sandbox"),
        }
    }

    /// The protocol's own tasks are those of `glee_task`.
    pub(crate) fn task_refusal(&self) -> Result<(), ErrorData> {
        match &self.refused {
            None => Ok(()),
            Some(refusal) => Err(ErrorData::invalid_params(
                format!("nested spawn refused: {refusal}"),
                None,
            )),
        }
    }
}
