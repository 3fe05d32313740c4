//! A run of a workflow as callers are told.
//!
//! Pure data. `steps` holds a `StepResult` for each step that has ended, field for field, with what else is known of it.

use serde::Serialize;

use super::begin::Order;
use super::budget::{ExecutionBudget, Kind, Ledger};
use super::price::Money;
use crate::store::{Flow, FlowId, FlowState, FlowStep, Life, Millis, StepState, TaskId};
use crate::workflows::{StepResult, WorkflowName};

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    pub run_id: FlowId,
    pub workflow: String,
    /// `running`, `paused`, `success`, `error`, `timeout` or `cancelled`.
    pub status: FlowState,
    /// Does somebody drive it? If not, and it is not over: `workflow resume`.
    pub driven: bool,
    pub output: Option<String>,
    pub error: Option<String>,
    pub created_at: Millis,
    /// The time that it has used.
    pub duration_ms: u64,
    pub steps: Vec<StepView>,
    pub budget: Option<ExecutionBudget>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of the steps whose cost is known.
    pub cost_usd: f64,
    /// Steps that ran and whose cost is not known.
    pub unpriced_steps: u64,
}

/// A step of the whole tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepView {
    pub path: String,
    pub state: StepState,
    pub task_id: Option<TaskId>,
    /// Once it has ended.
    pub result: Option<StepResult>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cost_usd: Option<f64>,
}

/// What is kept of a run's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(super) struct Ending {
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
}

/// A run as it is written down.
#[must_use]
pub fn view(flow: Flow, steps: Vec<FlowStep>) -> RunView {
    let order: Option<Order> = serde_json::from_value(flow.request.clone()).ok();
    let ending: Option<Ending> = flow
        .result
        .clone()
        .and_then(|result| serde_json::from_value(result).ok());
    let (output, error) = ending.map_or((None, None), |ending| (ending.output, ending.error));
    let workflow = order.as_ref().map_or(flow.name.clone(), |order| name(&order.workflow));
    let ledger = order.map(|order| ledger(&order, &flow, &steps));
    let sum = |of: fn(&FlowStep) -> Option<u64>| steps.iter().filter_map(of).sum();
    RunView {
        driven: flow.driver.as_ref().is_some_and(|driver| driver.life() != Life::Dead),
        run_id: flow.id,
        workflow,
        status: flow.state,
        output,
        error,
        created_at: flow.created_at,
        duration_ms: u64::try_from(flow.used.as_millis()).unwrap_or(u64::MAX),
        input_tokens: sum(|step| step.used.input_tokens),
        output_tokens: sum(|step| step.used.output_tokens),
        cost_usd: ledger.as_ref().map_or(0.0, |ledger| ledger.cost().dollars()),
        unpriced_steps: ledger.as_ref().map_or(0, Ledger::unpriced),
        budget: ledger.map(|ledger| ledger.view()),
        steps: steps.into_iter().map(step).collect(),
    }
}

fn name(name: &WorkflowName) -> String {
    name.to_string()
}

fn step(step: FlowStep) -> StepView {
    StepView {
        path: step.path,
        state: step.state,
        task_id: step.task,
        result: step.result.and_then(|result| serde_json::from_value(result).ok()),
        input_tokens: step.used.input_tokens,
        output_tokens: step.used.output_tokens,
        cost_usd: step.used.cost.map(|cost| Money(cost).dollars()),
    }
}

/// What a run has used, by what is written down of it.
#[must_use]
pub(super) fn ledger(order: &Order, flow: &Flow, steps: &[FlowStep]) -> Ledger {
    let mut ledger = Ledger::new(order.budget, flow.allowed.map(Money), flow.used, flow.seen_at);
    for step in steps {
        let kind = if step.task.is_some() {
            Kind::Agent
        } else {
            Kind::Workflow
        };
        match step.state {
            StepState::Waiting | StepState::Skipped => continue,
            StepState::Running => ledger.began(kind),
            StepState::Success | StepState::Error | StepState::Timeout => {
                ledger.began(kind);
                if step.task.is_some() {
                    ledger.ended();
                    ledger.spent(step.used.cost.map(Money));
                }
            }
        }
    }
    ledger
}
