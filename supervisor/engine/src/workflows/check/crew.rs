//! The agents that a workflow can name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glee_policy::suggest::nearest;

use super::plan::Does;
use super::{inputs, step_problem};
use crate::definitions::store::{Agents, StoreError};
use crate::definitions::{AgentName, Cli, Definition};
use crate::workflows::model::Step;
use crate::workflows::problem::{Problem, What};

/// The project's agents, and those that cannot be read.
#[derive(Debug, Default)]
pub struct Crew {
    agents: BTreeMap<String, Option<Definition>>,
}

impl Crew {
    /// Reads the agents of a project.
    pub fn open(project: &Path) -> Result<Self, StoreError> {
        let listed = Agents::open(project)?.list()?;
        let agents = listed.into_iter().map(|one| (one.name, one.definition.ok()));
        Ok(Self {
            agents: agents.collect(),
        })
    }

    /// The file of an agent, with its digest; a CLI has none.
    pub(super) fn file(&self, name: &AgentName) -> Option<(PathBuf, String)> {
        let agent = self.agents.get(name.as_str())?.as_ref()?;
        Some((agent.file.clone(), agent.digest.clone()))
    }

    /// Who does a step: a definition of that name, else a CLI.
    pub(super) fn find(&self, name: &AgentName, step: &Step, problems: &mut Vec<Problem>) -> Option<Does> {
        let mut wrong = |what| problems.push(step_problem(step, step.marks.work, what));
        match (self.agents.get(name.as_str()), Cli::named(name.as_str())) {
            (Some(Some(agent)), _) => {
                inputs::of_agent(step, agent, problems);
                Some(Does::Agent(name.clone()))
            }
            (Some(None), _) => {
                wrong(What::BrokenAgent(name.to_string()));
                None
            }
            (None, Some(cli)) => {
                if step.prompt.is_none() && step.inputs.is_empty() {
                    wrong(What::NothingToDo(name.to_string()));
                }
                Some(Does::Cli(cli))
            }
            (None, None) => {
                let clis = Cli::NAMED.iter().map(|(word, _)| *word);
                let known = self.agents.keys().map(String::as_str).chain(clis);
                wrong(What::UnknownAgent {
                    name: name.to_string(),
                    nearest: nearest(name.as_str(), known).map(str::to_owned),
                });
                None
            }
        }
    }
}
