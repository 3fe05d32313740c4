//! What a workflow's file says, typed.
//!
//! Pure data. Whether it makes sense with the other files of the project is `check`'s business.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use glee_policy::Origin;
use serde::{Deserialize, Serialize};

use super::expr::{Place, Template};
use super::name::{GroupName, StepName, WorkflowName};
use crate::definitions::AgentName;
use crate::definitions::input::Input;

/// One workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub name: WorkflowName,
    pub description: String,
    pub execution: Execution,
    /// Absent: the names that its expressions refer to.
    pub inputs: Option<Vec<Input>>,
    pub steps: Vec<Step>,
    pub author: Author,
    pub file: PathBuf,
    /// SHA-256 of the bytes it was read from.
    pub digest: String,
}

/// How the steps are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// One after the other.
    #[default]
    Sequential,
    /// Stage by stage, the steps of a stage at once.
    Parallel,
    /// Each as soon as what it depends on has ended.
    Dag,
}

impl Execution {
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("sequential", Self::Sequential),
        ("parallel", Self::Parallel),
        ("dag", Self::Dag),
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Parallel => "parallel",
            Self::Dag => "dag",
        }
    }

    /// What a failed step means if it does not say so itself.
    #[must_use]
    pub fn on_error(self) -> OnError {
        match self {
            Self::Sequential => OnError::Stop,
            Self::Parallel => OnError::Continue,
            Self::Dag => OnError::SkipDependents,
        }
    }
}

/// Who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Person,
    /// `source: {from: agent}`: may not nest, and has the smaller budgets.
    Agent,
}

/// One entry of `steps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub name: Option<StepName>,
    pub work: Work,
    pub inputs: BTreeMap<String, Template>,
    pub prompt: Option<Template>,
    pub parallel_group: Option<GroupName>,
    pub needs: Vec<StepRef>,
    /// Absent: `Execution::on_error`.
    pub on_error: Option<OnError>,
    pub at: Origin,
    pub marks: Marks,
}

/// Where in the file the parts of a step stand that can be wrong by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    pub work: Place,
    pub group: Place,
    /// One for each of `needs`.
    pub needs: Vec<Place>,
}

/// Who does a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// A definition of the project, else the name of a CLI.
    Agent(AgentName),
    Workflow(WorkflowName),
}

impl Work {
    /// The name that is written.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) => name.as_str(),
            Self::Workflow(name) => name.as_str(),
        }
    }
}

/// What a failed step means for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The others go on.
    Continue,
    /// Nothing further is started.
    Stop,
    /// Those that depend on it, directly or not, are skipped.
    SkipDependents,
}

impl OnError {
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("continue", Self::Continue),
        ("stop", Self::Stop),
        ("skip_dependents", Self::SkipDependents),
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Stop => "stop",
            Self::SkipDependents => "skip_dependents",
        }
    }
}

/// Which step of the same workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepRef {
    /// Counted from 0.
    Index(usize),
    Name(StepName),
}

impl fmt::Display for StepRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "steps[{index}]"),
            Self::Name(name) => write!(f, "steps.{name}"),
        }
    }
}

impl Workflow {
    /// The index of a step that is there.
    #[must_use]
    pub fn find(&self, which: &StepRef) -> Option<usize> {
        match which {
            StepRef::Index(index) => (*index < self.steps.len()).then_some(*index),
            StepRef::Name(name) => self.steps.iter().position(|step| step.name.as_ref() == Some(name)),
        }
    }
}
