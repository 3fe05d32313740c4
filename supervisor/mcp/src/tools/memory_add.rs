//! `glee_memory_add`: remembers a text about the project, as an agent's word that nobody vouches for.

use glee_engine::clock::Moment;
use glee_engine::label::Label;
use glee_engine::memory::{MOST_CONTENT, Memories, SaidBy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_memory_add",
    title: "Remember",
    description: "Remembers a short text about this project, to be found again by glee_memory_search and told to \
        subagents where it fits. It is always passed on as untrusted.",
    effect: Effect::Adds,
    input,
    output,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    object(
        json!({
            "category": {
                "type": "string",
                "description": "What it is about: lower-case words joined by hyphens",
                "maxLength": 64,
            },
            "content": { "type": "string", "minLength": 1, "maxLength": MOST_CONTENT },
        }),
        &["category", "content"],
    )
}

fn output() -> Value {
    object(json!({ "id": { "type": "integer" } }), &["id"])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    category: Label,
    content: String,
}

#[derive(Debug, Serialize)]
struct Added {
    id: i64,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    let add = move || {
        let mut memories = Memories::open(&server.scene().project)?;
        memories.add(&asked.category, &asked.content, SaidBy::Agent, Moment::now())
    };
    let id = apart(add).await??;
    Ok(answer::data(&Added { id })?.into())
}
