//! Whether somebody approves of a task, and who can be asked.

use std::time::Duration;

use serde::Serialize;

use crate::store::TaskId;

/// How long a task waits for somebody's yes.
pub const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// What is asked: enough to decide on. Texts come from strangers; whoever shows them makes them harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Absent while it is no task yet.
    pub task_id: Option<TaskId>,
    pub description: String,
    pub agent: Option<String>,
    pub cli: String,
    /// What is run in the sandbox.
    pub command: Vec<String>,
    /// The policy's name, and each of its clauses.
    pub policy: String,
    pub clauses: Vec<String>,
    pub timeout_ms: u64,
    /// The beginning of the prompt.
    pub prompt_head: String,
    pub prompt_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Nobody could be asked after all: it goes to the queue of approvals.
    Nobody,
}

/// Who can be asked.
pub enum Asker<'a> {
    /// Somebody, now: at a terminal, or by way of an MCP client.
    Now(&'a mut dyn FnMut(&Question) -> Answer),
    /// Somebody, later: `approvals list|approve|deny`.
    Later,
    /// Nobody: what needs approval is refused.
    Nobody,
}

impl std::fmt::Debug for Asker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now",
            Self::Later => "Later",
            Self::Nobody => "Nobody",
        })
    }
}
