//! Canaries: things that this plan forbids, tried in the finished sandbox before the command starts, and what came of it.
//!
//! Pure. `choose` says what is tried, `init::canaries` tries it, [`judge`] says what it means: the second process asks it
//! before it becomes the command, and the supervisor again for the report.
//! INVARIANT: a canary is a thing that the plan at hand forbids, so that whatever is not on its list of expected answers
//! means that a wall is missing, and nothing runs.

mod choose;
mod words;

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::SandboxPlan;
pub use choose::canaries;
pub(crate) use choose::left_out;

pub(crate) use words::{decode, encode};

/// Does this run try canaries?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    Take,
    /// The caller's own word. The report says so.
    Off,
}

/// What is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attempt {
    /// Opens for reading.
    Read(PathBuf),
    /// Makes a nameless file in a directory, or opens a file for writing. Nothing is written.
    Write(PathBuf),
    /// Asks whether the mount at this path can be written. A look, not a try: it may be a socket or a link.
    Unprotected(PathBuf),
    /// Gives a datagram socket this address: needs a route, sends nothing.
    Connect(IpAddr),
    /// Connects to an abstract unix socket that the supervisor holds outside.
    HostSocket,
    /// Makes a socket of this family.
    Socket(Family),
    UserNamespace,
    /// Opens the memory of the parent, which is ours: it takes the right to trace it. `ptrace` itself is refused by the filter, and
    /// each of its refusals is a word with the supervisor.
    ReadParent,
    IoUring,
    Mount,
    BecomeRoot,
    /// Not tried but asked of the kernel.
    Fact(Fact),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    Unix,
    Internet,
}

/// What the kernel says about the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    NoNewPrivs,
    /// 2: a filter.
    SeccompMode,
    /// Effective, permitted and inheritable together, as a bit mask.
    Capabilities,
    /// How many capabilities the bounding set has.
    BoundingSet,
    /// The effective user id.
    Uid,
}

/// What a sandbox that holds answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expected {
    /// One of these errors.
    Refused(Cow<'static, [i32]>),
    Is(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    pub attempt: Attempt,
    pub expected: Expected,
}

/// What the kernel answered: a value, or the number of an error.
pub type Answer = Result<u64, i32>;

impl Canary {
    /// Is this what a sandbox that holds answers?
    #[must_use]
    pub fn holds(&self, answer: Answer) -> bool {
        match (&self.expected, answer) {
            (Expected::Refused(errors), Err(errno)) => errors.contains(&errno),
            (Expected::Is(wanted), Ok(value)) => *wanted == value,
            (Expected::Refused(_), Ok(_)) | (Expected::Is(_), Err(_)) => false,
        }
    }
}

/// A canary and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub canary: Canary,
    /// `None` if there is no word of it.
    pub answer: Option<Answer>,
}

impl Tried {
    #[must_use]
    pub fn holds(&self) -> bool {
        self.answer.is_some_and(|answer| self.canary.holds(answer))
    }
}

/// What is forbidden and is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub name: &'static str,
    pub reason: Cow<'static, str>,
}

/// The proof that comes with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub tried: Vec<Tried>,
    pub left_out: Vec<LeftOut>,
    /// How long the canaries took.
    pub duration: Duration,
    /// How many of them the system call filter handed to the supervisor, which refused them.
    pub notified: u32,
}

impl Receipt {
    #[must_use]
    pub(crate) fn new(plan: &SandboxPlan, answers: &[Answer], duration: Duration, notified: u32) -> Self {
        Self {
            tried: judge(&plan.canaries, answers),
            left_out: plan.left_out.clone(),
            duration,
            notified,
        }
    }

    /// Those with an answer that this sandbox must not give.
    pub fn surprises(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|tried| !tried.holds())
    }
}

/// Puts canaries and answers together. A missing answer is as bad as a wrong one.
#[must_use]
pub fn judge(canaries: &[Canary], answers: &[Answer]) -> Vec<Tried> {
    let answers = answers.iter().copied().map(Some).chain(std::iter::repeat(None));
    canaries
        .iter()
        .cloned()
        .zip(answers)
        .map(|(canary, answer)| Tried { canary, answer })
        .collect()
}

#[cfg(test)]
#[path = "../receipt_tests.rs"]
mod tests;
