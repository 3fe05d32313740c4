//! What a desk reaches: the tasks of the project, or only those below one of them.
//!
//! INVARIANT: from the desk of a task nothing is seen, waited for, ended or gone on with that is not below it, and whatever
//! is asked for there is asked for in its name.

use super::refusal::Refusal;
use super::request::Request;
use crate::store::{Store, StoreError, Task, TaskId, Which};

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

    pub(super) fn is_below(&self) -> bool {
        match self {
            Self::Project => false,
            Self::Below(_) => true,
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

    /// What is made of each of the newest tasks, the newest first.
    pub(super) fn each<T>(
        &self,
        which: Which,
        most: u32,
        store: &Store,
        make: impl FnMut(Task) -> T,
    ) -> Result<Vec<T>, Refusal> {
        Ok(match self {
            Self::Project => store.each(which, most, make)?,
            Self::Below(root) => store.each_below(root, which, most, make)?,
        })
    }
}
