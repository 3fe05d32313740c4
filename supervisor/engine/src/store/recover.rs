//! What becomes of the tasks of workers that died.

use serde_json::json;

use super::moves::end;
use super::task::{Task, TaskId, task};
use super::worker::{Life, Worker};
use super::{Millis, State, Store, StoreError};

/// A task whose workers died so often before it started is left alone.
const MOST_ATTEMPTS: u32 = 5;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Back in the queue: nothing of them had run.
    pub queued: usize,
    /// Over: they had started, and nobody knows how far they came.
    pub over: Vec<TaskId>,
}

impl Store {
    /// Looks after every task that has a worker. Any process may do so at any time.
    pub fn recover(&mut self, now: Millis) -> Result<Recovered, StoreError> {
        self.recover_by(now, Worker::life)
    }

    pub(super) fn recover_by(&mut self, now: Millis, life: impl Fn(&Worker) -> Life) -> Result<Recovered, StoreError> {
        let held: Vec<(Task, u64)> = self.look(|c| {
            let mut query = c.prepare("SELECT * FROM tasks WHERE state IN ('claimed', 'running')")?;
            query
                .query_map([], |row| Ok((task(row)?, row.get("lease_until")?)))?
                .collect()
        })?;
        let mut done = Recovered::default();
        for (task, lease) in held {
            let is_gone = task.worker.as_ref().is_none_or(|worker| match life(worker) {
                Life::Lives => false,
                Life::Dead => true,
                Life::Unknown => now.0 > lease,
            });
            if is_gone {
                match self.take_back(&task, now)? {
                    Some(State::Queued) => done.queued += 1,
                    Some(_) => done.over.push(task.id),
                    None => {}
                }
            }
        }
        Ok(done)
    }

    /// Only if it is still as it was seen: another process may have been faster, or the worker was alive after all.
    /// Returns what became of it; `None` if it was not.
    fn take_back(&mut self, task: &Task, now: Millis) -> Result<Option<State>, StoreError> {
        let is_over = task.state == State::Running || task.cancel_asked || task.attempt >= MOST_ATTEMPTS;
        self.change(|change| {
            if is_over {
                let why = if task.state == State::Running {
                    "the supervisor ended while it ran"
                } else {
                    "the supervisor ended before it started"
                };
                let to = if task.cancel_asked {
                    State::Cancelled
                } else {
                    State::Failed
                };
                let result = json!({"status": "error", "error": why}).to_string();
                let ended = end(change, &task.id, task.attempt, task.state, to, &result, now)?;
                return Ok((ended == 1).then_some(to));
            }
            let sql = "UPDATE tasks SET state = 'queued', worker_pid = NULL, worker_start = NULL, worker_boot = NULL,
                worker_namespace = NULL, lease_until = NULL WHERE id = ?1 AND attempt = ?2 AND state = 'claimed'";
            let queued = change.execute(sql, (task.id.as_str(), task.attempt))?;
            Ok((queued == 1).then_some(State::Queued))
        })
    }
}
