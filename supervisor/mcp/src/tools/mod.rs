//! The tools, one file each: what the client is shown, and the command of the engine behind it.
//!
//! INVARIANT: arguments are read strictly. A name that a tool does not know is refused, never passed over.

mod agent_create;
mod agents_list;
mod memory_add;
mod memory_search;
mod policy_explain;
mod task;
mod task_cancel;
mod task_list;
mod task_result;
mod task_status;
mod task_view;
mod workflow;
mod workflow_create;
mod workflow_status;
mod workflow_view;

use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answer::Failure;
use crate::server::Server;

pub(crate) use task_view::outcome as outcome_of;

/// What calling a tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only looks.
    Reads,
    /// It adds to what the project keeps.
    Adds,
    /// It starts agents, or ends them.
    Runs,
}

/// What may wait for long, and does little meanwhile.
const WAITS: [&str; 3] = ["glee_task", "glee_task_result", "glee_workflow"];

/// A tool: how it is shown, and what it does.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(crate) effect: Effect,
    input: fn() -> Value,
    output: fn() -> Value,
    pub(crate) call: fn(Server, Call) -> Pending,
}

pub(crate) type Pending = Pin<Box<dyn Future<Output = Result<CallToolResponse, Failure>> + Send>>;

/// One call, with everything that the client said.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) params: CallToolRequestParams,
    pub(crate) context: RequestContext<RoleServer>,
}

pub(crate) const ALL: &[&Entry] = &[
    &task::ENTRY,
    &task_status::ENTRY,
    &task_result::ENTRY,
    &task_cancel::ENTRY,
    &task_list::ENTRY,
    &agents_list::ENTRY,
    &agent_create::ENTRY,
    &memory_add::ENTRY,
    &memory_search::ENTRY,
    &policy_explain::ENTRY,
    &workflow::ENTRY,
    &workflow_status::ENTRY,
    &workflow_create::ENTRY,
];

impl Entry {
    pub(crate) fn waits(&self) -> bool {
        WAITS.contains(&self.name)
    }

    pub(crate) fn tool(&self) -> Tool {
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(false)
            .open_world(self.effect == Effect::Runs);
        Tool::new(self.name, self.description, schema((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(schema((self.output)()))
            .with_annotations(hints)
    }
}

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    })
}

/// The schema of an object with exactly these properties.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

impl Call {
    /// The arguments as this tool knows them.
    fn read<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let given = self.params.arguments.take().unwrap_or_default();
        serde_json::from_value(Value::Object(given)).map_err(|error| {
            Failure::told(format!("the arguments do not fit: {}", cut(&error.to_string())))
                .with_help("see the tool's input schema")
        })
    }
}

/// The beginning of a text that may hold whatever the caller sent.
fn cut(text: &str) -> &str {
    const MOST: usize = 500;
    text.get(..text.floor_char_boundary(MOST)).unwrap_or_default()
}

/// Does work of the engine apart from the server's own thread: it reads files and waits for locks.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Failure::internal("the work was broken off"))
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
