//! `glee_agents_list`: the project's agents and what they ask for.

use glee_engine::context::cut::{Keep, cut};
use glee_engine::definitions::store::Agents;
use glee_engine::definitions::view::{self, ShownInput};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

const MOST_DESCRIPTION: usize = 2000;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_agents_list",
    title: "List agents",
    description: "Lists the project's subagents (.glee/agents): name, what each is for, which CLI runs it and which \
        inputs it takes. Use a name as `agent_name` of glee_task.",
    effect: Effect::Reads,
    input,
    output,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    object(json!({}), &[])
}

fn output() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let one = object(
        json!({
            "name": { "type": "string" },
            "description": text,
            "agent": { "type": ["string", "null"], "description": "The CLI that runs it; null: chosen for each task" },
            "trusted": { "type": "boolean", "description": "Has the user said that it counts in full, as it is now?" },
            "inputs": { "type": "array", "items": { "type": "object" } },
            "error": { "type": ["string", "null"], "description": "What is wrong with its file" },
        }),
        &["name", "trusted", "inputs"],
    );
    object(json!({ "agents": { "type": "array", "items": one } }), &["agents"])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Serialize)]
struct Listed {
    agents: Vec<One>,
}

#[derive(Debug, Serialize)]
struct One {
    name: String,
    description: Option<String>,
    agent: Option<&'static str>,
    trusted: bool,
    inputs: Vec<ShownInput>,
    error: Option<String>,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let Nothing {} = call.read()?;
    let agents = apart(move || list(&server)).await??;
    Ok(answer::data(&Listed { agents })?.into())
}

fn list(server: &Server) -> Result<Vec<One>, Failure> {
    let agents = Agents::open(&server.scene().project)?;
    agents.each(one)?.into_iter().collect()
}

/// A list needs no more of a description.
fn head(text: &str) -> String {
    cut(text, MOST_DESCRIPTION, Keep::Start).into_owned()
}

fn one(listed: glee_engine::definitions::store::Listed) -> Result<One, Failure> {
    Ok(match listed.definition {
        Ok(agent) => One {
            name: listed.name,
            trusted: view::standing(&agent).map_err(view::ViewError::from)? == glee_engine::trust::Standing::Trusted,
            description: Some(head(&agent.description)),
            agent: agent.agent.map(|cli| cli.word()),
            inputs: agent.inputs.iter().map(ShownInput::from).collect(),
            error: None,
        },
        Err(error) => One {
            name: listed.name,
            description: None,
            agent: None,
            trusted: false,
            inputs: Vec::new(),
            error: Some(error.to_string()),
        },
    })
}
