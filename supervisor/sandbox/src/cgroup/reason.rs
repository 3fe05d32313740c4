//! Why a limit is enforced by no cgroup, in words.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::Controller;

/// A requested limit that no cgroup enforces. The caller decides between a watchdog and a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub limit: Controller,
    pub reason: Reason,
}

/// What was tried on a cgroup when the kernel refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Create,
    Write,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Write => "write",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    #[error("no cgroup hierarchy is mounted")]
    NoHierarchy,
    #[error("no mounted cgroup hierarchy offers the `{0}` controller to us")]
    NoController(Controller),
    #[error("our own cgroup `{own}` is not visible below any mount of its hierarchy", own = own.display())]
    OutOfView { own: PathBuf },
    #[error("the cgroup `{dir}` has processes of its own, so a group below it gets no controllers", dir = dir.display())]
    InternalProcesses { dir: PathBuf },
    #[error("cannot {action} `{path}`: {cause}", path = path.display(), cause = io::Error::from_raw_os_error(*errno))]
    Refused { action: Action, path: PathBuf, errno: i32 },
    #[error("the run id `{0}` is not 1 to 64 characters of `a-z`, `0-9` and `-`")]
    BadRunId(String),
}

/// A group for each run needs a cgroup of ours without processes; a limit on the supervisor with its runs does not.
const LIMIT_THE_WHOLE: &str =
    "limit the supervisor and its runs together: `systemd-run --user --scope -p MemoryMax=4G -p TasksMax=512 …`";

impl Reason {
    pub(super) fn refused(action: Action, path: &Path, error: &io::Error) -> Self {
        Self::Refused {
            action,
            path: path.to_owned(),
            errno: error.raw_os_error().unwrap_or_default(),
        }
    }

    /// What the user can do about it, apart from the message.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NoHierarchy => Some("mount cgroup2 on /sys/fs/cgroup"),
            Self::NoController(_) => {
                Some("enable the controller for this session, e.g. `Delegate=yes` for user@.service in systemd")
            }
            Self::OutOfView { .. } => Some("start it in a cgroup that this container's /sys/fs/cgroup shows"),
            Self::InternalProcesses { .. } => Some(LIMIT_THE_WHOLE),
            Self::Refused { errno, .. } => {
                let kind = io::Error::from_raw_os_error(*errno).kind();
                if kind == io::ErrorKind::PermissionDenied {
                    Some(LIMIT_THE_WHOLE)
                } else if kind == io::ErrorKind::ReadOnlyFilesystem {
                    Some("mount cgroupfs writable in this container")
                } else {
                    None
                }
            }
            Self::BadRunId(_) => None,
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
