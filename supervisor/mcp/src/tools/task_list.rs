//! `glee_task_list`: the project's tasks, the newest first.

use glee_engine::store::{State, Which};
use glee_engine::tasks::View;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::task_view::view_schema;
use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

const USUAL: u32 = 20;
const MOST: u32 = 100;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_task_list",
    title: "List tasks",
    description: "Lists the project's tasks, the newest first: what each is about, how it stands, what came of it.",
    effect: Effect::Reads,
    input,
    output,
    call: |server, call| Box::pin(run(server, call)),
};

fn words() -> Vec<&'static str> {
    State::ALL.into_iter().map(State::as_str).collect()
}

fn input() -> Value {
    object(
        json!({
            "state": { "type": "string", "enum": words(), "description": "Only those" },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "description": "20 if absent" },
        }),
        &[],
    )
}

fn output() -> Value {
    object(
        json!({ "tasks": { "type": "array", "items": view_schema() } }),
        &["tasks"],
    )
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    state: Option<String>,
    limit: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Tasks {
    tasks: Vec<View>,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    let limit = asked.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Failure::told(format!("`limit` must be from 1 to {MOST}")));
    }
    let state = match asked.state.as_deref() {
        None => None,
        Some(word) => {
            let known = State::ALL.into_iter().find(|state| state.as_str() == word);
            let unknown = || Failure::told(format!("`state` must be one of {}", words().join(", ")));
            Some(known.ok_or_else(unknown)?)
        }
    };
    let desk = server.desk().await?;
    let tasks = apart(move || desk.list(Which::of(state), limit)).await??;
    Ok(answer::data(&Tasks { tasks })?.into())
}
