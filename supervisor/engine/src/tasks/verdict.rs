//! What became of a task, from what the CLI said and from what the system saw.
//!
//! Pure. INVARIANT: an exit status of 0 alone is no success; neither is the CLI's own word if its model was never asked.

use super::events::{Listener, Turn};

/// What the system saw of the run, from its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub end: End,
    /// Requests that the broker passed on; `None` where the model was not reached through it.
    pub model_requests: Option<u64>,
    /// The last of what it wrote to standard error.
    pub complaint: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signaled(i32),
    Timeout,
    /// The sandbox was not built, or the command not found: nothing ran.
    Refused(String),
    /// On the caller's wish.
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Completed,
    Error(String),
    Timeout,
    Cancelled,
}

impl Status {
    /// The documented word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Error(_) => "error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Judges.
#[must_use]
pub fn judge(heard: &Listener, seen: &Seen) -> Status {
    let with = |what: &str| match seen.complaint.trim() {
        "" => what.to_owned(),
        complaint => format!("{what}: {complaint}"),
    };
    match (&seen.end, heard.turn()) {
        (End::Cancelled, _) => Status::Cancelled,
        (End::Timeout, _) => Status::Timeout,
        (End::Refused(why), _) => Status::Error(why.clone()),
        (End::Signaled(signal), _) => Status::Error(with(&format!("the agent was ended by signal {signal}"))),
        (End::Exited(_), Some(Turn::Failed(why))) => Status::Error(why.clone()),
        (End::Exited(0), Some(Turn::Completed)) if seen.model_requests == Some(0) => {
            Status::Error(with("the agent says it is done, but its model was never asked"))
        }
        (End::Exited(0), Some(Turn::Completed)) => Status::Completed,
        (End::Exited(0), None) => Status::Error(with("the agent exited with 0 without finishing a turn")),
        (End::Exited(code), _) => Status::Error(with(&format!("the agent exited with {code}"))),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
