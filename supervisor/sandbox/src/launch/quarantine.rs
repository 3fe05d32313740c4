//! Repositories that came into being during the run are disarmed before the host's git meets them.
//!
//! `git init` inside must work, so `.git` of a project that had none cannot be forbidden. But hooks and configuration
//! make git run programs, and a prompt that shows the branch is enough to start it. What could do so is renamed (nothing is
//! lost), and reported; so is what could not be renamed.
//! So is every link that the run has put into a git directory, since git would write through it, and every file there by whose word
//! git would write or run what the run has chosen.
//! INVARIANT: no link is followed, and nothing outside the trees that the command could write is touched.

mod ahead;
mod company;
mod disarm;
pub(crate) mod gitlinks;
mod harmless;
pub(crate) mod links;
mod papers;
mod pointers;
mod reach;
mod remotes;
pub(crate) mod settled;
mod unfinished;
mod window;
mod worktrees;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) use ahead::Ahead;
pub(super) use disarm::is_arm;
pub(super) use reach::after;

use super::changes::Since;
use super::placeholders::is_placeholder;
use crate::plan::SandboxPlan;

/// More indexes than this are not followed one by one, neither before a run nor after it.
pub(crate) const MOST: usize = 4096;

/// What became of the repositories that a run has made.
#[derive(Debug, Default)]
pub(super) struct Disarmed {
    /// Renamed, by the old name.
    pub(super) aside: Vec<PathBuf>,
    /// Would make the host's git run something, and could not be renamed.
    pub(super) armed: Vec<PathBuf>,
}

impl Disarmed {
    fn note(&mut self, path: PathBuf, done: std::io::Result<()>) {
        match done {
            Ok(()) => self.aside.push(path),
            // Another run that ended meanwhile has taken it with it.
            Err(error) if error.kind() == ErrorKind::NotFound && is_gone(&path) => {}
            Err(_) => self.armed.push(path),
        }
    }
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// For who writes into the trees of a plan without a run.
#[derive(Debug)]
pub struct Quarantine<'p> {
    plan: &'p SandboxPlan,
    ahead: Ahead,
}

impl<'p> Quarantine<'p> {
    /// Before anything is written.
    #[must_use]
    pub fn before(plan: &'p SandboxPlan) -> Self {
        let ahead = Ahead::read(&plan.git.repositories, Since::now(), plan.git.others());
        Self { plan, ahead }
    }

    /// What was set aside, and what could not be.
    #[must_use]
    pub fn after(self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let out = reach::after(self.plan, &self.ahead);
        (out.aside, out.armed)
    }
}

/// Disarms every repository below the top of a tree in which nothing is the person's own. What was set aside, and what could
/// not be; the tree itself counts as such if there was more in it than was looked at.
#[must_use]
pub fn nested(tree: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut out = Disarmed::default();
    reach::nested(tree, &mut out);
    out.aside.sort();
    (out.aside, out.armed)
}

/// A protected name that the host removed during the run, and that is there again: host or command, nobody can tell.
pub(super) fn judge(plan: &SandboxPlan, path: &Path, out: &mut Disarmed) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let Some(tree) = reach::tree_of(plan, path) else { return };
    let within = |dir: &Path| dir.strip_prefix(tree).map(Path::to_owned).unwrap_or_default();
    if parent.file_name() == Some(OsStr::new(".git")) {
        // An index or a message, held for another checkout's sake, arms nothing.
        if disarm::is_arm(name) {
            disarm::git_dir(tree, &within(parent), out);
        }
    } else if name == ".git" {
        disarm::dot_git(tree, &within(parent), out);
    } else if path.symlink_metadata().is_ok() && is_placeholder(path).is_none() {
        out.note(path.to_owned(), disarm::rename_in(tree, &within(parent), name));
    }
}
