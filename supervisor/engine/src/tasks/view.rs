//! A task as callers are shown it.

use serde::Serialize;

use super::brief::Brief;
use super::outcome::Outcome;
use super::refusal::Refusal;
use crate::context::cut::{Keep, cut};
use crate::sessions::SessionId;
use crate::store::{Millis, State, Store, Task, TaskId};

/// What a list shows of a text.
const MOST_HEAD: usize = 500;

/// A task as it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    pub task_id: TaskId,
    pub session_id: Option<SessionId>,
    pub state: State,
    pub description: String,
    pub agent: Option<String>,
    pub cli: Option<String>,
    pub caller: String,
    pub parent: Option<TaskId>,
    pub depth: u32,
    pub created_at: Millis,
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    pub cancel_asked: bool,
    /// What it is doing now.
    pub doing: Option<String>,
    /// Once it is over.
    pub outcome: Option<Outcome>,
}

/// For lists: of what the agent said only the beginning.
pub(super) fn head(task: Task, store: &Store) -> Result<View, Refusal> {
    let mut view = view(task, store)?;
    if let Some(outcome) = &mut view.outcome {
        for text in [&mut outcome.output, &mut outcome.error].into_iter().flatten() {
            *text = cut(text, MOST_HEAD, Keep::Start).into_owned();
        }
    }
    Ok(view)
}

pub(super) fn view(task: Task, store: &Store) -> Result<View, Refusal> {
    let outcome = Outcome::of(&task);
    let doing = match task.state {
        State::Running => store.doing(&task.id)?.map(|(_, text)| text),
        State::Waiting | State::Queued | State::Claimed => None,
        State::Done | State::Failed | State::Cancelled | State::Timeout => None,
    };
    let title = Brief::read(&task.request).map(|brief| brief.request.title());
    Ok(View {
        description: title.unwrap_or_default(),
        task_id: task.id,
        session_id: task.session,
        state: task.state,
        agent: task.agent.map(String::from),
        cli: task.cli.map(String::from),
        caller: task.caller.into(),
        parent: task.parent,
        depth: task.depth,
        created_at: task.created_at,
        started_at: task.started_at,
        finished_at: task.finished_at,
        cancel_asked: task.cancel_asked,
        doing,
        outcome,
    })
}
