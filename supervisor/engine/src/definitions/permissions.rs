//! An agent's own `permissions:`: they take away from the run's policy, and add nothing to it.

use glee_policy::exceeds::Excess;
use glee_policy::within::within;
use glee_policy::{PolicyError, ResolvedPolicy};

use super::Definition;
use crate::library::Profiles;
use crate::project::Scene;

/// The run's policy as this agent gets it.
#[derive(Debug)]
pub struct Narrowed {
    pub policy: ResolvedPolicy,
    /// What the agent asked for beyond it, and does not get.
    pub beyond: Vec<Excess>,
}

/// Narrows the policy of a run to what an agent asks for. A key that the agent does not write stays as the run has it.
pub fn narrowed(agent: &Definition, run: &ResolvedPolicy, scene: &Scene) -> Result<Narrowed, PolicyError> {
    let Some(permissions) = &agent.permissions else {
        return Ok(Narrowed {
            policy: run.clone(),
            beyond: Vec::new(),
        });
    };
    let (mut policy, beyond) = within(permissions, run, &Profiles::new(&scene.project), &scene.host())?;
    policy.name = format!("{} for {}", run.name, agent.name);
    Ok(Narrowed { policy, beyond })
}
