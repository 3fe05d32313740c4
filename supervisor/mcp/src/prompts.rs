//! The project's agents as prompts: in most clients a slash command, with the agent's inputs as its arguments.
//!
//! INVARIANT: the text of a definition never reaches the caller's own model. It is a stranger's until the user trusts it,
//! and the agent that it is for is told it by the engine.

use std::collections::BTreeMap;

use glee_engine::definitions::Definition;
use glee_engine::definitions::input::Absent;
use glee_engine::definitions::store::{Agents, StoreError};
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Value, json};

use crate::server::Server;
use crate::tools::apart;

/// What is to be done, in the user's own words; an input of the same name comes first.
const TASK: &str = "task";

fn broken(error: crate::answer::Failure) -> ErrorData {
    match error {
        crate::answer::Failure::Told { message, .. } => ErrorData::invalid_params(message, None),
        crate::answer::Failure::Broken(error) => error,
    }
}

pub(crate) async fn list(server: &Server) -> Result<Vec<Prompt>, ErrorData> {
    let project = server.scene().project.clone();
    let agents = apart(move || Agents::open(&project)?.list()).await.map_err(broken)?;
    let agents = agents.map_err(|error| broken(error.into()))?;
    let sound = agents.into_iter().filter_map(|listed| listed.definition.ok());
    Ok(sound.map(|agent| prompt(&agent)).collect())
}

fn prompt(agent: &Definition) -> Prompt {
    let mut arguments: Vec<PromptArgument> = agent
        .inputs
        .iter()
        .map(|input| {
            let argument = PromptArgument::new(input.name.clone()).with_required(input.absent == Absent::Required);
            match &input.description {
                Some(description) => argument.with_description(description.clone()),
                None => argument,
            }
        })
        .collect();
    if !agent.inputs.iter().any(|input| input.name == TASK) {
        let task = PromptArgument::new(TASK)
            .with_description("What is to be done")
            .with_required(false);
        arguments.push(task);
    }
    Prompt::new(agent.name.as_str(), Some(agent.description.clone()), Some(arguments))
}

pub(crate) async fn get(server: &Server, params: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let project = server.scene().project.clone();
    let name = params.name.clone();
    let found: Result<Definition, StoreError> = apart(move || Agents::open(&project)?.get(&name))
        .await
        .map_err(broken)?;
    let agent = found.map_err(|error| broken(error.into()))?;
    let mut given = values(params)?;
    let is_input = agent.inputs.iter().any(|input| input.name == TASK);
    let task = if is_input { None } else { given.remove(TASK) };
    // Whatever would be refused later is refused now, to whoever fills in the form.
    agent
        .fill(&given)
        .map_err(|error| ErrorData::invalid_params(format!("{error}; {}", error.help()), None))?;
    let call = json!({
        "description": agent.name.as_str(),
        "agent_name": agent.name.as_str(),
        "inputs": given,
        "prompt": task.as_deref().map_or("Do what you are for.", |task| task),
    });
    let text = format!("Call the tool glee_task with exactly these arguments, and tell me what it returns:\n{call:#}");
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(agent.description))
}

fn values(params: GetPromptRequestParams) -> Result<BTreeMap<String, String>, ErrorData> {
    let mut values = BTreeMap::new();
    for (name, value) in params.arguments.unwrap_or_default() {
        let Value::String(value) = value else {
            return Err(ErrorData::invalid_params("the arguments of a prompt are texts", None));
        };
        values.insert(name, value);
    }
    Ok(values)
}
