//! Tasks that end with somebody else: with the process that waits for them, and with the task that asked for them.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::task::TaskId;
use super::worker::{Life, Worker};
use super::{Millis, Store, StoreError};

/// Enters who waits for a task.
pub(super) fn enter(change: &Transaction<'_>, id: &TaskId, waiter: &Worker) -> rusqlite::Result<()> {
    let values = params![id.as_str(), waiter.pid, waiter.start, waiter.boot, waiter.namespace];
    change.execute("INSERT INTO waiters VALUES (?1, ?2, ?3, ?4, ?5)", values)?;
    Ok(())
}

/// For how long somebody who looked after a task counts as waiting for it.
const LOOKED: Duration = Duration::from_secs(10);

impl Store {
    /// Somebody waits for this task, which another asked for: that one does nothing else meanwhile (`claim`).
    pub fn awaited(&mut self, id: &TaskId, now: Millis) -> Result<(), StoreError> {
        let open = "SELECT id, ?2 FROM tasks WHERE id = ?1 AND parent IS NOT NULL
            AND state IN ('waiting', 'queued', 'claimed', 'running')";
        let values = (id.as_str(), now.after(LOOKED).0);
        if !self.look(|c| c.prepare(open)?.exists(values))? {
            return Ok(());
        }
        self.change(|change| {
            let sql = format!("INSERT INTO awaited {open} ON CONFLICT (task) DO UPDATE SET until = excluded.until");
            change.execute(&sql, values)?;
            Ok(())
        })
    }

    /// Has whoever waits for the task gone, or has the task that asked for it ended? What cannot be found out is not so.
    pub fn is_abandoned(&self, id: &TaskId) -> Result<bool, StoreError> {
        let waiter = self.look(|c| {
            let sql = "SELECT pid, start, boot, namespace FROM waiters WHERE task = ?1";
            process(c, sql, id)
        })?;
        if waiter.is_some_and(|waiter| waiter.life() == Life::Dead) {
            return Ok(true);
        }
        let is_child = "SELECT parent IS NOT NULL FROM tasks WHERE id = ?1";
        let is_child = self.look(|c| c.query_row(is_child, [id.as_str()], |row| row.get(0)).optional())?;
        if is_child != Some(true) {
            return Ok(false);
        }
        let above = self.look(|c| {
            let sql = "SELECT p.worker_pid, p.worker_start, p.worker_boot, p.worker_namespace FROM tasks AS t
                JOIN tasks AS p ON p.id = t.parent WHERE t.id = ?1 AND p.state = 'running' AND NOT p.cancel_asked";
            process(c, sql, id)
        })?;
        Ok(above.is_none_or(|worker| worker.life() == Life::Dead))
    }
}

fn process(connection: &Connection, sql: &str, id: &TaskId) -> rusqlite::Result<Option<Worker>> {
    let mut query = connection.prepare(sql)?;
    let found = query.query_row([id.as_str()], |row| {
        Ok(Worker {
            pid: row.get(0)?,
            start: row.get(1)?,
            boot: row.get(2)?,
            namespace: row.get(3)?,
        })
    });
    found.optional()
}
