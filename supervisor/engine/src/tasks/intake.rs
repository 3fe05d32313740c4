//! From a request to a task that can be worked on, or the reason why it cannot.

use std::time::Duration;

use super::brief::{Brief, Plan};
use super::cli;
use super::layers::Layer;
use super::refusal::Refusal;
use super::request::{MOST_PROMPT, Request};
use super::select::{Wish, select};
use crate::clock::Moment;
use crate::context::assemble::MOST_TOLD;
use crate::definitions::store::Agents;
use crate::definitions::{AgentName, Cli, Definition};
use crate::label::Label;
use crate::project::Scene;
use crate::sessions::{Checked, SessionError, SessionId, Sessions};
use crate::settings::{Key, Settings};
use crate::store::{FlowId, Limits, State, Store, StoreError, Task};
use crate::workflows::run::spent::is_spent;

const DAY: u64 = 86_400;

/// A request that was found good.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) brief: Brief,
    pub(super) cli: Cli,
    pub(super) plan: Plan,
}

/// Looks at everything that can be wrong with it.
pub(super) fn take(mut request: Request, scene: &Scene, settings: &Settings, store: &Store) -> Result<Intake, Refusal> {
    // What another agent asks for is told in a block, and whole.
    let most = request.parent.as_ref().map_or(MOST_PROMPT, |_| MOST_TOLD);
    match request.prompt.len() {
        _ if request.prompt.trim().is_empty() => return Err(Refusal::NoPrompt),
        bytes if bytes > most => return Err(Refusal::LongPrompt { bytes, most }),
        _ => {}
    }
    let mut layers = above(&request, settings, store)?;
    let last = resumed(&mut request, scene, settings)?;
    let agent = match &request.agent {
        Some(name) => Some(Agents::open(&scene.project)?.get(name.as_str())?),
        None if request.inputs.is_empty() => None,
        None => return Err(Refusal::InputsWithoutAgent),
    };
    if let Some(agent) = &agent {
        agent.fill(&request.inputs)?;
    }
    let wish = wish(&request, agent.as_ref(), last, settings);
    let (cli, _) = select(wish, &request.prompt, |cli| cli::is_installed(cli, scene))?;
    layers.extend(agent.as_ref().map(|agent| Layer::Agent {
        name: agent.name.clone(),
        sha256: agent.digest.clone(),
    }));
    layers.extend(request.permissions.clone().map(Layer::Caller));
    let brief = Brief {
        agent_sha256: agent.map(|agent| agent.digest),
        layers,
        request,
        policy_sha256: None,
        step: None,
    };
    let plan = brief.plan(cli, settings, scene)?;
    Ok(Intake { brief, cli, plan })
}

/// What narrows the task that asks for this one, if it may ask at all.
fn above(request: &Request, settings: &Settings, store: &Store) -> Result<Vec<Layer>, Refusal> {
    let Some(parent) = &request.parent else {
        return Ok(Vec::new());
    };
    let parent = store.get(parent)?;
    nests(&parent, settings)?;
    if parent.state != State::Running || parent.cancel_asked {
        return Err(Refusal::ParentOver(parent.id));
    }
    if let Some(run) = run(&parent, store)?
        && is_spent(&run, settings, store)?
    {
        return Err(Refusal::Spent(run));
    }
    Ok(read(&parent)?.0.layers)
}

/// The run of a workflow that a task works for, at whatever level.
fn run(task: &Task, store: &Store) -> Result<Option<FlowId>, Refusal> {
    let mut task = task.clone();
    loop {
        if let Some(step) = read(&task)?.0.step {
            return Ok(Some(step.flow));
        }
        match &task.parent {
            Some(parent) => task = store.get(parent)?,
            None => return Ok(None),
        }
    }
}

/// May this task ask for others?
pub(super) fn nests(parent: &Task, settings: &Settings) -> Result<(), Refusal> {
    let (depth, most) = (parent.depth + 1, settings.number(Key::MaxSubagentDepth).unwrap_or(0));
    if u64::from(depth) > most {
        return Err(Refusal::Nested { depth, most });
    }
    Ok(())
}

/// A conversation goes on with whom it was held, unless the caller names another. Returns that CLI.
fn resumed(request: &mut Request, scene: &Scene, settings: &Settings) -> Result<Option<Cli>, Refusal> {
    let Some(id) = &request.session else { return Ok(None) };
    let sessions = Sessions::find(&scene.project)?.ok_or_else(|| SessionError::Missing(id.clone()))?;
    let found = sessions.resume(id, kept(settings), Moment::now());
    if matches!(found, Err(SessionError::Expired { .. })) {
        // Nobody goes on with it any more.
        sessions.delete(id)?;
    }
    let Checked { session, fault } = found?;
    if let Some(fault) = fault {
        let id = id.clone();
        return Err(SessionError::Changed { id, fault }.into());
    }
    if request.agent.is_none() && request.cli.is_none() {
        request.agent = session.agent_name.and_then(|name| AgentName::new(name.as_str()));
    }
    Ok(Cli::named(session.agent_cli.as_str()))
}

fn wish(request: &Request, agent: Option<&Definition>, last: Option<Cli>, settings: &Settings) -> Wish {
    match (agent, request.cli.filter(|_| agent.is_none()), last) {
        (Some(Definition { agent: Some(cli), .. }), _, _) => Wish::Definition(*cli),
        (_, Some(cli), _) | (_, None, Some(cli)) => Wish::Caller(cli),
        (_, None, None) => settings.default_agent().map_or(Wish::Nobody, Wish::Configuration),
    }
}

/// The session of the task: the one to go on with, or a new one.
pub(super) fn session(brief: &Brief, cli: Cli, sessions: &Sessions) -> Result<SessionId, Refusal> {
    if let Some(id) = &brief.request.session {
        return Ok(id.clone());
    }
    let agent = brief.request.agent.as_ref().and_then(|name| label(name.as_str()));
    let cli = label(cli.word()).ok_or(StoreError::Unreadable)?;
    Ok(sessions.create(agent, cli, Moment::now())?.session_id)
}

/// How long a session is kept.
#[must_use]
pub fn kept(settings: &Settings) -> Duration {
    Duration::from_secs(settings.number(Key::ExpiryDays).unwrap_or(0).saturating_mul(DAY))
}

pub(super) fn limits(settings: &Settings) -> Limits {
    let number = |key| settings.number(key).map(|most| u32::try_from(most).unwrap_or(u32::MAX));
    Limits {
        max_concurrent: number(Key::MaxConcurrent).unwrap_or(1),
        rate_limit_per_min: number(Key::RateLimitPerMin),
    }
}

/// Names of agents and CLIs are labels by their grammar.
pub(super) fn label(text: &str) -> Option<Label> {
    text.parse().ok()
}

/// A stored task back to what was asked for.
pub(super) fn read(task: &Task) -> Result<(Brief, Cli), Refusal> {
    let mut brief = Brief::read(&task.request).map_err(|_| StoreError::Unreadable)?;
    brief.request.parent.clone_from(&task.parent);
    let cli = task.cli.as_ref().and_then(|cli| Cli::named(cli.as_str()));
    Ok((brief, cli.ok_or(StoreError::Unreadable)?))
}
