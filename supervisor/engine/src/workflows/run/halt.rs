//! Why a whole tree ends before its time, and in which words.
//!
//! Pure.

use super::budget::Ledger;
use crate::store::FlowState;
use crate::workflows::StepStatus;

/// Why the whole tree ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    Time,
    Cancelled,
    Steps,
    Cost,
}

impl Halt {
    pub(super) fn status(self) -> StepStatus {
        match self {
            Self::Time => StepStatus::Timeout,
            Self::Cancelled | Self::Steps | Self::Cost => StepStatus::Error,
        }
    }

    pub(super) fn state(self) -> FlowState {
        match self {
            Self::Time => FlowState::Timeout,
            Self::Cancelled => FlowState::Cancelled,
            Self::Steps | Self::Cost => FlowState::Error,
        }
    }

    pub(super) fn words(self, ledger: &Ledger) -> String {
        let budget = ledger.budget();
        match self {
            Self::Time => format!("the time of the workflow is over: {} minutes", budget.max_runtime_mins),
            Self::Cancelled => "the workflow was cancelled".into(),
            Self::Steps => format!("the workflow has used its {} steps", budget.max_steps),
            Self::Cost => format!("the workflow has cost {}, more than it may", ledger.cost()),
        }
    }
}
