//! What a run created, changed and deleted where it could write, without a copy of the tree.
//!
//! Before the command starts the names are listed (nothing is opened but directories, no file is looked at). After it has
//! ended every file is looked at once, for its inode's last change. Only a run that is to be reported pays for this.
//! docs/changed-files.md says what the list means.
//! INVARIANT: whatever could not be looked at is named; nothing outside the trees that the command could write is.

mod after;
mod before;
mod crew;
mod rows;
mod since;
mod walk;

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

pub(super) use crew::Crew;
pub use rows::{Change, Changed, Changes, Doubt, Found, Judge, Verdict};
pub(super) use since::Since;

use super::places::{Places, Whereabouts};
use super::setids::{self, Mounts, Strip};
use crate::plan::{Access, Containment, Kind, MountStep, SandboxPlan};
use crate::sys::dir::{self, DirNumbers, Facts, FileKind, Times};
use crate::sys::path;
use after::{Look, Memory};
use before::Names;
use rows::Pending;

/// The trees in which the command can create names. None of them lies in another.
pub(super) fn trees(plan: &SandboxPlan) -> Vec<&Path> {
    let all = &plan.git.trees;
    let inner = |tree: &&PathBuf| !all.iter().any(|other| *tree != other && tree.starts_with(other));
    let mut tops: Vec<&Path> = all.iter().filter(inner).map(PathBuf::as_path).collect();
    tops.sort();
    tops.dedup();
    tops
}

/// Single files that the command can write.
fn files(plan: &SandboxPlan) -> impl Iterator<Item = &Path> {
    let trees = trees(plan);
    plan.mounts.iter().filter_map(move |step| {
        let MountStep::Bind {
            from,
            kind: Kind::File,
            access: Access::ReadWrite,
            ..
        } = step
        else {
            return None;
        };
        let apart = !trees.iter().any(|tree| from.starts_with(tree));
        apart.then_some(from.as_path())
    })
}

/// Is there anything that a run of this plan could change? With the caller's own rights that is the machine, and nobody looks at that.
pub(super) fn concerns(plan: &SandboxPlan) -> bool {
    plan.containment != Containment::Inherit && (!plan.git.trees.is_empty() || files(plan).next().is_some())
}

/// What the writable trees held before the run.
#[derive(Debug)]
pub(super) struct Before {
    trees: Vec<Tree>,
    files: Vec<(PathBuf, Option<Facts>)>,
    /// Mounts of the host's in the trees, which no walk enters. Those that can be written are trees of their own.
    mounts: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Tree {
    at: PathBuf,
    names: Result<Names, Doubt>,
    top: Top,
}

/// How a tree is found again after the run.
#[derive(Debug, Clone, Copy)]
enum Top {
    /// It is held.
    Held,
    /// A mount in such a one: by its path, if that still leads to this device and inode. Held open, the host could not unmount it.
    Mount(Option<(u64, u64)>),
}

impl Tree {
    fn open(&self, places: &Places, whereabouts: &Whereabouts) -> Result<OwnedFd, Doubt> {
        let was = match self.top {
            Top::Held => return places.dir(&self.at).map_err(|_| Doubt::Unreadable),
            Top::Mount(was) => was,
        };
        let now = whereabouts.now(&self.at).ok_or(Doubt::Unreadable)?;
        let top = path::open_dir_exact(&now).map_err(|_| Doubt::Mounted)?;
        let same = identity(&top).is_some_and(|now| Some(now) == was);
        same.then_some(top).ok_or(Doubt::Mounted)
    }
}

fn identity(top: &OwnedFd) -> Option<(u64, u64)> {
    let found = path::lstat_at(top.as_fd(), OsStr::new("")).ok()?;
    Some((found.dev, found.ino))
}

impl Before {
    /// Lists them. The command must not have started, and must not start before this returns.
    pub(super) fn list(plan: &SandboxPlan) -> Self {
        let skipped = skipped(plan);
        let names = |top: io::Result<OwnedFd>, tree: &Path| {
            let listed = top.and_then(|top| Names::list(top, tree, &|at| skipped.contains(at)));
            match listed {
                Ok(Some(names)) => Ok(names),
                Ok(None) => Err(Doubt::TooMany),
                Err(_) => Err(Doubt::Unreadable),
            }
        };
        let mut found: Vec<Tree> = Vec::new();
        let mut mounts = BTreeSet::new();
        let table = Mounts::read().ok();
        for tree in trees(plan) {
            found.push(Tree {
                at: tree.to_owned(),
                names: names(path::open_dir_exact(tree), tree),
                top: Top::Held,
            });
            let Some(table) = &table else { continue };
            mounts.extend(table.below(tree));
            for at in table.writable_below(tree) {
                // A file that something is mounted on is looked at by its name.
                let is_covered = skipped.iter().any(|dir| dir.starts_with(tree) && at.starts_with(dir));
                if is_covered || !fs::symlink_metadata(&at).is_ok_and(|facts| facts.is_dir()) {
                    continue;
                }
                let top = path::open_dir_exact(&at);
                let mount = Top::Mount(top.as_ref().ok().and_then(identity));
                let names = names(top, &at);
                found.push(Tree { at, names, top: mount });
            }
        }
        Self {
            trees: found,
            files: files(plan).map(|file| (file.to_owned(), look(file))).collect(),
            mounts,
        }
    }
}

fn look(file: &Path) -> Option<Facts> {
    let held = path::open_exact(file).ok()?;
    dir::facts_at(held.as_fd(), OsStr::new("")).ok()
}

/// Directories that the sandbox has something of its own in place of: what the host keeps there, the command cannot reach.
fn skipped(plan: &SandboxPlan) -> HashSet<&Path> {
    let composed = plan.mounts.iter().filter_map(|step| match step {
        MountStep::Compose { at, .. } | MountStep::Private { at, .. } | MountStep::Hide { at, kind: Kind::Dir } => {
            Some(at.as_path())
        }
        MountStep::Bind { .. }
        | MountStep::Dir { .. }
        | MountStep::Symlink { .. }
        | MountStep::File { .. }
        | MountStep::Copy { .. }
        | MountStep::Proc { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. }
        | MountStep::Protect { .. }
        | MountStep::Hide { kind: Kind::File, .. } => None,
    });
    composed.collect()
}

/// What a look at the trees after the run has found.
#[derive(Debug, Default)]
pub(in crate::launch) struct Aftermath {
    /// `None` if nobody asked.
    pub(super) changes: Option<Changes>,
    /// Files that lost a setuid or setgid bit or capabilities.
    pub(super) stripped: Vec<PathBuf>,
    /// Trees that could not be looked through for such files.
    pub(super) not_stripped: Vec<PathBuf>,
}

impl Aftermath {
    /// Says where things are now.
    fn take(&mut self, tree: &Path, strip: Option<Strip>, whereabouts: &Whereabouts) {
        let Some(strip) = strip else { return };
        let now = |at: &Path| whereabouts.now(at).unwrap_or_else(|| at.to_owned());
        self.stripped.extend(strip.stripped.iter().map(|at| now(at)));
        if strip.failed {
            self.not_stripped.push(now(tree));
        }
    }
}

/// The trees as they are when the run has ended.
#[derive(Debug, Clone, Copy)]
pub(in crate::launch) struct Trees<'a> {
    pub(in crate::launch) places: &'a Places,
    pub(in crate::launch) whereabouts: &'a Whereabouts,
    /// Mounts in those that the command wrote as another owner, by the paths that they have now.
    pub(in crate::launch) nested: &'a [(PathBuf, Kind)],
}

/// Looks at the trees after the run. Nothing of the sandbox may be left. What is listed of a tree that was moved has the name that
/// the command knew.
pub(super) fn after(
    plan: &SandboxPlan,
    since: Since,
    trees: Trees<'_>,
    asked: Option<(&Before, &dyn Judge)>,
    crew: Crew,
) -> Aftermath {
    let since = since.corrected();
    let Trees {
        places,
        whereabouts,
        nested,
    } = trees;
    let mut found = Aftermath::default();
    let mut privileged: Vec<(&Path, Kind)> = setids::trees(plan).collect();
    if let Some((before, judge)) = asked {
        let open = |tree: &Tree| tree.open(places, whereabouts);
        found.changes = Some(compare(plan, since, before, (judge, &open), |tree, top, memory| {
            // One walk serves both.
            let here = |one: &(&Path, Kind)| *one == (tree, Kind::Dir);
            let strip = privileged.iter().any(here).then(|| Strip::new(memory.times));
            privileged.retain(|one| !here(one));
            let mut look = crew::look(Ok(top), tree, Look::new(since, Some(memory), strip), crew);
            found.take(tree, look.strip.take(), whereabouts);
            look
        }));
    }
    for (tree, kind) in privileged {
        let held = places.get(tree);
        let strip = strip(held, places.dir(tree), (tree, kind), since, crew);
        found.take(tree, strip, whereabouts);
    }
    for (at, kind) in nested {
        let strip = strip(path::open_exact(at), path::open_dir_exact(at), (at, *kind), since, crew);
        found.take(at, strip, &Whereabouts::default());
    }
    found.stripped.sort();
    found
}

/// Looks for privileges only.
fn strip(
    held: io::Result<OwnedFd>,
    top: io::Result<OwnedFd>,
    (tree, kind): (&Path, Kind),
    since: Since,
    crew: Crew,
) -> Option<Strip> {
    let mut strip = Strip::new(habits(held.as_ref().ok()).0);
    match kind {
        Kind::Dir => crew::look(top, tree, Look::new(since, None, Some(strip)), crew).strip,
        Kind::File => {
            strip.single(held, tree, since);
            Some(strip)
        }
    }
}

/// How a tree is opened after the run.
type Opener<'a> = &'a dyn Fn(&Tree) -> Result<OwnedFd, Doubt>;

fn compare<'m>(
    plan: &SandboxPlan,
    since: Since,
    before: &'m Before,
    (judge, open): (&'m dyn Judge, Opener<'_>),
    mut through: impl for<'l> FnMut(&'l Path, OwnedFd, Memory<'l>) -> Look<'l>,
) -> Changes {
    let ours: HashSet<PathBuf> = plan.placeholders.iter().map(|p| p.dir.join(&p.name)).collect();
    let skipped = skipped(plan);
    let skipped = |at: &Path| skipped.contains(at);
    let mut changes = Changes::default();
    let mut pending = Pending::default();
    for tree in &before.trees {
        let opened = tree.names.as_ref().map_err(|doubt| *doubt);
        let (names, top) = match opened.and_then(|names| Ok((names, open(tree)?))) {
            Ok(found) => found,
            Err(doubt) => {
                changes.doubt(&tree.at, doubt);
                continue;
            }
        };
        let (times, numbers) = habits(Some(&top));
        if let Some(doubt) = doubtful(times) {
            changes.doubt(&tree.at, doubt);
        }
        let memory = Memory {
            names,
            times,
            numbers,
            judge,
            ours: &ours,
            skipped: &skipped,
            mounts: &before.mounts,
        };
        let look = through(&tree.at, top, memory);
        changes.merge(look.changes);
        pending.merge(look.pending);
    }
    for (path, was) in &before.files {
        let now = look(path);
        let change = match (was, &now) {
            (Some(_), None) => Change::Deleted,
            (None, Some(_)) => Change::Created,
            (Some(was), Some(now)) if was != now || since.covers(now.changed) => Change::Changed,
            (Some(_), Some(_)) | (None, None) => continue,
        };
        let Some(facts) = now.or(*was) else { continue };
        let found = Found {
            path,
            change,
            kind: facts.kind,
            mode: facts.mode,
            target: None,
        };
        let size = now.filter(|now| now.kind == FileKind::File).map(|now| now.size);
        changes.add(&mut pending, &found, size, judge);
    }
    changes.settle(pending);
    changes
}

/// Why a change could go unseen.
fn doubtful(times: Times) -> Option<Doubt> {
    match times {
        Times::Tell => None,
        Times::MissMappings => Some(Doubt::InMemory),
        Times::Elsewhere => Some(Doubt::ForeignTimes),
    }
}

/// What the filesystem of a tree is like. Who cannot be asked is not believed.
fn habits(tree: Option<&OwnedFd>) -> (Times, DirNumbers) {
    let habits = tree.and_then(|top| dir::habits_of(top.as_fd()).ok());
    habits.unwrap_or((Times::Elsewhere, DirNumbers::Kept))
}
