//! What lies at the project's path while a run is planned and carried out, and what becomes of it afterwards.
//!
//! Changes what this process sees of the filesystem, once, and for good: whatever must reach the project itself has opened
//! it before.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Backend, Isolation, Mode};
use glee_sandbox::launch::Change as How;
use glee_sandbox::lower::disk_bytes;
use glee_sandbox::plan::Workspace;
use glee_sandbox::survey;
use glee_sandbox::workspace::{self, Copied, Layer, Wish, WorkspaceError};

use crate::audit::place::state_dir;
use crate::host::walk;
use crate::later::Shown;
use crate::project::Scene;
use crate::report::{Report, WorkspaceReport};
use crate::workspaces::{self, Copy, StoreError};
use crate::worktree::{Ended, Worktree, WorktreeError};

#[derive(Debug, thiserror::Error)]
pub enum StageError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("cannot honour `--workspace {workspace}` with `backend: {backend}`")]
    Backend {
        workspace: &'static str,
        backend: &'static str,
    },
    #[error("cannot make a copy of `{}`: this program keeps its own state in it, in `{}`", .project.display(), .state.display())]
    OwnState { project: PathBuf, state: PathBuf },
}

impl StageError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Workspace(error) => error.help(),
            Self::Worktree(error) => error.help(),
            Self::Backend { .. } => "use `backend: native`, or leave out `--workspace`",
            Self::OwnState { .. } => "run in a directory below, or set XDG_STATE_HOME to one outside",
        }
    }
}

/// Only the native backend has a project that can be replaced.
pub(crate) fn check(asked: Workspace, policy: &ResolvedPolicy) -> Result<(), StageError> {
    let backend = match policy.backend {
        Backend::Auto | Backend::Native => return Ok(()),
        Backend::Podman => "podman",
        Backend::Docker => "docker",
    };
    match asked {
        Workspace::Shared => Ok(()),
        Workspace::Cow | Workspace::Worktree => Err(StageError::Backend {
            workspace: asked.name(),
            backend,
        }),
    }
}

/// What is in place.
#[derive(Debug)]
pub(crate) enum Stage {
    Copy(CopyOnWrite),
    Worktree(Worktree),
}

#[derive(Debug)]
pub(crate) struct CopyOnWrite {
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
        run_id: &str,
    ) -> Result<Option<Self>, StageError> {
        let contained = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
        if asked == Workspace::Shared || !contained {
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
        match asked {
            Workspace::Shared => Ok(None),
            Workspace::Cow => CopyOnWrite::set(policy, scene).map(|copy| Some(Self::Copy(copy))),
            Workspace::Worktree => Ok(Some(Self::Worktree(Worktree::set(scene, run_id)?))),
        }
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        match self {
            Self::Copy(copy) => &copy.copied.layers,
            Self::Worktree(_) => &[],
        }
    }

    /// The repository's own directory, if it is not at its place meanwhile.
    pub(crate) fn git(&self) -> Option<Shown> {
        match self {
            Self::Worktree(worktree) => worktree.plot.moved_git(),
            Self::Copy(_) => None,
        }
    }

    /// What the caller should hear before the command starts.
    pub(crate) fn remark(&self) -> Option<&'static str> {
        match self {
            Self::Worktree(worktree) if worktree.uncommitted => {
                Some("the worktree is of the last commit: what is not committed in the project is not in it")
            }
            Self::Worktree(_) | Self::Copy(_) => None,
        }
    }

    /// Keeps what changed. The run is over: what cannot be kept is said, and lost.
    pub(crate) fn finish(self, report: &mut Report) -> Option<StoreError> {
        match self {
            Self::Copy(copy) => copy.finish(report),
            Self::Worktree(worktree) => {
                let plot = worktree.plot.clone();
                let (branch, tree) = (plot.branch(), plot.tree());
                if let Some(Ended::Kept {
                    commits,
                    uncommitted,
                    aside,
                    armed,
                }) = worktree.finish()
                {
                    for path in report.set_aside.iter_mut().chain(&mut report.not_disarmed) {
                        *path = plot.outside(path);
                    }
                    let text = |path: &Path| tree.join(path).to_string_lossy().into_owned();
                    report.set_aside.extend(aside.iter().map(|path| text(path.as_path())));
                    report.set_aside.sort();
                    report
                        .not_disarmed
                        .extend(armed.then(|| tree.to_string_lossy().into_owned()));
                    report.workspace.branch = Some(branch);
                    report.workspace.path = Some(tree.to_string_lossy().into_owned());
                    report.workspace.commits = commits;
                    report.workspace.uncommitted = uncommitted;
                }
                None
            }
        }
    }
}

impl CopyOnWrite {
    fn set(policy: &ResolvedPolicy, scene: &Scene) -> Result<Self, StageError> {
        let project = &scene.project;
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let bytes = disk_bytes(policy);
        let outside: Vec<PathBuf> = survey::outside_git(project).into_iter().collect();
        let copied = workspace::copy_on_write(Wish {
            project,
            outside: &outside,
            cwd: &scene.cwd,
            bytes,
        })?;
        Ok(Self {
            project: project.clone(),
            outside,
            copied,
            bytes,
            since,
        })
    }

    fn finish(self, report: &mut Report) -> Option<StoreError> {
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
