//! The smaller budget of a workflow that an agent wrote, for its own part of a person's.
//!
//! It can hold no further workflows, so its part are its own steps. How many those may be is checked beforehand.

use std::time::Duration;

use super::budget::Budget;
use super::drive::Driver;
use super::error::RunError;
use super::machine::NodeId;
use super::tree::Spot;
use crate::store::{Flow, FlowStep, Millis, StepState};
use crate::workflows::Author;

/// The time that a run had used when this workflow inside it began, if it is one and has not ended. Where nobody drove the run
/// for a while since, that is too little, and never too much.
pub(super) fn opened(step: &FlowStep, flow: &Flow) -> Option<(NodeId, Duration)> {
    if step.state != StepState::Running || step.task.is_some() {
        return None;
    }
    let since = flow.seen_at.since(step.started_at?);
    Some((NodeId(step.node), flow.used.saturating_sub(since)))
}

impl Driver<'_> {
    /// The budget of the workflow that a step is of, if that is inside another and an agent wrote it.
    fn smaller(&self, spot: &Spot) -> Option<(NodeId, Budget)> {
        match spot.plan.workflow.author {
            Author::Agent => spot.owner.zip(self.order.generated),
            Author::Person => None,
        }
    }

    /// Do as many of a step's neighbours run as may?
    pub(super) fn is_full(&self, id: NodeId) -> bool {
        let Some((owner, budget)) = self.tree.spot(id).and_then(|spot| self.smaller(spot)) else {
            return false;
        };
        let is_own = |id: NodeId| self.tree.spot(id).is_some_and(|spot| spot.owner == Some(owner));
        let own = self.running.iter().filter(|(id, _)| is_own(*id)).count();
        u64::try_from(own).unwrap_or(u64::MAX) >= budget.max_parallel
    }

    /// When the agent of a step must be done: when everything ends, or what an agent wrote.
    pub(super) fn until(&self, spot: &Spot) -> Result<Millis, RunError> {
        let (whole, now) = (self.ledger.deadline(), Millis::now());
        let Some((owner, budget)) = self.smaller(spot) else {
            return Ok(whole);
        };
        let begun = self.opened.get(&owner).copied().unwrap_or_default();
        let used = self.ledger.elapsed(now).saturating_sub(begun);
        match budget.max_runtime().checked_sub(used) {
            Some(left) => Ok(whole.min(now.after(left))),
            None => Err(RunError::GeneratedTime(budget.max_runtime_mins)),
        }
    }
}
