//! Where results lie, and how they come there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use glee_sandbox::launch::Change as How;
use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path::{create_at, mkdir_at, open_dir_beneath, open_file_at, rename_new_at};

use super::apply::is_index;
use super::collect::{Copy, collect};
use super::{Change, DIR, Harvest};
use crate::audit::place::{PlaceError, State, names};

const LIST: &str = "changes.json";
const CONTENT: &str = "content";
/// How the name of a directory begins that is being written.
const DRAFT: &str = ".draft-";
/// A list is bounded by the names in it; a larger file is not one of ours.
const LONGEST: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("cannot keep what changed in `{}`: {error}", .at.display())]
    Write { at: PathBuf, error: io::Error },
    #[error("cannot read what changed from `{}`: {error}", .at.display())]
    Read { at: PathBuf, error: io::Error },
    #[error("`{}` is not a list of changes: {error}", .at.display())]
    NotAList { at: PathBuf, error: serde_json::Error },
}

impl StoreError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Place(error) => error.help(),
            Self::Write { .. } => "make room there, or set XDG_STATE_HOME to another directory",
            Self::Read { .. } => "see who may read it",
            Self::NotAList { .. } => "`glee-supervisor runs discard` removes it",
        }
    }

    /// Somebody discarded it just now.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Read { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// A stored result.
#[derive(Debug)]
pub struct Kept {
    pub harvest: Harvest,
    /// Where it lies.
    pub at: PathBuf,
    pub(super) dir: OwnedFd,
}

impl Kept {
    /// What a changed file holds now.
    pub fn content(&self, change: &Change) -> io::Result<io::Take<File>> {
        let (Some(at), Some(super::Node::File { size, .. })) = (change.at, &change.now) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut file = File::from(open_file_at(self.dir.as_fd(), OsStr::new(CONTENT))?);
        io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
        Ok(file.take(*size))
    }
}

/// Removes a result whose lock is held. From the first step on it is there no more; a killed one is swept with the drafts.
pub(super) fn remove(at: &Path) -> io::Result<()> {
    let mut draft = OsString::from(DRAFT);
    draft.push(at.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    let gone = at.with_file_name(draft);
    fs::rename(at, &gone)?;
    fs::remove_dir_all(&gone)
}

/// Keeps what a run changed in its copy. `None` if that is nothing.
pub fn keep(copy: Copy<'_>, run_id: &str, command: &[String]) -> Result<Option<Harvest>, StoreError> {
    let state = State::make()?;
    let at = state.path.join(DIR);
    let failed = |error| StoreError::Write { at: at.clone(), error };
    mkdir_at(state.dir.as_fd(), Path::new(DIR), 0o700).map_err(failed)?;
    let root = open_dir_beneath(state.dir.as_fd(), Path::new(DIR)).map_err(failed)?;
    sweep(&root, &at);
    let draft = OsString::from(format!("{DRAFT}{run_id}"));
    let kept = put(&root, &draft, copy, run_id, command);
    if !matches!(kept, Ok(Some(_))) {
        // What could not be kept whole is of no use to anybody.
        let _ = fs::remove_dir_all(at.join(&draft));
    }
    kept.map_err(failed)
}

fn put(root: &OwnedFd, draft: &OsStr, copy: Copy<'_>, run_id: &str, command: &[String]) -> io::Result<Option<Harvest>> {
    mkdir_at(root.as_fd(), Path::new(draft), 0o700)?;
    let dir = open_dir_beneath(root.as_fd(), Path::new(draft))?;
    flock(dir.as_fd(), Lock::TryExclusive)?;
    let content = File::from(create_at(dir.as_fd(), Path::new(CONTENT), 0o600)?);
    let listed = collect(copy, content.try_clone()?)?;
    let harvest = Harvest {
        version: 1,
        run_id: run_id.to_owned(),
        project: copy.project.into(),
        outside: copy.outside.iter().map(Into::into).collect(),
        command: command.to_vec(),
        changes: listed.changes,
        not_kept: listed.not_kept,
        passed_over: listed.passed_over,
    };
    let refreshed = |change: &Change| is_index(&harvest.known_as(change)) && change.how() == How::Changed;
    if harvest.not_kept.is_empty() && harvest.changes.iter().all(refreshed) {
        return Ok(None);
    }
    let mut list = File::from(create_at(dir.as_fd(), Path::new(LIST), 0o600)?);
    list.write_all(&serde_json::to_vec(&harvest)?)?;
    content.sync_all()?;
    list.sync_all()?;
    rename_new_at(root.as_fd(), draft, OsStr::new(run_id))?;
    Ok(Some(harvest))
}

/// Removes what killed supervisors left.
fn sweep(root: &OwnedFd, at: &Path) {
    let drafts = names(at)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| name.starts_with(DRAFT));
    for name in drafts {
        let left = open_dir_beneath(root.as_fd(), Path::new(&name));
        if left.is_ok_and(|dir| flock(dir.as_fd(), Lock::TryExclusive).is_ok()) {
            // Whoever comes next tries again.
            let _ = fs::remove_dir_all(at.join(&name));
        }
    }
}

/// Removes what is kept of a run, if anything is. It goes with the run's report.
pub(crate) fn forget(state: &State, id: &str) {
    // There may be none. One that is being applied stays, and is still named by `runs diff`, as is one that cannot be removed.
    if let Ok(dir) = open_dir_beneath(state.dir.as_fd(), &Path::new(DIR).join(id))
        && flock(dir.as_fd(), Lock::TryExclusive).is_ok()
    {
        let _ = remove(&state.path.join(DIR).join(id));
    }
}

/// The ids of the runs of which something is kept, oldest first.
pub(super) fn ids(state: &State) -> Result<Vec<String>, PlaceError> {
    let mut ids = match names(&state.path.join(DIR)) {
        Err(error) if error.is_absence() => Vec::new(),
        other => other?,
    };
    ids.retain(|id| crate::runs::month(id).is_some());
    Ok(ids)
}

/// A stored result by the whole id of its run.
pub(super) fn load(state: &State, id: &str) -> Result<Kept, StoreError> {
    let at = state.path.join(DIR).join(id);
    let failed = |error| StoreError::Read { at: at.clone(), error };
    let dir = open_dir_beneath(state.dir.as_fd(), &Path::new(DIR).join(id)).map_err(failed)?;
    let file = open_file_at(dir.as_fd(), OsStr::new(LIST)).map_err(failed)?;
    let mut text = Vec::new();
    File::from(file).take(LONGEST).read_to_end(&mut text).map_err(failed)?;
    let harvest = serde_json::from_slice(&text).map_err(|error| StoreError::NotAList { at: at.clone(), error })?;
    Ok(Kept { harvest, at, dir })
}
