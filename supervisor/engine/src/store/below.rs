//! The tasks that came from one task, however many levels down.

use super::schema::DEEPEST;
use super::task::{TaskId, find, parsed_if, task};
use super::{State, Store, StoreError, Task};
use crate::label::Label;
use crate::sessions::SessionId;

/// Begins a query in which `below` holds their ids.
const BELOW: &str = "WITH RECURSIVE below (id) AS (SELECT id FROM tasks WHERE parent = ?1
    UNION SELECT t.id FROM tasks AS t JOIN below AS b ON t.parent = b.id) ";

/// What came from one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Below {
    /// So many are not over.
    pub open: u64,
    /// What each of those that are over has used.
    pub spent: Vec<Spent>,
}

/// The tokens of one task, as far as anybody counted them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    pub cli: Option<Label>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl Store {
    /// What came from this task, and what that has used.
    pub fn below(&self, root: &TaskId) -> Result<Below, StoreError> {
        // A number that SQLite cannot hold is the greatest that it can.
        let sql = format!(
            "{BELOW} SELECT cli, finished_at IS NULL AS open, CAST(result ->> '$.input_tokens' AS INTEGER) AS input,
                CAST(result ->> '$.output_tokens' AS INTEGER) AS output FROM tasks WHERE id IN below"
        );
        let mut below = Below::default();
        self.look(|c| {
            let mut query = c.prepare(&sql)?;
            let mut rows = query.query([root.as_str()])?;
            while let Some(row) = rows.next()? {
                if row.get("open")? {
                    below.open += 1;
                    continue;
                }
                below.spent.push(Spent {
                    cli: parsed_if(row, "cli")?,
                    input_tokens: row.get("input")?,
                    output_tokens: row.get("output")?,
                });
            }
            Ok(())
        })?;
        Ok(below)
    }

    /// Did the one come from the other?
    pub fn is_below(&self, root: &TaskId, id: &TaskId) -> Result<bool, StoreError> {
        let mut at = id.clone();
        for _ in 0..=DEEPEST {
            let above = self.look(|c| find(c, &at))?.and_then(|task| task.parent);
            match above {
                None => return Ok(false),
                Some(parent) if parent == *root => return Ok(true),
                Some(parent) => at = parent,
            }
        }
        Ok(false)
    }

    /// The newest of them, the newest first.
    pub fn list_below(&self, root: &TaskId, state: Option<State>, most: u32) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "{BELOW} SELECT * FROM tasks WHERE id IN below AND (?2 IS NULL OR state = ?2) ORDER BY seq DESC LIMIT ?3"
        );
        self.look(|c| {
            let mut query = c.prepare(&sql)?;
            let rows = query.query_map((root.as_str(), state.map(State::as_str), most), task)?;
            rows.collect()
        })
    }

    /// Is it a session of theirs, and of nobody else's?
    pub fn is_session_below(&self, root: &TaskId, session: &SessionId) -> Result<bool, StoreError> {
        let sql = format!("{BELOW} SELECT count(*) > 0 AND count(*) = sum(id IN below) FROM tasks WHERE session = ?2");
        let found = self.look(|c| {
            c.query_row(&sql, (root.as_str(), session.as_str()), |row| {
                row.get::<_, Option<bool>>(0)
            })
        })?;
        Ok(found.unwrap_or(false))
    }
}
