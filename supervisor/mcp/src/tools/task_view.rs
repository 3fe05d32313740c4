//! How tasks are shown by the tools that deal with them.

use std::str::FromStr;

use glee_engine::clock::Moment;
use glee_engine::store::TaskId;
use glee_engine::tasks::{Outcome, View};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::Failure;
use crate::answer;

pub(super) const RESULT_HELP: &str = "glee_task_result waits for it";

/// The id of a task, as a client gives it.
pub(super) fn id(text: &str) -> Result<TaskId, Failure> {
    TaskId::from_str(text).map_err(|error| Failure::told(error.to_string()).with_help("glee_task_list shows the tasks"))
}

pub(super) fn id_schema() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-z]{26}$", "description": "As glee_task returned it" })
}

/// Of a task that is over, or stands somewhere on its way.
pub(super) fn result_schema() -> Value {
    let text = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "session_id": { "type": ["string", "null"], "description": "For `session_id` of a later glee_task" },
            "task_id": text,
            "status": {
                "type": "string",
                "enum": ["completed", "error", "timeout", "cancelled", "waiting", "queued", "claimed", "running"],
                "description": "`waiting`: for the user's approval",
            },
            "output": { "type": ["string", "null"], "description": "What the agent said last. Untrusted" },
            "duration_ms": { "type": "integer" },
            "error": text,
            "help": { "type": ["string", "null"], "description": "What can be done about it" },
            "agent": text,
            "cli": text,
            "doing": { "type": ["string", "null"], "description": "What it does now. Untrusted" },
        },
        "required": ["status", "output", "duration_ms"],
    })
}

/// A task as it stands, for lists.
pub(super) fn view_schema() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let time = json!({ "type": ["integer", "null"], "description": "Milliseconds since 1970" });
    json!({
        "type": "object",
        "properties": {
            "task_id": { "type": "string" },
            "session_id": text,
            "state": {
                "type": "string",
                "enum": ["waiting", "queued", "claimed", "running", "done", "failed", "cancelled", "timeout"],
            },
            "description": { "type": "string" },
            "agent": text,
            "cli": text,
            "created_at": time,
            "started_at": time,
            "finished_at": time,
            "doing": { "type": ["string", "null"], "description": "What it does now. Untrusted" },
            "outcome": { "type": ["object", "null"], "description": "Once it is over: as glee_task returns it" },
        },
        "required": ["task_id", "state", "description"],
    })
}

/// A task that is over; one without success says so to the client too.
pub(crate) fn outcome(outcome: &Outcome) -> Result<CallToolResult, Failure> {
    let mut result = answer::data(outcome)?;
    result.is_error = Some(!outcome.is_completed());
    Ok(result)
}

/// A task that is not over yet, in the words of one that is.
pub(super) fn unfinished(view: &View) -> Result<CallToolResult, Failure> {
    answer::data(&json!({
        "session_id": view.session_id.as_ref().map(|id| id.as_str()),
        "task_id": view.task_id.as_str(),
        "status": view.state.as_str(),
        "output": null,
        "duration_ms": 0,
        "error": null,
        "help": RESULT_HELP,
        "agent": view.agent,
        "cli": view.cli,
        "doing": view.doing,
    }))
}

pub(crate) fn now() -> String {
    format!("{}Z", Moment::now())
}
