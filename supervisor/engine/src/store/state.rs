//! The states of a task, and which may follow which.
//!
//! Pure. The triggers of `schema` say the same to SQLite; a test compares them.

use serde::Serialize;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// For somebody's approval.
    Waiting,
    Queued,
    /// A worker prepares it. Nothing of it has run yet.
    Claimed,
    /// It may have done anything by now.
    Running,
    Done,
    Failed,
    Cancelled,
    Timeout,
}

impl State {
    pub const ALL: [Self; 8] = [
        Self::Waiting,
        Self::Queued,
        Self::Claimed,
        Self::Running,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
        Self::Timeout,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Claimed => "claimed",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
        }
    }

    pub(super) fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Nothing follows any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Waiting | Self::Queued | Self::Claimed | Self::Running => false,
            Self::Done | Self::Failed | Self::Cancelled | Self::Timeout => true,
        }
    }

    /// May the one follow the other?
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Waiting => matches!(next, Self::Queued | Self::Failed | Self::Cancelled),
            Self::Queued => matches!(next, Self::Claimed | Self::Cancelled),
            Self::Claimed => matches!(next, Self::Queued | Self::Running | Self::Failed | Self::Cancelled),
            Self::Running => next.is_final(),
            Self::Done | Self::Failed | Self::Cancelled | Self::Timeout => false,
        }
    }
}

/// How a task that ran ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Done,
    Failed,
    Cancelled,
    Timeout,
}

impl From<Ending> for State {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::Done,
            Ending::Failed => Self::Failed,
            Ending::Cancelled => Self::Cancelled,
            Ending::Timeout => Self::Timeout,
        }
    }
}
