//! A person's word before a tool writes or starts something: by the client's own question, else by the queue of approvals.
//!
//! INVARIANT: a yes counts for one call of one tool with exactly these arguments.

use glee_engine::store::{Asked, Verdict};
use glee_engine::text::visible;
use rmcp::model::InputRequiredResult;
use serde_json::Value;

use crate::answer::Failure;
use crate::ask::{self, Means, Reply};
use crate::server::Server;
use crate::tools::{Call, Effect, Entry, apart};

/// Those that ask in their own way, or whose whole effect is that something ends.
const OTHERS: [&str; 3] = ["glee_task", "glee_agent_create", "glee_task_cancel"];

/// What came of asking.
pub(crate) enum Gate {
    Open,
    /// The client is to ask its user and to come again.
    Ask(Box<InputRequiredResult>),
}

/// The gate before every tool: open, unless the tool does something and the configuration wants it asked about.
pub(crate) async fn before(server: &Server, entry: &Entry, call: &Call) -> Result<Gate, Failure> {
    let does = match entry.effect {
        Effect::Reads => false,
        Effect::Adds | Effect::Runs => !OTHERS.contains(&entry.name),
    };
    if !does {
        return Ok(Gate::Open);
    }
    let desk = server.desk().await?;
    if !apart(move || desk.asks_for_tools()).await?? {
        return Ok(Gate::Open);
    }
    let arguments = Value::Object(call.params.arguments.clone().unwrap_or_default());
    let message = format!("Call {} with {}?", entry.name, visible(&arguments.to_string()));
    ask(server, call, message).await
}

/// Asks whoever can be asked about this call.
pub(crate) async fn ask(server: &Server, call: &Call, message: String) -> Result<Gate, Failure> {
    let arguments = Value::Object(call.params.arguments.clone().unwrap_or_default());
    // Exactly this is what a person says yes to.
    let about = format!("{} {arguments}", call.params.name);
    // What cannot be shown whole is not asked here: it waits in the queue, where it can be read.
    let means = match server.of_task() {
        None if ask::fits(&message) => Means::of(&call.context),
        Some(_) | None => Means::Not,
    };
    let reply = match means {
        Means::Request => ask::request(&call.context, message).await,
        Means::Retry => {
            let (handle, responses) = (&call.params.request_state, &call.params.input_responses);
            let waiting = server.waiting();
            match waiting.answered(&about, handle.as_deref(), responses.as_ref()) {
                Some(reply) => reply,
                None => {
                    let put = waiting.put(&about, message).map(|put| Gate::Ask(Box::new(put)));
                    return put.ok_or_else(|| Failure::internal("the question cannot be put"));
                }
            }
        }
        Means::Not => Reply::Nobody,
    };
    match reply {
        Reply::Yes => {
            enter(server, Verdict::Approved, about).await?;
            Ok(Gate::Open)
        }
        Reply::No => {
            enter(server, Verdict::Denied, about).await?;
            Err(denied())
        }
        Reply::Nobody => queue(server, call.params.name.to_string(), arguments).await,
    }
}

/// The answer in the audit log, as those of the queue are.
async fn enter(server: &Server, verdict: Verdict, about: String) -> Result<(), Failure> {
    let desk = server.desk().await?;
    apart(move || desk.answered_call(verdict, &about)).await
}

fn denied() -> Failure {
    Failure::told("approval was denied")
}

/// Nobody at the client: the call waits for `approvals approve`, and is then made again.
async fn queue(server: &Server, tool: String, arguments: Value) -> Result<Gate, Failure> {
    let desk = server.desk().await?;
    match apart(move || desk.ask_for_call(&tool, &arguments)).await?? {
        Asked::Decided(Verdict::Approved) => Ok(Gate::Open),
        Asked::Decided(Verdict::Denied) => Err(denied()),
        Asked::Waits(id) => {
            let help =
                format!("the user can run `glee-supervisor approvals approve {id}`; then make the same call again");
            Err(Failure::told("this call needs the user's approval").with_help(help))
        }
    }
}
