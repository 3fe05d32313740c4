//! A stored result, put into the project.
//!
//! First everything is looked at and nothing is touched; if a single name is not what the run left behind, nothing is
//! applied. Then names are made, replaced and removed one by one.
//! INVARIANT: every name is reached through directories only, beneath the project (`openat2`): a link on the way is a
//! conflict. No setuid, setgid or sticky bit is set. What a run could not have written in the project itself is never
//! applied: the protected names of `workspace`, and what makes git run programs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use glee_policy::Flags;
use glee_sandbox::launch::{self, Found, Judge, Verdict};
use glee_sandbox::plan::{MountStep, SandboxPlan};
use glee_sandbox::sys::path;

use super::collect::names;
use super::hold::{self, Held, HoldError};
use super::node::{Node, look};
use super::store::Kept;
use super::work::{self, Removed, Work};
use super::{Change, Harvest};
use crate::later::Later;
use crate::options::Options;
use crate::run::{self, Refusal};

/// Why nothing was applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("cannot open the project `{}`: {error}", .path.display())]
    Project { path: PathBuf, error: io::Error },
    #[error("cannot tell what is protected in the project: {0}")]
    Protected(#[from] Box<Refusal>),
    #[error("the project is not as the run left it, so nothing was applied")]
    Conflicts(Vec<Conflict>),
    #[error("cannot apply `{}`: {error}", .path.display())]
    Step { path: PathBuf, error: io::Error },
    #[error("no change is at or below `{}`", .0.display())]
    NoSuchChange(PathBuf),
    #[error("not everything that the run changed was kept, so nothing was applied")]
    Incomplete,
    #[error(transparent)]
    Busy(#[from] HoldError),
}

impl ApplyError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Project { .. } | Self::Protected(_) => "the result stays until it is discarded",
            Self::Conflicts(_) => "put these back as they were, or name the paths that are to be applied",
            Self::Step { .. } => "what was applied before it stays; apply again when the cause is gone",
            Self::NoSuchChange(_) => "`glee-supervisor runs diff` lists them",
            Self::Incomplete => "name the paths that are to be applied; `runs diff` says what is missing",
            Self::Busy(error) => error.help(),
        }
    }
}

/// A name that is not what it was when the run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: PathBuf,
    pub why: &'static str,
}

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub applied: usize,
    /// Never applied.
    pub protected: Vec<PathBuf>,
    /// Directories that are not empty, because something was put there since.
    pub left: Vec<PathBuf>,
    /// Indexes of git that were written since: they stay as they are, and git brings them in line.
    pub stale: Vec<PathBuf>,
    /// With what was there already it would have made the host's git run something; renamed, by the old name.
    pub aside: Vec<PathBuf>,
    /// The same, and it could not be renamed.
    pub armed: Vec<PathBuf>,
    /// Is there nothing more to take from the result?
    pub whole: bool,
}

/// What a change means to the host.
#[must_use]
pub fn judge(harvest: &Harvest, change: &Change) -> Verdict {
    let project = harvest.project();
    let (path, later) = (
        harvest.whole(change),
        Later {
            project: &project,
            git: None,
        },
    );
    let (Some(node), how) = (change.now.as_ref().or(change.was.as_ref()), change.how()) else {
        return Verdict::Plain;
    };
    let (mode, target) = match node {
        Node::Dir { mode } | Node::File { mode, .. } => (*mode, None),
        Node::Symlink { target } => (0o777, Some(target.as_path())),
        Node::Other => (0, None),
    };
    let found = Found {
        path: &path,
        change: how,
        kind: node.file_kind(),
        mode,
        target,
    };
    let verdict = later.judge(&found);
    match Later::told_if_bare(&path) {
        Some(reason) if verdict == Verdict::Plain && makes_bare(harvest, change) => Verdict::Executes(reason),
        Some(_) | None => verdict,
    }
}

/// Does it lie beside what makes a git directory of any directory? With a `commondir`, half of it is elsewhere.
fn makes_bare(harvest: &Harvest, change: &Change) -> bool {
    let is_file = change.now.is_some() && !is_dir(&change.now);
    let comes = |name: &str| harvest.at(change.outside, &change.path().with_file_name(name));
    let beside = ["HEAD", "objects"].map(comes).into_iter().flatten();
    is_file && beside.filter(|other| other.now.is_some()).count() > 0
}

/// Applies a result, or of it what lies at or below `only`. Another result that is put into the same trees is waited for a little;
/// `waits` hears of it.
pub fn apply(held: &Held, only: &[PathBuf], waits: &mut dyn FnMut(&HoldError)) -> Result<Applied, ApplyError> {
    let kept = held.kept();
    let harvest = &kept.harvest;
    let project = harvest.project();
    let failed = |error| ApplyError::Project {
        path: project.clone(),
        error,
    };
    if only.is_empty() && !harvest.not_kept.is_empty() {
        return Err(ApplyError::Incomplete);
    }
    if let Some(none) = only
        .iter()
        .find(|path| !harvest.changes.iter().any(|c| harvest.known_as(c).starts_with(path)))
    {
        return Err(ApplyError::NoSuchChange(none.clone()));
    }
    let roots = Roots::open(harvest).map_err(failed)?;
    // What is looked at must be so still when it is replaced.
    let _trees = hold::trees(roots.all(), waits)?;
    let protected = Protected::of(&project)?;
    let mut applied = Applied::default();
    let mut chosen: Vec<&Change> = Vec::new();
    for change in &harvest.changes {
        if !is_chosen(change, only, harvest) {
            continue;
        }
        if protected.has(harvest, change) {
            applied.protected.push(harvest.known_as(change));
        } else {
            chosen.push(change);
        }
    }
    let mut conflicts = Vec::new();
    let mut todo = Vec::new();
    for change in chosen {
        match compare(&roots, harvest, change) {
            Standing::Apply => todo.push(change),
            Standing::Done => {}
            // No work is in it that is not elsewhere as well.
            Standing::Conflict(_) if is_index(&harvest.known_as(change)) => {
                applied.stale.push(harvest.known_as(change))
            }
            Standing::Conflict(why) => conflicts.push(Conflict {
                path: harvest.known_as(change),
                why,
            }),
        }
    }
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    let quarantine = launch::Quarantine::before(&protected.plan);
    let done = carry_out(kept, &roots, &todo, &mut applied.left);
    // Also after half of it: an index that names what an earlier run left makes the host's git look there.
    (applied.aside, applied.armed) = quarantine.after();
    done?;
    applied.applied = todo.len() - applied.left.len();
    applied.whole = only.is_empty() && applied.protected.is_empty();
    Ok(applied)
}

fn carry_out(kept: &Kept, roots: &Roots, todo: &[&Change], left: &mut Vec<PathBuf>) -> Result<(), ApplyError> {
    let harvest = &kept.harvest;
    let work = Work {
        roots,
        kept,
        draft: work::draft(harvest),
    };
    let step = |change: &Change| {
        let path = harvest.known_as(change);
        move |error| ApplyError::Step { path, error }
    };
    // What goes first, from below: a directory must be empty, and a file may take its place.
    for change in todo.iter().rev() {
        if work.remove(change).map_err(step(change))? == Removed::NotEmpty {
            left.push(harvest.known_as(change));
        }
    }
    for change in todo {
        work.make(change).map_err(step(change))?;
    }
    // Last and from below: a directory may close itself.
    for change in todo.iter().rev() {
        work.close(change).map_err(step(change))?;
    }
    Ok(())
}

/// Git's index, which every look at a repository may write anew.
pub(super) fn is_index(path: &Path) -> bool {
    let in_worktree = |dir: &Path| dir.parent().is_some_and(|above| above.ends_with("worktrees"));
    path.ends_with(".git/index") || (path.ends_with("index") && path.parent().is_some_and(in_worktree))
}

/// Named, or a directory in which something named is made.
fn is_chosen(change: &Change, only: &[PathBuf], harvest: &Harvest) -> bool {
    let made_for = |path: &PathBuf| {
        let is_new = !is_dir(&change.was) && is_dir(&change.now);
        let made = |other: &Change| harvest.known_as(other).starts_with(path) && other.now.is_some();
        is_new && path.starts_with(harvest.known_as(change)) && harvest.changes.iter().any(made)
    };
    let known = harvest.known_as(change);
    only.is_empty() || only.iter().any(|path| known.starts_with(path) || made_for(path))
}

/// Names that a run under `workspace` could not write.
struct Protected {
    names: Vec<PathBuf>,
    plan: SandboxPlan,
}

impl Protected {
    fn of(project: &Path) -> Result<Self, ApplyError> {
        let command = vec!["/bin/sh".into()];
        let flags = Flags::none(project.to_owned());
        let look = Options::to_look(Some("workspace".to_owned()), Some(project.to_owned()), flags, command);
        let prepared = run::prepare(&look, "planned").map_err(Box::new)?;
        Ok(Self {
            names: covered(&prepared.plan),
            plan: prepared.plan,
        })
    }

    fn has(&self, harvest: &Harvest, change: &Change) -> bool {
        let (path, inside) = (&harvest.whole(change), change.path());
        // A directory above a protected name may change its mode, but must stay where it is.
        let goes = change.was.is_some() && !(is_dir(&change.was) && is_dir(&change.now));
        let covers = |name: &PathBuf| path.starts_with(name) || (goes && name.starts_with(path));
        let plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
        let either = change.now.iter().chain(&change.was);
        let of_git = either.map(Node::file_kind).any(|kind| Later::is_of_git(path, kind));
        // Git writes through a link that it finds in its directory, and others through one that leads there.
        let link = match &change.now {
            Some(Node::Symlink { target }) => Later::is_link_in_git(path, target.as_path()),
            Some(Node::Dir { .. } | Node::File { .. } | Node::Other) | None => false,
        };
        self.names.iter().any(covers) || !plain || of_git || link
    }
}

fn covered(plan: &SandboxPlan) -> Vec<PathBuf> {
    let steps = plan.mounts.iter().filter_map(|step| match step {
        MountStep::Protect { at } | MountStep::Hide { at, .. } | MountStep::Compose { at, .. } => Some(at.clone()),
        MountStep::Dir { .. }
        | MountStep::Symlink { .. }
        | MountStep::File { .. }
        | MountStep::Copy { .. }
        | MountStep::Bind { .. }
        | MountStep::Private { .. }
        | MountStep::Proc { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. } => None,
    });
    let missing = plan.placeholders.iter().map(|held| held.dir.join(&held.name));
    steps.chain(missing).collect()
}

/// The trees, opened once.
pub(super) struct Roots {
    project: OwnedFd,
    outside: Vec<OwnedFd>,
}

impl Roots {
    pub(super) fn open(harvest: &Harvest) -> io::Result<Self> {
        let outside = harvest.outside.iter().map(|tree| path::open_dir_exact(tree.as_path()));
        Ok(Self {
            project: path::open_dir_exact(harvest.project.as_path())?,
            outside: outside.collect::<io::Result<_>>()?,
        })
    }

    fn all(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [&self.project].into_iter().chain(&self.outside).map(AsFd::as_fd)
    }

    /// The directory of a change, reached through directories only, and its name there.
    pub(super) fn place<'c>(&self, change: &'c Change) -> io::Result<(OwnedFd, &'c OsStr)> {
        let root = match change.outside {
            None => Some(&self.project),
            Some(number) => self.outside.get(number),
        };
        let root = root.ok_or(io::ErrorKind::NotFound)?;
        let inside = change.path();
        let name = inside.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let dir = inside
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Ok((path::open_dir_beneath(root.as_fd(), dir)?, name))
    }
}

enum Standing {
    Apply,
    /// The project is already as it would become.
    Done,
    Conflict(&'static str),
}

fn compare(roots: &Roots, harvest: &Harvest, change: &Change) -> Standing {
    let present = match roots.place(change) {
        Ok((dir, name)) => look(dir.as_fd(), name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // It will be: what lies there now makes room for a directory.
        Err(_) if harvest.changes.iter().any(|above| makes_room(above, change)) => Ok(None),
        Err(error) => Err(error),
    };
    let present = match present {
        Ok(present) => present.map(|(node, _)| node),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR | libc::EXDEV)) => {
            return Standing::Conflict("a link, a file or a mount lies on the way");
        }
        Err(_) => return Standing::Conflict("it cannot be looked at"),
    };
    let same = |a: &Option<Node>, b: &Option<Node>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is(b),
        (Some(_), None) | (None, Some(_)) => false,
    };
    let dirs = |a: &Option<Node>, b: &Option<Node>| is_dir(a) && is_dir(b);
    if same(&present, &change.now) || (change.was.is_none() && dirs(&present, &change.now)) {
        return Standing::Done;
    }
    if change.unsettled {
        return Standing::Conflict("it was changed while the command ran");
    }
    if same(&present, &change.was) || dirs(&present, &change.was) {
        let is_replaced = is_dir(&change.was) && change.now.is_some() && !is_dir(&change.now);
        if is_replaced && !has_only_what_goes(roots, harvest, change) {
            return Standing::Conflict("something was put there since");
        }
        return Standing::Apply;
    }
    Standing::Conflict(match (&change.was, &present) {
        (None, _) => "there is something there now",
        (Some(_), None) => "it is gone",
        (Some(_), Some(_)) => "it was changed since",
    })
}

/// Does a directory take the place of something else above this change?
fn makes_room(above: &Change, change: &Change) -> bool {
    let lies_above = above.outside == change.outside && change.path() != above.path();
    lies_above && change.path().starts_with(above.path()) && !is_dir(&above.was) && is_dir(&above.now)
}

/// Is everything in a directory that is to be replaced among what the run has removed?
fn has_only_what_goes(roots: &Roots, harvest: &Harvest, change: &Change) -> bool {
    let goes = |name: &OsString| {
        let path = change.path().join(name);
        let gone = |other: &Change| other.outside == change.outside && other.path() == path && other.now.is_none();
        harvest.changes.iter().any(gone)
    };
    let listed = roots.place(change).and_then(|(dir, name)| {
        let dir = path::open_dir_beneath(dir.as_fd(), Path::new(name))?;
        names(dir.as_fd())
    });
    listed.is_ok_and(|names| names.iter().all(goes))
}

pub(super) fn is_dir(node: &Option<Node>) -> bool {
    matches!(node, Some(Node::Dir { .. }))
}
