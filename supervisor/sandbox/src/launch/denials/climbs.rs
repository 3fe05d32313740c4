//! Directories that were to be made below others that are not there inside.
//!
//! Who makes a directory with all above it begins with the last, and makes the rest when that fails: no refusal. Who makes
//! only the one was refused. Which of them it was shows what follows. INVARIANT (bounded): `MOST` are held.

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
}

#[derive(Debug, Default)]
pub(super) struct Climbs {
    begun: Option<Climb>,
    held: Vec<Held>,
}

impl Climbs {
    pub(super) fn begin(&mut self, path: PathBuf, above: PathBuf) {
        self.begun = Some(Climb { path, above });
    }

    /// What the present call began.
    pub(super) fn begun(&mut self) -> Option<Climb> {
        self.begun.take()
    }

    pub(super) fn hold(&mut self, climb: Climb, (nr, name): (u32, &str), person: Person) {
        let known = self.held.iter().any(|held| held.path == climb.path);
        if !known && self.held.len() < MOST {
            self.held.push(Held {
                path: climb.path,
                above: climb.above,
                call: (nr, name.to_owned()),
                person,
            });
        }
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

    pub(super) fn into_held(self) -> Vec<Held> {
        self.held
    }
}

#[cfg(test)]
#[path = "climbs_tests.rs"]
mod tests;
