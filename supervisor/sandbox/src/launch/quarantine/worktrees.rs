//! What linked worktrees that came during the run are told of their repository, and what is told of them.
//!
//! Those that were there are covered. The host, or another run, may add one meanwhile, and a command that can write the git
//! directory can write that one's part of it, too: git works there with whatever configuration it is led to, and enters what its
//! index links. If it lies in the trees, the command can write its `.git` as well.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::ahead::inode;
use super::company::Company;
use super::harmless::harmless_part;
use super::reach::{list, tree_of};
use super::{Ahead, Disarmed, disarm, links, settled};
use crate::launch::changes::Since;
use crate::launch::placeholders::is_placeholder;
use crate::plan::{Repository, SandboxPlan};
use crate::survey::{back_of, common_dir_of, git_dir_of, modules, pointer_way};
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// As git writes it.
const ABOVE: &[u8] = b"../..\n";
/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;

/// Between the two pointers that somebody writes who adds one just now.
const BETWEEN: Duration = Duration::from_millis(20);

/// Git directories that are held open together.
const HELD: usize = 64;

/// Sets aside what leads a new one elsewhere than to the repository it lies in. The new ones in the trees.
pub(super) fn after(company: &Company<'_>, ahead: &Ahead, out: &mut Disarmed) -> Vec<Repository> {
    let plan = company.plan;
    let fresh: Vec<PathBuf> = plan.git.fresh.iter().map(|tree| tree.join(".git")).collect();
    let mut places: Vec<&Path> = links::places(&plan.git.repositories, &plan.git.trees);
    places.extend(fresh.iter().map(PathBuf::as_path));
    let of_some = |some: &[&Path]| of_git_dirs(company, some, ahead, out);
    places.chunks(HELD).flat_map(of_some).collect()
}

fn of_git_dirs(company: &Company<'_>, some: &[&Path], ahead: &Ahead, out: &mut Disarmed) -> Vec<Repository> {
    let plan = company.plan;
    let since = ahead.since();
    let (mut added, mut lost, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for git in some {
        let all = Path::new("worktrees");
        if company.was_covered(&git.join(all)) {
            continue;
        }
        let Ok(root) = Opened::exact(git, Purpose::List) else {
            continue;
        };
        let Ok(entries) = Opened::beneath(root.as_fd(), all, Purpose::List) else {
            continue;
        };
        for entry in entries.entries() {
            let inside = all.join(entry.file_name());
            let at = git.join(&inside);
            // Nor is one known that took the place of another: what it brings along is old by its own times.
            let is_new = !ahead.had(&at);
            told(git, &inside, since.filter(|_| !is_new), out);
            // The command may have closed it, and it is read by its path.
            if is_new && let Ok(_opened) = Opened::beneath(root.as_fd(), &inside, Purpose::List) {
                for module in modules(&at) {
                    disarm::git_dir(git, module.strip_prefix(git).unwrap_or(&module), out);
                }
                match works(plan, &at, since, out) {
                    Works::Known(work) => added.extend(work.map(|work| checkout(work, &at))),
                    Works::Lost => lost.push((*git, inside)),
                }
            }
        }
        held.extend([root, entries]);
    }
    if !lost.is_empty() {
        // Once for all, like the search: a command can make any number of these.
        thread::sleep(BETWEEN);
        for (git, inside) in lost.iter().filter(|_| !company.others()) {
            unnamed(plan, git, inside, out);
        }
        let mut pointing = pointing(plan);
        let lost = lost.iter().map(|(git, inside)| git.join(inside));
        let found = lost.filter_map(|at| Some((pointing.remove(&at)?, at)));
        added.extend(found.flat_map(|(works, at)| works.into_iter().map(move |work| checkout(work, &at))));
    }
    added
}

/// The working trees below the plan's whose `.git` leads to the part that a linked worktree has of a git directory, by that part.
fn pointing(plan: &SandboxPlan) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for tree in &plan.git.trees {
        let Ok(root) = path::open_exact(tree) else { continue };
        let mut todo = vec![PathBuf::new()];
        while let Some(dir) = todo.pop() {
            if !list(root.as_fd(), &dir, &mut todo) {
                continue;
            }
            let work = tree.join(&dir);
            let is_part = |git: &PathBuf| git.parent().is_some_and(|all| all.ends_with("worktrees"));
            if let Some(git) = git_dir_of(&work).filter(is_part) {
                found.entry(git).or_default().push(work);
            }
        }
    }
    found
}

fn checkout(work: PathBuf, at: &Path) -> Repository {
    let index = at.join("index");
    Repository {
        work: Some(work),
        index,
    }
}

/// What its part of the git directory says of the repository. Without a time nothing there is old.
fn told(git: &Path, inside: &Path, since: Option<Since>, out: &mut Disarmed) {
    let is_old = |name: &str| {
        let at = git.join(inside).join(name);
        since.is_some_and(|since| settled::is_old_file(&at, since))
    };
    let Ok(entry) = path::open_exact(git).and_then(|root| Opened::beneath(root.as_fd(), inside, Purpose::List)) else {
        // No directory, or not the caller's own.
        return;
    };
    let there = |name: &str| path::lstat_at(entry.as_fd(), OsStr::new(name)).is_ok();
    let text = |name: &str| path::read_at(entry.as_fd(), OsStr::new(name), LARGEST);
    let common = if there("commondir") {
        is_old("commondir") || text("commondir").is_ok_and(|text| text == ABOVE)
    } else {
        // With a store of its own it would be a repository.
        !there("objects") || !there("refs")
    };
    if !common {
        disarm::git_dir(git, inside, out);
    }
    let at = git.join(inside).join("config.worktree");
    let harmless = |text: Vec<u8>| String::from_utf8(text).is_ok_and(|text| harmless_part(&text) == text);
    let left = !there("config.worktree") || is_old("config.worktree") || is_placeholder(&at).is_some();
    if !left && !text("config.worktree").is_ok_and(harmless) {
        out.note(at, disarm::rename_in(git, inside, OsStr::new("config.worktree")));
    }
}

/// Takes the name of the place away that does not lead back: `git worktree repair` would write a `.git` there, wherever it is, and
/// `git worktree prune` removes an entry without one.
fn unnamed(plan: &SandboxPlan, git: &Path, inside: &Path, out: &mut Disarmed) {
    let name = OsStr::new("gitdir");
    let entry = git.join(inside);
    let named = back_of(&entry).map(|back| entry.join(back));
    let is_right = named.is_some_and(|place| {
        let work = place.parent().and_then(|work| fs::canonicalize(work).ok());
        // Where the caller cannot look nothing is written.
        let closed = || {
            place
                .symlink_metadata()
                .is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
        };
        work.is_some_and(|work| leads_back(plan, &work, &entry)) || closed()
    });
    if entry.join(name).symlink_metadata().is_ok() && !is_right {
        out.note(entry.join(name), disarm::rename_in(git, inside, name));
    }
}

/// Does the `.git` of this checkout say that this is its part of the git directory?
fn leads_back(plan: &SandboxPlan, work: &Path, entry: &Path) -> bool {
    let is_same = |one: &Path, other: &Path| one == other || inode(one).is_some() && inode(one) == inode(other);
    if git_dir_of(work).is_some_and(|git| is_same(&git, entry)) {
        return true;
    }
    // A run in a worktree of its own has that at the project's place, and the repository at another: what leads to the real
    // one, for all others, comes to a pointer here. Others lie outside: what lies in the trees the command may have written.
    let here = || {
        let to = pointer_way(work)?;
        let all = to.parent().filter(|_| to.file_name() == entry.file_name())?;
        let place = all
            .parent()
            .filter(|place| place.ends_with(".git") && all.ends_with("worktrees"))?;
        let is_pointer = place.symlink_metadata().ok()?.is_file();
        let common = common_dir_of(&git_dir_of(place.parent()?)?).filter(|_| is_pointer)?;
        Some(is_same(&common, entry.parent()?.parent()?))
    };
    tree_of(plan, work).is_none() && here().unwrap_or(false)
}

/// Where a new one works.
enum Works {
    /// There, if that is in the trees.
    Known(Option<PathBuf>),
    /// It names no place that leads back. The trees may have one that does.
    Lost,
}

/// Where it works by its own word. A `.git` that it names and that leads elsewhere is set aside.
fn works(plan: &SandboxPlan, entry: &Path, since: Option<Since>, out: &mut Disarmed) -> Works {
    let named = back_of(entry).and_then(|back| fs::canonicalize(entry.join(back).parent()?).ok());
    let Some(work) = named else { return Works::Lost };
    let tree = tree_of(plan, &work);
    if leads_back(plan, &work, entry) {
        return Works::Known(tree.map(|_| work.clone()));
    }
    if let Some(tree) = tree
        && let Ok(dir) = work.strip_prefix(tree)
        && !plan.git.known.contains(&work.join(".git"))
        && !since.is_some_and(|since| settled::is_settled(&plan.git.trees, tree, dir, since))
    {
        disarm::dot_git(tree, dir, out);
    }
    Works::Lost
}
