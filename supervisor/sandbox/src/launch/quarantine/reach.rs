//! Which repositories git would look into after the run: from index to index, by their gitlinks.
//!
//! `git status` enters every gitlink of the index, with the configuration it finds there, and every gitlink of that one's
//! index. INVARIANT (bounded): each index is read once. Where the indexes do not tell, the trees are searched instead.
//! INVARIANT: a run that touches nothing of git has nothing disarmed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::Disarmed;
use super::ahead::Ahead;
use super::disarm;
use super::{links, settled};
use crate::plan::{MountStep, Repository, SandboxPlan};
use crate::survey::git_dir_of;
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// More indexes than this are not followed one by one.
const MOST: usize = 4096;

/// Disarms what the run has made where the host's git would find it.
pub(in crate::launch) fn after(plan: &SandboxPlan, ahead: &Ahead) -> Disarmed {
    let mut out = Disarmed::default();
    // The command may have closed its trees and their git directories.
    let closed = plan.git.trees.iter().flat_map(|tree| [tree.clone(), tree.join(".git")]);
    let _opened: Vec<Opened> = closed
        .filter_map(|dir| Opened::exact(&dir, Purpose::Change).ok())
        .collect();
    // First: an index that is a link would tell nothing.
    links::after(plan, &mut out);
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
    let doubt = follow(plan, ahead, todo, &mut out);
    if doubt != Doubt::None {
        for tree in &plan.git.trees {
            search(plan, tree, ahead, doubt, &mut out);
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

/// Do the indexes tell what git would look into?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    None,
    /// What does not tell is as it was before the run: it names nothing more than it did, but something new may lie there.
    Old,
    /// One may name anything.
    New,
}

/// From index to index.
fn follow(plan: &SandboxPlan, ahead: &Ahead, mut todo: Vec<Repository>, out: &mut Disarmed) -> Doubt {
    let mut seen = BTreeSet::new();
    let mut doubt = Doubt::None;
    while let Some(Repository { work, index }) = todo.pop() {
        if !seen.insert(index.clone()) {
            continue;
        }
        if seen.len() > MOST {
            return Doubt::New;
        }
        let links = ahead
            .gitlinks(&index)
            .filter(|links| links.is_empty() || work.is_some());
        let of_index = || match ahead.says_the_same(&index) {
            true => Doubt::Old,
            false => Doubt::New,
        };
        let (Some(links), work) = (links, work.unwrap_or_default()) else {
            doubt = doubt.max(of_index());
            continue;
        };
        let named = match ahead.says_the_same(&index) {
            true => Named::Before,
            false => Named::Perhaps,
        };
        for dir in links.into_iter().map(|link| work.join(link)) {
            // Where the command could not write it has made nothing.
            let Some(tree) = tree_of(plan, &dir) else { continue };
            match enter(plan, ahead, named, tree, &dir, out) {
                Entered::Nothing => {}
                Entered::Index(index) => todo.push(Repository { index, work: Some(dir) }),
                Entered::Unclear => {
                    let inside = dir.strip_prefix(tree).unwrap_or(Path::new(""));
                    let old = ahead
                        .since()
                        .is_some_and(|since| settled::way_is_old(tree, inside, since));
                    doubt = doubt.max(if old { of_index() } else { Doubt::New });
                }
            }
        }
    }
    doubt
}

/// Did the index name it before the run?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Before,
    Perhaps,
}

/// What is behind a gitlink.
enum Entered {
    Nothing,
    Index(PathBuf),
    /// Git may see more than we do.
    Unclear,
}

/// Disarms the repository at a gitlink if it is new, and finds its index.
fn enter(plan: &SandboxPlan, ahead: &Ahead, named: Named, tree: &Path, dir: &Path, out: &mut Disarmed) -> Entered {
    let name = OsStr::new(".git");
    let (Ok(inside), Ok(root)) = (dir.strip_prefix(tree), path::open_exact(tree)) else {
        return Entered::Unclear;
    };
    let held = match Opened::beneath(root.as_fd(), inside, Purpose::List) {
        Ok(held) => held,
        // A link on the way, or somebody else's.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EACCES | libc::EPERM)) => {
            return Entered::Unclear;
        }
        Err(_) => return Entered::Nothing,
    };
    // Named before, and as it was before: a run that touches nothing has nothing disarmed, however far it lies.
    if named != Named::Before
        || !ahead
            .since()
            .is_some_and(|since| settled::is_settled(tree, inside, since))
    {
        visit(plan, ahead, tree, inside, out);
    }
    let known = plan.git.known.contains(&dir.join(name));
    match path::lstat_at(held.as_fd(), name) {
        Ok(stat) if stat.is_dir() => Entered::Index(dir.join(".git/index")),
        Ok(stat) if stat.is_placeholder_socket() => Entered::Nothing,
        // A submodule's or a worktree's pointer, which was covered all the time: git goes where it leads.
        Ok(stat) if stat.is_file() && known => {
            git_dir_of(dir).map_or(Entered::Nothing, |git| Entered::Index(git.join("index")))
        }
        // A link to a git directory, covered likewise.
        Ok(_) if known => Entered::Index(dir.join(".git/index")),
        Ok(_) => Entered::Unclear,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => Entered::Nothing,
        Err(_) => Entered::Unclear,
    }
}

/// Was something in this very directory covered? One that is not there at the start, or comes in its place, has no covers.
fn holds_covers(plan: &SandboxPlan, git: &Path) -> bool {
    let covers = plan
        .mounts
        .iter()
        .filter(|step| matches!(step, MountStep::Protect { .. }));
    covers.map(MountStep::at).any(|at| at.parent() == Some(git))
}

/// Disarms a repository that git would look into, unless it was looked into before.
fn visit(plan: &SandboxPlan, ahead: &Ahead, tree: &Path, dir: &Path, out: &mut Disarmed) {
    let git = tree.join(dir).join(".git");
    // An old pointer into a git directory whose own arms were covered all the time arms nothing.
    let covered = || git_dir_of(&tree.join(dir)).is_some_and(|git| holds_covers(plan, &git));
    if ahead.since().is_some_and(|since| settled::is_old_file(&git, since)) && covered() {
        return;
    }
    // One that was there, but that nothing named until now, may be the work of an earlier run.
    if !plan.git.known.contains(&git) || plan.git.unlinked.contains(&git) {
        disarm::dot_git(tree, dir, out);
    }
}

/// Every directory of the tree with a `.git`, however deep.
fn search(plan: &SandboxPlan, tree: &Path, ahead: &Ahead, doubt: Doubt, out: &mut Disarmed) {
    let Ok(root) = path::open_exact(tree) else { return };
    let since = ahead.since();
    // Nothing names what was here before and did not name it then.
    let is_left = |dir: &Path| {
        let known = || plan.git.known.contains(&tree.join(dir).join(".git"));
        let settled = || since.is_some_and(|since| settled::is_settled(tree, dir, since));
        doubt == Doubt::Old && (known() || settled())
    };
    let mut todo = vec![PathBuf::new()];
    while let Some(dir) = todo.pop() {
        let has_git = list(root.as_fd(), &dir, &mut todo);
        if has_git && !dir.as_os_str().is_empty() && !is_left(&dir) {
            visit(plan, ahead, tree, &dir, out);
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
