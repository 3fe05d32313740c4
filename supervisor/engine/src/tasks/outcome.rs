//! What came of a task, as callers are told and as the store keeps it.
//!
//! Pure data. The keys are those of the documents; more are only ever added.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verdict::Status;
use crate::sessions::SessionId;
use crate::store::{Ending, State, Task, TaskId};

/// The documented words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Completed,
    Error,
    Timeout,
    Cancelled,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub session_id: Option<SessionId>,
    pub status: Word,
    /// What the agent said last; absent if it said nothing.
    pub output: Option<String>,
    pub duration_ms: u64,
    pub error: Option<String>,
    /// What the user can do about an error.
    pub help: Option<String>,
    /// The agent's name, or the CLI's if no agent was named.
    pub agent: Option<String>,
    pub cli: Option<String>,
    /// Absent if it was refused before it became a task.
    pub task_id: Option<TaskId>,
    #[serde(flatten)]
    pub facts: Facts,
}

/// What is known of the run besides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Of its report: `runs show ID`. Absent if nothing ran.
    pub run_id: Option<String>,
    /// Was the whole of the output kept?
    pub output_whole: Option<bool>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Tools that the agent called.
    pub tool_calls: u64,
    /// What the sandbox refused it.
    pub denials: u64,
    pub changed_files: u64,
    /// How the session went on: `native` or `replayed`. Absent for a new one.
    pub resumed: Option<String>,
}

impl Outcome {
    /// Of something that was refused before it became a task.
    #[must_use]
    pub fn refused(agent: Option<String>, error: String, help: Option<String>) -> Self {
        Self {
            session_id: None,
            status: Word::Error,
            output: None,
            duration_ms: 0,
            error: Some(error),
            help,
            cli: None,
            agent,
            task_id: None,
            facts: Facts::default(),
        }
    }

    /// Of a task that is over; `None` while it is not.
    #[must_use]
    pub fn of(task: &Task) -> Option<Self> {
        let (status, why) = match task.state {
            State::Waiting | State::Queued | State::Claimed | State::Running => return None,
            State::Done => (Word::Completed, None),
            State::Failed => (Word::Error, Some("it failed")),
            State::Cancelled => (Word::Cancelled, Some("it was cancelled")),
            State::Timeout => (Word::Timeout, Some("it took too long")),
        };
        let ran = task.started_at.zip(task.finished_at);
        let kept: Kept = task.result.clone().map(Kept::read).unwrap_or_default();
        Some(Self {
            session_id: task.session.clone(),
            // What the state says counts: the rest only tells more.
            status,
            output: kept.output,
            duration_ms: ran.map_or(0, |(start, end)| end.0.saturating_sub(start.0)),
            error: why.map(|why| kept.error.unwrap_or_else(|| why.to_owned())),
            help: kept.help,
            agent: task.agent.as_ref().or(task.cli.as_ref()).map(ToString::to_string),
            cli: task.cli.as_ref().map(ToString::to_string),
            task_id: Some(task.id.clone()),
            facts: kept.facts,
        })
    }

    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.status == Word::Completed
    }
}

/// The part of an outcome that is stored with the task; the rest is in its other columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
    pub(super) help: Option<String>,
    #[serde(flatten)]
    pub(super) facts: Facts,
}

impl Kept {
    /// What cannot be read says nothing: the state of the task still does.
    fn read(value: Value) -> Self {
        serde_json::from_value(value).unwrap_or_default()
    }

    pub(super) fn json(&self) -> Value {
        // Strings, numbers and lists of them: serialising them cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(super) fn failed(error: String, help: Option<String>) -> Self {
        Self {
            error: Some(error),
            help,
            ..Self::default()
        }
    }
}

/// The end of a task by what is known of it, and the words for it.
#[must_use]
pub fn ending(status: &Status) -> (Ending, Option<String>) {
    match status {
        Status::Completed => (Ending::Done, None),
        Status::Error(why) => (Ending::Failed, Some(why.clone())),
        Status::Timeout => (Ending::Timeout, Some("the time limit was reached".to_owned())),
        Status::Cancelled => (Ending::Cancelled, Some("it was cancelled".to_owned())),
    }
}

/// A failed one of several tasks, as documented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Indexed {
    pub task_index: usize,
    #[serde(flatten)]
    pub outcome: Outcome,
}
