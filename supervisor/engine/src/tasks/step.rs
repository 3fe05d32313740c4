//! A task that is the step of a workflow.

use super::brief::OfStep;
use crate::context::told::Told;
use crate::store::{FlowId, Millis, StepTask, Worker};

/// The step of a workflow that a task is to be.
#[derive(Debug, Clone)]
pub(crate) struct StepOrder {
    pub(crate) flow: FlowId,
    pub(crate) node: usize,
    pub(crate) driver: Worker,
    /// When the whole workflow ends.
    pub(crate) until: Millis,
    pub(crate) told: Vec<Told>,
}

impl StepOrder {
    pub(super) fn of(&self) -> OfStep {
        OfStep {
            flow: self.flow.clone(),
            node: self.node,
            until: self.until,
        }
    }

    pub(super) fn task(self) -> StepTask {
        StepTask {
            flow: self.flow,
            node: self.node,
            driver: self.driver,
            // Text and names: serialising them cannot fail.
            told: serde_json::to_string(&self.told).unwrap_or_else(|_| "[]".into()),
        }
    }
}
