//! A git worktree of the project's last commit, which lies at the project's path while a run works in it.
//!
//! No git runs on the host: what makes a worktree is written by hand, and whatever git must do (find the commit, fill the
//! worktree, look for changes) it does in a sandbox, where hooks, filters and monitors of the repository harm nobody.
//! INVARIANT: everything made here lies in two directories of the run's own, in `worktrees/` of the repository, and in one
//! branch; the steward, who outlives a killed supervisor, removes all of it or keeps all of it.
//! INVARIANT: what is read back after a crash lies in the state directory, which no sandbox shows or writes. Beside it lies
//! the worktree alone, of which nothing is believed.

mod aside;
mod finish;
mod make;
mod remove;
mod steward;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glee_sandbox::survey;
use glee_sandbox::sys::path;
use glee_sandbox::workspace::{self, WorkspaceError};
use serde::{Deserialize, Serialize};

use crate::audit::place::state_dir;
use crate::host::walk;
use crate::later::Shown;
use crate::project::Scene;
use crate::workspaces::PathBytes;
use aside::Errand;
pub use finish::Ended;
use steward::Steward;

/// Beside the state directory, which no sandbox shows: the worktrees, for their owner and the sandbox.
const DIR: &str = "glee-worktrees";
/// Below the state directory: what is known of those in use.
const KNOWN: &str = "worktrees";
/// A longer list of branches is not looked through: git itself finds the clash, in the sandbox.
const PACKED: usize = 64 << 20;

/// What git reads in its directory before and while it fills a worktree, and waits for if it is a pipe.
const GIT_READS: &[&str] = &[
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack/multi-pack-index",
];

#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("`{}` is not the top of a git working tree", .0.display())]
    NoRepository(PathBuf),
    #[error("`{}` is a bare git repository", .0.display())]
    Bare(PathBuf),
    #[error("the repository of `{}` keeps its branches in a way that is not known here", .0.display())]
    UnknownStore(PathBuf),
    #[error("the repository of `{}` has a branch `glee`, so there can be none below that name", .0.display())]
    NameTaken(PathBuf),
    #[error("git would read `{}` and wait for it: it is a pipe or a device, not a file", .0.display())]
    NoFile(PathBuf),
    #[error("git cannot tell the last commit of `{}`: {said}", .project.display())]
    NoCommit { project: PathBuf, said: String },
    #[error("git cannot fill the worktree: {0}")]
    Checkout(String),
    #[error(
        "there is no place for a worktree: XDG_STATE_HOME is not set to an absolute path, and HOME not to a directory that is there"
    )]
    Nowhere,
    #[error("cannot make the worktree: `{}`: {error}", .at.display())]
    Make { at: PathBuf, error: io::Error },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl WorktreeError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoRepository(_) => {
                "run in the top directory of a repository (`--project`), or leave out `--workspace worktree`"
            }
            Self::Bare(_) => "a worktree is made of a checkout: run in one",
            Self::UnknownStore(_) => "`--workspace cow` works with any repository",
            Self::NameTaken(_) => "rename it: git branch -m glee other",
            Self::NoFile(_) => "a command may have left it there: remove it",
            Self::NoCommit { .. } => "git must be installed, and the repository must have a commit",
            Self::Checkout(_) => "`--workspace cow` needs no checkout",
            Self::Nowhere => "set XDG_STATE_HOME to a directory of your own",
            Self::Make { .. } => "see who may write there",
            Self::Workspace(error) => error.help(),
        }
    }
}

/// One worktree, as it is made and removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plot {
    pub(crate) run_id: String,
    project: PathBytes,
    /// The repository's own directory.
    common: PathBytes,
    /// What is made for the run: `tree`, and where the repository is shown inside.
    own: PathBytes,
    /// What is known of it until it ends.
    known: PathBytes,
    /// The commit it starts from.
    base: String,
}

impl Plot {
    pub(crate) fn branch(&self) -> String {
        format!("glee/{}", self.run_id)
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.own.as_path().join("tree")
    }

    /// Where something is that lies in the project, or in its repository, inside.
    pub(crate) fn outside(&self, seen: &str) -> String {
        let git = self.moved_git().map(|git| (git.at, git.is));
        let tree = (self.project.as_path().to_owned(), self.tree());
        let mut found = git.into_iter().chain([tree]).filter_map(|(inside, outside)| {
            let below = Path::new(seen).strip_prefix(inside).ok()?;
            Some(outside.join(below).to_string_lossy().into_owned())
        });
        found.next().unwrap_or_else(|| seen.to_owned())
    }

    /// Where the repository is shown, if the worktree lies over it.
    pub(crate) fn moved_git(&self) -> Option<Shown> {
        let (at, is) = (self.common_inside(), self.common.as_path().to_owned());
        (at != is).then_some(Shown { at, is })
    }

    fn common_inside(&self) -> PathBuf {
        if self.common.as_path().starts_with(self.project.as_path()) {
            self.own.as_path().join("git")
        } else {
            self.common.as_path().to_owned()
        }
    }
}

/// A worktree in place.
#[derive(Debug)]
pub(crate) struct Worktree {
    pub(crate) plot: Plot,
    steward: Steward,
    /// Is there work in the project that is not in it?
    pub(crate) uncommitted: bool,
}

impl Worktree {
    /// Makes it and puts it at the project's path.
    pub(crate) fn set(scene: &Scene, run_id: &str) -> Result<Self, WorktreeError> {
        let project = &scene.project;
        let common = common_dir(project)?;
        let state = state_dir().ok_or(WorktreeError::Nowhere)?;
        // The way there is the user's own and may have links; from here on none is followed.
        let places = [state.with_file_name(DIR), state.join(KNOWN)].map(|place| walk(&place).path);
        finish::sweep(&places);
        let [parent, known] = places;
        let (base, uncommitted) = last_commit(project)?;
        let plot = Plot {
            run_id: run_id.to_owned(),
            project: project.into(),
            common: common.into(),
            own: parent.join(run_id).into(),
            known: known.join(run_id).into(),
            base,
        };
        // From here on somebody sees to it that it goes again.
        let steward = Steward::hire(&plot).map_err(|error| WorktreeError::Make {
            at: plot.own.as_path().to_owned(),
            error,
        })?;
        make::worktree(&plot)?;
        let binds = binds(&plot);
        workspace::substitute(project, &binds)?;
        fill(&plot)?;
        make::mark_ready(&plot)?;
        Ok(Self {
            plot,
            steward,
            uncommitted,
        })
    }

    /// The run is over: what holds nothing is removed.
    pub(crate) fn finish(mut self) -> Option<Ended> {
        self.steward.dismiss()
    }
}

/// The repository's own directory.
fn common_dir(project: &Path) -> Result<PathBuf, WorktreeError> {
    let dot_git = project.join(".git");
    let common = if fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
        dot_git
    } else if let Some(outside) = survey::outside_git(project) {
        outside
    } else if ["objects", "refs", "HEAD"]
        .iter()
        .all(|name| project.join(name).exists())
    {
        return Err(WorktreeError::Bare(project.to_owned()));
    } else {
        return Err(WorktreeError::NoRepository(project.to_owned()));
    };
    let waits = |path: &PathBuf| fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if let Some(path) = GIT_READS.iter().map(|name| common.join(name)).find(waits) {
        return Err(WorktreeError::NoFile(path));
    }
    if fs::symlink_metadata(common.join("reftable")).is_ok() {
        return Err(WorktreeError::UnknownStore(project.to_owned()));
    }
    if has_branch_glee(&common) {
        return Err(WorktreeError::NameTaken(project.to_owned()));
    }
    Ok(common)
}

/// A branch is a file: where one is called `glee`, no directory can be.
fn has_branch_glee(common: &Path) -> bool {
    let loose = fs::symlink_metadata(common.join("refs/heads/glee")).is_ok_and(|meta| !meta.is_dir());
    let packed = path::read_file(&common.join("packed-refs"), PACKED).unwrap_or_default();
    loose
        || packed
            .split(|byte| *byte == b'\n')
            .any(|line| line.ends_with(b" refs/heads/glee"))
}

/// The last commit, and whether there is work that is not in it.
fn last_commit(project: &Path) -> Result<(String, bool), WorktreeError> {
    let script = "git rev-parse --verify -q 'HEAD^{commit}' && git status --porcelain -unormal | head -n 1";
    let done = Errand::shell("restricted", project, script, &[]).looks().run();
    let failed = |said: String| WorktreeError::NoCommit {
        project: project.to_owned(),
        said,
    };
    let done = done.map_err(|error| failed(error.to_string()))?;
    let mut lines = done.stdout.lines();
    let commit = lines.next().filter(|line| is_object_id(line)).map(str::to_owned);
    match commit {
        Some(commit) if done.status == 0 => Ok((commit, lines.next().is_some())),
        // The commit is known, and nobody can tell what is beside it.
        Some(commit) if done.is_late() => Ok((commit, true)),
        Some(_) | None => Err(failed(done.said("there is none"))),
    }
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What is laid over what: the worktree over the project, and pointers that lead to it there.
fn binds(plot: &Plot) -> Vec<(PathBuf, PathBuf)> {
    let (project, known) = (plot.project.as_path(), plot.known.as_path());
    let (common, inside) = (plot.common.as_path(), plot.common_inside());
    let mut binds = Vec::new();
    if common != inside {
        binds.push((common.to_owned(), inside.clone()));
    }
    let back = inside.join("worktrees").join(&plot.run_id).join("gitdir");
    binds.push((known.join("inside-gitdir"), back));
    binds.push((plot.tree(), project.to_owned()));
    binds.push((known.join("inside-dotgit"), project.join(".git")));
    binds
}

/// Fills the worktree, at the project's path.
fn fill(plot: &Plot) -> Result<(), WorktreeError> {
    let policy = plot.known.as_path().join("checkout.yml");
    let git = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false reset -q --hard";
    let done = Errand::shell(&policy.to_string_lossy(), plot.project.as_path(), git, &[]).run();
    match done {
        Ok(done) if done.status == 0 => Ok(()),
        Ok(done) => Err(WorktreeError::Checkout(done.said("it says nothing"))),
        Err(error) => Err(WorktreeError::Checkout(error.to_string())),
    }
}
