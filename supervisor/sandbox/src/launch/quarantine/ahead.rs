//! Large indexes, read while the sandbox is still being built, so that nobody waits for it when the command has ended.
//!
//! INVARIANT: what was read ahead counts only if the index is the same inode, not changed since the run began by its own time,
//! which nobody inside can set. What the command does while it is being read makes it void.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::gitlinks::{self, gitlinks};
use crate::launch::changes::Since;
use crate::plan::Repository;
use crate::sys::dir::{self, Facts, Times};
use crate::sys::path;

/// Smaller ones are read in no time.
const LARGE: u64 = 128 << 10;

/// The gitlinks of large indexes as they were.
#[derive(Debug, Default)]
pub(in crate::launch) struct Ahead {
    known: BTreeMap<PathBuf, (Facts, Vec<PathBuf>)>,
    since: Option<Since>,
}

impl Ahead {
    pub(in crate::launch) fn read(repositories: &[Repository], since: Since) -> Self {
        let read = |index: &Path| {
            let file = path::open_held(index).ok()?;
            let before = dir::facts_at(file.as_fd(), OsStr::new("")).ok()?;
            if before.size < LARGE || dir::habits_of(file.as_fd()).ok()?.0 != Times::Tell {
                return None;
            }
            Some((before, gitlinks::of_held(file.as_fd())?))
        };
        let known = repositories.iter().filter_map(|repository| {
            let index = &repository.index;
            read(index).map(|found| (index.clone(), found))
        });
        Self {
            known: known.collect(),
            since: Some(since),
        }
    }

    /// The gitlinks of an index as it is now.
    pub(super) fn gitlinks(&self, index: &Path) -> Option<Vec<PathBuf>> {
        self.unchanged(index).or_else(|| gitlinks(index))
    }

    fn unchanged(&self, index: &Path) -> Option<Vec<PathBuf>> {
        let (before, links) = self.known.get(index)?;
        let file = path::open_held(index).ok()?;
        let now = dir::facts_at(file.as_fd(), OsStr::new("")).ok()?;
        let old = !self.since?.corrected().covers(now.changed);
        (old && now == *before).then(|| links.clone())
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
