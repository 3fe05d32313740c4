//! What there is of git before the run, so that what the run adds can be told from it.

mod linked;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::git::{self, GitDir};
use super::islands::{self, Island};
use super::scan::Found;
use crate::launch::locks;
use crate::launch::quarantine::links;
use crate::plan::{GitPlan, Remote, Repository, Shared};
use glee_policy::resolved::FsAccess;
use linked::{Linked, Shade};

/// Linked worktrees of one repository that are looked at.
const WORKTREES: usize = 256;

/// `here` is where the caller stands below one of the trees, and what lies between; `seen` is what a look into the trees has found.
pub(super) fn find(
    trees: &[PathBuf],
    here: &[PathBuf],
    git: &[GitDir],
    seen: &Found,
    islands: &[Island],
    remotes: Vec<Remote>,
    unprotected: &BTreeSet<String>,
) -> GitPlan {
    let (open, nested) = (unprotected.contains(".git"), &seen.repositories);
    let places = || trees.iter().chain(here);
    let without = |dirs: &mut dyn Iterator<Item = &PathBuf>, has: fn(&Path) -> bool| {
        dirs.filter(|dir| !open && !has(dir)).cloned().collect()
    };
    let outside = git.iter().filter(|d| d.outside && d.access == FsAccess::ReadWrite);
    let outside: Vec<PathBuf> = outside.map(|dir| dir.path.clone()).collect();
    let beside = |island: &Island| {
        let mut above = island.path.ancestors();
        above
            .find(|p| p.file_name() == Some(".git".as_ref()))
            .map(Path::to_owned)
    };
    let known: BTreeSet<PathBuf> = islands.iter().filter_map(beside).collect();
    let looked_at: Vec<PathBuf> = nested.iter().chain(here).cloned().collect();
    let dirs: Vec<PathBuf> = outside.iter().chain(&seen.bare).cloned().collect();
    let repositories = repositories(trees, &looked_at, &dirs);
    // Before anything is looked at: what a run that ends meanwhile puts right was seen wrong.
    let since = shared_since(places().chain(nested), &repositories);
    let tops: Vec<PathBuf> = trees.iter().chain(here).cloned().collect();
    let writable: Vec<PathBuf> = trees.iter().chain(&outside).cloned().collect();
    let shade = Shade {
        trees: &writable,
        since,
    };
    let Linked {
        unlinked,
        own,
        named,
        young,
    } = linked::find(&tops, &outside, nested, &repositories, shade);
    let leads = |at: &PathBuf| {
        let is_pointer = at.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
        is_pointer.then(|| (at.clone(), at.parent().and_then(git::git_dir_of)))
    };
    let pointers = known.iter().filter_map(leads).collect();
    let bare = || places().chain(nested).filter(|dir| !open && git::looks_like_git(dir));
    let shared = since.map(|since| Shared {
        since,
        bare: bare().cloned().collect(),
        young,
    });
    GitPlan {
        fresh: without(&mut places(), |tree| tree.join(".git").symlink_metadata().is_ok()),
        // A checkout whose `.git` is broken is looked at like any directory.
        not_bare: without(&mut places().chain(nested), git::looks_like_git),
        links: links::before(&repositories, &writable),
        shared,
        repositories,
        unlinked,
        own,
        named,
        known,
        pointers,
        remotes,
        trees: writable,
    }
}

/// Since when other runs have been at work here. One that works in a part, or in what lies around, holds that.
fn shared_since<'p>(dirs: impl Iterator<Item = &'p PathBuf>, repositories: &'p [Repository]) -> Option<Duration> {
    let git = repositories.iter().filter_map(|repository| repository.index.parent());
    let dirs = dirs.map(PathBuf::as_path).chain(git);
    let dirs: BTreeSet<&Path> = dirs.flat_map(Path::ancestors).collect();
    dirs.into_iter().filter_map(locks::held_since).min()
}

/// Every index that the command can write and that git on the host may read, and those of repositories around the trees: what
/// they link, the command can make.
fn repositories(trees: &[PathBuf], nested: &[PathBuf], outside: &[PathBuf]) -> Vec<Repository> {
    let mut found = Vec::new();
    let mut dirs: BTreeSet<PathBuf> = outside.iter().cloned().collect();
    let submodules = trees.iter().flat_map(|tree| islands::submodules(tree));
    let works: BTreeSet<PathBuf> = trees.iter().chain(nested).cloned().chain(submodules).collect();
    for work in works {
        if let Some(dir) = git::git_dir_of(&work) {
            found.push(Repository {
                index: dir.join("index"),
                work: git::work_of(&dir).or(Some(work)),
            });
            dirs.insert(dir);
        }
    }
    let above: BTreeSet<&Path> = trees.iter().flat_map(|tree| git::around(tree)).collect();
    for work in above {
        let Some(dir) = git::git_dir_of(work) else { continue };
        found.push(Repository {
            index: dir.join("index"),
            work: git::work_of(&dir).or(Some(work.to_owned())),
        });
        // Its other checkouts may lie in a tree.
        let common = git::common_dir_of(&dir).unwrap_or(dir);
        let all = git::worktrees(&common, WORKTREES).into_iter();
        let in_trees = |work: &PathBuf| trees.iter().any(|tree| work.starts_with(tree));
        found.extend(all.filter_map(|(entry, work)| {
            Some(Repository {
                index: entry.join("index"),
                work: Some(work.filter(in_trees)?),
            })
        }));
    }
    dirs.extend(
        trees
            .iter()
            .flat_map(|tree| tree.ancestors())
            .filter(|d| git::looks_like_git(d))
            .map(Path::to_owned),
    );
    for dir in dirs {
        let beside = dir
            .parent()
            .filter(|_| dir.file_name().is_some_and(|name| name == ".git"));
        found.push(Repository {
            index: dir.join("index"),
            work: git::work_of(&dir).or(beside.map(Path::to_owned)),
        });
        let modules = git::modules(&dir).into_iter().map(|dir| (git::work_of(&dir), dir));
        let worktrees = git::worktrees(&dir, WORKTREES)
            .into_iter()
            .map(|(dir, work)| (work, dir));
        found.extend(modules.chain(worktrees).map(|(work, dir)| Repository {
            work,
            index: dir.join("index"),
        }));
    }
    found.retain(|repository| {
        repository.index.symlink_metadata().is_ok()
            || trees.iter().chain(outside).any(|t| repository.index.starts_with(t))
    });
    // Of two accounts of one index the one that knows the working tree.
    found.sort_by(|a, b| (&a.index, a.work.is_none()).cmp(&(&b.index, b.work.is_none())));
    found.dedup_by(|later, first| later.index == first.index);
    found
}
