//! Was a repository here before the run, as it is now? By the times of its inodes, which nobody inside can set.
//!
//! For repositories beyond the look at the start, where nothing that the run did calls for more. What cannot be told is
//! not settled.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::launch::changes::Since;
use crate::launch::placeholders::is_placeholder;
use crate::plan::Shared;
use crate::survey::{common_dir_of, common_way, git_dir_of, links, pointer_way};
use crate::sys::dir::{self, FileKind, Times};
use crate::sys::path;

/// What in a git directory makes git run or read something.
const ARMS: [&str; 3] = ["config", "commondir", "config.worktree"];
/// Directories of such files.
const HOLDERS: [&str; 3] = ["hooks", "remotes", "branches"];

/// Is every name on the way to `inside` (relative to `tree`) as old, up to the first that is no directory?
pub(super) fn way_is_old(tree: &Path, inside: &Path, since: Since) -> bool {
    let Ok(mut here) = path::open_exact(tree) else {
        return false;
    };
    if !dir::habits_of(here.as_fd()).is_ok_and(|(times, _)| times == Times::Tell) {
        return false;
    }
    for name in inside.iter() {
        match step(&here, name) {
            Some((_, changed)) if since.covers(changed) => return false,
            Some((FileKind::Dir, _)) => {}
            Some(_) => return true,
            None => return false,
        }
        match path::open_beneath(here.as_fd(), Path::new(name)) {
            Ok(next) => here = next,
            Err(_) => return false,
        }
    }
    true
}

fn step(here: &OwnedFd, name: &OsStr) -> Option<(FileKind, Duration)> {
    let facts = dir::facts_at(here.as_fd(), name).ok()?;
    Some((facts.kind, facts.changed))
}

/// The same, since another run began.
pub(crate) fn is_settled_since(trees: &[PathBuf], work: &Path, since: Duration) -> bool {
    let above = trees.iter().filter(|tree| work.starts_with(tree));
    let tree = above.max_by_key(|tree| tree.as_os_str().len());
    tree.is_some_and(|tree| {
        let inside = work.strip_prefix(tree);
        inside.is_ok_and(|inside| is_settled(trees, tree, inside, Since::at(since)))
    })
}

/// Was the repository in `dir` (relative to `tree`, one of `trees`) there before, with the arms it has?
pub(super) fn is_settled(trees: &[PathBuf], tree: &Path, dir: &Path, since: Since) -> bool {
    if !way_is_old(tree, &dir.join(".git"), since) {
        return false;
    }
    let work = tree.join(dir);
    let Some(git) = git_dir_of(&work) else {
        return false;
    };
    let leads = |way: Option<PathBuf>| way.is_some_and(|way| leads_there_as_before(trees, &way, since));
    if git != work.join(".git") && !leads(pointer_way(&work)) {
        return false;
    }
    let common = git.join("commondir").symlink_metadata().is_ok();
    if common && !leads(common_way(&git)) {
        return false;
    }
    let common = common_dir_of(&git).filter(|_| common);
    std::iter::once(git).chain(common).all(|git| arms_are_old(&git, since))
}

/// Did this path lead to the same place before? Every link on it that the command can replace, and every name that it comes to.
fn leads_there_as_before(trees: &[PathBuf], way: &Path, since: Since) -> bool {
    let links::Way { links, end, .. } = links::follow(way);
    let is_old = |place: &PathBuf| {
        let tree = trees.iter().find(|tree| place.starts_with(tree));
        tree.is_none_or(|tree| {
            place
                .strip_prefix(tree)
                .is_ok_and(|inside| way_is_old(tree, inside, since))
        })
    };
    end.is_some_and(|end| links.iter().chain([&end]).all(is_old))
}

fn arms_are_old(git: &Path, since: Since) -> bool {
    let mut names: Vec<PathBuf> = ARMS.iter().map(|name| git.join(name)).collect();
    for holder in HOLDERS.map(|name| git.join(name)) {
        match fs::symlink_metadata(&holder) {
            Ok(meta) if meta.is_dir() => {
                let inside = fs::read_dir(&holder).and_then(|list| list.map(|entry| Ok(entry?.path())).collect());
                let Ok(inside): io::Result<Vec<PathBuf>> = inside else {
                    return false;
                };
                names.extend(inside);
            }
            // A link, or nothing that git writes.
            Ok(_) => return false,
            Err(_) => {}
        }
        names.push(holder);
    }
    names.push(git.to_owned());
    names.iter().all(|path| is_old(path, since))
}

/// A regular file that was there before, as it is now. In a directory that is still the same: one that took its place brings
/// old files with it.
pub(super) fn is_old_file(path: &Path, since: Since) -> bool {
    let times = fs::File::open(path.parent().unwrap_or(path)).and_then(|dir| dir::habits_of(dir.as_fd()));
    let tell = times.is_ok_and(|(times, _)| times == Times::Tell);
    tell && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) && is_old(path, since)
}

/// Was this, or a directory on the way to it from `top`, changed since then?
pub(super) fn is_since_below(top: &Path, at: &Path, since: Duration) -> bool {
    let way = at.ancestors().take_while(|here| *here != top && here.starts_with(top));
    way.into_iter().any(|here| is_since(here, since))
}

/// Was this changed since then, as far as its filesystem tells?
pub(crate) fn is_since(path: &Path, since: Duration) -> bool {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return true;
    };
    let look = || {
        let above = path::open_exact(above).ok()?;
        let elsewhere = dir::habits_of(above.as_fd()).ok()?.0 == Times::Elsewhere;
        let changed = dir::facts_at(above.as_fd(), name).ok()?.changed;
        // Some filesystems keep whole seconds only.
        let since = match changed.subsec_nanos() {
            0 => Duration::from_secs(since.as_secs()),
            _ => since,
        };
        Some(elsewhere || changed >= since)
    };
    look().unwrap_or(true)
}

/// Directories that were git directories themselves, perhaps by the work of another run.
pub(super) fn became(shared: &Shared) -> impl Iterator<Item = &PathBuf> {
    let of_a_run = |at: PathBuf| {
        let there = at.symlink_metadata().is_ok() && is_placeholder(&at).is_none();
        there && is_since(&at, shared.since)
    };
    let parts = |dir: &PathBuf| ["HEAD", "commondir", "config", "hooks"].map(|name| dir.join(name));
    shared
        .bare
        .iter()
        .filter(move |dir| parts(dir).into_iter().any(of_a_run))
}

/// What is not there is as old as can be.
fn is_old(path: &Path, since: Since) -> bool {
    fs::symlink_metadata(path).map_or(true, |meta| {
        let seconds = u64::try_from(meta.ctime()).unwrap_or(u64::MAX);
        let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
        !meta.is_symlink() && !since.covers(Duration::new(seconds, nanos))
    })
}
