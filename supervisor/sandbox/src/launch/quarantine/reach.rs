//! Which repositories git would look into after the run: from index to index, by their gitlinks.
//!
//! `git status` enters every gitlink of the index, with the configuration it finds there, and every gitlink of that one's
//! index. INVARIANT (bounded): each index is read once. Where the indexes do not tell, the trees are searched instead.
//! INVARIANT: a run that touches nothing of git has nothing disarmed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::ahead::Ahead;
use super::company::Company;
use super::{Disarmed, MOST};
use super::{disarm, links, papers, pointers, remotes, settled, worktrees};
use crate::plan::{MountStep, Repository, SandboxPlan};
use crate::survey::git_dir_of;
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// Of a tree that is searched without need to know it before.
const DIRECTORIES: usize = 1 << 18;

/// Disarms what the run has made where the host's git would find it.
pub(in crate::launch) fn after(plan: &SandboxPlan, ahead: &Ahead) -> Disarmed {
    let mut out = Disarmed::default();
    // The command may have closed its trees and their git directories.
    let closed = plan.git.trees.iter().flat_map(|tree| [tree.clone(), tree.join(".git")]);
    let _opened: Vec<Opened> = closed
        .filter_map(|dir| Opened::exact(&dir, Purpose::Change).ok())
        .collect();
    let company = Company::of(plan, ahead);
    // First: an index that is a link would tell nothing.
    links::after(plan, &mut out);
    papers::after(&company, ahead.before(plan), &mut out);
    pointers::after(plan, &mut out);
    let mut todo: Vec<Source> = plan.git.repositories.iter().map(|r| Source::before(plan, r)).collect();
    remotes::after(plan, ahead.since(), &mut out);
    for added in worktrees::after(&company, ahead, &mut out) {
        todo.push(Source {
            work: added.work,
            index: added.index,
            faith: Faith::Added,
        });
    }
    for tree in &plan.git.fresh {
        disarm::dot_git(tree, Path::new(""), &mut out);
        todo.push(Source {
            work: Some(tree.clone()),
            index: tree.join(".git/index"),
            faith: Faith::Project,
        });
    }
    let became = plan.git.shared.iter().flat_map(settled::became);
    for tree in plan.git.not_bare.iter().chain(became) {
        disarm::bare(tree, &mut out);
    }
    let doubts = follow(plan, ahead, todo, &mut out);
    for (source, doubt) in without_covered(&doubts) {
        // A repository of its own names what lies in it; what the project names may lie anywhere.
        let scope = source.work.as_deref().filter(|_| source.faith.is_of_one());
        let within = scope.and_then(|work| tree_of(plan, work).map(|tree| (tree, work)));
        let places = match within {
            Some((tree, work)) => vec![(tree, work.strip_prefix(tree).unwrap_or(Path::new("")))],
            None => plan
                .git
                .trees
                .iter()
                .map(|tree| (tree.as_path(), Path::new("")))
                .collect(),
        };
        for place in places {
            search(plan, ahead, source, doubt, place, &mut out);
        }
    }
    out.aside.sort();
    out.aside.dedup();
    out.armed.sort();
    out.armed.dedup();
    out
}

/// Without the new checkouts that lie in another one: what is searched for the outer one's sake is not searched again.
fn without_covered(doubts: &[(Source, Doubt)]) -> impl Iterator<Item = (&Source, Doubt)> {
    let added = |(source, doubt): &&(Source, Doubt)| source.faith == Faith::Added && *doubt == Doubt::New;
    let outer: BTreeSet<&Path> = doubts
        .iter()
        .filter(added)
        .filter_map(|(s, _)| s.work.as_deref())
        .collect();
    let is_covered = move |source: &Source| {
        let mut above = source.work.iter().flat_map(|work| work.ancestors().skip(1));
        source.faith == Faith::Added && above.any(|dir| outer.contains(dir))
    };
    let all = doubts.iter().map(|(source, doubt)| (source, *doubt));
    all.filter(move |(source, _)| !is_covered(source))
}

/// The writable tree in which a path lies.
pub(super) fn tree_of<'p>(plan: &'p SandboxPlan, path: &Path) -> Option<&'p Path> {
    let above = plan.git.trees.iter().filter(|tree| path.starts_with(tree));
    above.max_by_key(|tree| tree.as_os_str().len()).map(PathBuf::as_path)
}

/// Who says what git would look into.
#[derive(Debug, Clone)]
struct Source {
    /// The directory that the names in the index start from, if that is known.
    work: Option<PathBuf>,
    index: PathBuf,
    faith: Faith,
}

/// What it is worth that an index named something before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Faith {
    /// Git came here from the project: what it named was named for the project.
    Project,
    /// A repository of its own in the project: it says nothing of what others name, but to whoever works in it nothing is new.
    Beside,
    /// A checkout that came during the run: nothing that it names was named before.
    Added,
    /// Something leads here that did not before.
    Strange,
}

impl Faith {
    /// Does it speak for one repository, and not for the project?
    fn is_of_one(self) -> bool {
        match self {
            Self::Beside | Self::Added => true,
            Self::Project | Self::Strange => false,
        }
    }
}

impl Source {
    fn before(plan: &SandboxPlan, Repository { work, index }: &Repository) -> Self {
        let own = index.parent().is_some_and(|git| plan.git.own.contains(git));
        Self {
            work: work.clone(),
            index: index.clone(),
            faith: if own { Faith::Project } else { Faith::Beside },
        }
    }

    /// Could this very index have named it before? One that told nothing may have named anything.
    fn named_before(&self, plan: &SandboxPlan, dir: &Path) -> bool {
        let named = plan.git.named.get(&self.index);
        let mut shared = plan.git.shared.iter();
        let young = shared.any(|shared| shared.young.contains(&dir.join(".git")));
        // To whoever works there its own modules are nothing new: they were covered.
        let own_module = || {
            let modules = self.index.parent().map(|git| git.join("modules"));
            modules.is_some_and(|modules| git_dir_of(dir).is_some_and(|git| git.starts_with(modules)))
        };
        self.faith == Faith::Beside && (!young && named.is_none_or(|named| named.contains(dir)) || own_module())
    }

    /// The checkout that this lies in, if it is one that was held in place all the time. The covers in it have changed its times.
    fn held_place(&self, plan: &SandboxPlan, dir: &Path) -> Option<&Path> {
        let work = self.work.as_deref()?;
        let is_held = dir.starts_with(work) && plan.git.known.contains(&work.join(".git"));
        is_held.then_some(work)
    }

    /// The index of what it names.
    fn leads_to(&self, plan: &SandboxPlan, dir: PathBuf, index: PathBuf) -> Self {
        let own = index.parent().is_some_and(|git| plan.git.own.contains(git));
        let faith = match self.named_before(plan, &dir) {
            _ if own => Faith::Project,
            true => Faith::Beside,
            false => Faith::Strange,
        };
        Self {
            index,
            work: Some(dir),
            faith,
        }
    }
}

/// Does an index tell what git would look into?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// It does not, and is as it was before the run: it names nothing more than it did, but something new may lie there.
    Old,
    /// It may name anything.
    New,
}

/// From index to index. Those that do not tell; of the project's one stands for all.
fn follow(plan: &SandboxPlan, ahead: &Ahead, mut todo: Vec<Source>, out: &mut Disarmed) -> Vec<(Source, Doubt)> {
    let mut seen = BTreeSet::new();
    let mut doubts: Vec<(Source, Doubt)> = Vec::new();
    let mut doubtful = |source: &Source, doubt: Doubt| {
        let same = |known: &&mut (Source, Doubt)| match source.faith.is_of_one() {
            false => !known.0.faith.is_of_one(),
            true => known.0.index == source.index,
        };
        match doubts.iter_mut().find(same) {
            Some((_, known)) => *known = doubt.max(*known),
            None => doubts.push((source.clone(), doubt)),
        }
    };
    while let Some(source) = todo.pop() {
        if !seen.insert((source.index.clone(), source.faith)) {
            continue;
        }
        if seen.len() > MOST {
            let faith = Faith::Strange;
            doubtful(&Source { faith, ..source }, Doubt::New);
            break;
        }
        let index = &source.index;
        let links = ahead
            .gitlinks(index)
            .filter(|links| links.is_empty() || source.work.is_some());
        let of_index = || match ahead.says_the_same(index) && source.faith != Faith::Strange {
            true => Doubt::Old,
            false => Doubt::New,
        };
        let Some(links) = links else {
            doubtful(&source, of_index());
            continue;
        };
        let work = source.work.clone().unwrap_or_default();
        for dir in links.into_iter().map(|link| work.join(link)) {
            // Where the command could not write it has made nothing.
            let Some(tree) = tree_of(plan, &dir) else { continue };
            match enter(plan, ahead, &source, of_index(), (tree, &dir), out) {
                Entered::Nothing => {}
                Entered::Index(index) => todo.push(source.leads_to(plan, dir, index)),
                Entered::Unclear => {
                    let inside = dir.strip_prefix(tree).unwrap_or(Path::new(""));
                    let old = ahead
                        .since()
                        .is_some_and(|since| settled::way_is_old(tree, inside, since));
                    doubtful(&source, if old { of_index() } else { Doubt::New });
                }
            }
        }
    }
    doubts
}

/// What is behind a gitlink.
enum Entered {
    Nothing,
    Index(PathBuf),
    /// Git may see more than we do.
    Unclear,
}

/// Disarms the repository at a gitlink if it is new, and finds its index.
fn enter(
    plan: &SandboxPlan,
    ahead: &Ahead,
    source: &Source,
    named: Doubt,
    (tree, dir): (&Path, &Path),
    out: &mut Disarmed,
) -> Entered {
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
    if named != Doubt::Old
        || !ahead
            .since()
            .is_some_and(|since| settled::is_settled(&plan.git.trees, tree, inside, since))
    {
        visit(plan, ahead, source, (tree, inside), out);
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
fn visit(plan: &SandboxPlan, ahead: &Ahead, source: &Source, (tree, dir): (&Path, &Path), out: &mut Disarmed) {
    let full = tree.join(dir);
    let git = full.join(".git");
    let before = source.named_before(plan, &full);
    // An old pointer arms nothing if the arms of what it leads to were covered all the time, and nobody's but the project's.
    // One that a directory brings along that was moved there is old itself.
    let was_here = || {
        let start = source.held_place(plan, &full).unwrap_or(tree);
        let way = git.strip_prefix(start).unwrap_or(&git);
        plan.git.known.contains(&git)
            || ahead
                .since()
                .is_some_and(|since| settled::way_is_old(start, way, since))
    };
    let covered = || {
        let target = git_dir_of(&full);
        target.is_some_and(|git| (plan.git.own.contains(&git) || before && was_here()) && holds_covers(plan, &git))
    };
    if ahead.since().is_some_and(|since| settled::is_old_file(&git, since)) && covered() {
        return;
    }
    // One that was there, but into which nothing led until now, may be the work of an earlier run.
    if !plan.git.known.contains(&git) || (plan.git.unlinked.contains(&git) && !before) {
        disarm::dot_git(tree, dir, out);
    }
}

/// Every directory with a `.git` below one in a tree, however deep.
fn search(
    plan: &SandboxPlan,
    ahead: &Ahead,
    source: &Source,
    doubt: Doubt,
    (tree, start): (&Path, &Path),
    out: &mut Disarmed,
) {
    let Ok(root) = path::open_exact(tree) else { return };
    let since = ahead.since();
    // Nothing names what was here before and did not name it then.
    let is_left = |dir: &Path| {
        let known = || plan.git.known.contains(&tree.join(dir).join(".git"));
        let settled = || since.is_some_and(|since| settled::is_settled(&plan.git.trees, tree, dir, since));
        doubt == Doubt::Old && (known() || settled())
    };
    let mut todo = vec![start.to_owned()];
    while let Some(dir) = todo.pop() {
        let has_git = list(root.as_fd(), &dir, &mut todo);
        if has_git && dir != start && !is_left(&dir) {
            visit(plan, ahead, source, (tree, &dir), out);
        }
    }
}

/// Every repository below the top of a tree, whoever made it.
pub(super) fn nested(tree: &Path, out: &mut Disarmed) {
    let Ok(root) = Opened::exact(tree, Purpose::List) else {
        return out.armed.push(tree.to_owned());
    };
    let mut todo = vec![PathBuf::new()];
    let mut looked = 0;
    while let Some(dir) = todo.pop() {
        looked += 1;
        if looked > DIRECTORIES {
            return out.armed.push(tree.to_owned());
        }
        if list(root.as_fd(), &dir, &mut todo) && !dir.as_os_str().is_empty() {
            disarm::dot_git(tree, &dir, out);
        }
    }
}

/// Adds the directories in `dir`. True if there is a `.git` among the names.
pub(super) fn list(root: BorrowedFd<'_>, dir: &Path, todo: &mut Vec<PathBuf>) -> bool {
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

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
