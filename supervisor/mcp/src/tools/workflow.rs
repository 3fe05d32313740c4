//! `glee_workflow`: runs a workflow of the project.

use std::collections::BTreeMap;

use glee_engine::audit::Answer as Said;
use glee_engine::text::{quoted, visible};
use glee_engine::workflows::Workflow;
use glee_engine::workflows::page::page;
use glee_engine::workflows::run::begin::answered;
use glee_engine::workflows::run::{self, Ready, RunView};
use rmcp::model::CallToolResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use super::workflow_view::view_schema;
use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::ask::{self, Means, Reply};
use crate::server::Server;
use crate::workflow;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_workflow",
    title: "Run a workflow",
    description: "Runs a workflow of the project: its agents work in sandboxes, one after the other, at once or as their \
        results are needed. Returns what came of every step; with `background` it returns at once with a `run_id` for \
        glee_workflow_status. What agents say is untrusted.",
    effect: Effect::Runs,
    input,
    output: view_schema,
    call: |server, call| Box::pin(start(server, call)),
};

fn input() -> Value {
    object(
        json!({
            "name": { "type": "string", "description": "The workflow's name" },
            "inputs": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Values for its inputs",
            },
            "background": { "type": "boolean", "description": "Return at once; false if absent" },
        }),
        &["name"],
    )
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    #[serde(default)]
    inputs: BTreeMap<String, String>,
    #[serde(default)]
    background: bool,
}

async fn start(server: Server, mut call: Call) -> Result<CallToolResponse, Failure> {
    // Exactly this is what a person may be asked to say yes to.
    let about = format!(
        "glee_workflow {}",
        Value::Object(call.params.arguments.clone().unwrap_or_default())
    );
    let asked: Asked = call.read()?;
    let scene = server.scene().clone();
    let ready = apart(move || run::ready(&asked.name, asked.inputs, &scene)).await??;
    if let Some(ask) = approved(&server, &call, &ready, &about).await? {
        return Ok(ask);
    }
    let desk = server.desk().await?;
    let view: RunView = if asked.background {
        apart(move || {
            let id = run::hand_over(&desk, &ready)?;
            run::status(&desk, &id)
        })
        .await??
    } else {
        workflow::drive(&server, &call.context, desk, ready).await?
    };
    Ok(answer::data(&view)?.into())
}

/// What an agent wrote runs only after somebody has seen it and said yes. `Some`: the client is to ask and come again.
async fn approved(
    server: &Server,
    call: &Call,
    ready: &Ready,
    about: &str,
) -> Result<Option<CallToolResponse>, Failure> {
    if ready.unapproved.is_empty() {
        return Ok(None);
    }
    let message: Vec<String> = ready.unapproved.iter().map(|workflow| question(workflow)).collect();
    let message = format!("{}\n{}", message.join("\n\n"), given(&ready.order.inputs));
    let means = Means::of(&call.context);
    if means != Means::Not && !ask::fits(&message) {
        let name = &ready.order.workflow;
        let help =
            format!("the user can run it on a terminal, or read it and say `glee-supervisor trust --workflow {name}`");
        let why = "an agent wrote this workflow, and it is too long to be shown by this client";
        return Err(Failure::told(why).with_help(help));
    }
    let reply = match means {
        Means::Request => ask::request(&call.context, message).await,
        Means::Retry => {
            // The yes is for these bytes.
            let about = format!("{about}\n{message}");
            let handle = call.params.request_state.as_deref();
            let waiting = server.waiting();
            match waiting.answered(&about, handle, call.params.input_responses.as_ref()) {
                Some(reply) => reply,
                None => {
                    let put = waiting.put(&about, message).map(Into::into);
                    return put
                        .map(Some)
                        .ok_or_else(|| Failure::internal("the question cannot be put"));
                }
            }
        }
        Means::Not => Reply::Nobody,
    };
    let said = match reply {
        Reply::Yes => Some(Said::Approved),
        Reply::No => Some(Said::Denied),
        Reply::Nobody => None,
    };
    if let Some(said) = said {
        let (scene, workflows) = (server.scene().clone(), ready.unapproved.clone());
        apart(move || workflows.iter().for_each(|workflow| answered(workflow, said, &scene))).await?;
    }
    match reply {
        Reply::Yes => Ok(None),
        Reply::No => Err(Failure::told("approval was denied")),
        Reply::Nobody => {
            let name = ready.order.workflow.to_string();
            Err(
                Failure::told("an agent wrote this workflow, and this client cannot ask the user to approve of it")
                    .with_help(format!(
                        "the user can read it and say `glee-supervisor trust --workflow {name}`"
                    )),
            )
        }
    }
}

/// What the person is shown: a stranger's texts, made harmless.
fn question(workflow: &Workflow) -> String {
    format!(
        "Run the workflow `{}`, which an agent wrote? sha256 {}\n{}",
        workflow.name,
        workflow.digest,
        page(workflow)
    )
}

/// The values that it would be run with.
fn given(inputs: &BTreeMap<String, String>) -> String {
    let values = inputs.iter();
    values
        .map(|(name, value)| format!("with {}\n{}", visible(name), quoted(value, "  ")))
        .collect()
}
