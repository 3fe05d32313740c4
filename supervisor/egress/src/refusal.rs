//! Why something was not done: one value, which every protocol and the report put in their own words.
//!
//! Pure.

use crate::record::Outcome;

/// The reason where it is only that nothing allows it.
pub const NOT_ALLOWED: &str = "no rule of the policy allows it";

/// What sort of thing stood in the way: each protocol has its own code for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The policy, or a check that protects it.
    Forbidden,
    /// The client asked for another name than the one it connected to.
    OtherName,
    /// The client did not keep to the protocol.
    BadRequest,
    /// One of our limits.
    Busy,
    NoSuchName,
    ConnectRefused,
    Unreachable,
    Timeout,
}

impl Kind {
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Forbidden | Self::OtherName | Self::BadRequest | Self::Busy => Outcome::Refused,
            Self::NoSuchName | Self::ConnectRefused | Self::Unreachable | Self::Timeout => Outcome::Failed,
        }
    }
}

/// Why something was not done, in the words that the client and the report get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub kind: Kind,
    pub reason: String,
    pub rule: Option<String>,
    pub hint: Option<String>,
}

impl Refusal {
    #[must_use]
    pub fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            rule: None,
            hint: None,
        }
    }
}
