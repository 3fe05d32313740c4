//! Agents as they are shown: in a list, and one with everything that follows from its definition.

use std::collections::BTreeMap;

use serde::Serialize;

use super::input::{Absent, Input};
use super::permissions::narrowed;
use super::store::{Agents, Listed, StoreError};
use super::tool::{Argument, restrict};
use super::{AgentName, Cli, Definition, Imported, Tool};
use crate::project::Scene;
use crate::select::{self, SelectError};
use crate::trust::{self, Files, Standing, TrustError};

/// One line of a list.
#[derive(Debug, Serialize)]
pub struct Line {
    pub name: String,
    pub description: Option<String>,
    pub agent: Option<Cli>,
    pub file: String,
    /// Absent: the project's own.
    pub source: Option<Imported>,
    pub standing: Option<Standing>,
    /// What is wrong with it, as people read it.
    pub error: Option<String>,
}

/// Every agent of the project, the broken ones with what is wrong with them.
pub fn list(scene: &Scene) -> Result<Vec<Line>, ViewError> {
    let listed = Agents::open(&scene.project)?.list()?;
    listed.into_iter().map(line).collect()
}

fn line(listed: Listed) -> Result<Line, ViewError> {
    let file = listed.file.to_string_lossy().into_owned();
    Ok(match listed.definition {
        Ok(agent) => Line {
            name: listed.name,
            standing: Some(standing(&agent)?),
            description: Some(agent.description),
            agent: agent.agent,
            file,
            source: agent.source,
            error: None,
        },
        Err(error) => Line {
            name: listed.name,
            description: None,
            agent: None,
            file,
            source: None,
            standing: None,
            error: Some(error.to_string()),
        },
    })
}

/// The files whose trust decides for an agent.
#[must_use]
pub fn files(agent: &Definition) -> Files {
    [(agent.file.clone(), agent.digest.clone())].into()
}

/// Has the user said that this definition may count in full, as it is now?
pub fn standing(agent: &Definition) -> Result<Standing, TrustError> {
    trust::standing(&files(agent))
}

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Select(#[from] SelectError),
}

impl From<TrustError> for ViewError {
    fn from(error: TrustError) -> Self {
        Self::Select(error.into())
    }
}

/// One agent, with everything that follows.
#[derive(Debug, Serialize)]
pub struct Shown {
    pub name: AgentName,
    pub description: String,
    pub agent: Option<Cli>,
    pub file: String,
    pub sha256: String,
    pub standing: Standing,
    pub source: Option<Imported>,
    pub timeout_mins: Option<f64>,
    pub max_output_kb: Option<u64>,
    pub inputs: Vec<ShownInput>,
    pub tools: Option<Vec<Tool>>,
    /// By CLI, what holds it to the tools, or why it cannot be held to them. Empty if the tools are not restricted.
    pub held_by: BTreeMap<&'static str, Held>,
    /// What its `permissions` ask for beyond the project's policy, and do not get.
    pub beyond: Vec<String>,
    pub prompt: String,
}

#[derive(Debug, Serialize)]
pub struct ShownInput {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub description: Option<String>,
    pub required: bool,
    pub default: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    Arguments(Vec<Argument>),
    Refused(String),
}

/// One agent by its name.
pub fn show(name: &str, scene: &Scene) -> Result<Shown, ViewError> {
    let agent = Agents::open(&scene.project)?.get(name)?;
    let run = select::select(None, scene)?.policy;
    let narrowed = narrowed(&agent, &run, scene).map_err(SelectError::from)?;
    let clis = Cli::WORDS
        .iter()
        .filter(|(_, cli)| agent.agent.is_none_or(|only| only == *cli));
    let held_by = agent.tools.iter().flat_map(|tools| {
        clis.clone().map(|(word, cli)| {
            let held = match restrict(*cli, tools) {
                Ok(arguments) => Held::Arguments(arguments),
                Err(problem) => Held::Refused(problem.to_string()),
            };
            (*word, held)
        })
    });
    Ok(Shown {
        standing: standing(&agent)?,
        held_by: held_by.collect(),
        name: agent.name,
        description: agent.description,
        agent: agent.agent,
        file: agent.file.to_string_lossy().into_owned(),
        sha256: agent.digest,
        source: agent.source,
        timeout_mins: agent.timeout.map(|time| time.as_secs_f64() / 60.0),
        max_output_kb: agent.max_output_kb,
        inputs: agent.inputs.iter().map(ShownInput::from).collect(),
        tools: agent.tools,
        beyond: narrowed.beyond.iter().map(ToString::to_string).collect(),
        prompt: agent.prompt.written().to_owned(),
    })
}

impl From<&Input> for ShownInput {
    fn from(input: &Input) -> Self {
        Self {
            name: input.name.clone(),
            kind: input.kind.word(),
            description: input.description.clone(),
            required: input.absent == Absent::Required,
            default: match &input.absent {
                Absent::Default(value) => Some(value.clone()),
                Absent::Required | Absent::Optional => None,
            },
        }
    }
}
