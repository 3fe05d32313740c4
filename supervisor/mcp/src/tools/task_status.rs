//! `glee_task_status`: how a task stands, without waiting.

use serde::Deserialize;
use serde_json::{Value, json};

use super::task_view::{id, id_schema, view_schema};
use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_task_status",
    title: "Status of a task",
    description: "Says how a task stands and what its agent is doing, without waiting.",
    effect: Effect::Reads,
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
    let view = apart(move || desk.status(&id)).await??;
    Ok(answer::data(&view)?.into())
}
