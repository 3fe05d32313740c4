//! From what the user typed to a stored result.

use super::store::{self, Kept, StoreError};
use crate::audit::place::{PlaceError, State};

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no run has left changes in a copy")]
    None,
    #[error("nothing is kept of a run whose id begins with `{0}`")]
    NotFound(String),
    #[error("`{given}` could be {count} runs")]
    Ambiguous { given: String, count: usize },
}

impl From<PlaceError> for FindError {
    fn from(error: PlaceError) -> Self {
        Self::Store(error.into())
    }
}

impl FindError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Store(error) => error.help(),
            Self::None | Self::NotFound(_) => {
                "`glee-supervisor run --workspace cow` keeps what its command changed until it is applied or discarded"
            }
            Self::Ambiguous { .. } => "write more of the id",
        }
    }
}

/// `latest`, an id, or the beginning of exactly one.
pub fn find(given: &str) -> Result<Kept, FindError> {
    let state = State::find()?.ok_or(FindError::None)?;
    let mut ids = store::ids(&state)?;
    if given != "latest" {
        let given = given.to_ascii_lowercase();
        ids.retain(|id| id.starts_with(&given));
        match ids.len() {
            0 => return Err(FindError::NotFound(given)),
            1 => {}
            count => return Err(FindError::Ambiguous { given, count }),
        }
    }
    let id = ids.pop().ok_or(FindError::None)?;
    Ok(store::load(&state, &id)?)
}
