//! From what the user typed to a stored result.

use std::path::{Path, PathBuf};

use super::store::{self, Kept, StoreError};
use crate::audit::place::{PlaceError, State};

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no run has left changes in a copy")]
    None,
    #[error("no run in `{}` has left changes in a copy", .0.display())]
    NoneHere(PathBuf),
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
            Self::None | Self::NoneHere(_) | Self::NotFound(_) => {
                "`glee-supervisor run --workspace cow` keeps what its command changed until it is applied or discarded"
            }
            Self::Ambiguous { .. } => "write more of the id",
        }
    }
}

/// `latest` of this project, an id of any, or the beginning of exactly one.
pub fn find(given: &str, project: &Path) -> Result<Kept, FindError> {
    let state = State::find()?.ok_or(FindError::None)?;
    let mut ids = store::ids(&state)?;
    if given == "latest" {
        for id in ids.iter().rev() {
            match store::load(&state, id) {
                Ok(kept) if kept.harvest.project() == project => return Ok(kept),
                Ok(_) => {}
                Err(error) if error.is_gone() => {}
                Err(error) => return Err(error.into()),
            }
        }
        return Err(FindError::NoneHere(project.to_owned()));
    }
    let given = given.to_ascii_lowercase();
    ids.retain(|id| id.starts_with(&given));
    match ids.as_slice() {
        [] => Err(FindError::NotFound(given)),
        [id] => store::load(&state, id).map_err(|error| match error {
            error if error.is_gone() => FindError::NotFound(given),
            error => error.into(),
        }),
        several => Err(FindError::Ambiguous {
            given,
            count: several.len(),
        }),
    }
}
