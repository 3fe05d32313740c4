//! Why a task is not taken, in the words that callers are told.

use crate::context::preview::PreviewError;
use crate::definitions::Cli;
use crate::definitions::input::CallError;
use crate::definitions::store::StoreError as AgentsError;
use crate::definitions::tool::Unenforceable;
use crate::keyring::KeyError;
use crate::project::SceneError;
use crate::sessions::SessionError;
use crate::settings::store::ConfigError;
use crate::store::{FlowId, StoreError, TaskId};
use crate::trust::TrustError;

use super::layers::LayerError;
use super::outcome::Outcome;
use super::select::SelectCliError;

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the prompt is empty")]
    NoPrompt,
    #[error("the prompt has {bytes} bytes, and at most {most} are taken")]
    LongPrompt { bytes: usize, most: usize },
    #[error("inputs were given, but no agent that takes them")]
    InputsWithoutAgent,
    #[error(transparent)]
    Agent(Box<AgentsError>),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Cli(#[from] SelectCliError),
    #[error("the agent cannot be held to its tools: {0}")]
    Tools(#[from] Unenforceable),
    #[error("{0} can be held to its tools in a sandbox with namespaces only, and the policy gives none")]
    ToolsNeedNamespaces(Cli),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Layer(Box<LayerError>),
    #[error(transparent)]
    Config(Box<ConfigError>),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Prompt(Box<PreviewError>),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("approval was denied")]
    Denied,
    #[error("a subagent needs approval here, and there is nobody to ask")]
    NobodyToAsk,
    #[error("nobody has approved of it in time")]
    Unapproved,
    #[error("the policy has changed since the task was approved")]
    OtherPolicy,
    #[error("a subagent may not start subagents here: this would be level {depth}, and {most} are allowed")]
    Nested { depth: u32, most: u64 },
    #[error("the task `{0}` is not running, so nothing can be asked for in its name")]
    ParentOver(TaskId),
    #[error("the run `{0}` of a workflow, which it would work for, has spent what it may")]
    Spent(FlowId),
    #[error("the task that asked for it has no time left")]
    NoTimeLeft,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot start a worker: {0}")]
    Worker(std::io::Error),
    #[error("cannot keep the files of a task: {0}")]
    Files(std::io::Error),
    #[error(transparent)]
    Scene(#[from] SceneError),
}

impl From<AgentsError> for Refusal {
    fn from(error: AgentsError) -> Self {
        Self::Agent(Box::new(error))
    }
}

impl From<LayerError> for Refusal {
    fn from(error: LayerError) -> Self {
        Self::Layer(Box::new(error))
    }
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl From<PreviewError> for Refusal {
    fn from(error: PreviewError) -> Self {
        Self::Prompt(Box::new(error))
    }
}

impl Refusal {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoPrompt => Some("say what is to be done".into()),
            Self::LongPrompt { .. } => Some("put the text in a file of the project and name the file".into()),
            Self::InputsWithoutAgent => Some("name the agent".into()),
            Self::Agent(error) => error.help(),
            Self::Call(error) => Some(error.help()),
            Self::Cli(error) => Some(error.help()),
            Self::Tools(error) => Some(error.help().into()),
            Self::ToolsNeedNamespaces(_) => Some("use `mode: restricted` and `isolation: namespaces`".into()),
            Self::Session(error) => Some(error.help().into()),
            Self::Layer(error) => error.help(),
            Self::Config(error) => error.help(),
            Self::Trust(error) => Some(error.help().into()),
            Self::Prompt(error) => error.help(),
            Self::Key(error) => Some(error.help().into()),
            Self::Denied => None,
            Self::NobodyToAsk => Some(
                "call it on a terminal, or in the background: then `glee-supervisor approvals list` shows it".into(),
            ),
            Self::Unapproved | Self::OtherPolicy => Some("ask for the task again".into()),
            Self::Nested { .. } => Some("`subagents.max_depth` in a trusted configuration allows it".into()),
            Self::ParentOver(_) | Self::NoTimeLeft | Self::Spent(_) => None,
            Self::Store(StoreError::TooManyBelow(_)) => Some("wait for one of them, or cancel it".into()),
            Self::Store(StoreError::Database(error)) => Some(error.help().into()),
            Self::Store(_) => None,
            Self::Worker(_) | Self::Files(_) => Some("check the permissions of the state directory".into()),
            Self::Scene(error) => Some(error.help().into()),
        }
    }

    /// The documented object, for a task of this agent.
    #[must_use]
    pub fn outcome(&self, agent: Option<String>) -> Outcome {
        let named = if let Self::Cli(SelectCliError::NotInstalled(cli)) = self {
            Some(cli.to_string())
        } else {
            None
        };
        Outcome::refused(agent.or(named), self.to_string(), self.help())
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        if let Self::Agent(error) = self {
            error.has_place()
        } else if let Self::Layer(error) = self {
            match error.as_ref() {
                LayerError::Agent(error) => error.has_place(),
                LayerError::Policy(_) => true,
                LayerError::Changed(_) => false,
            }
        } else if let Self::Config(error) = self {
            error.has_place()
        } else if let Self::Prompt(error) = self {
            error.has_place()
        } else {
            false
        }
    }
}
