//! `glee_agent_create`: writes a new agent, as untrusted, after a person has seen and approved it.

use glee_engine::definitions::create::{Asked as New, draft, write};
use glee_engine::definitions::draft::Draft;
use glee_engine::definitions::{Cli, Tool as AgentTool};
use glee_engine::text::{quoted, visible};
use rmcp::model::CallToolResponse;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::ask::{self, Means};
use crate::gate::{self, Gate};
use crate::server::Server;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_agent_create",
    title: "Create an agent",
    description: "Writes a new subagent to .glee/agents, after the user has approved it. It stays untrusted until the \
        user says otherwise. An agent that exists is never replaced.",
    effect: Effect::Adds,
    input,
    output,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    object(
        json!({
            "name": { "type": "string", "description": "Lower-case letters, digits and hyphens" },
            "description": { "type": "string", "description": "What it is for, in one line" },
            "prompt": { "type": "string", "description": "Its prompt; ${name} stands for the value of an input" },
            "agent": { "type": "string", "enum": ["claude", "codex", "gemini"], "description": "The CLI that runs it" },
            "inputs": texts("`name`, required, or `name=default`"),
            "tools": texts("The only tools it may use"),
            "timeout_mins": { "type": "number", "exclusiveMinimum": 0 },
            "max_output_kb": { "type": "integer", "minimum": 1 },
        }),
        &["name", "description", "prompt"],
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
    description: String,
    prompt: String,
    agent: Option<String>,
    #[serde(default)]
    inputs: Vec<String>,
    tools: Option<Vec<String>>,
    timeout_mins: Option<f64>,
    max_output_kb: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Created {
    name: String,
    file: String,
    sha256: String,
    trusted: bool,
}

async fn run(server: Server, mut call: Call) -> Result<CallToolResponse, Failure> {
    let given = call.params.arguments.clone();
    let asked: Asked = call.read()?;
    let new = new(asked)?;
    let scene = server.scene().clone();
    let draft = apart(move || draft(new, &scene)).await??;
    let message = question(&draft);
    if Means::of(&call.context) != Means::Not && !ask::fits(&message) {
        return Err(
            Failure::told("the agent is too long to be shown to the user by this client")
                .with_help("let the user write the file, or `glee-supervisor agents create`"),
        );
    }
    call.params.arguments = given;
    match gate::ask(&server, &call, message).await? {
        Gate::Open => {}
        Gate::Ask(ask) => return Ok((*ask).into()),
    }
    let agent = apart(move || write(&draft, server.scene())).await??;
    let created = Created {
        name: agent.name.to_string(),
        file: agent.file.to_string_lossy().into_owned(),
        sha256: agent.digest,
        trusted: false,
    };
    Ok(answer::data(&created)?.into())
}

fn new(asked: Asked) -> Result<New, Failure> {
    let agent = match asked.agent.as_deref() {
        None => None,
        Some(word) => {
            let found = Cli::WORDS.iter().find(|(known, _)| *known == word);
            Some(
                found
                    .ok_or_else(|| Failure::told("`agent` must be claude, codex or gemini"))?
                    .1,
            )
        }
    };
    let tools = match asked.tools {
        None => None,
        Some(words) => {
            let tool = |word: &String| {
                let known = AgentTool::WORDS.iter().find(|(known, _)| known == word);
                let unknown = || Failure::told(format!("there is no tool `{}`", visible(super::cut(word))));
                known.map(|(_, tool)| *tool).ok_or_else(unknown)
            };
            Some(words.iter().map(tool).collect::<Result<Vec<_>, _>>()?)
        }
    };
    Ok(New {
        name: asked.name,
        description: asked.description,
        prompt: asked.prompt,
        agent,
        inputs: asked.inputs,
        tools,
        timeout_mins: asked.timeout_mins,
        max_output_kb: asked.max_output_kb,
    })
}

/// What the person is shown: the file as it would be written, made harmless.
fn question(draft: &Draft) -> String {
    let name = &draft.name;
    format!(
        "Write the agent `{name}`? .glee/agents/{} would be:\n{}",
        name.file(),
        quoted(&draft.text(), "")
    )
}
