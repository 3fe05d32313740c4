//! What a step, and a group of steps, came to: field for field as workflows see it.
//!
//! Pure data.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Success,
    Error,
    Timeout,
    Skipped,
}

impl StepStatus {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }
}

/// `${steps[0]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    pub status: StepStatus,
    /// What the agent said; nothing unless it succeeded.
    pub output: Option<String>,
    /// Why it failed; nothing if it succeeded.
    pub error: Option<String>,
    pub duration_ms: u64,
    /// The agent's or the workflow's name.
    pub agent: String,
    pub step_index: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupStatus {
    Success,
    /// Some succeeded.
    Partial,
    Error,
}

impl GroupStatus {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Error => "error",
        }
    }
}

/// `${parallel_group.scanners}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParallelGroupResult {
    pub status: GroupStatus,
    pub outputs: Vec<StepResult>,
    pub succeeded: Vec<StepResult>,
    pub failed: Vec<StepResult>,
}

impl ParallelGroupResult {
    /// Sums up the steps of a group, in their order. A skipped step did not succeed.
    #[must_use]
    pub fn of(outputs: Vec<StepResult>) -> Self {
        let (succeeded, failed): (Vec<_>, Vec<_>) = outputs
            .iter()
            .cloned()
            .partition(|step| step.status == StepStatus::Success);
        let status = match (succeeded.is_empty(), failed.is_empty()) {
            (_, true) => GroupStatus::Success,
            (false, false) => GroupStatus::Partial,
            (true, false) => GroupStatus::Error,
        };
        Self {
            status,
            outputs,
            succeeded,
            failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(index: usize, status: StepStatus) -> StepResult {
        let good = status == StepStatus::Success;
        StepResult {
            status,
            output: good.then(|| "fine".to_owned()),
            error: (!good).then(|| "broke".to_owned()),
            duration_ms: 7,
            agent: "a".into(),
            step_index: index,
        }
    }

    #[test]
    fn a_step_has_the_documented_fields_and_no_other() {
        let json = serde_json::to_string(&step(3, StepStatus::Timeout)).unwrap();
        assert_eq!(
            json,
            r#"{"status":"timeout","output":null,"error":"broke","duration_ms":7,"agent":"a","step_index":3}"#
        );
    }

    #[test]
    fn a_group_is_partial_if_some_succeeded() {
        use StepStatus::{Error, Skipped, Success, Timeout};
        let of = |all: &[StepStatus]| {
            let steps = all.iter().enumerate().map(|(i, s)| step(i, *s));
            let group = ParallelGroupResult::of(steps.collect());
            let indices = |list: &[StepResult]| list.iter().map(|s| s.step_index).collect::<Vec<_>>();
            (group.status, indices(&group.succeeded), indices(&group.failed))
        };
        assert_eq!(of(&[Success, Success]), (GroupStatus::Success, vec![0, 1], vec![]));
        assert_eq!(
            of(&[Error, Success, Timeout]),
            (GroupStatus::Partial, vec![1], vec![0, 2])
        );
        assert_eq!(of(&[Error, Skipped]), (GroupStatus::Error, vec![], vec![0, 1]));
    }
}
