//! `approvals list|show|approve|deny`: what nobody could be asked about when it was asked for.

use std::path::PathBuf;

use glee_engine::store::{Call, State, TaskId, Which};
use glee_engine::tasks::{Desk, Question, Refusal};
use glee_engine::text::{columns, visible};
use serde::Serialize;

use crate::args_tasks::ApprovalsCommand;
use crate::print;
use crate::subagent::{Extent, described, desk, failed, refused};

/// What waits.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Waiting {
    Task {
        /// The process that asked, or the task whose agent did.
        caller: String,
        #[serde(flatten)]
        question: Box<Question>,
    },
    Call(Call),
}

/// Returns the exit status.
pub(crate) fn approvals(command: ApprovalsCommand, project: Option<PathBuf>) -> i32 {
    let json = match &command {
        ApprovalsCommand::List { json } | ApprovalsCommand::Show { json, .. } => *json,
        ApprovalsCommand::Approve { .. } | ApprovalsCommand::Deny { .. } => false,
    };
    let done = desk(project.as_deref()).and_then(|desk| match command {
        ApprovalsCommand::List { json } => list(&desk, json),
        ApprovalsCommand::Show { id, json } => show(&desk, &id, json),
        ApprovalsCommand::Approve { ids } => Ok(each(&ids, "approved", |id| desk.approve(id))),
        ApprovalsCommand::Deny { ids } => Ok(each(&ids, "denied", |id| desk.deny(id))),
    });
    done.unwrap_or_else(|refusal| failed(&refusal, json))
}

/// Everything that waits, and the exit status: 1 if something of it can no longer start.
fn waiting(desk: &Desk) -> Result<(Vec<Waiting>, i32), Refusal> {
    let (mut found, mut status) = (Vec::new(), 0);
    for view in desk.list(Which::In(State::Waiting), u32::MAX)? {
        match desk.question(&view.task_id) {
            Ok(question) => found.push(Waiting::Task {
                caller: view.caller,
                question: Box::new(question),
            }),
            Err(refusal) => {
                print::warning(&format!("`{}` can no longer start: {refusal}", view.task_id), None);
                status = 1;
            }
        }
    }
    found.extend(desk.calls()?.into_iter().map(Waiting::Call));
    Ok((found, status))
}

fn list(desk: &Desk, json: bool) -> Result<i32, Refusal> {
    let (found, status) = waiting(desk)?;
    if json {
        return Ok(print::json(&found, status));
    }
    if found.is_empty() {
        print::note("nothing waits for approval");
    }
    let shown: Vec<String> = found.iter().map(|one| one.text(Extent::Beginning)).collect();
    Ok(print::bytes(shown.join("\n").as_bytes(), status))
}

fn show(desk: &Desk, id: &TaskId, json: bool) -> Result<i32, Refusal> {
    let (found, _) = waiting(desk)?;
    Ok(match found.iter().find(|one| one.id() == Some(id)) {
        Some(one) if json => print::json(one, 0),
        Some(one) => print::bytes(one.text(Extent::Whole).as_bytes(), 0),
        None => {
            let why = format!("nothing waits for approval under `{id}`");
            print::failure(&why, Some("`glee-supervisor approvals list` shows what does"), 1, json)
        }
    })
}

impl Waiting {
    fn id(&self) -> Option<&TaskId> {
        match self {
            Self::Task { question, .. } => question.task_id.as_ref(),
            Self::Call(call) => Some(&call.call_id),
        }
    }

    fn text(&self, extent: Extent) -> String {
        let rest = match self {
            Self::Task { caller, question } => {
                let row = vec!["caller".to_owned(), visible(caller)];
                format!("{}{}", columns(&[row], ""), described(question, extent))
            }
            Self::Call(call) => {
                let arguments = visible(&call.arguments.to_string());
                let rows = [
                    ["tool", &call.tool],
                    ["caller", call.caller.as_str()],
                    ["arguments", &arguments],
                ];
                let rows = rows.map(|row| row.map(str::to_owned).to_vec());
                columns(&rows, "")
            }
        };
        let id = self.id().map(TaskId::as_str).unwrap_or_default();
        format!("{id}\n{rest}")
    }
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
