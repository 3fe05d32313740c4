//! Why a body is not passed on.
//!
//! Pure. Lists are named without their positions, so that the same fault is the same reason in a report.

use std::fmt;

/// What is quoted of a word from the sandbox.
const QUOTED: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the body is not JSON that every reader reads alike: {0}")]
    NotJson(String),
    #[error("the body is not JSON that every reader reads alike: `{0}` stands there twice")]
    Twice(String),
    #[error("the body has objects of too many keys")]
    TooManyKeys,
    #[error("`{at}` is not known to stay between the agent and its model{NO_NETWORK}")]
    Key { at: String },
    #[error("`{at}` of type `{kind}` is not known to be the agent's own{NO_NETWORK}")]
    Kind { at: String, kind: String },
    #[error("`{at}` does not say by `{key}` that it is the agent's own{NO_NETWORK}")]
    Untold { at: String, key: &'static str },
    #[error("`{at}` names an address for the vendor to reach{NO_NETWORK}")]
    Address { at: String },
    #[error("`{at}` asks the vendor for more than an answer{NO_NETWORK}")]
    Set { at: String },
    #[error("`{at}` names a model that searches by itself{NO_NETWORK}")]
    Searches { at: String },
    #[error("`{at}` is not of the form that is known there")]
    Form { at: String },
}

const NO_NETWORK: &str = ": the sandbox gives no network by way of the model";

/// Where in the body, from the place outwards.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Top,
    Key(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => f.write_str("the body"),
            Self::Key(Path::Top, key) => f.write_str(&quoted(key)),
            Self::Key(outer, key) => write!(f, "{outer}.{}", quoted(key)),
            Self::Item(outer) => write!(f, "{outer}[]"),
        }
    }
}

pub(super) fn quoted(word: &str) -> String {
    word.chars().take(QUOTED).flat_map(char::escape_debug).collect()
}
