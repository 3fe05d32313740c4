//! Directories that were to be made below others that are not there inside.
//!
//! Who makes a directory with all above it begins with the last, and makes the rest when that fails: no refusal. Who makes
//! only the one was refused. Which of them it was shows what follows.
//! INVARIANT (bounded): `MOST` are held. INVARIANT (none is lost): what there is no room for is handed back, the oldest first.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::people::Person;
use super::tree::without_dots;

const MOST: usize = 64;

/// An attempt: the directory, and the nearest above it that is there.
#[derive(Debug)]
pub(super) struct Climb {
    pub(super) path: PathBuf,
    above: PathBuf,
}

/// An attempt of which nothing came so far.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) path: PathBuf,
    above: PathBuf,
    pub(super) call: (u32, String),
    pub(super) person: Person,
    pub(super) count: u64,
}

#[derive(Debug, Default)]
pub(super) struct Climbs {
    begun: Option<Climb>,
    held: VecDeque<Held>,
}

impl Climbs {
    pub(super) fn begin(&mut self, path: PathBuf, above: PathBuf) {
        self.begun = Some(Climb { path, above });
    }

    /// What the present call began.
    pub(super) fn begun(&mut self) -> Option<Climb> {
        self.begun.take()
    }

    /// Returns what had to make room: nothing came of it for long enough to be a refusal.
    #[must_use]
    pub(super) fn hold(&mut self, climb: Climb, (nr, name): (u32, &str), person: Person) -> Option<Held> {
        let is_same =
            |held: &&mut Held| held.path == climb.path && held.call.0 == nr && held.person.program == person.program;
        if let Some(known) = self.held.iter_mut().find(is_same) {
            known.count += 1;
            return None;
        }
        let oldest = if self.held.len() >= MOST {
            self.held.pop_front()
        } else {
            None
        };
        self.held.push_back(Held {
            path: climb.path,
            above: climb.above,
            call: (nr, name.to_owned()),
            person,
            count: 1,
        });
        oldest
    }

    /// A directory is being made that was missing above: they were the first steps to all of them.
    pub(super) fn made(&mut self, path: &Path) {
        if self.held.is_empty() {
            return;
        }
        let path = without_dots(path);
        let leads_on =
            |held: &Held| held.path.starts_with(&path) && path != held.above && path.starts_with(&held.above);
        self.held.retain(|held| !leads_on(held));
    }

    pub(super) fn into_held(self) -> impl Iterator<Item = Held> {
        self.held.into_iter()
    }
}

#[cfg(test)]
#[path = "climbs_tests.rs"]
mod tests;
