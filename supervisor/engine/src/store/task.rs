//! A task as it is stored and read.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::journal::StepTask;
use super::worker::Worker;
use super::{Millis, State, Store, StoreError};
use crate::label::Label;
use crate::sessions::SessionId;

/// That of the run it becomes: 26 letters and digits, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TaskId(String);

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl TryFrom<String> for TaskId {
    type Error = NotATask;

    fn try_from(text: String) -> Result<Self, NotATask> {
        text.parse()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a task: 26 lower-case letters and digits")]
pub struct NotATask;

impl TaskId {
    #[must_use]
    pub fn fresh() -> Self {
        Self(crate::run_id::run_id())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TaskId {
    type Err = NotATask;

    fn from_str(text: &str) -> Result<Self, NotATask> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        if text.len() == 26 && text.bytes().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotATask)
        }
    }
}

/// Whether a new task may be taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Queue,
    /// Somebody has to approve of it first.
    Approval,
}

/// A task that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct New {
    /// Between callers the queue is fair.
    pub caller: Label,
    pub parent: Option<TaskId>,
    /// Of one session at most one task runs at a time.
    pub session: Option<SessionId>,
    pub agent: Option<Label>,
    pub cli: Option<Label>,
    pub request: Value,
    pub entry: Entry,
    /// The process that waits for it: it ends with that.
    pub waiter: Option<Worker>,
    /// The step of a workflow that it is; begun in the same change.
    pub step: Option<StepTask>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    pub id: TaskId,
    pub parent: Option<TaskId>,
    pub depth: u32,
    pub caller: Label,
    pub session: Option<SessionId>,
    pub agent: Option<Label>,
    pub cli: Option<Label>,
    pub state: State,
    /// How often it was claimed.
    pub attempt: u32,
    pub cancel_asked: bool,
    pub created_at: Millis,
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    pub worker: Option<Worker>,
    /// When it must be over, while it runs.
    pub until: Option<Millis>,
    pub request: Value,
    pub result: Option<Value>,
}

/// Which tasks of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    All,
    Open,
    In(State),
}

impl Which {
    #[must_use]
    pub fn of(state: Option<State>) -> Self {
        state.map_or(Self::All, Self::In)
    }

    pub(super) fn clause(self) -> String {
        match self {
            Self::All => "true".to_owned(),
            Self::Open => "state IN ('waiting', 'queued', 'claimed', 'running')".to_owned(),
            Self::In(state) => format!("state = '{}'", state.as_str()),
        }
    }
}

impl Store {
    pub fn get(&self, id: &TaskId) -> Result<Task, StoreError> {
        self.look(|c| find(c, id))?
            .ok_or_else(|| StoreError::Missing(id.clone()))
    }

    /// The newest tasks, the newest first.
    pub fn list(&self, state: Option<State>, most: u32) -> Result<Vec<Task>, StoreError> {
        self.each(Which::of(state), most, |task| task)
    }

    /// What is made of each of the newest tasks, the newest first; no more than one is held at a time.
    pub fn each<T>(&self, which: Which, most: u32, mut make: impl FnMut(Task) -> T) -> Result<Vec<T>, StoreError> {
        let sql = format!(
            "SELECT * FROM tasks WHERE {} ORDER BY seq DESC LIMIT ?1",
            which.clause()
        );
        self.look(|c| {
            let mut query = c.prepare(&sql)?;
            query.query_map([most], |row| Ok(make(task(row)?)))?.collect()
        })
    }

    /// How many tasks are in each state that has any.
    pub fn counts(&self) -> Result<Vec<(State, u64)>, StoreError> {
        self.look(|c| {
            let mut query = c.prepare("SELECT state, count(*) FROM tasks GROUP BY state")?;
            let mut counts: Vec<(State, u64)> = query
                .query_map([], |row| Ok((state(row, 0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            counts.sort_unstable();
            Ok(counts)
        })
    }
}

pub(super) fn find(connection: &Connection, id: &TaskId) -> rusqlite::Result<Option<Task>> {
    let mut query = connection.prepare("SELECT * FROM tasks WHERE id = ?1")?;
    query.query_row([id.as_str()], task).optional()
}

pub(super) fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: parsed(row, "id")?,
        parent: parsed_if(row, "parent")?,
        depth: row.get("depth")?,
        caller: parsed(row, "caller")?,
        session: parsed_if(row, "session")?,
        agent: parsed_if(row, "agent")?,
        cli: parsed_if(row, "cli")?,
        state: state(row, row.as_ref().column_index("state")?)?,
        attempt: row.get("attempt")?,
        cancel_asked: row.get("cancel_asked")?,
        created_at: Millis(row.get("created_at")?),
        started_at: row.get::<_, Option<u64>>("started_at")?.map(Millis),
        finished_at: row.get::<_, Option<u64>>("finished_at")?.map(Millis),
        worker: Worker::read(row)?,
        until: row.get::<_, Option<u64>>("lease_until")?.map(Millis),
        request: json(&row.get::<_, String>("request")?)?,
        result: row
            .get::<_, Option<String>>("result")?
            .as_deref()
            .map(json)
            .transpose()?,
    })
}

pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<State> {
    let text: String = row.get(column)?;
    State::of(&text).ok_or_else(|| wrong(NotATask))
}

pub(super) fn json(text: &str) -> rusqlite::Result<Value> {
    serde_json::from_str(text).map_err(wrong)
}

pub(super) fn parsed<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    name: &str,
) -> rusqlite::Result<T> {
    row.get::<_, String>(name)?.parse().map_err(wrong)
}

pub(super) fn parsed_if<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    name: &str,
) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(name)?
        .map(|text| text.parse().map_err(wrong))
        .transpose()
}

pub(super) fn wrong(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}
