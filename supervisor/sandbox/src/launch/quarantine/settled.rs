//! Was a repository here before the run, as it is now? By the times of its inodes, which nobody inside can set.
//!
//! For repositories beyond the look at the start, where nothing that the run did calls for more. What cannot be told is
//! not settled.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::launch::changes::Since;
use crate::survey::{common_dir_of, common_way, git_dir_of, links, pointer_way};
use crate::sys::dir::{self, FileKind, Times};
use crate::sys::path;

/// What in a git directory makes git run or read something.
const ARMS: [&str; 4] = ["config", "hooks", "commondir", "config.worktree"];

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
    let links::Way { links, end } = links::follow(way);
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
    let hooks = git.join("hooks");
    let inside: Option<Vec<PathBuf>> = match fs::symlink_metadata(&hooks) {
        Ok(meta) if meta.is_dir() => fs::read_dir(&hooks)
            .and_then(|list| list.map(|entry| Ok(entry?.path())).collect())
            .ok(),
        // A link, or nothing that git writes.
        Ok(_) => None,
        Err(_) => Some(Vec::new()),
    };
    let Some(inside) = inside else { return false };
    let names = ARMS.iter().map(|name| git.join(name)).chain(inside);
    names.chain([git.to_owned()]).all(|path| is_old(&path, since))
}

/// A regular file that was there before, as it is now.
pub(super) fn is_old_file(path: &Path, since: Since) -> bool {
    let times = fs::File::open(path.parent().unwrap_or(path)).and_then(|dir| dir::habits_of(dir.as_fd()));
    let tell = times.is_ok_and(|(times, _)| times == Times::Tell);
    tell && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) && is_old(path, since)
}

/// Was this changed since then, as far as its filesystem tells?
pub(super) fn is_since(path: &Path, since: Duration) -> bool {
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

/// What is not there is as old as can be.
fn is_old(path: &Path, since: Since) -> bool {
    fs::symlink_metadata(path).map_or(true, |meta| {
        let seconds = u64::try_from(meta.ctime()).unwrap_or(u64::MAX);
        let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
        !meta.is_symlink() && !since.covers(Duration::new(seconds, nanos))
    })
}
