//! Links in git directories. Git makes none there, and writes through those that it finds: a message for `git commit` becomes
//! a configuration if `COMMIT_EDITMSG` leads there.
//!
//! What was a link before the run, to the same place, stays; every other is set aside at its end. INVARIANT (bounded before):
//! at most `ENTRIES` entries are looked at before a run; a link beyond counts as new.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Component, Path, PathBuf};

use super::Disarmed;
use super::{disarm, settled};
use crate::plan::{Repository, SandboxPlan};
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

const ENTRIES: usize = 16 * 1024;

/// Not looked into: read-only for the command, or stores in which files are only ever made under new names.
const PASSED: [&str; 4] = ["hooks", "modules", "lfs/objects", "annex/objects"];
/// What git writes in its store by name.
const STORE: [&str; 2] = ["objects/info", "objects/pack"];

/// The links in the git directories that a command can write, and where they lead, before it runs.
pub(crate) fn before(repositories: &[Repository], trees: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
    let open = |git: &Path, dir: &Path| {
        let root = path::open_exact(git).ok()?;
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        path::open_dir_beneath(root.as_fd(), dir).ok()
    };
    let mut left = ENTRIES;
    let mut found = BTreeMap::new();
    for git in places(repositories, trees) {
        found.extend(walk(git, &mut left, |dir| open(git, dir)));
    }
    found
}

/// Sets aside what the run has added to them.
pub(super) fn after(plan: &SandboxPlan, out: &mut Disarmed) {
    for git in places(&plan.git.repositories, &plan.git.trees) {
        let of_a_run = |at: &Path| {
            let shared = plan.git.shared.as_ref();
            shared.is_some_and(|shared| settled::is_since_below(git, at, shared.since))
        };
        let old =
            |at: &Path, target: &Path| plan.git.links.get(at).is_some_and(|before| before == target) && !of_a_run(at);
        aside(git, old, out);
    }
}

/// Sets aside every link in a git directory but those that are `old`.
pub(super) fn aside(git: &Path, old: impl Fn(&Path, &Path) -> bool, out: &mut Disarmed) {
    let root = match Opened::exact(git, Purpose::List) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return out.armed.push(git.to_owned()),
        Err(_) => return,
    };
    let mut all = usize::MAX;
    let found = walk(git, &mut all, |dir| {
        Opened::beneath(root.as_fd(), dir, Purpose::List).ok()
    });
    for (at, target) in found {
        let (Some(dir), Some(name)) = (at.parent(), at.file_name()) else {
            continue;
        };
        let inside = dir.strip_prefix(git).unwrap_or(dir);
        if !is_symbolic_ref(inside, &at, &target) && !old(&at, &target) {
            let done = disarm::rename_in(git, inside, name);
            out.note(at, done);
        }
    }
}

/// The git directories of which a command can write something. A worktree's part of one is found with the whole.
pub(super) fn places<'r>(repositories: &'r [Repository], trees: &[PathBuf]) -> Vec<&'r Path> {
    let dirs = repositories.iter().filter_map(|repository| repository.index.parent());
    let dirs: BTreeSet<&Path> = dirs
        .filter(|dir| trees.iter().any(|tree| dir.starts_with(tree)))
        .collect();
    let part = |dir: &&&Path| {
        let above = dir.parent().filter(|all| all.ends_with("worktrees"));
        above.and_then(Path::parent).is_some_and(|whole| dirs.contains(whole))
    };
    dirs.iter().filter(|dir| !part(dir)).copied().collect()
}

/// A branch's name as old versions of git wrote it (`core.preferSymlinkRefs`): read by its text, never written through.
fn is_symbolic_ref(inside: &Path, at: &Path, target: &Path) -> bool {
    let plain = target.components().all(|part| matches!(part, Component::Normal(_)));
    (inside.starts_with("refs") || at.ends_with("HEAD")) && plain && target.starts_with("refs")
}

/// Every link in a git directory, nearest first, by its whole path; no link is followed.
fn walk<H: AsFd>(git: &Path, left: &mut usize, open: impl Fn(&Path) -> Option<H>) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut todo = VecDeque::from([PathBuf::new()]);
    while let Some(dir) = todo.pop_front() {
        // What cannot be opened is not the caller's own, so not the command's.
        let Some(opened) = open(&dir) else { continue };
        let here = PathBuf::from(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd()));
        for entry in fs::read_dir(&here).into_iter().flatten().flatten() {
            if *left == 0 {
                return found;
            }
            *left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let at = dir.join(entry.file_name());
            if kind.is_symlink() {
                let target = fs::read_link(here.join(entry.file_name())).unwrap_or_default();
                found.push((git.join(at), target));
            } else if kind.is_dir() && !is_passed(&at) {
                todo.push_back(at);
            }
        }
    }
    found
}

fn is_passed(dir: &Path) -> bool {
    let in_store = dir.parent() == Some(Path::new("objects"));
    PASSED.iter().any(|name| dir == Path::new(name)) || (in_store && !STORE.iter().any(|name| dir == Path::new(name)))
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
