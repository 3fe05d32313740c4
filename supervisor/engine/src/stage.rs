//! What lies at the project's path while a run is planned and carried out, and what becomes of it afterwards.
//!
//! Changes what this process sees of the filesystem, once, and for good: whatever must reach the project itself has opened
//! it before.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode};
use glee_sandbox::launch::Change as How;
use glee_sandbox::lower::disk_bytes;
use glee_sandbox::plan::Workspace;
use glee_sandbox::survey;
use glee_sandbox::workspace::{self, Copied, Layer, Wish, WorkspaceError};

use crate::audit::place::state_dir;
use crate::host::walk;
use crate::project::Scene;
use crate::report::{Report, WorkspaceReport};
use crate::workspaces::{self, Copy, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum StageError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("cannot make a copy of `{}`: this program keeps its own state in it, in `{}`", .project.display(), .state.display())]
    OwnState { project: PathBuf, state: PathBuf },
}

impl StageError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Workspace(error) => error.help(),
            Self::OwnState { .. } => "run in a directory below, or set XDG_STATE_HOME to one outside",
        }
    }
}

/// A copy that is in place.
#[derive(Debug)]
pub(crate) struct Stage {
    project: PathBuf,
    outside: Vec<PathBuf>,
    copied: Copied,
    bytes: u64,
    since: Duration,
}

impl Stage {
    /// Puts in place what was asked for; `None` for the project itself.
    pub(crate) fn set(
        asked: Workspace,
        policy: &ResolvedPolicy,
        scene: &Scene,
    ) -> Result<Option<Self>, StageError> {
        let contained = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
        if asked != Workspace::Cow || !contained {
            // What is not contained is refused when it is planned.
            return Ok(None);
        }
        let project = &scene.project;
        if let Some(state) = state_dir().map(|state| walk(&state).path)
            && state.starts_with(project)
        {
            let project = project.clone();
            return Err(StageError::OwnState { project, state });
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let bytes = disk_bytes(policy);
        let outside: Vec<PathBuf> = survey::outside_git(project).into_iter().collect();
        let copied = workspace::copy_on_write(Wish {
            project,
            outside: &outside,
            cwd: &scene.cwd,
            bytes,
        })?;
        Ok(Some(Self {
            project: project.clone(),
            outside,
            copied,
            bytes,
            since,
        }))
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.copied.layers
    }

    /// Keeps what changed. The run is over: what cannot be kept is said, and lost.
    pub(crate) fn finish(self, report: &mut Report) -> Option<StoreError> {
        let copy = Copy {
            project: &self.project,
            outside: &self.outside,
            layers: &self.copied.layers,
            bytes: self.bytes,
            since: self.since,
        };
        match workspaces::keep(copy, &report.run_id, &report.command) {
            Ok(harvest) => {
                report.workspace.take(harvest.as_ref());
                None
            }
            Err(error) => {
                report.workspace.lost = Some(error.to_string());
                Some(error)
            }
        }
    }
}

impl WorkspaceReport {
    fn take(&mut self, harvest: Option<&workspaces::Harvest>) {
        let Some(harvest) = harvest else { return };
        for change in &harvest.changes {
            match change.how() {
                How::Created => self.created += 1,
                How::Changed => self.changed += 1,
                How::Deleted => self.deleted += 1,
            }
        }
        self.not_kept.clone_from(&harvest.not_kept);
        self.kept = Some(harvest.run_id.clone());
    }
}
