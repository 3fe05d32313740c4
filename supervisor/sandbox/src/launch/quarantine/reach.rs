//! Which repositories git would look into after the run: from index to index, by their gitlinks.
//!
//! `git status` enters every gitlink of the index, with the configuration it finds there, and every gitlink of that one's
//! index. INVARIANT (bounded): each index is read once. Where the indexes do not tell, the trees are searched instead.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::Disarmed;
use super::ahead::Ahead;
use super::disarm::{self, Opened, Purpose};
use crate::plan::{Repository, SandboxPlan};
use crate::sys::path;

/// More indexes than this are not followed one by one.
const MOST: usize = 4096;

/// Disarms what the run has made where the host's git would find it.
pub(in crate::launch) fn after(plan: &SandboxPlan, ahead: &Ahead) -> Disarmed {
    let mut out = Disarmed::default();
    let mut todo = plan.git.repositories.clone();
    for tree in &plan.git.fresh {
        disarm::dot_git(tree, Path::new(""), &mut out);
        todo.push(Repository {
            work: Some(tree.clone()),
            index: tree.join(".git/index"),
        });
    }
    for tree in &plan.git.not_bare {
        disarm::bare(tree, &mut out);
    }
    if follow(plan, ahead, todo, &mut out).is_none() {
        for tree in &plan.git.trees {
            search(plan, tree, &mut out);
        }
    }
    out.aside.sort();
    out.aside.dedup();
    out.armed.sort();
    out.armed.dedup();
    out
}

/// The writable tree in which a path lies.
pub(super) fn tree_of<'p>(plan: &'p SandboxPlan, path: &Path) -> Option<&'p Path> {
    let above = plan.git.trees.iter().filter(|tree| path.starts_with(tree));
    above.max_by_key(|tree| tree.as_os_str().len()).map(PathBuf::as_path)
}

/// From index to index. `None` if one of them does not tell, or not plainly.
fn follow(plan: &SandboxPlan, ahead: &Ahead, mut todo: Vec<Repository>, out: &mut Disarmed) -> Option<()> {
    let mut seen = BTreeSet::new();
    while let Some(Repository { work, index }) = todo.pop() {
        if !seen.insert(index.clone()) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        for link in ahead.gitlinks(&index)? {
            let dir = work.as_ref()?.join(link);
            // Where the command could not write it has made nothing.
            let Some(tree) = tree_of(plan, &dir) else { continue };
            let inside = dir.strip_prefix(tree).ok()?;
            let root = path::open_exact(tree).ok()?;
            match path::open_beneath(root.as_fd(), inside) {
                Ok(_) => {}
                // A link on the way: git may see more than we do.
                Err(error) if error.raw_os_error() == Some(libc::ELOOP) => return None,
                Err(_) => continue,
            }
            visit(plan, tree, inside, out);
            todo.push(Repository {
                index: dir.join(".git/index"),
                work: Some(dir),
            });
        }
    }
    Some(())
}

/// Disarms a repository that git would look into, unless it was looked into before.
fn visit(plan: &SandboxPlan, tree: &Path, dir: &Path, out: &mut Disarmed) {
    let git = tree.join(dir).join(".git");
    // One that was there, but that nothing named until now, may be the work of an earlier run.
    if !plan.git.known.contains(&git) || plan.git.unlinked.contains(&git) {
        disarm::dot_git(tree, dir, out);
    }
}

/// Every directory of the tree with a `.git`, however deep.
fn search(plan: &SandboxPlan, tree: &Path, out: &mut Disarmed) {
    let Ok(root) = path::open_exact(tree) else { return };
    let mut todo = vec![PathBuf::new()];
    while let Some(dir) = todo.pop() {
        let has_git = list(root.as_fd(), &dir, &mut todo);
        if has_git && !dir.as_os_str().is_empty() {
            visit(plan, tree, &dir, out);
        }
    }
}

/// Adds the directories in `dir`. True if there is a `.git` among the names.
fn list(root: BorrowedFd<'_>, dir: &Path, todo: &mut Vec<PathBuf>) -> bool {
    let mut has_git = false;
    let Ok(opened) = Opened::beneath(root, dir, Purpose::List) else {
        // Not the caller's own, so not the command's.
        return false;
    };
    for entry in opened.entries() {
        // Some file systems know no capital letters.
        has_git |= entry.file_name().eq_ignore_ascii_case(".git");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            todo.push(dir.join(entry.file_name()));
        }
    }
    has_git
}
