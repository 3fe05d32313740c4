//! Why nothing ran: what can be wrong with a run before it starts, its exit status and what to do about it.

use glee_policy::ResolvedPolicy;
use glee_sandbox::launch::LaunchError;
use glee_sandbox::lower::LowerError;
use glee_sandbox::survey::{NotFound, SurveyError};

use crate::agent::key::KeyError;
use crate::audit::LogError;
use crate::audit::guard::OwnState;
use crate::container::ContainerError;
use crate::egress::EgressError;
use crate::project::SceneError;
use crate::report::DestinationError;
use crate::select::SelectError;
use crate::stage::StageError;
use crate::tasks::layers::LayerError;

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Layer(#[from] LayerError),
    #[error(transparent)]
    Command(#[from] NotFound),
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("cannot enforce `backend: {backend}` ({origin}): {error}")]
    Engine {
        backend: &'static str,
        origin: String,
        error: LaunchError,
    },
    #[error(transparent)]
    Container(#[from] ContainerError),
    #[error(transparent)]
    Destination(#[from] DestinationError),
    #[error("no command was given")]
    NoCommand,
    #[error(transparent)]
    OwnState(#[from] OwnState),
    #[error("the run cannot be entered in the audit log: {0}")]
    Audit(LogError),
    #[error(transparent)]
    Stage(#[from] StageError),
}

impl Refusal {
    /// An engine that cannot do it is a clause that cannot be enforced.
    pub(crate) fn launch(error: LaunchError, policy: &ResolvedPolicy) -> Self {
        if !matches!(error, LaunchError::Engine(_)) {
            return Self::Launch(error);
        }
        Self::Engine {
            backend: policy.backend.word(),
            origin: glee_container::origin(policy, "backend"),
            error,
        }
    }

    /// 125, but for a command that is not there or cannot be executed.
    #[must_use]
    pub fn exit_status(&self) -> i32 {
        match self {
            Self::Command(not_found) => not_found.exit_status(),
            Self::Scene(_)
            | Self::Select(_)
            | Self::Layer(_)
            | Self::Survey(_)
            | Self::Key(_)
            | Self::Egress(_)
            | Self::Lower(_)
            | Self::Launch(_)
            | Self::Engine { .. }
            | Self::Container(_)
            | Self::Destination(_)
            | Self::OwnState(_)
            | Self::Audit(_)
            | Self::Stage(_)
            | Self::NoCommand => 125,
        }
    }

    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Lower(error) => Some(error.help().to_owned()),
            Self::Launch(error) | Self::Engine { error, .. } => error.help(),
            Self::Container(error) => error.help(),
            Self::Key(error) => Some(error.help().to_owned()),
            Self::Layer(error) => error.help(),
            Self::Select(error) => error.help(),
            Self::Scene(error) => Some(error.help().to_owned()),
            Self::Command(_) | Self::Survey(_) | Self::Egress(_) | Self::NoCommand => None,
            Self::OwnState(error) => Some(error.help().to_owned()),
            Self::Stage(error) => Some(error.help().to_owned()),
            Self::Audit(error) => Some(error.help().to_owned()),
            Self::Destination(error) => Some(error.help()),
        }
    }
}
