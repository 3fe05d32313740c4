//! A new agent, from what somebody says about it.
//!
//! What is written is untrusted like every file of the project, whoever asked for it.

use super::draft::{Draft, Writing as Files};
use super::input::{Absent, Input, InputKind};
use super::store::{Agents, StoreError, Writing};
use super::{AgentName, Cli, Definition, Tool};
use crate::project::Scene;

/// What is asked for.
#[derive(Debug)]
pub struct Asked {
    pub name: String,
    pub description: String,
    pub prompt: String,
    pub agent: Option<Cli>,
    /// `name`, required, or `name=default`; all of them text.
    pub inputs: Vec<String>,
    pub tools: Option<Vec<Tool>>,
    pub timeout_mins: Option<f64>,
    pub max_output_kb: Option<u64>,
}

/// What would be written, found good: its text can be shown first.
pub fn draft(asked: Asked, scene: &Scene) -> Result<Draft, StoreError> {
    let Some(name) = AgentName::new(&asked.name) else {
        return Err(StoreError::BadName { name: asked.name });
    };
    let draft = Draft {
        name,
        description: asked.description,
        agent: asked.agent,
        prompt: asked.prompt,
        source: None,
        timeout_mins: asked.timeout_mins,
        max_output_kb: asked.max_output_kb,
        inputs: asked.inputs.iter().map(|written| input(written)).collect(),
        tools: asked.tools,
        writing: Files::AsTheRun,
    };
    Agents::open(&scene.project)?.check(&draft.name, &draft.text())?;
    Ok(draft)
}

/// Writes the agent. One that is there is never replaced.
pub fn write(draft: &Draft, scene: &Scene) -> Result<Definition, StoreError> {
    Agents::open(&scene.project)?.write(&draft.name, &draft.text(), Writing::New)
}

/// Both at once.
pub fn create(asked: Asked, scene: &Scene) -> Result<Definition, StoreError> {
    write(&draft(asked, scene)?, scene)
}

fn input(written: &str) -> Input {
    let (name, absent) = match written.split_once('=') {
        Some((name, default)) => (name, Absent::Default(default.to_owned())),
        None => (written, Absent::Required),
    };
    Input {
        name: name.to_owned(),
        kind: InputKind::String,
        description: None,
        absent,
    }
}
