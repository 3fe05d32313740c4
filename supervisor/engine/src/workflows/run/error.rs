//! Why a workflow is not run, or not any further, in the words that callers are told.

use std::path::PathBuf;

use crate::definitions::AgentName;
use crate::definitions::name::GRAMMAR;
use crate::store::{FlowId, FlowState, StoreError};
use crate::tasks::Refusal;
use crate::text::visible;
use crate::workflows::expr::EvalProblem;
use crate::workflows::shelf::ShelfError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Shelf(Box<ShelfError>),
    /// As `validate` shows them.
    #[error("{rendered}")]
    Invalid { rendered: String },
    #[error("the workflow `{workflow}` has no input `{}`", visible(name))]
    UnknownInput {
        workflow: String,
        name: String,
        known: Vec<String>,
    },
    #[error("the workflow `{workflow}` needs the input `{name}`")]
    MissingInput { workflow: String, name: String },
    #[error("the input `{name}` of the workflow `{workflow}` must be a {kind}")]
    WrongType {
        workflow: String,
        name: String,
        kind: &'static str,
    },
    #[error("the workflow `{0}` was written by an agent and nobody has approved of it")]
    NotApproved(String),
    #[error("approval was denied")]
    Denied,
    #[error("`{}` has changed since the run `{run}` began: it cannot go on", visible(&file.to_string_lossy()))]
    Changed { file: PathBuf, run: FlowId },
    #[error("the definition of the agent `{0}` has changed since the workflow began")]
    OtherAgent(AgentName),
    #[error("the time of what an agent wrote is over: {0} minutes (workflows.ai_generated_budgets.max_runtime_mins)")]
    GeneratedTime(u64),
    #[error("the run `{run}` has stopped: {error}")]
    Stopped { run: FlowId, error: Box<RunError> },
    #[error("the run `{run}` is driven by process {pid}")]
    Driven { run: FlowId, pid: u32 },
    #[error("the run `{run}` is over: {}", .state.as_str())]
    Over { run: FlowId, state: FlowState },
    #[error("`{}` is not a name for a workflow: it has {GRAMMAR}", visible(.0))]
    BadName(String),
    #[error("the definition of a workflow has no key `{}`", visible(.0))]
    BadKey(String),
    #[error("the workflow `{0}` is there already, and is not an agent's to replace")]
    Taken(String),
    #[error("cannot write `{}`: {error}", .path.display())]
    Write { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Value(#[from] EvalProblem),
    #[error(transparent)]
    Task(#[from] Refusal),
}

impl From<ShelfError> for RunError {
    fn from(error: ShelfError) -> Self {
        Self::Shelf(Box::new(error))
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Task(error.into())
    }
}

impl RunError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Shelf(error) => error.help(),
            Self::Invalid { .. } | Self::Denied => None,
            Self::UnknownInput { known, .. } if known.is_empty() => Some("it takes none".into()),
            Self::UnknownInput { known, .. } => Some(format!("it takes {}", known.join(", "))),
            Self::MissingInput { name, .. } => Some(format!("--input {name}=VALUE")),
            Self::WrongType { .. } => None,
            Self::NotApproved(name) => Some(format!(
                "run it on a terminal, or read it and say `glee-supervisor trust --workflow {name}`"
            )),
            Self::Changed { run, .. } => Some(format!(
                "put the file back as it was, or `glee-supervisor workflow cancel {run}`"
            )),
            Self::Stopped { run, error } => {
                let resume = format!("`glee-supervisor workflow resume {run}` goes on with it");
                Some(match error.help() {
                    Some(help) => format!("{help}; then {resume}"),
                    None => resume,
                })
            }
            Self::OtherAgent(_) => Some("run the workflow again".into()),
            Self::GeneratedTime(_) => None,
            Self::Driven { run, .. } => Some(format!("`glee-supervisor workflow status {run}` shows how far it is")),
            Self::Over { run, .. } => Some(format!(
                "`glee-supervisor workflow history {run}` shows what came of it"
            )),
            Self::BadName(_) => None,
            Self::BadKey(_) => Some("it has `description`, `inputs`, `steps` and `execution`".into()),
            Self::Taken(_) => Some("choose another name".into()),
            Self::Write { .. } => Some("check the permissions, and that nothing on the way is a link".into()),
            Self::Value(problem) => Some(problem.help().into()),
            Self::Task(refusal) => refusal.help(),
        }
    }

    /// Must the driver end, rather than the step? What the journal does not take did not happen.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::Task(Refusal::Store(
                StoreError::FlowLost(_) | StoreError::NoStep(..) | StoreError::Database(_)
            ))
        )
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        match self {
            Self::Invalid { .. } => true,
            Self::Shelf(error) => error.has_place(),
            Self::Task(refusal) => refusal.has_place(),
            Self::UnknownInput { .. }
            | Self::MissingInput { .. }
            | Self::WrongType { .. }
            | Self::NotApproved(_)
            | Self::BadName(_)
            | Self::BadKey(_)
            | Self::Taken(_)
            | Self::Write { .. }
            | Self::Value(_)
            | Self::Denied
            | Self::Changed { .. }
            | Self::Stopped { .. }
            | Self::OtherAgent(_)
            | Self::GeneratedTime(_)
            | Self::Driven { .. }
            | Self::Over { .. } => false,
        }
    }
}
