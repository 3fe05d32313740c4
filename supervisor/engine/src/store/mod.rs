//! The tasks of a project: what was asked for, what runs, and what came of it.
//!
//! One SQLite file per project in the user's state directory, used by any number of processes at once.
//! INVARIANT (once): a task starts at most once. What was claimed and not started goes back to the queue when its worker
//! dies; what was started is then `failed`. A worker that lost its claim can neither start nor finish the task.
//! INVARIANT (moves): a state changes only as `State::may_become` says. The types say so to the caller, triggers to SQLite.

mod below;
mod calls;
mod claim;
mod flow;
mod journal;
mod moves;
mod recover;
mod schema;
mod state;
mod task;
mod waiter;
mod watch;
mod worker;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::database::{self, DatabaseError};
use crate::state as place;

pub use below::{Below, Spent};
pub use calls::{Asked, Call, Verdict};
pub use claim::{Claim, Claimed, Limits};
pub use flow::{Flow, FlowId, FlowState, FlowStep, NotAFlow, StepState, Used};
pub use journal::{MOST_TOLD, NewFlow, Pause, StepEnd, StepTask, Taken};
pub use moves::{Cancel, Running, Started};
pub use recover::Recovered;
pub use state::{Ending, State};
pub use task::{Entry, New, NotATask, Task, TaskId, Which};
pub use watch::Ready;
pub use worker::{Life, Worker};

const FILE: &str = "tasks.db";

/// Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Millis(pub u64);

impl Millis {
    #[must_use]
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self(u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX))
    }

    #[must_use]
    pub fn after(self, time: std::time::Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        // A column of SQLite holds no more.
        Self(self.0.saturating_add(millis).min(i64::MAX.unsigned_abs()))
    }

    /// The time from then until this; none if it is not after then.
    #[must_use]
    pub fn since(self, then: Self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.saturating_sub(then.0))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no task `{0}`")]
    Missing(TaskId),
    #[error("the task `{0}` is no longer this worker's: it was taken back while the worker did not answer")]
    Lost(TaskId),
    #[error("the task `{id}` is {}, so it cannot become {}", .is.as_str(), .wanted.as_str())]
    NotPossible { id: TaskId, is: State, wanted: State },
    #[error("the queue is full: {0} tasks wait")]
    Full(u64),
    #[error("the task has asked for {0} others that are not over, and may not ask for more before one is")]
    TooManyBelow(u64),
    #[error("the first task in line has led to {0} others, and may not lead to more")]
    TooManyEver(u64),
    #[error(
        "the requests of what the first task in line has led to would have {bytes} bytes, and at most {most} are taken"
    )]
    TooMuchBelow { bytes: u64, most: u64 },
    #[error("the {what} has {bytes} bytes, and at most {most} are kept")]
    TooLarge {
        what: &'static str,
        bytes: usize,
        most: usize,
    },
    #[error("a task cannot start others {0} levels deep")]
    TooDeep(u32),
    #[error("there is no run `{0}` of a workflow")]
    NoFlow(FlowId),
    #[error("the run `{0}` is no longer this process's to drive")]
    FlowLost(FlowId),
    #[error("the step {1} of the run `{0}` was begun or has ended before")]
    NoStep(FlowId, usize),
    #[error("the task was stored by another version of this program")]
    Unreadable,
    #[error("cannot find out who this process is: {0}")]
    Worker(std::io::Error),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The tasks of one project.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens them, and makes the place if it is not there yet.
    pub fn open(project: &Path) -> Result<Self, StoreError> {
        let folder = place::of_project(project).map_err(|error| DatabaseError::Io {
            path: place::project_dir(project).unwrap_or_default().join(FILE),
            error,
        })?;
        Self::at(folder.path().join(FILE))
    }

    /// A store in this very file.
    pub fn at(path: PathBuf) -> Result<Self, StoreError> {
        let connection = database::open(&path, &schema::FORM)?;
        let this = Self { connection, path };
        this.sync(Sync::Later)?;
        Ok(this)
    }

    /// What survives a loss of power. The death of a process loses nothing either way.
    fn sync(&self, when: Sync) -> Result<(), StoreError> {
        let word = match when {
            Sync::Later => "NORMAL",
            Sync::Now => "FULL",
        };
        self.look(|c| c.pragma_update(None, "synchronous", word))
    }

    /// Reads and writes as if nobody else were there.
    fn change<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>) -> Result<T, StoreError> {
        let path = &self.path;
        let run = |connection: &mut Connection| -> Result<T, Failure> {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = act(&change)?;
            change.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|failure| failure.at(path))
    }

    fn look<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        act(&self.connection).map_err(|error| DatabaseError::new(&self.path, error).into())
    }
}

/// When a change is on the disk.
///
/// A start must be there before anything starts, or it could be forgotten and done again; with it goes all that was changed before.
/// Everything else may be lost with the power that the work itself needs.
enum Sync {
    Later,
    Now,
}

/// What ends a change: nothing of it is kept.
enum Failure {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl Failure {
    fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sql(error) => DatabaseError::new(path, error).into(),
            Self::Store(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
