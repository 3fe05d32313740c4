//! Removes groups: ours at the end of a run, and those of supervisors that died.
//!
//! INVARIANT (only ours): nothing is removed whose name `owner` cannot read. The kernel refuses to remove a cgroup with
//! live processes, so none loses its limits here.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::facts::Facts;
use super::owner::{Life, Owner};

/// A killed process leaves its cgroup within milliseconds; one in uninterruptible sleep may never.
const PATIENCE: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_micros(250);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Removes groups by path, as [`super::Group::paths`] gave them. Those already gone are fine. Waits up to 2 s in all;
/// the error is that of the first group which stayed.
pub fn remove_paths(paths: &[PathBuf]) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    let mut pause = FIRST_PAUSE;
    let mut left: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    loop {
        let mut first_error = None;
        let mut busy = false;
        left.retain(|path| match remove_tree(path) {
            Ok(()) => false,
            Err(error) => {
                busy |= error.kind() == io::ErrorKind::ResourceBusy;
                first_error.get_or_insert(error);
                true
            }
        });
        match first_error {
            None => return Ok(()),
            Some(error) if !busy || Instant::now() >= end => return Err(error),
            Some(_) => {}
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// One attempt without waiting, for clean-up on the way out of a failure.
pub(super) fn once(path: &Path) {
    // The sweep finds what stays.
    let _stayed = remove_tree(path);
}

/// Removes groups of supervisors that are gone, as far as they are empty, and tells which. Lists directories: not for
/// the start of a run.
pub fn sweep_stale(facts: &Facts) -> Vec<PathBuf> {
    stale(facts).filter(|path| remove_tree(path).is_ok()).collect()
}

/// Is there still a group of the process that `facts` was made by?
pub fn any_left(facts: &Facts) -> bool {
    groups(facts).any(|path| owner_of(&path) == Some(facts.owner))
}

fn stale(facts: &Facts) -> impl Iterator<Item = PathBuf> {
    let gone = |path: &PathBuf| owner_of(path).is_some_and(|owner| owner.life(&facts.owner) == Life::Gone);
    groups(facts).filter(gone)
}

fn groups(facts: &Facts) -> impl Iterator<Item = PathBuf> {
    let listed = facts.dirs().into_iter().filter_map(|dir| std::fs::read_dir(dir).ok());
    listed.flatten().flatten().map(|entry| entry.path())
}

fn owner_of(path: &Path) -> Option<Owner> {
    Owner::parse(path.file_name()?.to_str()?)
}

/// A group below ours (a nested supervisor's) keeps it busy: the empty ones go first.
fn remove_tree(path: &Path) -> io::Result<()> {
    if owner_of(path).is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a group of ours"));
    }
    match remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            remove_below(path);
            remove_dir(path)
        }
        other => other,
    }
}

fn remove_below(path: &Path) {
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_below(&entry.path());
            // What stays shows in the parent's own removal.
            let _stayed = remove_dir(&entry.path());
        }
    }
}

fn remove_dir(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
