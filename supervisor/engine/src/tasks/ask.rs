//! Whether somebody approves of a task, and who can be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::brief::{Brief, Plan};
use crate::clauses::{Clause, clauses};
use crate::context::assemble::MOST_TOLD;
use crate::context::cut::{Keep, cut};
use crate::context::told::Told;
use crate::definitions::Cli;
use crate::sessions::SessionId;
use crate::store::TaskId;

/// How long a task waits for somebody's yes.
pub const PATIENCE: Duration = Duration::from_secs(60 * 60);
/// The part of a prompt that lists show.
const HEAD: usize = 1200;

/// What is asked: enough to decide on. Texts come from strangers; whoever shows them makes them harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Absent while it is no task yet.
    pub task_id: Option<TaskId>,
    /// The task whose agent asks for it; absent if no agent does.
    pub parent: Option<TaskId>,
    pub description: String,
    pub agent: Option<String>,
    pub cli: String,
    /// What is run in the sandbox.
    pub command: Vec<String>,
    /// The policy's name, and each of its clauses.
    pub policy: String,
    pub clauses: Vec<String>,
    pub timeout_ms: u64,
    /// The conversation that it goes on with.
    pub session_id: Option<SessionId>,
    /// What is filled in in the agent's own prompt.
    pub inputs: BTreeMap<String, String>,
    /// Everything that the caller tells it.
    pub prompt: String,
    /// The beginning of that.
    pub prompt_head: String,
    pub prompt_bytes: usize,
}

impl Question {
    /// What somebody is asked about a task, before it is one or after.
    pub(super) fn about(task_id: Option<TaskId>, brief: &Brief, told: &[Told], cli: Cli, plan: &Plan) -> Self {
        let mut prompt = brief.request.prompt.clone();
        for told in told {
            prompt.push_str(&format!("\n\n{}", cut(&told.text, MOST_TOLD, Keep::Start)));
        }
        let end = prompt.floor_char_boundary(HEAD);
        let clause = |clause: Clause| format!("{}: {}", clause.key, clause.here.unwrap_or(clause.value));
        Self {
            task_id,
            parent: brief.request.parent.clone(),
            description: brief.request.title(),
            agent: brief.request.agent.as_ref().map(ToString::to_string),
            cli: cli.word().to_owned(),
            command: plan.command(cli, None).0,
            policy: plan.policy.name.clone(),
            clauses: clauses(&plan.policy).into_iter().map(clause).collect(),
            timeout_ms: u64::try_from(plan.bounds.timeout.as_millis()).unwrap_or(u64::MAX),
            session_id: brief.request.session.clone(),
            inputs: brief.request.inputs.clone(),
            prompt_head: prompt.get(..end).unwrap_or_default().to_owned(),
            prompt_bytes: prompt.len(),
            prompt,
        }
    }
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
