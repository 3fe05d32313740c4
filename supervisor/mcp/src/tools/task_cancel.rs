//! `glee_task_cancel`: ends a task and those that it asked for.

use serde::Deserialize;
use serde_json::{Value, json};

use super::task_view::{id, id_schema, view_schema};
use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_task_cancel",
    title: "Cancel a task",
    description: "Ends a task, and those that it asked for. One that runs is ended within seconds; \
        glee_task_result waits for it.",
    effect: Effect::Runs,
    input,
    output: view_schema,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    object(json!({ "task_id": id_schema() }), &["task_id"])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    task_id: String,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    let id = id(&asked.task_id)?;
    let desk = server.desk().await?;
    let cancel = move || {
        desk.cancel(&id)?;
        desk.status(&id)
    };
    let view = apart(cancel).await??;
    Ok(answer::data(&view)?.into())
}
