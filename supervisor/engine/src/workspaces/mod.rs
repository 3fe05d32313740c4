//! What runs changed in copies of their projects: kept in the user's state directory until it is applied or discarded.
//!
//! A result is a list (`changes.json`) and the contents of its files, one after the other (`content`): no name and no link
//! of a stranger's ever becomes a name here. docs/workspaces.md says what is kept and what is applied.
//! INVARIANT: a result is there whole or not at all. A directory that is being written has another name and a lock; without
//! the lock it is what a killed supervisor left, and whoever writes the next one removes it. One process at a time applies or
//! discards a result (`hold`), and one puts something into a tree.

pub mod apply;
mod bytes;
mod collect;
mod find;
mod hold;
mod node;
mod store;
mod work;

use std::path::{Path, PathBuf};

use glee_sandbox::launch::Change as How;
use serde::{Deserialize, Serialize};

pub use bytes::PathBytes;
pub use collect::Copy;
pub use find::{FindError, find};
pub use hold::{Held, HoldError};
pub use node::Node;
pub(crate) use store::forget;
pub use store::{Kept, StoreError, keep};

/// Below the state directory.
const DIR: &str = "workspaces";
/// Names that are listed. More is not kept, and said.
const MOST: usize = 200_000;

/// One name that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// In a tree outside the project, by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<usize>,
    /// From the project, or from that tree.
    pub path: PathBytes,
    /// In the project, at the end of the run.
    pub was: Option<Node>,
    /// In the copy.
    pub now: Option<Node>,
    /// Where the bytes of a file begin.
    pub at: Option<u64>,
    /// The project's own was changed while the command ran: nobody can say what the command saw.
    pub unsettled: bool,
}

impl Change {
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.how() {
            How::Created => "created",
            How::Changed => "changed",
            How::Deleted => "deleted",
        }
    }

    pub(crate) fn how(&self) -> How {
        match (&self.was, &self.now) {
            (None, _) => How::Created,
            (Some(_), Some(_)) => How::Changed,
            (Some(_), None) => How::Deleted,
        }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.path.as_path()
    }
}

/// Everything that a run changed in its copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harvest {
    pub version: u32,
    pub run_id: String,
    /// Real, absolute.
    pub project: PathBytes,
    /// Trees elsewhere that belong to it: its git directory, if that lies outside.
    pub outside: Vec<PathBytes>,
    pub command: Vec<String>,
    /// Parents first.
    pub changes: Vec<Change>,
    /// What was changed and is not kept: it could not be read, or there was too much.
    pub not_kept: Vec<String>,
    /// Sockets and pipes: they mean nothing without the processes that made them.
    pub passed_over: Vec<String>,
}

impl Harvest {
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.project.as_path().to_owned()
    }

    /// The tree that a change is in.
    #[must_use]
    pub fn tree(&self, change: &Change) -> Option<&Path> {
        match change.outside {
            None => Some(self.project.as_path()),
            Some(number) => self.outside.get(number).map(PathBytes::as_path),
        }
    }

    /// How a change is known: from the project, or by its whole path outside.
    #[must_use]
    pub fn known_as(&self, change: &Change) -> PathBuf {
        match change.outside {
            None => change.path().to_owned(),
            Some(_) => self.whole(change),
        }
    }

    /// What changed at this path of a tree.
    fn at(&self, outside: Option<usize>, path: &Path) -> Option<&Change> {
        let order = |change: &Change| (change.outside, change.path()).cmp(&(outside, path));
        let found = self.changes.binary_search_by(order).ok()?;
        self.changes.get(found)
    }

    /// The whole path of a change.
    #[must_use]
    pub fn whole(&self, change: &Change) -> PathBuf {
        self.tree(change).unwrap_or(Path::new("/nowhere")).join(change.path())
    }
}
