//! What a run may meet of git, as data.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Those of them that are no directories, and where they led, if anywhere.
    pub pointers: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Those of them into which nothing leads git from the project itself.
    pub unlinked: BTreeSet<PathBuf>,
    /// The git directories into which something does: the trees' own, their modules, and those that their indexes name, and so on.
    pub own: BTreeSet<PathBuf>,
    /// What every other index named, as far as it told.
    pub named: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Links in git directories, and where they lead.
    pub links: BTreeMap<PathBuf, PathBuf>,
    pub shared: Option<Shared>,
    /// Where git looks for what their configuration calls remotes.
    pub remotes: Vec<Remote>,
}

impl GitPlan {
    /// Since when other runs have been at work.
    pub(crate) fn others(&self) -> Option<Duration> {
        self.shared.as_ref().map(|shared| shared.since)
    }
}

/// A place that a remote of the project's configuration names, or nearly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub at: PathBuf,
    /// Where that led, there or not.
    pub end: Option<PathBuf>,
    pub was: RemoteWas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteWas {
    /// A repository, which is protected.
    There,
    /// A file that leads to one, which is not.
    Pointer,
    Missing,
}

/// Other runs were at work when this was looked at: what changed since the first of them began may be theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    pub since: Duration,
    /// Directories that were git directories themselves.
    pub bare: Vec<PathBuf>,
    /// `.git` names of nested repositories that came since, or by which or by whose arms something did.
    pub young: BTreeSet<PathBuf>,
}
