//! What can be done with runs: begun, handed over, gone on with, looked at, ended.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::begin::{self, Order, Ready};
use super::drive::Driver;
use super::error::RunError;
use super::onlooker::Onlooker;
use super::tree::Tree;
use super::view::{Ending, RunView, view};
use crate::store::{FlowId, FlowState, Millis, NewFlow, StepEnd, StepState, StoreError, Taken, Used, Worker};
use crate::tasks::{Desk, Refusal};
use crate::workflows::{StepResult, StepStatus};

/// Runs a workflow to its end. Whoever calls has asked for approval where that is needed.
pub fn run(desk: &Desk, ready: Ready, onlooker: &mut dyn Onlooker) -> Result<RunView, RunError> {
    let me = this()?;
    let id = begin(desk, &ready, Some(&me))?;
    drive(desk, id, me, ready.order, Arc::new(ready.tree), onlooker)
}

/// To its end. A driver that cannot go on says which run it leaves.
fn drive(
    desk: &Desk,
    run: FlowId,
    me: Worker,
    order: Order,
    tree: Arc<Tree>,
    onlooker: &mut dyn Onlooker,
) -> Result<RunView, RunError> {
    let driver = Driver::new(desk, run.clone(), me, order, tree);
    driver.and_then(|driver| driver.drive(onlooker)).map_err(|error| {
        let error = Box::new(error);
        RunError::Stopped { run, error }
    })
}

/// Begins a run that a process of its own drives.
pub fn hand_over(desk: &Desk, ready: &Ready) -> Result<FlowId, RunError> {
    let id = begin(desk, ready, None)?;
    desk.send_driver(&id)?;
    Ok(id)
}

fn this() -> Result<Worker, RunError> {
    Ok(Worker::this().map_err(StoreError::Worker)?)
}

fn begin(desk: &Desk, ready: &Ready, driver: Option<&Worker>) -> Result<FlowId, RunError> {
    let new = NewFlow {
        name: ready.order.workflow.to_string(),
        // Names, numbers and texts: serialising them cannot fail.
        request: serde_json::to_value(&ready.order).unwrap_or(Value::Null),
        steps: ready.tree.spots.iter().map(|spot| spot.path.clone()).collect(),
        allowed: ready.order.budget.max_cost.map(|money| money.0),
    };
    Ok(desk.store().begin_flow(&new, driver, Millis::now())?)
}

/// Goes on with a run whose driver is gone. What has ended stays; what runs is waited for; the rest follows.
pub fn resume(desk: &Desk, id: &FlowId, onlooker: &mut dyn Onlooker) -> Result<RunView, RunError> {
    let flow = desk.store().flow(id)?;
    let over = |state| RunError::Over { run: id.clone(), state };
    if flow.state.is_final() {
        return Err(over(flow.state));
    }
    let order: Order = serde_json::from_value(flow.request).map_err(|_| StoreError::Unreadable)?;
    let plan = begin::plan(order.workflow.as_str(), desk.scene())?;
    let files = begin::files(&plan);
    let is_other = |file: &&PathBuf| files.get(*file) != order.files.get(*file);
    if let Some(file) = files.keys().chain(order.files.keys()).find(is_other) {
        return Err(RunError::Changed {
            file: file.clone(),
            run: id.clone(),
        });
    }
    let me = this()?;
    let taken = desk.store().take_flow(id, &me, Millis::now())?;
    match taken {
        Taken::Ours(_) => {}
        Taken::Driven(other) => {
            let run = id.clone();
            return Err(RunError::Driven { run, pid: other.pid });
        }
        Taken::Over(state) => return Err(over(state)),
    }
    drive(desk, id.clone(), me, order, Arc::new(Tree::new(&plan)), onlooker)
}

/// What ending a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nobody drove it. It is over.
    Now,
    /// Its driver was told.
    Asked,
    /// It had ended before.
    Before(FlowState),
}

/// Ends a run, and the agents that work for it.
pub fn cancel(desk: &Desk, id: &FlowId) -> Result<Ended, RunError> {
    let me = this()?;
    let asked = desk.store().ask_flow_end(id)?;
    let taken = desk.store().take_flow(id, &me, Millis::now())?;
    match taken {
        Taken::Over(state) => return Ok(Ended::Before(state)),
        Taken::Driven(_) if asked => return Ok(Ended::Asked),
        Taken::Driven(_) | Taken::Ours(_) => {}
    }
    let steps = desk.store().flow_steps(id)?;
    let why = "the workflow was cancelled";
    let mut ends = Vec::new();
    for step in steps {
        let (state, status) = match step.state {
            StepState::Waiting => (StepState::Skipped, StepStatus::Skipped),
            StepState::Running => (StepState::Error, StepStatus::Error),
            StepState::Success | StepState::Error | StepState::Timeout | StepState::Skipped => continue,
        };
        if let Some(task) = &step.task {
            desk.cancel(task)?;
        }
        let result = StepResult {
            status,
            output: None,
            error: Some(why.to_owned()),
            duration_ms: 0,
            agent: step.path.clone(),
            step_index: 0,
        };
        ends.push(StepEnd {
            node: step.node,
            state,
            result: serde_json::to_value(result).unwrap_or(Value::Null),
            used: Used::default(),
        });
    }
    let ending = Ending {
        output: None,
        error: Some(why.to_owned()),
    };
    let mut store = desk.store();
    let used = store.flow(id)?.used;
    store.end_steps(id, &me, &ends, used, Millis::now())?;
    let result = serde_json::to_value(ending).unwrap_or(Value::Null);
    store.finish_flow(id, &me, FlowState::Cancelled, &result, used, Millis::now())?;
    Ok(Ended::Now)
}

/// A run as it stands.
pub fn status(desk: &Desk, id: &FlowId) -> Result<RunView, RunError> {
    // Whoever looks sees to it that the queue moves.
    desk.dispatch()?;
    let store = desk.store();
    Ok(view(store.flow(id)?, store.flow_steps(id)?))
}

/// The newest runs, the newest first.
pub fn history(desk: &Desk, most: u32) -> Result<Vec<RunView>, RunError> {
    let store = desk.store();
    let flows = store.flows(most)?;
    let views = flows.into_iter().map(|flow| {
        let steps = store.flow_steps(&flow.id)?;
        Ok(view(flow, steps))
    });
    views.collect::<Result<_, Refusal>>().map_err(Into::into)
}
