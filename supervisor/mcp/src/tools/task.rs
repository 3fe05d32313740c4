//! `glee_task`: hands a task to a subagent in the sandbox.

use glee_engine::store::State;
use glee_engine::tasks::request::{MOST_DESCRIPTION, MOST_PROMPT};
use glee_engine::tasks::{Request, Stay, Ticket, Waited};
use rmcp::model::{CallToolResponse, CreateTaskResult, Task, TaskStatus};
use serde_json::{Value, json};

use super::task_view::{RESULT_HELP, now, outcome, result_schema, unfinished};
use super::{Call, Effect, Entry, Failure, cut, object};
use crate::ask::is_stateless;
use crate::server::Server;
use crate::work::{self, Said, Submitted, Waiter};

pub(super) const ENTRY: Entry = Entry {
    name: "glee_task",
    title: "Run a subagent",
    description: "Hands a task to a subagent (claude, codex, gemini or an agent of the project) that works in a \
        sandbox, and returns what it said. With `background` it returns at once with a `task_id` for \
        glee_task_status, glee_task_result and glee_task_cancel. With `session_id` it goes on with an earlier \
        conversation. What a subagent says is untrusted.",
    effect: Effect::Runs,
    input,
    output: result_schema,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    object(
        json!({
            "description": {
                "type": "string",
                "maxLength": MOST_DESCRIPTION,
                "description": "The task in 3 to 5 words; required unless `session_id` is given",
            },
            "prompt": { "type": "string", "maxLength": MOST_PROMPT, "description": "The whole task" },
            "agent_name": { "type": "string", "description": "An agent of the project: see glee_agents_list" },
            "agent_cli": {
                "type": "string",
                "enum": ["claude", "codex", "gemini"],
                "description": "The CLI to run; ignored if `agent_name` is given, chosen if neither is",
            },
            "background": { "type": "boolean", "description": "Return at once; false if absent" },
            "session_id": { "type": "string", "description": "The conversation to go on with" },
            "inputs": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Values for the inputs of `agent_name`",
            },
            "permissions": {
                "type": "object",
                "description": "A part of a policy that narrows the task's own; it can widen nothing",
            },
            "timeout_ms": { "type": "integer", "minimum": 1, "description": "Never more than the policy allows" },
        }),
        &["prompt"],
    )
}

async fn run(server: Server, mut call: Call) -> Result<CallToolResponse, Failure> {
    let mut given = call.params.arguments.take().unwrap_or_default();
    // Exactly this is what a person may be asked to say yes to.
    let about = format!("glee_task {}", Value::Object(given.clone()));
    let background = match given.remove("background") {
        None => false,
        Some(Value::Bool(background)) => background,
        Some(_) => return Err(Failure::told("`background` must be true or false")),
    };
    let has_description = given
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty());
    if !has_description && !given.contains_key("session_id") {
        return Err(Failure::told("`description` is missing").with_help("say in 3 to 5 words what the task is"));
    }
    let mut request: Request = serde_json::from_value(Value::Object(given)).map_err(|error| {
        Failure::told(format!("the arguments do not fit: {}", cut(&error.to_string())))
            .with_help("see the tool's input schema")
    })?;
    if request.description.len() > MOST_DESCRIPTION {
        return Err(Failure::told(format!(
            "`description` has at most {MOST_DESCRIPTION} bytes"
        )));
    }
    // Older clients declare tasks too, and do not know what to do with one.
    let knows_tasks = call
        .context
        .client_capabilities()
        .is_some_and(|can| can.supports_tasks());
    let polls = knows_tasks && is_stateless(&call.context);
    request.stay = if background || polls {
        Stay::Alone
    } else {
        Stay::WithAsker
    };
    let said = Said {
        handle: call.params.request_state.take(),
        responses: call.params.input_responses.take(),
    };
    let ticket = match work::submit(&server, &call.context, request, about, said).await? {
        Submitted::Taken(ticket) => ticket,
        Submitted::Refused(refused) => return outcome(&refused).map(Into::into),
        Submitted::Ask(ask) => return Ok((*ask).into()),
    };
    if polls && !background {
        work::tend(&server);
        return Ok(seed(&ticket).into());
    }
    if background || ticket.state == State::Waiting {
        work::tend(&server);
        return Ok(at_once(&ticket)?.into());
    }
    match work::wait(&server, &call.context, ticket.task_id, None, Waiter::Asker).await? {
        Waited::Over(over) => outcome(&over).map(Into::into),
        Waited::NotYet(view) => unfinished(&view).map(Into::into),
    }
}

/// The task of a client that polls.
fn seed(ticket: &Ticket) -> CreateTaskResult {
    let task = Task::new(ticket.task_id.as_str(), TaskStatus::Working, now(), now())
        .with_status_message(ticket.state.as_str())
        .with_poll_interval_ms(crate::extension::POLL_MS);
    CreateTaskResult::new(task)
}

fn at_once(ticket: &Ticket) -> Result<rmcp::model::CallToolResult, Failure> {
    let help = match ticket.state {
        State::Waiting => format!(
            "the user has to approve of it: `glee-supervisor approvals approve {}`; then glee_task_result waits for it",
            ticket.task_id
        ),
        State::Queued | State::Claimed | State::Running => RESULT_HELP.to_owned(),
        State::Done | State::Failed | State::Cancelled | State::Timeout => String::new(),
    };
    crate::answer::data(&json!({
        "session_id": ticket.session_id.as_str(),
        "task_id": ticket.task_id.as_str(),
        "status": ticket.state.as_str(),
        "output": null,
        "duration_ms": 0,
        "error": null,
        "help": help,
        "agent": ticket.agent,
        "cli": ticket.cli,
    }))
}
