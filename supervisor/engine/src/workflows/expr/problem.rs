//! What can be wrong with an expression, with where it is.
//!
//! Pure. INVARIANT: a span lies in the text, at borders of characters.

use std::ops::Range;

use glee_policy::error::shown;

use crate::workflows::name::GRAMMAR;

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct ExprProblem {
    /// In bytes of the text.
    pub span: Range<usize>,
    pub fault: ExprFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExprFault {
    #[error("a `${{` has no `}}`")]
    Unclosed,
    #[error("`${{}}` holds nothing")]
    Empty,
    #[error("a text has no closing `\"`")]
    UnclosedText,
    #[error("`\\{}` is no escape", shown(&.0.to_string()))]
    Escape(char),
    #[error("`{}` has no place in an expression", shown(&.0.to_string()))]
    Character(char),
    #[error("expected {wanted}, found {}", shown(found))]
    Unexpected { wanted: &'static str, found: String },
    #[error("`{}` is not a name for {of}", shown(name))]
    NotAName { name: String, of: &'static str },
    #[error("{of} has no `{}`", shown(name))]
    NoField {
        of: &'static str,
        name: String,
        known: &'static [&'static str],
    },
    #[error("`{}` is more steps than a workflow has", shown(.0))]
    Index(String),
    #[error("a `??` after a text or a number is never reached")]
    AfterLiteral,
    #[error("an expression begins with what it asks for, not with a text or a number")]
    LiteralFirst,
}

impl ExprProblem {
    /// What the author can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.fault {
            ExprFault::Unclosed => "close it with `}`, or write `$${` for the text `${` itself".into(),
            ExprFault::Empty => "write `${name}` for an input, `${steps[0].output}` for what a step said".into(),
            ExprFault::UnclosedText => "close it, and write `\\\"` for a quote inside".into(),
            ExprFault::Escape(_) => "known are `\\\"`, `\\\\`, `\\n` and `\\t`".into(),
            ExprFault::Character('\'') => "a text stands in double quotes: `${name ?? \"none\"}`".into(),
            ExprFault::Character(c) if !c.is_ascii() => "names have ASCII letters, digits, `_` and `-`".into(),
            ExprFault::Character(_) | ExprFault::Unexpected { .. } => {
                "an expression is `name`, `inputs.name`, `steps[0].output`, `steps.NAME.output` or \
                 `parallel_group.NAME.outputs`, and may have a `?? \"default\"`"
                    .into()
            }
            ExprFault::NotAName { of: "an input", .. } => {
                "letters, digits and `_`, not starting with a digit, at most 64".into()
            }
            ExprFault::NotAName { .. } => GRAMMAR.into(),
            ExprFault::NoField { known, .. } => {
                let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", known.join(", "))
            }
            ExprFault::Index(_) => "steps are counted from 0, in the order in which they are written".into(),
            ExprFault::AfterLiteral => "remove what follows it".into(),
            ExprFault::LiteralFirst => "write the text without `${…}`".into(),
        }
    }
}
