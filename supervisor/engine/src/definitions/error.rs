//! What can be wrong with a definition, with the place and what to do.
//!
//! Pure. INVARIANT: nothing taken from a file reaches a terminal unescaped.

use glee_policy::error::{MAX_BYTES, MAX_DEPTH, render, shown};
use glee_policy::{Origin, PolicyError};

use super::Cli;
use super::name::GRAMMAR;
use super::template::TemplateProblem;
use super::tool::{Tool, Unenforceable};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    #[error(transparent)]
    Yaml(#[from] Box<PolicyError>),
    #[error("{what} needs the key `{key}`")]
    Missing {
        at: Origin,
        what: &'static str,
        key: &'static str,
    },
    #[error("`{}` is not a name for an agent", shown(name))]
    BadName { at: Origin, name: String },
    #[error("the agent is called `{}`, its file `{}`", shown(name), shown(file))]
    OtherFile { at: Origin, name: String, file: String },
    #[error("`{key}` must have {must}")]
    BadText {
        at: Origin,
        key: &'static str,
        must: &'static str,
    },
    #[error("`{}` is not a name for an input", shown(name))]
    BadInput { at: Origin, name: String },
    #[error("there are two inputs `{}`", shown(name))]
    InputTwice { at: Origin, name: String },
    #[error("the input `{}` is required and has a default", shown(name))]
    RequiredDefault { at: Origin, name: String },
    #[error("the default of the input `{}` must be a {kind}", shown(name))]
    BadDefault {
        at: Origin,
        name: String,
        kind: &'static str,
    },
    #[error("`prompt`: {}", shown(&.problem.to_string()))]
    Template { at: Origin, problem: TemplateProblem },
    #[error("`tools` has `{tool}` twice")]
    ToolTwice { at: Origin, tool: Tool },
    #[error("{problem}")]
    Unenforceable {
        at: Origin,
        cli: Cli,
        problem: Unenforceable,
    },
}

impl From<PolicyError> for DefinitionError {
    fn from(error: PolicyError) -> Self {
        Self::Yaml(Box::new(error))
    }
}

impl DefinitionError {
    #[must_use]
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Yaml(error) => error.origin(),
            Self::Missing { at, .. }
            | Self::BadName { at, .. }
            | Self::OtherFile { at, .. }
            | Self::BadText { at, .. }
            | Self::BadInput { at, .. }
            | Self::InputTwice { at, .. }
            | Self::RequiredDefault { at, .. }
            | Self::BadDefault { at, .. }
            | Self::Template { at, .. }
            | Self::ToolTwice { at, .. }
            | Self::Unenforceable { at, .. } => at,
        }
    }

    /// What the author can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Yaml(error) => of_yaml(error),
            Self::Missing { key, .. } => format!("add `{key}:`"),
            Self::BadName { .. } => GRAMMAR.into(),
            Self::OtherFile { name, .. } => format!("call the file `{}.yml`, or change `name`", shown(name)),
            Self::BadText { must, .. } => format!("write {must}"),
            Self::BadInput { .. } => "letters, digits and `_`, not starting with a digit, at most 64".into(),
            Self::InputTwice { .. } | Self::ToolTwice { .. } => "keep one of the two".into(),
            Self::RequiredDefault { .. } => "keep `required: true` or the `default`".into(),
            Self::BadDefault { kind, .. } => format!("write a {kind}, or change the `type`"),
            Self::Template { problem, .. } => match problem {
                TemplateProblem::Unknown(name) => {
                    format!(
                        "add it to `inputs`, or write `$${{{}}}` for the text itself",
                        shown(name)
                    )
                }
                TemplateProblem::Unclosed | TemplateProblem::NotAName(_) => {
                    "write `${name}` for an input, `$${` for the text `${` itself".into()
                }
            },
            Self::Unenforceable { problem, .. } => problem.help().into(),
        }
    }

    /// As people read it: the place, the line with a caret, the hint.
    #[must_use]
    pub fn render(&self, text: Option<&str>) -> String {
        render(self.origin(), &self.to_string(), &self.help(), text)
    }
}

/// The words of the policies' reader, where they speak of policies, in those of agents.
fn of_yaml(error: &PolicyError) -> String {
    if let PolicyError::TooLarge { .. } = error {
        return format!("an agent has at most {MAX_BYTES} bytes: put long texts in files of the project");
    }
    if let PolicyError::TooDeep { .. } = error {
        return format!("lists and mappings nest at most {MAX_DEPTH} deep, and an agent needs four levels");
    }
    error.help()
}
