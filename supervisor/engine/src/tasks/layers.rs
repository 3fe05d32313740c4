//! The policy of a task: the project's, narrowed by the agent's definition, by the caller, and by every task above it.
//!
//! INVARIANT: each layer only takes away, so no task has more than the project's policy nor than the task that asked for it. A
//! definition counts as it was when the task was asked for; one that has changed since ends the matter.

use glee_policy::ResolvedPolicy;
use glee_policy::within::within;
use serde::{Deserialize, Serialize};

use super::request::Permissions;
use crate::definitions::permissions::narrowed as by_agent;
use crate::definitions::store::{Agents, StoreError};
use crate::definitions::{AgentName, Definition};
use crate::library::Profiles;
use crate::project::Scene;
use crate::select::{self, SelectError};

/// One thing that takes away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Layer {
    /// An agent's own `permissions`, in the file with this digest.
    Agent { name: AgentName, sha256: String },
    /// The caller's.
    Caller(Permissions),
}

#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    #[error(transparent)]
    Agent(#[from] StoreError),
    #[error("the definition of the agent `{0}` has changed since the task was asked for")]
    Changed(AgentName),
    #[error(transparent)]
    Policy(#[from] SelectError),
}

impl LayerError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Agent(error) => error.help(),
            Self::Changed(_) => Some("ask for the task again".to_owned()),
            Self::Policy(error) => error.help(),
        }
    }
}

/// An agent as it was when the task was asked for.
pub fn definition(name: &AgentName, sha256: &str, scene: &Scene) -> Result<Definition, LayerError> {
    let found = Agents::open(&scene.project)?.get(name.as_str())?;
    if found.digest == sha256 {
        Ok(found)
    } else {
        Err(LayerError::Changed(name.clone()))
    }
}

/// The policy with every layer taken off it.
pub fn narrowed(mut policy: ResolvedPolicy, layers: &[Layer], scene: &Scene) -> Result<ResolvedPolicy, LayerError> {
    for layer in layers {
        policy = match layer {
            Layer::Agent { name, sha256 } => {
                let agent = definition(name, sha256, scene)?;
                by_agent(&agent, &policy, scene).map_err(SelectError::from)?.policy
            }
            Layer::Caller(part) => {
                let part = part.policy().map_err(SelectError::from)?;
                let library = Profiles::new(&scene.project);
                let (mut inner, _) = within(&part, &policy, &library, &scene.host()).map_err(SelectError::from)?;
                inner.name = policy.name;
                inner
            }
        };
    }
    Ok(policy)
}

/// The project's own policy, with every layer taken off it.
pub fn policy(layers: &[Layer], scene: &Scene) -> Result<ResolvedPolicy, LayerError> {
    narrowed(select::select(None, scene)?.policy, layers, scene)
}
