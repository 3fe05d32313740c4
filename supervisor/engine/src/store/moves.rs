//! From the queue to an end, one step at a time.

use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;

use super::below::enter_below;
use super::journal::begin_task;
use super::schema::{DEEPEST, MOST_JSON, MOST_QUEUED};
use super::task::{Entry, New, TaskId, find};
use super::{Claim, Ending, Failure, Millis, State, Store, StoreError, Sync, waiter};

/// A task that this worker has started. Only who holds it can end it.
#[derive(Debug)]
pub struct Running {
    id: TaskId,
    attempt: u32,
}

impl Running {
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.id
    }
}

/// What became of a claim.
#[derive(Debug)]
pub enum Started {
    Running(Running),
    /// Somebody cancelled it in the last moment. It is over.
    Cancelled,
}

/// What cancelling came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// It had not started. It is over.
    Cancelled,
    /// Its worker was told.
    Asked,
    /// It had ended before.
    Over(State),
}

impl Store {
    /// Puts a task in the queue.
    pub fn enqueue(&mut self, new: &New, now: Millis) -> Result<TaskId, StoreError> {
        let request = text("request", &new.request)?;
        self.change(|change| {
            let waiting: u64 = change.query_row(
                "SELECT count(*) FROM tasks WHERE state IN ('waiting', 'queued')",
                [],
                |row| row.get(0),
            )?;
            if waiting >= MOST_QUEUED {
                return Err(StoreError::Full(waiting).into());
            }
            let (depth, caller) = match &new.parent {
                Some(parent) => enter_below(change, parent, request.len())?,
                None => (0, new.caller.clone()),
            };
            // A new caller goes to the end of the round, so that new names win nothing.
            change.execute(
                "INSERT INTO callers SELECT ?1, coalesce(max(served), 0) FROM callers WHERE true ON CONFLICT DO NOTHING",
                [caller.as_str()],
            )?;
            let id = TaskId::fresh();
            let state = match new.entry {
                Entry::Queue => State::Queued,
                Entry::Approval => State::Waiting,
            };
            change.execute(
                "INSERT INTO tasks (id, parent, depth, caller, session, agent, cli, state, created_at, request)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    id.as_str(),
                    new.parent.as_ref().map(TaskId::as_str),
                    depth,
                    caller.as_str(),
                    new.session.as_ref().map(|session| session.as_str()),
                    new.agent.as_ref().map(|agent| agent.as_str()),
                    new.cli.as_ref().map(|cli| cli.as_str()),
                    state.as_str(),
                    now.0,
                    request
                ],
            )?;
            if let Some(waiter) = &new.waiter {
                waiter::enter(change, &id, waiter)?;
            }
            if let Some(step) = &new.step {
                begin_task(change, step, &id, now)?;
            }
            Ok(id)
        })
    }

    /// Somebody has approved of it.
    pub fn approve(&mut self, id: &TaskId) -> Result<(), StoreError> {
        self.change(|change| {
            let moved = change.execute(
                "UPDATE tasks SET state = 'queued' WHERE id = ?1 AND state = 'waiting'",
                [id.as_str()],
            )?;
            expect(change, id, State::Queued, moved)
        })
    }

    /// Somebody has not, or nobody in time.
    pub fn deny(&mut self, id: &TaskId, result: &Value, now: Millis) -> Result<(), StoreError> {
        let result = text("result", result)?;
        self.change(|change| {
            let moved = change.execute(
                "UPDATE tasks SET state = 'failed', finished_at = ?2, result = ?3 WHERE id = ?1 AND state = 'waiting'",
                params![id.as_str(), now.0, result],
            )?;
            expect(change, id, State::Failed, moved)
        })
    }

    /// The last step before anything of it runs. `until`: when it must be over, for those who cannot see the worker.
    pub fn start(&mut self, claim: Claim, until: Millis, now: Millis) -> Result<Started, StoreError> {
        let (id, attempt) = (claim.task.id, claim.task.attempt);
        self.sync(Sync::Now)?;
        let started = self.change(|change| {
            let cancelled =
                "UPDATE tasks SET state = 'cancelled', finished_at = ?3, result = 'null', worker_pid = NULL,
                worker_start = NULL, worker_boot = NULL, worker_namespace = NULL, lease_until = NULL
                WHERE id = ?1 AND attempt = ?2 AND state = 'claimed' AND cancel_asked";
            if change.execute(cancelled, params![id.as_str(), attempt, now.0])? == 1 {
                return Ok(Started::Cancelled);
            }
            let started = "UPDATE tasks SET state = 'running', started_at = ?3, lease_until = ?4
                WHERE id = ?1 AND attempt = ?2 AND state = 'claimed'";
            if change.execute(started, params![id.as_str(), attempt, now.0, until.0])? == 1 {
                return Ok(Started::Running(Running {
                    id: id.clone(),
                    attempt,
                }));
            }
            Err(StoreError::Lost(id.clone()).into())
        });
        self.sync(Sync::Later)?;
        started
    }

    /// It cannot be started at all, as the result says.
    pub fn refuse(&mut self, claim: Claim, result: &Value, now: Millis) -> Result<(), StoreError> {
        let (id, attempt) = (claim.task.id, claim.task.attempt);
        self.end(&id, attempt, State::Claimed, State::Failed, result, now)
    }

    /// It ran, and this came of it.
    pub fn finish(&mut self, run: Running, ending: Ending, result: &Value, now: Millis) -> Result<(), StoreError> {
        self.end(&run.id, run.attempt, State::Running, ending.into(), result, now)
    }

    fn end(
        &mut self,
        id: &TaskId,
        attempt: u32,
        from: State,
        to: State,
        result: &Value,
        now: Millis,
    ) -> Result<(), StoreError> {
        let result = text("result", result)?;
        self.change(|change| match end(change, id, attempt, from, to, &result, now)? {
            1 => Ok(()),
            _ => Err(StoreError::Lost(id.clone()).into()),
        })
    }

    /// Ends a task that has not started, and asks the worker of one that has.
    pub fn cancel(&mut self, id: &TaskId, now: Millis) -> Result<Cancel, StoreError> {
        self.change(|change| {
            let sql = "UPDATE tasks SET state = 'cancelled', finished_at = ?2, result = 'null'
                WHERE id = ?1 AND state IN ('waiting', 'queued')";
            if change.execute(sql, params![id.as_str(), now.0])? == 1 {
                return Ok(Cancel::Cancelled);
            }
            let sql = "UPDATE tasks SET cancel_asked = 1 WHERE id = ?1 AND state IN ('claimed', 'running')";
            if change.execute(sql, [id.as_str()])? == 1 {
                return Ok(Cancel::Asked);
            }
            let task = find(change, id)?.ok_or_else(|| StoreError::Missing(id.clone()))?;
            Ok(Cancel::Over(task.state))
        })
    }

    /// Has anybody asked for its end? Also if it is no longer this worker's.
    pub fn is_cancel_asked(&self, run: &Running) -> Result<bool, StoreError> {
        let sql = "SELECT cancel_asked FROM tasks WHERE id = ?1 AND attempt = ?2 AND state = 'running'";
        let asked = self.look(|c| {
            let mut query = c.prepare(sql)?;
            query
                .query_row((run.id.as_str(), run.attempt), |row| row.get(0))
                .optional()
        })?;
        Ok(asked.unwrap_or(true))
    }

    /// Forgets what ended before this time and no other task came from. Returns how many that were.
    pub fn prune(&mut self, before: Millis) -> Result<usize, StoreError> {
        self.change(|change| {
            let sql = "DELETE FROM tasks AS t WHERE finished_at < ?1 AND NOT EXISTS
                (SELECT 1 FROM tasks AS c WHERE c.parent = t.id)";
            let mut count = 0;
            // Children first: one level each time.
            for _ in 0..=DEEPEST {
                count += change.execute(sql, [before.0])?;
            }
            change.execute("DELETE FROM flows WHERE finished_at < ?1", [before.0])?;
            change.execute("DELETE FROM callers WHERE caller NOT IN (SELECT caller FROM tasks)", [])?;
            Ok(count)
        })
    }
}

/// From one state to an end, if it is still this attempt's. Returns how many tasks that were.
pub(super) fn end(
    change: &Transaction<'_>,
    id: &TaskId,
    attempt: u32,
    from: State,
    to: State,
    result: &str,
    now: Millis,
) -> rusqlite::Result<usize> {
    let sql = "UPDATE tasks SET state = ?4, finished_at = ?5, result = ?6, worker_pid = NULL, worker_start = NULL,
        worker_boot = NULL, worker_namespace = NULL, lease_until = NULL
        WHERE id = ?1 AND attempt = ?2 AND state = ?3";
    let values = params![id.as_str(), attempt, from.as_str(), to.as_str(), now.0, result];
    let ended = change.execute(sql, values)?;
    if ended == 1 {
        change.execute("DELETE FROM doing WHERE task = ?1", [id.as_str()])?;
    }
    Ok(ended)
}

fn expect(change: &Transaction<'_>, id: &TaskId, wanted: State, moved: usize) -> Result<(), Failure> {
    if moved == 1 {
        return Ok(());
    }
    let task = find(change, id)?.ok_or_else(|| StoreError::Missing(id.clone()))?;
    let (id, is) = (id.clone(), task.state);
    Err(StoreError::NotPossible { id, is, wanted }.into())
}

pub(super) fn text(what: &'static str, json: &Value) -> Result<String, StoreError> {
    let text = json.to_string();
    if text.len() > MOST_JSON {
        let (bytes, most) = (text.len(), MOST_JSON);
        return Err(StoreError::TooLarge { what, bytes, most });
    }
    Ok(text)
}
