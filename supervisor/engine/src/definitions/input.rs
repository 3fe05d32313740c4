//! What an agent asks its caller for.
//!
//! Pure. A value is text of one of a few types; one that is not of its type is refused before anything is filled in.

use std::collections::BTreeMap;

use super::template::MOST_FILLED;

/// One input of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    pub kind: InputKind,
    pub description: Option<String>,
    pub absent: Absent,
}

/// What happens if the caller says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// The call is refused.
    Required,
    /// This is taken.
    Default(String),
    /// Nothing, unless the prompt has a place for it: then the call is refused.
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    String,
    Number,
    Integer,
    Boolean,
}

impl InputKind {
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("string", Self::String),
        ("number", Self::Number),
        ("integer", Self::Integer),
        ("boolean", Self::Boolean),
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }

    /// Is the text a value of this type?
    #[must_use]
    pub fn accepts(self, value: &str) -> bool {
        match self {
            Self::String => true,
            Self::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Integer => value.parse::<i64>().is_ok(),
            Self::Boolean => matches!(value, "true" | "false"),
        }
    }
}

/// The most that the values of one call may have together.
pub const MAX_VALUES: usize = 1 << 20;

/// Why an agent cannot be called with these values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("the agent `{agent}` has no input `{name}`")]
    Unknown {
        agent: String,
        name: String,
        known: Vec<String>,
    },
    #[error("the agent `{agent}` needs the input `{name}`")]
    Missing { agent: String, name: String },
    #[error("the input `{name}` of the agent `{agent}` must be a {}, found `{value}`", .kind.word())]
    WrongType {
        agent: String,
        name: String,
        kind: InputKind,
        value: String,
    },
    #[error("the inputs have {bytes} bytes, more than the {MAX_VALUES} that are taken")]
    TooLong { bytes: usize },
    #[error("the prompt of the agent `{agent}` would have more than {MOST_FILLED} bytes with its inputs filled in")]
    LongPrompt { agent: String },
}

impl CallError {
    /// What the caller can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { known, .. } if known.is_empty() => "it takes none".into(),
            Self::Unknown { known, .. } => format!("it takes {}", known.join(", ")),
            Self::Missing { name, .. } => format!("--input {name}=VALUE"),
            Self::WrongType { kind, .. } => match kind {
                InputKind::String => "write text".into(),
                InputKind::Number => "write a number, such as 2.5".into(),
                InputKind::Integer => "write a whole number".into(),
                InputKind::Boolean => "write true or false".into(),
            },
            Self::TooLong { .. } => "put the text in a file of the project and name the file".into(),
            Self::LongPrompt { .. } => "give shorter values, or let its prompt name each input once".into(),
        }
    }
}

/// The value of every input that has one: what the caller gave, else the default.
pub fn values(
    agent: &str,
    inputs: &[Input],
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CallError> {
    let bytes = given.values().map(String::len).sum();
    if bytes > MAX_VALUES {
        return Err(CallError::TooLong { bytes });
    }
    if let Some(name) = given
        .keys()
        .find(|name| !inputs.iter().any(|input| input.name == **name))
    {
        return Err(CallError::Unknown {
            agent: agent.to_owned(),
            name: name.clone(),
            known: inputs.iter().map(|input| input.name.clone()).collect(),
        });
    }
    let mut values = BTreeMap::new();
    for input in inputs {
        let value = match (given.get(&input.name), &input.absent) {
            (Some(value), _) if input.kind.accepts(value) => value,
            (Some(value), _) => {
                return Err(CallError::WrongType {
                    agent: agent.to_owned(),
                    name: input.name.clone(),
                    kind: input.kind,
                    value: value.clone(),
                });
            }
            (None, Absent::Default(value)) => value,
            (None, Absent::Required) => return Err(missing(agent, &input.name)),
            (None, Absent::Optional) => continue,
        };
        values.insert(input.name.clone(), value.clone());
    }
    Ok(values)
}

pub(super) fn missing(agent: &str, name: &str) -> CallError {
    CallError::Missing {
        agent: agent.to_owned(),
        name: name.to_owned(),
    }
}
