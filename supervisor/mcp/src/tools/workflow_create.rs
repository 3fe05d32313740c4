//! `glee_workflow_create`: writes a workflow as an agent's: untrusted, without workflows inside it, run only after a yes.

use glee_engine::workflows::run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_workflow_create",
    title: "Create a workflow",
    description: "Writes a workflow of agents to .glee/workflows. It is untrusted, cannot contain other workflows, has \
        smaller budgets, and runs only after the user has approved of it. One that a person wrote or has approved of is \
        never replaced.",
    effect: Effect::Adds,
    input,
    output,
    call: |server, call| Box::pin(create(server, call)),
};

fn input() -> Value {
    let steps = json!({
        "type": "array",
        "items": { "type": "object" },
        "description": "Each has `agent`, and where wanted `name`, `prompt`, `inputs`, `parallel_group`, `needs`, `on_error`",
    });
    let definition = json!({
        "type": "object",
        "properties": {
            "description": { "type": "string", "description": "What it is for, in one line" },
            "inputs": { "type": "array", "items": { "type": "object" } },
            "steps": steps,
            "execution": { "type": "string", "enum": ["sequential", "parallel", "dag"] },
        },
        "required": ["description", "steps"],
        "additionalProperties": false,
    });
    let name = json!({ "type": "string", "description": "Lower-case letters, digits and hyphens" });
    object(
        json!({ "name": name, "definition": definition }),
        &["name", "definition"],
    )
}

fn output() -> Value {
    object(
        json!({
            "name": { "type": "string" },
            "file": { "type": "string" },
            "sha256": { "type": "string" },
            "trusted": { "type": "boolean", "const": false },
        }),
        &["name", "file", "sha256", "trusted"],
    )
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    definition: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Created {
    name: String,
    file: String,
    sha256: String,
    trusted: bool,
}

async fn create(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    let workflow = apart(move || run::create(&asked.name, asked.definition, server.scene())).await??;
    let created = Created {
        name: workflow.name.to_string(),
        file: workflow.file.to_string_lossy().into_owned(),
        sha256: workflow.digest,
        trusted: false,
    };
    Ok(answer::data(&created)?.into())
}
