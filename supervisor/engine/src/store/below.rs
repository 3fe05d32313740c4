//! The tasks that came from one task, however many levels down.

use super::schema::DEEPEST;
use super::task::{TaskId, find, task};
use super::{State, Store, StoreError, Task};
use crate::sessions::SessionId;

/// Begins a query in which `below` holds their ids.
const BELOW: &str = "WITH RECURSIVE below (id) AS (SELECT id FROM tasks WHERE parent = ?1
    UNION SELECT t.id FROM tasks AS t JOIN below AS b ON t.parent = b.id) ";

impl Store {
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
