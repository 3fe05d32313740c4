//! Directories that are not there, remembered: compilers and linkers ask for many names in each.
//!
//! INVARIANT (bounded): in number and in the length of each; full, it starts anew.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::tree::{Found, Place};

const MOST: usize = 512;
const LONGEST: usize = 512;

/// Keyed by the directory as it was asked for: the nearest above it that is there, and its own path without links.
#[derive(Debug, Default)]
pub(super) struct Gone(HashMap<PathBuf, (Found, PathBuf)>);

impl Gone {
    /// Where a path leads, if its directory is known not to be there.
    pub(super) fn find(&self, path: &Path) -> Option<Place> {
        let (above, dir) = self.0.get(path.parent()?)?;
        Some(Place::Missing {
            above: above.clone(),
            path: dir.join(path.file_name()?),
        })
    }

    /// Notes the directory of `asked`, which is not there either, and which nothing inside can make.
    pub(super) fn note(&mut self, asked: &Path, above: &Found, missing: &Path) {
        let (Some(parent), Some(dir)) = (asked.parent(), missing.parent()) else {
            return;
        };
        if parent.as_os_str().len() > LONGEST {
            return;
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(parent.to_owned(), (above.clone(), dir.to_owned()));
    }
}

#[cfg(test)]
#[path = "gone_tests.rs"]
mod tests;
