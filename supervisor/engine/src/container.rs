//! A run in a container engine's walls: which engine, which settings, and the same launcher as for any other run.

use glee_container::{Container, Engine, Facts, Refused, RunDirError};
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::Backend;
use glee_sandbox::launch::{self, LaunchError, Outcome, Serve};
use glee_sandbox::plan::SandboxPlan;

#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl ContainerError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Refused(error) => error.help(),
            Self::RunDir(_) => Some("remove it, if it is yours; it is made anew".to_owned()),
            Self::Launch(error) => error.help(),
        }
    }
}

/// `None`: our own walls. `auto` means those: they need no engine and start in milliseconds.
#[must_use]
pub fn engine(backend: Backend) -> Option<Engine> {
    match backend {
        Backend::Auto | Backend::Native => None,
        Backend::Podman => Some(Engine::Podman),
        Backend::Docker => Some(Engine::Docker),
    }
}

/// Lowers the plan to this engine's settings, and runs it there.
pub fn run(
    plan: &SandboxPlan,
    policy: &ResolvedPolicy,
    engine: Engine,
    run_id: &str,
    serve: Option<&dyn Serve>,
) -> Result<Outcome, ContainerError> {
    let settings = glee_container::lower::lower(plan, policy, &Facts::of(engine))?;
    let container = Container::new(settings, plan, engine, run_id)?;
    Ok(launch::run_in(plan, serve, Some(&container))?)
}
