//! Calls of tools that wait for somebody's word.
//!
//! INVARIANT: a yes counts for one call of this tool with exactly these arguments, and then no more.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::Value;

use super::moves::text;
use super::task::{TaskId, json, parsed};
use super::{Millis, Store, StoreError};
use crate::label::Label;

/// Calls that wait.
const MOST_CALLS: u64 = 256;

/// What somebody said about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Approved,
    Denied,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
        }
    }
}

/// How a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Somebody has decided. That is used up.
    Decided(Verdict),
    /// It waits under this id.
    Waits(TaskId),
}

/// A call that nobody has decided on yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    pub call_id: TaskId,
    pub caller: Label,
    pub tool: String,
    pub arguments: Value,
    pub created_at: Millis,
}

impl Store {
    /// Somebody calls this tool: what was said about that, or that it waits from now on. What waits since before `since` is
    /// forgotten.
    pub fn ask(
        &mut self,
        caller: &Label,
        tool: &str,
        arguments: &Value,
        since: Millis,
        now: Millis,
    ) -> Result<Asked, StoreError> {
        let arguments = text("call", arguments)?;
        self.change(|change| {
            change.execute("DELETE FROM calls WHERE created_at < ?1", [since.0])?;
            let decided = "DELETE FROM calls WHERE tool = ?1 AND arguments = ?2 AND verdict IS NOT NULL
                RETURNING verdict = 'approved'";
            let decided: Option<bool> = change
                .prepare(decided)?
                .query_row([tool, &arguments], |row| row.get(0))
                .optional()?;
            match decided {
                Some(true) => return Ok(Asked::Decided(Verdict::Approved)),
                Some(false) => return Ok(Asked::Decided(Verdict::Denied)),
                None => {}
            }
            let waits = "SELECT id FROM calls WHERE tool = ?1 AND arguments = ?2";
            let waits = change
                .prepare(waits)?
                .query_row([tool, &arguments], |row| parsed(row, "id"))
                .optional()?;
            if let Some(id) = waits {
                return Ok(Asked::Waits(id));
            }
            let count: u64 = change.query_row("SELECT count(*) FROM calls", [], |row| row.get(0))?;
            if count >= MOST_CALLS {
                return Err(StoreError::Full(count).into());
            }
            let id = TaskId::fresh();
            change.execute(
                "INSERT INTO calls VALUES (?1, ?2, ?3, ?4, NULL, ?5)",
                params![id.as_str(), caller.as_str(), tool, arguments, now.0],
            )?;
            Ok(Asked::Waits(id))
        })
    }

    /// Those that wait since then or later, the oldest first.
    pub fn calls(&self, since: Millis) -> Result<Vec<Call>, StoreError> {
        let sql = "SELECT * FROM calls WHERE verdict IS NULL AND created_at >= ?1 ORDER BY id";
        self.look(|c| c.prepare(sql)?.query_map([since.0], call)?.collect())
    }

    /// Somebody decides on a call that waits since then or later. `None`: there is no such call.
    pub fn decide(&mut self, id: &TaskId, verdict: Verdict, since: Millis) -> Result<Option<Call>, StoreError> {
        self.change(|change| {
            let sql =
                "UPDATE calls SET verdict = ?2 WHERE id = ?1 AND verdict IS NULL AND created_at >= ?3 RETURNING *";
            let values = params![id.as_str(), verdict.as_str(), since.0];
            Ok(change.prepare(sql)?.query_row(values, call).optional()?)
        })
    }
}

fn call(row: &Row<'_>) -> rusqlite::Result<Call> {
    Ok(Call {
        call_id: parsed(row, "id")?,
        caller: parsed(row, "caller")?,
        tool: row.get("tool")?,
        arguments: json(&row.get::<_, String>("arguments")?)?,
        created_at: Millis(row.get("created_at")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use serde_json::json;

    #[test]
    fn a_yes_counts_once_for_exactly_this_call() -> Result<(), StoreError> {
        let scratch = Scratch::new();
        let mut store = Store::at(scratch.path().join("tasks.db"))?;
        let Ok(caller) = "a".parse::<Label>() else {
            return Err(StoreError::Unreadable);
        };
        let ask = |store: &mut Store, tool: &str, arguments: Value, now| {
            store.ask(&caller, tool, &arguments, Millis(5), Millis(now))
        };
        let first = ask(&mut store, "add", json!({"x": 1, "y": 2}), 10)?;
        assert_eq!(ask(&mut store, "add", json!({"y": 2, "x": 1}), 11)?, first);
        let Asked::Waits(id) = first else {
            return Err(StoreError::Unreadable);
        };
        assert!(store.decide(&TaskId::fresh(), Verdict::Approved, Millis(5))?.is_none());
        assert_eq!(
            store.decide(&id, Verdict::Approved, Millis(5))?.map(|call| call.tool),
            Some("add".to_owned())
        );
        assert!(
            store.decide(&id, Verdict::Denied, Millis(5))?.is_none(),
            "it was decided"
        );
        for (tool, arguments) in [("add", json!({"x": 1, "y": 3})), ("other", json!({"x": 1, "y": 2}))] {
            assert!(matches!(ask(&mut store, tool, arguments, 12)?, Asked::Waits(_)));
        }
        assert_eq!(
            ask(&mut store, "add", json!({"x": 1, "y": 2}), 12)?,
            Asked::Decided(Verdict::Approved)
        );
        let again = ask(&mut store, "add", json!({"x": 1, "y": 2}), 13)?;
        let Asked::Waits(id) = again else {
            return Err(StoreError::Unreadable);
        };
        store.decide(&id, Verdict::Denied, Millis(5))?;
        assert_eq!(
            ask(&mut store, "add", json!({"x": 1, "y": 2}), 14)?,
            Asked::Decided(Verdict::Denied)
        );
        // What nobody decided on in time is forgotten.
        assert_eq!(store.calls(Millis(5))?.len(), 2);
        assert_eq!(store.calls(Millis(100))?.len(), 0);
        Ok(())
    }
}
