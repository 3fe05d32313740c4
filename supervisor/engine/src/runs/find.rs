//! From what the user typed to a stored run.

use super::{StoredRun, all, id};
use crate::audit::place::{PlaceError, State};

/// Of several runs that are meant, this many are named.
const SHOWN: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("no run is stored")]
    None,
    #[error("`{0}` is not the id of a run, nor the beginning of one")]
    NotAnId(String),
    #[error("no stored run has an id that begins with `{0}`")]
    NotFound(String),
    #[error("`{given}` could be {count} runs: {}", .some.join(", "))]
    Ambiguous {
        given: String,
        count: usize,
        some: Vec<String>,
    },
}

impl FindError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Place(error) => error.help(),
            Self::None => "`glee-supervisor run -- COMMAND` stores one",
            Self::NotAnId(_) | Self::NotFound(_) => "`glee-supervisor runs list` shows them",
            Self::Ambiguous { .. } => "write more of the id",
        }
    }
}

/// `latest`, an id, or the beginning of exactly one.
pub fn find(state: &State, given: &str) -> Result<StoredRun, FindError> {
    let mut runs = all(state)?;
    if given == "latest" {
        return runs.pop().ok_or(FindError::None);
    }
    let given = given.to_ascii_lowercase();
    if !id::is_prefix(&given) {
        return Err(FindError::NotAnId(given));
    }
    runs.retain(|run| run.id.starts_with(&given));
    match runs.len() {
        0 => Err(FindError::NotFound(given)),
        1 => runs.pop().ok_or(FindError::None),
        count => Err(FindError::Ambiguous {
            given,
            count,
            some: runs.into_iter().take(SHOWN).map(|run| run.id).collect(),
        }),
    }
}
