//! `approvals list|approve|deny`: what nobody could be asked about when it was asked for.

use std::path::PathBuf;

use glee_engine::store::{State, TaskId, Which};
use glee_engine::tasks::{Desk, Question, Refusal};
use glee_engine::text::{columns, visible};

use crate::args_tasks::ApprovalsCommand;
use crate::print;
use crate::subagent::{described, desk, refused};

/// Returns the exit status.
pub(crate) fn approvals(command: ApprovalsCommand, project: Option<PathBuf>) -> i32 {
    let done = desk(project.as_deref()).and_then(|desk| match command {
        ApprovalsCommand::List { json } => list(&desk, json),
        ApprovalsCommand::Approve { ids } => Ok(each(&ids, "approved", |id| desk.approve(id))),
        ApprovalsCommand::Deny { ids } => Ok(each(&ids, "denied", |id| desk.deny(id))),
    });
    done.unwrap_or_else(|refusal| refused(&refusal))
}

fn list(desk: &Desk, json: bool) -> Result<i32, Refusal> {
    let waiting = desk.list(Which::In(State::Waiting), u32::MAX)?;
    let mut status = 0;
    let mut questions: Vec<Question> = Vec::new();
    for view in waiting {
        match desk.question(&view.task_id) {
            Ok(question) => questions.push(question),
            Err(refusal) => {
                print::warning(&format!("`{}` can no longer start: {refusal}", view.task_id), None);
                status = 1;
            }
        }
    }
    let calls = desk.calls()?;
    if json {
        let tasks = questions.iter().map(serde_json::to_value);
        let all: Result<Vec<_>, _> = tasks.chain(calls.iter().map(serde_json::to_value)).collect();
        return Ok(print::json(&all.unwrap_or_default(), status));
    }
    if questions.is_empty() && calls.is_empty() {
        print::note("nothing waits for approval");
    }
    let shown = questions.iter().map(|question| {
        let id = question.task_id.as_ref().map(ToString::to_string);
        format!("{}\n{}", id.unwrap_or_default(), described(question))
    });
    let calls = calls.iter().map(|call| {
        let arguments = visible(&call.arguments.to_string());
        let rows = [
            ["tool", &call.tool],
            ["caller", call.caller.as_str()],
            ["arguments", &arguments],
        ];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        format!("{}\n{}", call.call_id, columns(&rows, ""))
    });
    let shown = shown.chain(calls);
    Ok(print::bytes(shown.collect::<Vec<_>>().join("\n").as_bytes(), status))
}

fn each(ids: &[TaskId], done: &str, act: impl Fn(&TaskId) -> Result<(), Refusal>) -> i32 {
    let mut status = 0;
    for id in ids {
        match act(id) {
            Ok(()) => print::note(&format!("{done} `{id}`")),
            Err(refusal) => status = refused(&refusal),
        }
    }
    status
}
