//! What the endpoint of a task must know about that task.

use super::desk::Desk;
use super::intake;
use super::job::Job;
use super::refusal::Refusal;
use crate::endpoint::Endpoint;
use crate::project::Scene;
use crate::settings::store as configuration;
use crate::store::{Store, TaskId};

impl Desk {
    /// May this task ask for others, as the configuration is now?
    pub fn nests(scene: &Scene, task: &TaskId) -> Result<(), Refusal> {
        let settings = configuration::load(scene)?.settings;
        intake::nests(&Store::open(&scene.project)?.get(task)?, &settings)
    }
}

/// What narrows the policy of this task's run, for a look at it.
pub fn to_look(scene: &Scene, task: &TaskId) -> Result<Job, Refusal> {
    let task = Store::open(&scene.project)?.get(task)?;
    let (brief, cli) = intake::read(&task)?;
    let settings = configuration::load(scene)?.settings;
    let bounds = brief.plan(cli, &settings, scene)?.bounds;
    Ok(Job {
        task: task.id,
        layers: brief.layers,
        time_ms: u64::try_from(bounds.timeout.as_millis()).unwrap_or(u64::MAX),
        files: Vec::new(),
        conversation: None,
        endpoint: Endpoint::Absent,
        worker: 0,
    })
}
