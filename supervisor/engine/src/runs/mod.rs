//! Stored runs: the report of every run, in the user's state directory, by month.
//!
//! INVARIANT: a report is there whole or not at all, readable by its owner only, reached through no link, and never changed.

mod find;
mod id;
mod prune;
pub mod summary;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use glee_sandbox::sys::path::{
    create_at, create_unnamed_at, link_held_at, mkdir_at, open_dir_beneath, open_file_at, rename_new_at, unlink_at,
};

pub use find::{FindError, find};
pub use id::{month, started_ms};
pub use prune::{Keep, Pruned, prune};

use crate::audit::place::{PlaceError, State, names};

pub(crate) const DIR: &str = "runs";
/// A report is bounded by what it lists; a larger file is not one of ours.
const MOST: u64 = 64 << 20;

/// One stored report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    pub id: String,
    month: String,
}

impl StoredRun {
    /// The exact bytes of the report.
    pub fn read(&self, state: &State) -> Result<Vec<u8>, PlaceError> {
        let name = format!("{}.json", self.id);
        let read = || -> io::Result<Vec<u8>> {
            let dir = open_month(state, &self.month)?;
            let file = File::from(open_file_at(dir.as_fd(), OsStr::new(&name))?);
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("not a regular file"));
            }
            let mut bytes = Vec::new();
            file.take(MOST).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| PlaceError::Io {
            path: state.path.join(DIR).join(&self.month).join(&name),
            error,
        })
    }
}

/// Where the report of a run lies, below the state directory.
#[must_use]
pub fn path_of(id: &str) -> Option<String> {
    Some(format!("{DIR}/{}/{id}.json", month(id)?))
}

/// A file for a report, made where nobody waits for it: where many files were removed lately an inode takes a quarter of a millisecond.
/// It has no name, so whoever is killed leaves none.
#[derive(Debug)]
pub(crate) struct Draft(File);

impl Draft {
    /// `None` where the filesystem cannot, or for a first report: then the file is made when it is needed.
    pub(crate) fn make(state: &State, id: &str) -> Option<Self> {
        let dir = open_month(state, &month(id)?).ok()?;
        create_unnamed_at(dir.as_fd(), 0o600).ok().map(|file| Self(file.into()))
    }
}

/// Keeps the report of a run.
pub(crate) fn store(state: &State, id: &str, report: &[u8], draft: Option<Draft>) -> Result<(), PlaceError> {
    let path = path_of(id).map(|path| state.path.join(path));
    put(state, id, report, draft).map_err(|error| PlaceError::Io {
        path: path.unwrap_or_else(|| state.path.clone()),
        error,
    })
}

fn put(state: &State, id: &str, report: &[u8], draft: Option<Draft>) -> io::Result<()> {
    let month = month(id).ok_or(io::ErrorKind::InvalidInput)?;
    let dir = match open_month(state, &month) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            mkdir_at(state.dir.as_fd(), Path::new(DIR), 0o700)?;
            mkdir_at(state.dir.as_fd(), &Path::new(DIR).join(&month), 0o700)?;
            open_month(state, &month)?
        }
        other => other?,
    };
    let name = format!("{id}.json");
    if let Some(Draft(mut file)) = draft
        && file.write_all(report).is_ok()
        && link_held_at(file.as_fd(), dir.as_fd(), OsStr::new(&name)).is_ok()
    {
        return Ok(());
    }
    let draft = format!(".{id}.tmp");
    let written = create_at(dir.as_fd(), Path::new(&draft), 0o600)
        .and_then(|file| File::from(file).write_all(report))
        .and_then(|()| rename_new_at(dir.as_fd(), OsStr::new(&draft), OsStr::new(&name)));
    written.inspect_err(|_| {
        // What could not be put in place is of no use to anybody.
        let _ = unlink_at(dir.as_fd(), OsStr::new(&draft));
    })
}

fn open_month(state: &State, month: &str) -> io::Result<OwnedFd> {
    open_dir_beneath(state.dir.as_fd(), &Path::new(DIR).join(month))
}

/// Every stored run, oldest first.
pub fn all(state: &State) -> Result<Vec<StoredRun>, PlaceError> {
    let mut runs = Vec::new();
    for month in months(state)? {
        let names = names(&state.path.join(DIR).join(&month))?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
        runs.extend(
            ids.filter(|id| id::month(id).as_ref() == Some(&month))
                .map(|id| StoredRun {
                    id: id.to_owned(),
                    month: month.clone(),
                }),
        );
    }
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(runs)
}

fn months(state: &State) -> Result<Vec<String>, PlaceError> {
    let names = match names(&state.path.join(DIR)) {
        Err(error) if error.is_absence() => Vec::new(),
        other => other?,
    };
    // Not through a link: its content would be somebody else's.
    let is_month = |name: &String| id::is_month(name) && open_month(state, name).is_ok();
    Ok(names.into_iter().filter(is_month).collect())
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
