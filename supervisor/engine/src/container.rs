//! A run in a container engine's walls: which engine, which settings, and the same launcher as for any other run.

use std::ffi::OsStr;

use glee_container::{Container, Engine, Facts, Refused, RunDirError};
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::Backend;
use glee_sandbox::launch::{self, LaunchError, Outcome, Serve};
use glee_sandbox::plan::SandboxPlan;
use glee_sandbox::survey::{FoundCommand, NotFound};

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

/// The file to execute. An image has programs of its own: a bare name is looked up inside, and so is a path that the host does
/// not have.
pub fn command(
    policy: &ResolvedPolicy,
    name: &OsStr,
    found: impl FnOnce() -> Result<FoundCommand, NotFound>,
) -> Result<FoundCommand, NotFound> {
    let images = policy.image.is_some() && engine(policy.backend).is_some();
    let inside = || FoundCommand {
        program: name.into(),
        files: Vec::new(),
        links: Vec::new(),
    };
    if images && !name.as_encoded_bytes().contains(&b'/') {
        return Ok(inside());
    }
    match found() {
        Err(NotFound::Absent { .. }) if images => Ok(inside()),
        other => other,
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
