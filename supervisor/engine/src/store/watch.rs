//! What those who wait, dispatch and approve ask of the queue.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::claim::{heirs, next, rest_of_minute, running};
use super::moves::text;
use super::task::{TaskId, parsed, state};
use super::{Limits, Millis, Running, State, Store, StoreError};

/// The longest description of what a task is doing.
const MOST_DOING: usize = 1000;

/// How much could start now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// So many, at most.
    Now(u64),
    /// Nothing waits, or as many run as may.
    Nothing,
    /// The rate allows none before this time has passed.
    Later(Duration),
}

impl Store {
    /// How many workers would find something to do.
    pub fn ready(&mut self, limits: &Limits, now: Millis) -> Result<Ready, StoreError> {
        self.change(|change| {
            let room = u64::from(limits.max_concurrent).saturating_sub(running(change, now)?);
            let ready = match room {
                0 => u64::try_from(heirs(change, now)?.len()).unwrap_or(u64::MAX),
                _ if next(change)?.is_none() => 0,
                room => {
                    let queued = "SELECT count(*) FROM tasks WHERE state = 'queued'";
                    change.query_row(queued, [], |row| row.get::<_, u64>(0))?.min(room)
                }
            };
            if ready == 0 {
                return Ok(Ready::Nothing);
            }
            let wait = match limits.rate_limit_per_min {
                Some(rate) => rest_of_minute(change, rate, now)?,
                None => None,
            };
            Ok(match wait {
                Some(wait) => Ready::Later(wait),
                None => Ready::Now(ready),
            })
        })
    }

    /// Is there anything that a worker could take?
    pub fn has_next(&self) -> Result<bool, StoreError> {
        self.look(|c| Ok(next(c)?.is_some()))
    }

    /// Changes whenever another process has changed anything. Cheap.
    pub fn version(&self) -> Result<i64, StoreError> {
        self.look(|c| c.pragma_query_value(None, "data_version", |row| row.get(0)))
    }

    /// Where a task is, without the rest of it.
    pub fn state(&self, id: &TaskId) -> Result<State, StoreError> {
        let found = self.look(|c| {
            let mut query = c.prepare("SELECT state FROM tasks WHERE id = ?1")?;
            query.query_row([id.as_str()], |row| state(row, 0)).optional()
        })?;
        found.ok_or_else(|| StoreError::Missing(id.clone()))
    }

    /// What a task is doing now, for those who wait for it.
    pub fn note(&mut self, run: &Running, doing: &str) -> Result<(), StoreError> {
        let end = doing.floor_char_boundary(MOST_DOING);
        let doing = doing.get(..end).unwrap_or_default();
        self.change(|change| {
            let sql = "INSERT INTO doing VALUES (?1, 1, ?2)
                ON CONFLICT (task) DO UPDATE SET number = number + 1, text = excluded.text";
            change.execute(sql, params![run.id().as_str(), doing])?;
            Ok(())
        })
    }

    /// The last note, and which it is.
    pub fn doing(&self, id: &TaskId) -> Result<Option<(u64, String)>, StoreError> {
        self.look(|c| {
            let mut query = c.prepare("SELECT number, text FROM doing WHERE task = ?1")?;
            query
                .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// Nobody has approved of what was asked for before this time: it is over. Returns which tasks that were.
    pub fn expire(&mut self, before: Millis, result: &Value, now: Millis) -> Result<Vec<TaskId>, StoreError> {
        let waits = "SELECT EXISTS (SELECT 1 FROM tasks WHERE state = 'waiting' AND created_at < ?1)";
        if !self.look(|c| c.query_row(waits, [before.0], |row| row.get(0)))? {
            return Ok(Vec::new());
        }
        let result = text("result", result)?;
        self.change(|change| {
            let sql = "UPDATE tasks SET state = 'failed', finished_at = ?2, result = ?3
                WHERE state = 'waiting' AND created_at < ?1 RETURNING id";
            let mut query = change.prepare(sql)?;
            let over = query.query_map(params![before.0, now.0, result], |row| parsed(row, "id"))?;
            Ok(over.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The tasks that this one asked for and that are not over.
    pub fn children(&self, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
        let sql = "SELECT id FROM tasks WHERE parent = ?1 AND state IN ('waiting', 'queued', 'claimed', 'running')";
        self.look(|c| {
            let mut query = c.prepare(sql)?;
            query.query_map([id.as_str()], |row| parsed(row, "id"))?.collect()
        })
    }

    /// The tasks that are being worked on.
    pub fn held(&self) -> Result<Vec<TaskId>, StoreError> {
        let sql = "SELECT id FROM tasks WHERE state IN ('claimed', 'running')";
        self.look(|c| c.prepare(sql)?.query_map([], |row| parsed(row, "id"))?.collect())
    }
}
