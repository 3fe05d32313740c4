//! Which task is next, and whether one may start now.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::task::{Task, task};
use super::worker::Worker;
use super::{Failure, Millis, Store, StoreError};

/// The sliding window of the rate limit.
const WINDOW: u64 = 60_000;
/// How long a worker of another pid namespace may prepare a task.
const LEASE: u64 = 60_000;

/// How much may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tasks at once. One that waits for a task of its own has lent it its place.
    pub max_concurrent: u32,
    /// Tasks begun within any minute.
    pub rate_limit_per_min: Option<u32>,
}

/// A task that is this worker's, of which nothing has run yet.
#[derive(Debug)]
pub struct Claim {
    pub task: Task,
}

/// What there is to do.
#[derive(Debug)]
pub enum Claimed {
    Task(Box<Claim>),
    /// Nothing waits, or only for its session's turn.
    Nothing,
    /// As many run as may.
    Busy,
    /// The rate allows none before this time has passed.
    Later(Duration),
}

impl Store {
    /// Takes the next task: the oldest of the caller who was served longest ago.
    pub fn claim(&mut self, worker: &Worker, limits: &Limits, now: Millis) -> Result<Claimed, StoreError> {
        self.change(|change| {
            let is_full = running(change, now)? >= u64::from(limits.max_concurrent);
            let seq = match is_full {
                true => heirs(change, now)?.first().copied(),
                false => next(change)?,
            };
            let Some(seq) = seq else {
                return Ok(match is_full {
                    true => Claimed::Busy,
                    false => Claimed::Nothing,
                });
            };
            if let Some(wait) = limits
                .rate_limit_per_min
                .map(|rate| rest_of_minute(change, rate, now))
                .transpose()?
                .flatten()
            {
                return Ok(Claimed::Later(wait));
            }
            let task = take(change, seq, worker, now)?;
            Ok(Claimed::Task(Box::new(Claim { task })))
        })
    }
}

/// The task above `c` waits for it: in the call that asked for it, or by looking after it. `?1` is now.
const WAITED: &str = "(EXISTS (SELECT 1 FROM waiters AS w WHERE w.task = c.id)
    OR EXISTS (SELECT 1 FROM awaited AS a WHERE a.task = c.id AND a.until > ?1))";
/// Tasks below `p` that are at work.
const HELD: &str = "SELECT 1 FROM tasks AS c WHERE c.parent = p.id AND c.state IN ('claimed', 'running')";

/// How many places are taken. A task that waits for one below it and has lent it its place has none itself.
pub(super) fn running(change: &Transaction<'_>, now: Millis) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT count(*) FROM tasks AS p WHERE p.state IN ('claimed', 'running') AND NOT EXISTS ({HELD} AND {WAITED})"
    );
    change.prepare(&sql)?.query_row([now.0], |row| row.get(0))
}

/// The tasks that can start where every place is taken: in that of the task above, which waits for it and has lent its place to no
/// other. So nobody waits for what cannot start, and no more are at work than may be.
pub(super) fn heirs(change: &Connection, now: Millis) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT min(c.seq) FROM tasks AS c JOIN tasks AS p ON p.id = c.parent WHERE c.state = 'queued'
        AND p.state IN ('claimed', 'running') AND {WAITED} AND {FREE} AND NOT EXISTS ({HELD} AND {WAITED})
        GROUP BY p.id ORDER BY 1"
    );
    change.prepare(&sql)?.query_map([now.0], |row| row.get(0))?.collect()
}

/// Nothing else of its session runs.
const FREE: &str = "(c.session IS NULL OR NOT EXISTS
    (SELECT 1 FROM tasks AS o WHERE o.session = c.session AND o.state IN ('claimed', 'running')))";

pub(super) fn next(change: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = format!(
        "SELECT c.seq FROM tasks AS c JOIN callers AS r USING (caller) WHERE c.state = 'queued' AND {FREE}
        ORDER BY r.served, c.seq LIMIT 1"
    );
    change.prepare(&sql)?.query_row([], |row| row.get(0)).optional()
}

/// How long until the rate allows one more; `None`: now.
pub(super) fn rest_of_minute(change: &Transaction<'_>, rate: u32, now: Millis) -> rusqlite::Result<Option<Duration>> {
    // A clock that was set back must not close the queue until it has caught up.
    change.execute("UPDATE starts SET at = ?1 WHERE at > ?1", [now.0])?;
    change.execute("DELETE FROM starts WHERE at <= ?1", [now.0.saturating_sub(WINDOW)])?;
    // The one that must leave the window before another fits.
    let blocking = change
        .prepare("SELECT at FROM starts ORDER BY at DESC LIMIT 1 OFFSET ?1")?
        .query_row([i64::from(rate) - 1], |row| row.get::<_, u64>(0))
        .optional()?;
    let blocking = if rate == 0 { Some(now.0) } else { blocking };
    Ok(blocking.map(|at| Duration::from_millis((at + WINDOW).saturating_sub(now.0))))
}

fn take(change: &Transaction<'_>, seq: i64, worker: &Worker, now: Millis) -> Result<Task, Failure> {
    let sql = "UPDATE tasks SET state = 'claimed', attempt = attempt + 1, worker_pid = ?2, worker_start = ?3,
        worker_boot = ?4, worker_namespace = ?5, lease_until = ?6 WHERE seq = ?1 AND state = 'queued' RETURNING *";
    let until = now.0.saturating_add(LEASE);
    let values = (seq, worker.pid, worker.start, &worker.boot, &worker.namespace, until);
    let taken = change.prepare(sql)?.query_row(values, task)?;
    let served = "UPDATE callers SET served = (SELECT max(served) + 1 FROM callers) WHERE caller = ?1";
    change.prepare(served)?.execute([taken.caller.as_str()])?;
    change.prepare("INSERT INTO starts VALUES (?1)")?.execute([now.0])?;
    Ok(taken)
}
