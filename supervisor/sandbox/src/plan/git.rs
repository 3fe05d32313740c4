//! What a run may meet of git, as data.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A repository whose index the command can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory that the names in the index start from, if that is known.
    pub work: Option<PathBuf>,
    pub index: PathBuf,
}

/// What was there of git before the run: what the run adds is disarmed at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPlan {
    /// Every directory that the command can write. Nothing outside them is ever disarmed.
    pub trees: Vec<PathBuf>,
    /// Those of them without a `.git`; where the caller stands in one counts too.
    pub fresh: Vec<PathBuf>,
    /// Likewise those that are not git directories themselves.
    pub not_bare: Vec<PathBuf>,
    pub repositories: Vec<Repository>,
    /// `.git` names that were there, and are protected.
    pub known: BTreeSet<PathBuf>,
    /// Those of them that no index named.
    pub unlinked: BTreeSet<PathBuf>,
    /// Links in git directories, and where they lead.
    pub links: BTreeMap<PathBuf, PathBuf>,
}
