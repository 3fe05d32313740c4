//! `glee_task_result`: waits for the end of a task, as long as the caller likes to.

use std::time::{Duration, Instant};

use glee_engine::tasks::Waited;
use serde::Deserialize;
use serde_json::{Value, json};

use super::task_view::{id, id_schema, outcome, result_schema, unfinished};
use super::{Call, Effect, Entry, Failure, object};
use crate::server::Server;
use crate::work::{self, Waiter};

const USUAL_MS: u64 = 30_000;
const MOST_MS: u64 = 3_600_000;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_task_result",
    title: "Result of a task",
    description: "Waits until a task is over and returns what came of it. After `wait_ms` it returns how the task \
        stands; call it again to go on waiting.",
    effect: Effect::Reads,
    input,
    output: result_schema,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    let wait = json!({ "type": "integer", "minimum": 0, "maximum": MOST_MS, "description": "30000 if absent" });
    object(json!({ "task_id": id_schema(), "wait_ms": wait }), &["task_id"])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    task_id: String,
    wait_ms: Option<u64>,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    let id = id(&asked.task_id)?;
    let wait = asked.wait_ms.unwrap_or(USUAL_MS);
    if wait > MOST_MS {
        return Err(Failure::told(format!("`wait_ms` must be at most {MOST_MS}")));
    }
    let until = Instant::now() + Duration::from_millis(wait);
    match work::wait(&server, &call.context, id, Some(until), Waiter::Other).await? {
        Waited::Over(over) => outcome(&over).map(Into::into),
        Waited::NotYet(view) => unfinished(&view).map(Into::into),
    }
}
