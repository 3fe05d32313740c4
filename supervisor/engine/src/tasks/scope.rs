//! What a desk reaches: the tasks of the project, or only those below one of them.
//!
//! INVARIANT: from the desk of a task nothing is seen, waited for, ended or gone on with that is not below it, and whatever
//! is asked for there is asked for in its name.

use super::refusal::Refusal;
use super::request::Request;
use crate::store::{State, Store, StoreError, Task, TaskId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    Project,
    Below(TaskId),
}

impl Scope {
    /// What is out of reach is not there.
    pub(super) fn check(&self, id: &TaskId, store: &Store) -> Result<(), Refusal> {
        match self {
            Self::Project => Ok(()),
            Self::Below(root) if store.is_below(root, id)? => Ok(()),
            Self::Below(_) => Err(StoreError::Missing(id.clone()).into()),
        }
    }

    /// Only a person decides, and there is none in a sandbox.
    pub(super) fn decides(&self) -> Result<(), Refusal> {
        match self {
            Self::Project => Ok(()),
            Self::Below(_) => Err(Refusal::NobodyToAsk),
        }
    }

    /// Puts a request in the name of the task whose desk it is.
    pub(super) fn adopt(&self, request: &mut Request, store: &Store) -> Result<(), Refusal> {
        let Self::Below(root) = self else { return Ok(()) };
        request.parent = Some(root.clone());
        if let Some(session) = &request.session
            && !store.is_session_below(root, session)?
        {
            return Err(crate::sessions::SessionError::Missing(session.clone()).into());
        }
        Ok(())
    }

    /// The newest tasks, the newest first.
    pub(super) fn list(&self, state: Option<State>, most: u32, store: &Store) -> Result<Vec<Task>, Refusal> {
        Ok(match self {
            Self::Project => store.list(state, most)?,
            Self::Below(root) => store.list_below(root, state, most)?,
        })
    }

    /// Those that are not over, the newest first.
    pub(super) fn open_tasks(&self, most: u32, store: &Store) -> Result<Vec<Task>, Refusal> {
        match self {
            Self::Project => Ok(store.open_tasks(most)?),
            Self::Below(root) => {
                let mut tasks = store.list_below(root, None, u32::MAX)?;
                tasks.retain(|task| !task.state.is_final());
                tasks.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                Ok(tasks)
            }
        }
    }
}
