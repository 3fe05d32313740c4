//! The tasks that came from one task, however many levels down.

use rusqlite::Transaction;

use super::schema::{DEEPEST, MOST_ASKED, MOST_BELOW, MOST_EVER};
use super::task::{TaskId, find, parsed_if, task};
use super::{Failure, Store, StoreError, Task, Which};
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

/// Whether one more may be asked for in the name of this task: its depth, and the caller that it counts for.
///
/// Both the caller and the counts are those of the first task in line, so that asking through others wins nothing.
pub(super) fn enter_below(change: &Transaction<'_>, parent: &TaskId, bytes: usize) -> Result<(u32, Label), Failure> {
    let missing = |id: &TaskId| StoreError::Missing(id.clone());
    let parent = find(change, parent)?.ok_or_else(|| missing(parent))?;
    let depth = parent.depth + 1;
    if depth > DEEPEST {
        return Err(StoreError::TooDeep(depth).into());
    }
    let mut top = parent;
    while let Some(above) = &top.parent {
        top = find(change, above)?.ok_or_else(|| missing(above))?;
    }
    let sql = format!(
        "{BELOW} SELECT count(*), coalesce(sum(state IN ('waiting', 'queued', 'claimed', 'running')), 0),
            coalesce(sum(octet_length(request)), 0) FROM tasks WHERE id IN below"
    );
    let counted = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (ever, open, asked): (u64, u64, u64) = change.query_row(&sql, [top.id.as_str()], counted)?;
    let bytes = asked.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    if open >= MOST_BELOW {
        return Err(StoreError::TooManyBelow(open).into());
    }
    if ever >= MOST_EVER {
        return Err(StoreError::TooManyEver(ever).into());
    }
    if bytes > MOST_ASKED {
        return Err(StoreError::TooMuchBelow {
            bytes,
            most: MOST_ASKED,
        }
        .into());
    }
    Ok((depth, top.caller))
}
