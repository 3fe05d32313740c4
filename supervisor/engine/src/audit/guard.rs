//! Nobody's word makes the audit log writable from inside: not by its own name, nor where nothing can be kept apart.
//!
//! Reads links on the way to the directory; changes nothing. What lies around the log is the survey's.

use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{FsAccess, Isolation, Mode};

use crate::host::walk;

#[derive(Debug, thiserror::Error)]
#[error("cannot grant writing to `{}`: the audit log is kept in `{}`", .grant.display(), .state.display())]
pub struct OwnState {
    grant: PathBuf,
    state: PathBuf,
}

impl OwnState {
    #[must_use]
    pub fn help(&self) -> &'static str {
        "grant another directory, or set XDG_STATE_HOME to one outside"
    }
}

/// Refuses a grant that reaches the log in a way that no mount can take back.
pub fn check(policy: &ResolvedPolicy, state: Option<&Path>) -> Result<(), OwnState> {
    let writable = |access: FsAccess| match access {
        FsAccess::ReadWrite => true,
        FsAccess::Read => false,
    };
    let mut writable = policy.grants.iter().filter(|grant| writable(grant.access)).peekable();
    let (Some(state), Some(_), Mode::Restricted) = (state, writable.peek(), policy.mode) else {
        return Ok(());
    };
    let state = walk(state).path;
    let reaches = |grant: &Path| match policy.isolation {
        Isolation::Namespaces => grant.starts_with(&state),
        Isolation::Landlock => grant.starts_with(&state) || state.starts_with(grant),
    };
    match writable.find(|grant| reaches(grant.path.as_path())) {
        Some(grant) => Err(OwnState {
            grant: grant.path.as_path().to_owned(),
            state,
        }),
        None => Ok(()),
    }
}
