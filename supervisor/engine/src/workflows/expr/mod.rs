//! `${…}` in a workflow: taken apart once, filled in once.
//!
//! Pure. The whole language: `${name}` and `${inputs.name}`, `${steps[0].output}` and `${steps.NAME.output}` (also `status`,
//! `error`, `duration_ms`), `${parallel_group.NAME.outputs}` (also `succeeded`, `failed`, `status`), and `a ?? b` between
//! them, where the last may be a text in double quotes or a number. `$${` stands for `${`.
//! No recursion and no looking back: time and memory grow with the text, whatever it holds.
//! INVARIANT: a value is copied as it is; nothing in it is ever looked at for a `${` of its own, and what an agent said
//! stays marked as said.

mod eval;
mod lex;
mod parse;
mod problem;
mod template;

pub use eval::{EvalProblem, Part, Rendered, Room, Scope};
pub use problem::{ExprFault, ExprProblem};
pub use template::{Place, Template, Use};

use std::fmt;

use super::model::StepRef;
use super::name::GroupName;

/// What an expression asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    Input(String),
    Step { which: StepRef, field: StepField },
    Group { name: GroupName, field: GroupField },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepField {
    Output,
    Status,
    Error,
    DurationMs,
}

impl StepField {
    pub(super) const WORDS: &'static [(&'static str, Self)] = &[
        ("output", Self::Output),
        ("status", Self::Status),
        ("error", Self::Error),
        ("duration_ms", Self::DurationMs),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupField {
    Outputs,
    Succeeded,
    Failed,
    Status,
}

impl GroupField {
    pub(super) const WORDS: &'static [(&'static str, Self)] = &[
        ("outputs", Self::Outputs),
        ("succeeded", Self::Succeeded),
        ("failed", Self::Failed),
        ("status", Self::Status),
    ];
}

fn word_of<T: PartialEq>(words: &'static [(&'static str, T)], value: &T) -> &'static str {
    let found = words.iter().find(|(_, known)| known == value);
    found.map_or("", |(word, _)| word)
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "inputs.{name}"),
            Self::Step { which, field } => write!(f, "{which}.{}", word_of(StepField::WORDS, field)),
            Self::Group { name, field } => write!(f, "parallel_group.{name}.{}", word_of(GroupField::WORDS, field)),
        }
    }
}

#[cfg(test)]
#[path = "expr_tests.rs"]
mod tests;
