//! What can be wrong with a workflow, with the place and what to do.
//!
//! Pure. INVARIANT: nothing taken from a file reaches a terminal unescaped.

use glee_policy::error::{MAX_BYTES, MAX_DEPTH, render, shown};
use glee_policy::{Origin, PolicyError};
use serde::Serialize;

use super::expr::ExprProblem;
use super::model::StepRef;
use super::name::GRAMMAR;
use crate::definitions::{DefinitionError, name};

/// The most steps that one file may have.
pub const MOST_STEPS: usize = 2_000;
/// How many names of a chain that is too deep are told.
const CHAIN: usize = 3;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: Origin,
    pub what: What,
}

/// As programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub hint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum What {
    #[error(transparent)]
    Written(Box<DefinitionError>),
    #[error("{what} needs the key `{key}`")]
    Missing { what: &'static str, key: &'static str },
    #[error("`{}` is not a name for {of}", shown(name))]
    BadName { name: String, of: Named },
    #[error("the workflow is called `{}`, its file `{}`", shown(name), shown(file))]
    OtherFile { name: String, file: String },
    #[error("`{key}` must have {must}")]
    BadText { key: &'static str, must: &'static str },
    #[error("`{}`: {problem}", shown(key))]
    Expression { key: String, problem: ExprProblem },
    #[error("a step needs `agent` or `workflow`")]
    NoWork,
    #[error("a step has `agent` or `workflow`, not both")]
    TwoWorks,
    #[error("a step with `workflow` has no `prompt`")]
    PromptForWorkflow,
    #[error("the workflow has no steps")]
    NoSteps,
    #[error("the workflow has {0} steps, more than the {MOST_STEPS} that one file may have")]
    TooManySteps(usize),
    #[error("there are two steps `{0}`")]
    StepTwice(String),
    #[error("a group of steps runs at once, and `execution` is `sequential`")]
    GroupInSequence,
    #[error("the steps of the group `{0}` do not stand together")]
    GroupSplit(String),
    #[error("there is no agent `{name}`")]
    UnknownAgent { name: String, nearest: Option<String> },
    #[error("the agent `{0}` cannot be read")]
    BrokenAgent(String),
    #[error("`{0}` is a CLI, and the step does not say what to do")]
    NothingToDo(String),
    #[error("there is no workflow `{name}`")]
    UnknownWorkflow { name: String, nearest: Option<String> },
    #[error("the workflow `{0}` cannot be read")]
    BrokenWorkflow(String),
    #[error("a workflow that an agent wrote cannot run the workflow `{0}`")]
    Nests(String),
    #[error("the workflow has no input `{name}`")]
    UnknownInput { name: String, known: Vec<String> },
    #[error("the input `{0}` is optional, and there is nothing else to take")]
    NoFallback(String),
    #[error("the {of} has no input `{}`", shown(name))]
    NotAnInput {
        of: String,
        name: String,
        known: Vec<String>,
    },
    #[error("the {of} needs the input `{name}`")]
    MissingInput { of: String, name: String },
    #[error("the input `{name}` of the {of} must be a {kind}")]
    WrongInput {
        of: String,
        name: String,
        kind: &'static str,
    },
    #[error("there is no `{which}`")]
    UnknownStep {
        which: StepRef,
        steps: usize,
        nearest: Option<String>,
    },
    #[error("`{0}` is the step itself")]
    Itself(StepRef),
    #[error("`{0}` comes later")]
    Later(StepRef),
    #[error("`{which}` is in the same group, `{group}`, and runs at the same time")]
    SameGroup { which: StepRef, group: String },
    #[error("there is no group `{name}`")]
    UnknownGroup { name: String, nearest: Option<String> },
    #[error("the step is in the group `{0}` itself")]
    OwnGroup(String),
    #[error("the group `{0}` comes later")]
    LaterGroup(String),
    #[error("the steps wait for each other: {}", .0.join(" → "))]
    StepCycle(Vec<String>),
    #[error("Workflow cycle detected: {}", .0.join(" → "))]
    WorkflowCycle(Vec<String>),
    #[error("Workflow depth limit exceeded ({limit}): {}", beginning(chain))]
    Depth { limit: u64, chain: Vec<String> },
    #[error("the workflow has {steps} steps with all below it, more than `{key}: {most}`")]
    Budget { steps: u64, most: u64, key: &'static str },
}

/// What a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Workflow,
    Agent,
    Step,
    Group,
    Input,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Workflow => "a workflow",
            Self::Agent => "an agent",
            Self::Step => "a step",
            Self::Group => "a group",
            Self::Input => "an input",
        })
    }
}

impl Named {
    fn grammar(self) -> &'static str {
        match self {
            Self::Workflow | Self::Agent => name::GRAMMAR,
            Self::Step | Self::Group => GRAMMAR,
            Self::Input => "letters, digits and `_`, not starting with a digit, at most 64",
        }
    }
}

fn beginning(chain: &[String]) -> String {
    let names: Vec<&str> = chain.iter().take(CHAIN).map(String::as_str).collect();
    let rest = if chain.len() > CHAIN { " → ..." } else { "" };
    format!("{}{rest}", names.join(" → "))
}

impl From<DefinitionError> for Problem {
    fn from(error: DefinitionError) -> Self {
        Self {
            at: error.origin().clone(),
            what: What::Written(Box::new(error)),
        }
    }
}

impl From<PolicyError> for Problem {
    fn from(error: PolicyError) -> Self {
        DefinitionError::from(error).into()
    }
}

fn did_you_mean(nearest: Option<&String>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.into(), |nearest| format!("did you mean `{nearest}`?"))
}

fn takes(known: &[String], none: &str) -> String {
    if known.is_empty() {
        none.into()
    } else {
        format!(
            "known are {}",
            known
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        )
    }
}

impl Problem {
    /// What the author can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.what {
            What::Written(error) => written(error),
            What::Missing { key, .. } => format!("add `{key}:`"),
            What::BadName { of, .. } => of.grammar().into(),
            What::OtherFile { name, .. } => format!("call the file `{}.yml`, or change `name`", shown(name)),
            What::BadText { must, .. } => format!("write {must}"),
            What::Expression { problem, .. } => problem.help(),
            What::NoWork => "write `agent: NAME` or `workflow: NAME`".into(),
            What::TwoWorks => "make two steps of it".into(),
            What::PromptForWorkflow => "give it `inputs`".into(),
            What::NoSteps => "add a step: `- agent: NAME`".into(),
            What::TooManySteps(_) => "put some of them in a workflow of their own".into(),
            What::StepTwice(_) => "give one of them another name".into(),
            What::GroupInSequence => "write `execution: parallel`, or remove `parallel_group`".into(),
            What::GroupSplit(_) => "move them together, or give them different groups".into(),
            What::UnknownAgent { nearest, .. } => {
                did_you_mean(nearest.as_ref(), "`glee-supervisor agents list` shows the agents")
            }
            What::BrokenAgent(name) => format!("`glee-supervisor agents show {name}` says why"),
            What::NothingToDo(_) => "add a `prompt:`, or name one of the project's agents".into(),
            What::UnknownWorkflow { nearest, .. } => {
                did_you_mean(nearest.as_ref(), "`glee-supervisor workflow list` shows the workflows")
            }
            What::BrokenWorkflow(name) => format!("`glee-supervisor workflow validate {name}` says why"),
            What::Nests(_) => "only steps with `agent` are allowed in it".into(),
            What::UnknownInput { known, .. } => takes(known, "add it to `inputs`"),
            What::NoFallback(name) => format!("write `${{{name} ?? \"\"}}`, or give it a `default`"),
            What::NotAnInput { known, .. } => takes(known, "it takes none"),
            What::MissingInput { name, .. } => format!("add `{name}:` to the step's `inputs`"),
            What::WrongInput { kind, .. } => format!("write a {kind}"),
            What::UnknownStep { steps, nearest, .. } => {
                let last = steps.saturating_sub(1);
                did_you_mean(
                    nearest.as_ref(),
                    &format!("the steps are `steps[0]` to `steps[{last}]`"),
                )
            }
            What::Itself(_) => "a step can use what steps before it said".into(),
            What::Later(_) | What::LaterGroup(_) => "move it before this step, or use `execution: dag`".into(),
            What::SameGroup { .. } | What::OwnGroup(_) => "take this step out of the group, and put it behind".into(),
            What::UnknownGroup { nearest, .. } => did_you_mean(
                nearest.as_ref(),
                "a group is named by the `parallel_group` of its steps",
            ),
            What::StepCycle(_) => "remove one of the references or `needs` of the circle".into(),
            What::WorkflowCycle(_) => "remove one of the `workflow:` steps of the circle".into(),
            What::Depth { .. } => "nest less deeply, or raise `workflows.max_depth` in `.glee/config.yml`".into(),
            What::Budget { key, .. } => format!("take steps out, or raise `{key}` in `.glee/config.yml`"),
        }
    }

    /// As people read it: the place, the line with a caret, the hint. What has a form of its own stands on a line of its own.
    #[must_use]
    pub fn render(&self, text: Option<&str>) -> String {
        let message = self.what.to_string();
        let rendered = render(&self.at, &message, &self.help(), text);
        if !matches!(self.what, What::WorkflowCycle(_) | What::Depth { .. }) {
            return rendered;
        }
        let place = rendered.replacen(&format!(": error: {message}"), "", 1);
        format!("Error: {message}\n{place}")
    }

    #[must_use]
    pub fn told(&self) -> Told {
        Told {
            file: self.at.source.to_string(),
            line: self.at.line,
            column: self.at.column,
            message: self.what.to_string(),
            hint: self.help(),
        }
    }
}

/// The words of the policies' reader, where they speak of policies, in those of workflows.
fn written(error: &DefinitionError) -> String {
    let DefinitionError::Yaml(yaml) = error else {
        return error.help();
    };
    if let PolicyError::TooLarge { .. } = **yaml {
        return format!("a workflow has at most {MAX_BYTES} bytes: put long texts in files of the project");
    }
    if let PolicyError::TooDeep { .. } = **yaml {
        return format!("lists and mappings nest at most {MAX_DEPTH} deep, and a workflow needs four levels");
    }
    if let PolicyError::WrongType { expected, .. } = **yaml {
        match expected {
            "a list" => return "write a line `- …` for each".into(),
            "a mapping" => return "write lines `key: value`".into(),
            _ => {}
        }
    }
    error.help()
}
