//! A run in a container engine's walls: which engine, and which settings. The launcher is the one of every other run.

use std::ffi::OsStr;

use glee_container::gvisor::NOT_GIVEN;
use glee_container::plan::ContainerPlan;
use glee_container::{Container, Engine, Facts, Refused, RunDirError};
use glee_policy::Origin;
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Backend, Runtime};
use glee_sandbox::plan::{Records, SandboxPlan};
use glee_sandbox::survey::{FoundCommand, NotFound};

#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error("cannot honour `--kernel-audit`: what Landlock records of a container is not told apart from others'")]
    Records,
}

impl ContainerError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Refused(error) => error.help(),
            Self::Records => Some("leave it out, or use `--backend native`".to_owned()),
            Self::RunDir(_) => Some("remove it, if it is yours; it is made anew".to_owned()),
        }
    }
}

/// The caller's own word for it.
pub fn choose(policy: &mut ResolvedPolicy, typed: Option<Backend>) {
    if let Some(backend) = typed {
        policy.backend = backend;
        policy.origins.insert("backend".to_owned(), Origin::flag("--backend"));
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

/// What contains the command, and what it is not given, in the words of the report.
pub type Walls = (&'static str, &'static [&'static str]);

/// The plan in the words of an engine.
#[derive(Debug)]
pub struct Settings {
    pub engine: Engine,
    plan: ContainerPlan,
}

/// Lowers the plan to the settings of the policy's engine. `None`: it has none.
pub fn settings(plan: &SandboxPlan, policy: &ResolvedPolicy) -> Result<Option<Settings>, ContainerError> {
    let Some(engine) = engine(policy.backend) else {
        return match policy.runtime {
            Runtime::Default => Ok(None),
            Runtime::Runsc => Err(Refused::Clause {
                clause: "runtime: runsc".to_owned(),
                origin: glee_container::origin(policy, "runtime"),
                reason: "only a container engine starts gVisor".to_owned(),
                help: "say `--backend podman`, or `runtime: default`".to_owned(),
            }
            .into()),
        };
    };
    if plan.records == Records::Take {
        return Err(ContainerError::Records);
    }
    let plan = glee_container::lower::lower(plan, policy, &Facts::of(engine))?;
    Ok(Some(Settings { engine, plan }))
}

impl Settings {
    /// What the report calls the walls, and what they do not give.
    #[must_use]
    pub fn walls(&self) -> Walls {
        match self.plan.runtime {
            Runtime::Default => ("container", &[]),
            Runtime::Runsc => ("gvisor", NOT_GIVEN),
        }
    }

    /// Makes the run's directory.
    pub fn container(self, plan: &SandboxPlan, run_id: &str) -> Result<Container, ContainerError> {
        Ok(Container::new(self.plan, plan, self.engine, run_id)?)
    }
}
