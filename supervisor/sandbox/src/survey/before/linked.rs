//! Into which repositories git goes by itself, from the project, before the run.
//!
//! A repository that an earlier run has left proves nothing for another: its index, its modules and where its configuration says
//! that it works are that run's own words. Nor do linked worktrees, whose list in a git directory a command can write. Nor does
//! anything that changed since other runs have been at work: one of them may have written it, and take it back before it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::git;
use crate::launch::quarantine::gitlinks::gitlinks;
use crate::launch::quarantine::{MOST, settled};
use crate::plan::Repository;

#[derive(Debug, Default)]
pub(super) struct Linked {
    pub(super) unlinked: BTreeSet<PathBuf>,
    pub(super) own: BTreeSet<PathBuf>,
    pub(super) named: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// `.git` names that changed since.
    pub(super) young: BTreeSet<PathBuf>,
}

/// What was written while other runs were at work, if any were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shade<'a> {
    pub(super) trees: &'a [PathBuf],
    pub(super) since: Option<Duration>,
}

impl Shade<'_> {
    /// An index that another run may have written.
    fn covers_index(self, index: &Path) -> bool {
        let there = || index.symlink_metadata().is_ok();
        self.since
            .is_some_and(|since| there() && settled::is_since(index, since))
    }

    /// A repository that another run may have made, moved or armed.
    fn covers(self, work: &Path) -> bool {
        self.since
            .is_some_and(|since| !settled::is_settled_since(self.trees, work, since))
    }
}

/// A git directory, and where it works if that is known.
type Place = (PathBuf, Option<PathBuf>);

/// `tops` are the trees and where the caller stands, `outside` their git directories elsewhere.
pub(super) fn find(
    tops: &[PathBuf],
    outside: &[PathBuf],
    nested: &[PathBuf],
    repositories: &[Repository],
    shade: Shade<'_>,
) -> Linked {
    let roots = roots(tops, outside);
    let mut own: BTreeSet<PathBuf> = roots.iter().map(|(dir, _)| dir.clone()).collect();
    // A pointer into the project's own modules arms nothing.
    let is_own = |dir: &Path, own: &BTreeSet<PathBuf>| git::git_dir_of(dir).is_some_and(|git| own.contains(&git));
    let doubtful: Vec<&PathBuf> = nested
        .iter()
        .filter(|dir| !tops.contains(dir) && !is_own(dir, &own))
        .collect();
    let mut named = BTreeMap::new();
    let (mut unlinked, mut young) = (BTreeSet::new(), BTreeSet::new());
    if !doubtful.is_empty() {
        let reached = reach(roots, shade);
        own = reached.git;
        let dot_git = |dir: &&&PathBuf| shade.covers(dir);
        young = doubtful.iter().filter(dot_git).map(|dir| dir.join(".git")).collect();
        let not_linked = doubtful
            .into_iter()
            .filter(|dir| !reached.dirs.contains(*dir) && !is_own(dir, &own));
        unlinked = not_linked
            .map(|dir| dir.join(".git"))
            .filter(|git| fs::symlink_metadata(git).is_ok())
            .collect();
        for Repository { work, index } in repositories {
            let known = index.parent().is_some_and(|dir| own.contains(dir));
            if shade.covers_index(index) {
                // Whatever it names, it did not before.
                named.insert(index.clone(), BTreeSet::new());
            } else if let (false, Some(work), Some(links)) = (known, work, gitlinks(index)) {
                let links = links.into_iter().map(|link| work.join(link));
                named.insert(index.clone(), links.collect());
            }
        }
    }
    Linked {
        unlinked,
        own,
        named,
        young,
    }
}

/// The git directories of the trees, those that trees lie in or in whose working trees they lie, and the modules of all of them.
fn roots(tops: &[PathBuf], outside: &[PathBuf]) -> Vec<Place> {
    let above = tops.iter().flat_map(|top| git::around(top));
    let of_tops = tops
        .iter()
        .map(PathBuf::as_path)
        .chain(above)
        .filter_map(|top| git::git_dir_of(top).map(|dir| (dir, Some(top.to_owned()))));
    let around = tops.iter().flat_map(|top| top.ancestors());
    let around = around.filter(|dir| git::looks_like_git(dir)).map(Path::to_owned);
    let others = around.chain(outside.iter().cloned()).map(|dir| {
        let is_dot_git = dir.file_name().is_some_and(|name| name == ".git");
        let beside = dir.parent().filter(|_| is_dot_git).map(Path::to_owned);
        (dir, beside)
    });
    // Of two accounts of one directory the last counts, which knows best where it works.
    let places: Vec<Place> = others.chain(of_tops).collect();
    let modules: Vec<Place> = places.iter().flat_map(|(dir, _)| modules_of(dir)).collect();
    modules.into_iter().chain(places).collect()
}

fn modules_of(dir: &Path) -> Vec<Place> {
    git::modules(dir).into_iter().map(|module| (module, None)).collect()
}

#[derive(Debug, Default)]
struct Reached {
    git: BTreeSet<PathBuf>,
    /// What the indexes name.
    dirs: BTreeSet<PathBuf>,
}

/// From index to index. One that does not tell, by its form or since nobody knows where it works, proves nothing: an earlier run may
/// have made it so, and the host may have written it in another form since.
fn reach(roots: Vec<Place>, shade: Shade<'_>) -> Reached {
    let mut reached = Reached::default();
    let mut todo = roots;
    while let Some((dir, work)) = todo.pop() {
        if reached.git.len() >= MOST {
            break;
        }
        if !reached.git.insert(dir.clone()) {
            continue;
        }
        let index = dir.join("index");
        let Some(links) = gitlinks(&index).filter(|links| !links.is_empty() && !shade.covers_index(&index)) else {
            continue;
        };
        let Some(work) = git::work_of(&dir).or(work) else {
            continue;
        };
        let links = links.into_iter().map(|link| work.join(link));
        for at in links.filter(|at| !shade.covers(at)) {
            if let Some(git) = git::git_dir_of(&at) {
                todo.extend(modules_of(&git));
                todo.push((git, Some(at.clone())));
            }
            reached.dirs.insert(at);
        }
    }
    reached
}

#[cfg(test)]
#[path = "linked_tests.rs"]
mod tests;
