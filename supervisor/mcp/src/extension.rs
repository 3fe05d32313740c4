//! The protocol's own tasks, for clients that declare them: the same tasks under the same ids.

use std::str::FromStr;

use glee_engine::clock::Moment;
use glee_engine::store::{Millis, State, TaskId};
use glee_engine::tasks::View;
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, GetTaskResult, Task, TaskPayload, TaskStatus};
use serde_json::Value;

use crate::answer::Failure;
use crate::server::Server;
use crate::tools::{apart, outcome_of};

/// How often a client should look.
pub(crate) const POLL_MS: u64 = 1000;

fn id(text: &str) -> Result<TaskId, ErrorData> {
    TaskId::from_str(text).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// What the engine refuses here is a mistake in the parameters.
fn refused(failure: Failure) -> ErrorData {
    match failure {
        Failure::Told { message, .. } => ErrorData::invalid_params(message, None),
        Failure::Broken(error) => error,
    }
}

pub(crate) async fn get(server: &Server, task_id: &str) -> Result<GetTaskResult, ErrorData> {
    let id = id(task_id)?;
    let look = async {
        let desk = server.desk().await?;
        let view = apart(move || desk.status(&id)).await??;
        detailed(&view)
    };
    look.await.map(GetTaskResult::new).map_err(refused)
}

pub(crate) async fn cancel(server: &Server, task_id: &str) -> Result<(), ErrorData> {
    let id = id(task_id)?;
    let cancel = async {
        let desk = server.desk().await?;
        apart(move || desk.cancel(&id)).await?.map(drop).map_err(Failure::from)
    };
    cancel.await.map_err(refused)
}

fn detailed(view: &View) -> Result<DetailedTask, Failure> {
    let payload = match (view.state, &view.outcome) {
        (State::Cancelled, _) => TaskPayload::Cancelled,
        (State::Done | State::Failed | State::Timeout, Some(outcome)) => {
            let result = serde_json::to_value(outcome_of(outcome)?);
            match result {
                Ok(Value::Object(result)) => TaskPayload::Completed { result },
                Ok(_) | Err(_) => return Err(Failure::internal("the result cannot be written")),
            }
        }
        (State::Done | State::Failed | State::Timeout, None) => return Err(Failure::internal("the result is missing")),
        (State::Waiting | State::Queued | State::Claimed | State::Running, _) => TaskPayload::Working,
    };
    let last = view.finished_at.or(view.started_at).unwrap_or(view.created_at);
    let message = match (view.state, &view.doing) {
        (State::Waiting, _) => "it waits for the user's approval: `glee-supervisor approvals list`".to_owned(),
        (_, Some(doing)) => glee_engine::text::visible(doing),
        (state, None) => state.as_str().to_owned(),
    };
    let task = Task::new(
        view.task_id.as_str(),
        TaskStatus::Working,
        time(view.created_at),
        time(last),
    )
    .with_status_message(message)
    .with_poll_interval_ms(POLL_MS);
    Ok(DetailedTask::new(task, payload))
}

fn time(at: Millis) -> String {
    format!("{}Z", Moment::from_seconds(at.0 / 1000))
}
