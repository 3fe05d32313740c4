//! The tasks that came from one task, however many levels down.

use super::schema::DEEPEST;
use super::task::{TaskId, find, task};
use super::{Store, StoreError, Task, Which};
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

    /// What is made of each of the newest of them, the newest first.
    pub fn each_below<T>(
        &self,
        root: &TaskId,
        which: Which,
        most: u32,
        mut make: impl FnMut(Task) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let clause = which.clause();
        let sql = format!("{BELOW} SELECT * FROM tasks WHERE id IN below AND {clause} ORDER BY seq DESC LIMIT ?2");
        self.look(|c| {
            let mut query = c.prepare(&sql)?;
            let rows = query.query_map((root.as_str(), most), |row| Ok(make(task(row)?)))?;
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
