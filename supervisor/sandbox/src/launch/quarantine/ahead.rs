//! Indexes as they were when the run began, and what is in the large ones, read while the sandbox is still being built, so
//! that nobody waits for it when the command has ended.
//!
//! INVARIANT: what was read ahead counts only if the index is the same inode, not changed since the run began by its own time,
//! which nobody inside can set. What the command does while it is being read makes it void.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::gitlinks::{self, gitlinks};
use super::papers::{self, Before, Orders};
use super::settled;
use crate::launch::changes::Since;
use crate::plan::{Repository, SandboxPlan};
use crate::sys::dir::{self, Facts, Times};
use crate::sys::path;

/// Smaller ones are read in no time.
const LARGE: u64 = 128 << 10;
/// How the names of a split index's parts begin.
const PART: &[u8] = b"sharedindex.";

/// The indexes as they were, with the gitlinks of large ones.
#[derive(Debug, Default)]
pub(in crate::launch) struct Ahead {
    known: BTreeMap<PathBuf, (Facts, Option<Vec<PathBuf>>)>,
    /// The directories in which they lay, and those above linked worktrees' parts.
    dirs: BTreeMap<PathBuf, Inode>,
    since: Option<Since>,
    orders: Orders,
}

/// Device and number of a directory. One that takes its place and has old files in it was there together with it.
type Inode = (u64, u64);

pub(super) fn inode(dir: &Path) -> Option<Inode> {
    let meta = fs::symlink_metadata(dir).ok()?;
    meta.is_dir().then(|| (meta.dev(), meta.ino()))
}

/// Without worktrees that came since other runs have been at work: one of them may have made them.
fn dirs(repositories: &[Repository], others: Option<Duration>) -> BTreeMap<PathBuf, Inode> {
    let is_young = |dir: &Path| {
        let place = dir.join("gitdir");
        others.is_some_and(|since| place.symlink_metadata().is_ok() && settled::is_since(&place, since))
    };
    let all = repositories.iter().filter_map(|repository| repository.index.parent());
    let of_worktrees = all
        .clone()
        .filter_map(Path::parent)
        .filter(|dir| dir.ends_with("worktrees"));
    all.chain(of_worktrees)
        .filter(|dir| !is_young(dir))
        .filter_map(|dir| Some((dir.to_owned(), inode(dir)?)))
        .collect()
}

impl Ahead {
    pub(in crate::launch) fn read(repositories: &[Repository], since: Since, others: Option<Duration>) -> Self {
        let read = |index: &Path| {
            let file = path::open_held(index).ok()?;
            let before = dir::facts_at(file.as_fd(), OsStr::new("")).ok()?;
            if dir::habits_of(file.as_fd()).ok()?.0 != Times::Tell {
                return None;
            }
            let large = before.size >= LARGE;
            Some((before, large.then(|| gitlinks::of_held(file.as_fd())).flatten()))
        };
        let known = repositories.iter().filter_map(|repository| {
            let index = &repository.index;
            read(index).map(|found| (index.clone(), found))
        });
        Self {
            known: known.collect(),
            dirs: dirs(repositories, others),
            since: Some(since),
            orders: papers::orders_before(repositories, others),
        }
    }

    /// As `read`, without what is in them: for who may never need it.
    pub(in crate::launch) fn glance(repositories: &[Repository], since: Since, others: Option<Duration>) -> Self {
        let look = |index: &Path| {
            let file = path::open_held(index).ok()?;
            let tell = dir::habits_of(file.as_fd()).ok()?.0 == Times::Tell;
            dir::facts_at(file.as_fd(), OsStr::new("")).ok().filter(|_| tell)
        };
        let known = repositories.iter().filter_map(|repository| {
            let index = &repository.index;
            look(index).map(|found| (index.clone(), (found, None)))
        });
        Self {
            known: known.collect(),
            dirs: dirs(repositories, others),
            since: Some(since),
            orders: papers::orders_before(repositories, others),
        }
    }

    /// The same by the paths at which the indexes lie now.
    pub(in crate::launch) fn moved(self, now: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let known = self.known.into_iter();
        Self {
            known: known.filter_map(|(index, found)| Some((now(&index)?, found))).collect(),
            dirs: self
                .dirs
                .into_iter()
                .filter_map(|(dir, inode)| Some((now(&dir)?, inode)))
                .collect(),
            since: self.since,
            orders: self.orders,
        }
    }

    /// The gitlinks of an index as it is now.
    pub(super) fn gitlinks(&self, index: &Path) -> Option<Vec<PathBuf>> {
        let known = self.unchanged(index).filter(|_| gitlinks::is_sha1(index));
        known.or_else(|| gitlinks(index))
    }

    /// Was this very directory there: one with an index to follow, or one that linked worktrees have their parts in?
    pub(super) fn had(&self, dir: &Path) -> bool {
        let before = self.dirs.get(dir);
        before.is_some() && before == inode(dir).as_ref()
    }

    /// Since when a change is the run's, by clocks as they stand now.
    pub(super) fn since(&self) -> Option<Since> {
        Some(self.since?.corrected())
    }

    /// What there was before, for who looks at other files of git's.
    pub(super) fn before(&self, plan: &SandboxPlan) -> Before<'_> {
        Before {
            since: self.since(),
            others: plan.git.others(),
            orders: &self.orders,
        }
    }

    /// Does an index say what it said before, whatever that is?
    pub(super) fn says_the_same(&self, index: &Path) -> bool {
        self.same(index).is_some() && self.parts_are_old(index).unwrap_or(false)
    }

    fn unchanged(&self, index: &Path) -> Option<Vec<PathBuf>> {
        self.same(index)?.clone()
    }

    /// What was read of an index that is the same since.
    fn same(&self, index: &Path) -> Option<&Option<Vec<PathBuf>>> {
        let (before, links) = self.known.get(index)?;
        let file = path::open_held(index).ok()?;
        let now = dir::facts_at(file.as_fd(), OsStr::new("")).ok()?;
        let old = !self.since()?.covers(now.changed);
        (old && now == *before).then_some(links)
    }

    /// A split index has the rest of itself beside it, under names that git does not check.
    fn parts_are_old(&self, index: &Path) -> Option<bool> {
        let since = self.since()?;
        let beside = index.parent()?;
        let held = path::open_exact(beside).ok()?;
        for entry in fs::read_dir(beside).ok()? {
            let name = entry.ok()?.file_name();
            if name.as_encoded_bytes().starts_with(PART)
                && since.covers(dir::facts_at(held.as_fd(), &name).ok()?.changed)
            {
                return Some(false);
            }
        }
        Some(true)
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
