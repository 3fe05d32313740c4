//! The journal of a workflow's run: every step is written down before anything follows from it.
//!
//! INVARIANTS: one driver at a time, by who it is and not by its word; a step begins at most once, in the same change as its
//! task is queued, so that no death in between loses or doubles it; what has ended does not change.

use std::time::Duration;

use rusqlite::{Transaction, params};
use serde_json::Value;

use super::flow::{Flow, FlowId, FlowState, StepState, Used};
use super::moves::text;
use super::task::TaskId;
use super::worker::{Life, Worker};
use super::{Failure, Millis, Store, StoreError};

/// A driver of another pid namespace is taken for dead when it has written nothing for so long.
const LEASE: u64 = 60_000;
/// The longest that one step's agent is told besides its task, as JSON.
pub const MOST_TOLD: usize = 8 << 20;
/// The longest result of a step or a run.
const MOST_RESULT: usize = 8 << 20;

/// A run that is to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFlow {
    pub name: String,
    pub request: Value,
    /// The path of each step of the whole tree.
    pub steps: Vec<String>,
    pub allowed: Option<u64>,
}

/// What taking a run over came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    Ours(Box<Flow>),
    /// Somebody drives it.
    Driven(Worker),
    Over(FlowState),
}

/// Which step a task is.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTask {
    pub flow: FlowId,
    pub node: usize,
    pub driver: Worker,
    /// What its agent is told besides the task, as JSON.
    pub told: String,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct StepEnd {
    pub node: usize,
    pub state: StepState,
    pub result: Value,
    pub used: Used,
}

impl Store {
    /// Writes down a run with all its steps, nothing of which has begun. It is this driver's, or nobody's yet.
    pub fn begin_flow(&mut self, new: &NewFlow, driver: Option<&Worker>, now: Millis) -> Result<FlowId, StoreError> {
        let request = text("request", &new.request)?;
        self.change(|change| {
            let id = FlowId::fresh();
            change.execute(
                "INSERT INTO flows (id, name, request, state, created_at, seen_at, used_ms, allowed, worker_pid, worker_start,
                    worker_boot, worker_namespace) VALUES (?1, ?2, ?3, 'running', ?4, ?4, 0, ?5, ?6, ?7, ?8, ?9)",
                params![
                    id.as_str(),
                    new.name,
                    request,
                    now.0,
                    new.allowed,
                    driver.map(|driver| driver.pid),
                    driver.map(|driver| driver.start),
                    driver.map(|driver| &driver.boot),
                    driver.map(|driver| &driver.namespace)
                ],
            )?;
            let sql = "INSERT INTO flow_steps (flow, node, path, state) VALUES (?1, ?2, ?3, 'waiting')";
            let mut insert = change.prepare(sql)?;
            for (node, path) in new.steps.iter().enumerate() {
                insert.execute((id.as_str(), node, path))?;
            }
            Ok(id)
        })
    }

    /// Makes this process the driver, if there is none that lives.
    pub fn take_flow(&mut self, id: &FlowId, driver: &Worker, now: Millis) -> Result<Taken, StoreError> {
        let found = self.flow(id)?;
        if found.state.is_final() {
            return Ok(Taken::Over(found.state));
        }
        if let Some(other) = found.driver.as_ref().filter(|other| *other != driver) {
            let lives = match other.life() {
                Life::Lives => true,
                Life::Dead => false,
                Life::Unknown => now.since(found.seen_at) <= Duration::from_millis(LEASE),
            };
            if lives {
                return Ok(Taken::Driven(other.clone()));
            }
        }
        let before = found.driver.as_ref();
        let taken = self.change(|change| {
            // Only if it is still as it was seen: another process may have been faster.
            let sql = "UPDATE flows SET worker_pid = ?2, worker_start = ?3, worker_boot = ?4, worker_namespace = ?5, state = 'running'
                WHERE id = ?1 AND state IN ('running', 'paused') AND worker_pid IS ?6 AND worker_start IS ?7";
            Ok(change.execute(
                sql,
                params![
                    id.as_str(),
                    driver.pid,
                    driver.start,
                    driver.boot,
                    driver.namespace,
                    before.map(|before| before.pid),
                    before.map(|before| before.start)
                ],
            )?)
        })?;
        let now = self.flow(id)?;
        match (taken, now.driver.clone()) {
            (1, _) => Ok(Taken::Ours(Box::new(now))),
            (_, Some(other)) => Ok(Taken::Driven(other)),
            (_, None) => Ok(Taken::Over(now.state)),
        }
    }

    /// A step that is a workflow has begun.
    pub fn open_step(&mut self, id: &FlowId, node: usize, driver: &Worker, now: Millis) -> Result<(), StoreError> {
        self.change(|change| {
            ours(change, id, driver)?;
            begin(change, id, node, None, None, now)
        })
    }

    /// Steps have ended, by what came of their tasks or by the rules: all of them in one change. `used`: the run's time.
    pub fn end_steps(
        &mut self,
        id: &FlowId,
        driver: &Worker,
        ends: &[StepEnd],
        used: Duration,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.change(|change| {
            ours(change, id, driver)?;
            let sql = "UPDATE flow_steps SET state = ?3, finished_at = ?4, result = ?5, input_tokens = ?6, output_tokens = ?7,
                cost = ?8 WHERE flow = ?1 AND node = ?2 AND state IN ('waiting', 'running')";
            let mut update = change.prepare(sql)?;
            for end in ends {
                let result = end.result.to_string();
                bounded("result", &result, MOST_RESULT)?;
                let Used {
                    input_tokens,
                    output_tokens,
                    cost,
                } = end.used;
                let values = params![
                    id.as_str(),
                    end.node,
                    end.state.as_str(),
                    now.0,
                    result,
                    input_tokens,
                    output_tokens,
                    cost
                ];
                if update.execute(values)? != 1 {
                    return Err(StoreError::NoStep(id.clone(), end.node).into());
                }
            }
            seen(change, id, used, now)
        })
    }

    /// The driver lives: `used` is the time that the run has used.
    pub fn beat(&mut self, id: &FlowId, driver: &Worker, used: Duration, now: Millis) -> Result<(), StoreError> {
        self.change(|change| {
            ours(change, id, driver)?;
            seen(change, id, used, now)
        })
    }

    /// It waits for somebody's word, or goes on with this allowance.
    pub fn pause_flow(&mut self, id: &FlowId, driver: &Worker, pause: Pause) -> Result<(), StoreError> {
        let (state, allowed) = match pause {
            Pause::Paused => (FlowState::Paused, None),
            Pause::GoesOn { allowed } => (FlowState::Running, allowed),
        };
        self.change(|change| {
            ours(change, id, driver)?;
            let sql = "UPDATE flows SET state = ?2, allowed = coalesce(?3, allowed) WHERE id = ?1";
            change.execute(sql, params![id.as_str(), state.as_str(), allowed])?;
            Ok(())
        })
    }

    /// It is over.
    pub fn finish_flow(
        &mut self,
        id: &FlowId,
        driver: &Worker,
        state: FlowState,
        result: &Value,
        used: Duration,
        now: Millis,
    ) -> Result<(), StoreError> {
        let result = result.to_string();
        self.change(|change| {
            ours(change, id, driver)?;
            bounded("result", &result, MOST_RESULT)?;
            seen(change, id, used, now)?;
            let sql =
                "UPDATE flows SET state = ?2, finished_at = ?3, result = ?4, worker_pid = NULL, worker_start = NULL,
                worker_boot = NULL, worker_namespace = NULL WHERE id = ?1";
            change.execute(sql, params![id.as_str(), state.as_str(), now.0, result])?;
            Ok(())
        })
    }

    /// Its driver is to end it. False if it is over.
    pub fn ask_flow_end(&mut self, id: &FlowId) -> Result<bool, StoreError> {
        self.flow(id)?;
        self.change(|change| {
            let sql = "UPDATE flows SET cancel_asked = 1 WHERE id = ?1 AND state IN ('running', 'paused')";
            Ok(change.execute(sql, [id.as_str()])? == 1)
        })
    }

    pub fn is_flow_end_asked(&self, id: &FlowId) -> Result<bool, StoreError> {
        self.look(|c| {
            let mut query = c.prepare("SELECT cancel_asked FROM flows WHERE id = ?1")?;
            query.query_row([id.as_str()], |row| row.get(0))
        })
    }
}

/// Whether a run waits for somebody's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    Paused,
    /// With this much to spend, in millionths of a dollar.
    GoesOn {
        allowed: Option<u64>,
    },
}

/// Is it this driver's?
fn ours(change: &Transaction<'_>, id: &FlowId, driver: &Worker) -> Result<(), Failure> {
    let sql = "SELECT EXISTS (SELECT 1 FROM flows WHERE id = ?1 AND worker_pid = ?2 AND worker_start = ?3
        AND worker_boot = ?4 AND worker_namespace = ?5 AND state IN ('running', 'paused'))";
    let values = params![id.as_str(), driver.pid, driver.start, driver.boot, driver.namespace];
    if change.prepare(sql)?.query_row(values, |row| row.get(0))? {
        return Ok(());
    }
    Err(StoreError::FlowLost(id.clone()).into())
}

fn seen(change: &Transaction<'_>, id: &FlowId, used: Duration, now: Millis) -> Result<(), Failure> {
    let used = u64::try_from(used.as_millis()).unwrap_or(u64::MAX);
    let sql = "UPDATE flows SET used_ms = max(used_ms, ?2), seen_at = ?3 WHERE id = ?1";
    change.execute(sql, params![id.as_str(), used, now.0])?;
    Ok(())
}

/// The step of a task that is queued in this very change.
pub(super) fn begin_task(change: &Transaction<'_>, step: &StepTask, task: &TaskId, now: Millis) -> Result<(), Failure> {
    bounded("context of a step", &step.told, MOST_TOLD)?;
    ours(change, &step.flow, &step.driver)?;
    begin(change, &step.flow, step.node, Some(task), Some(&step.told), now)
}

fn begin(
    change: &Transaction<'_>,
    id: &FlowId,
    node: usize,
    task: Option<&TaskId>,
    told: Option<&str>,
    now: Millis,
) -> Result<(), Failure> {
    let sql = "UPDATE flow_steps SET state = 'running', started_at = ?3, task = ?4, told = ?5
        WHERE flow = ?1 AND node = ?2 AND state = 'waiting'";
    let values = params![id.as_str(), node, now.0, task.map(TaskId::as_str), told];
    match change.execute(sql, values)? {
        1 => Ok(()),
        _ => Err(StoreError::NoStep(id.clone(), node).into()),
    }
}

fn bounded(what: &'static str, text: &str, most: usize) -> Result<(), StoreError> {
    let bytes = text.len();
    if bytes > most {
        return Err(StoreError::TooLarge { what, bytes, most });
    }
    Ok(())
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
