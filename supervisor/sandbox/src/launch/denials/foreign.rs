//! Root's sandbox runs as somebody else: what root may do, that user may not.
//!
//! INVARIANT (bounded): `MOST` directories are remembered, each for a moment: the command can close and open its own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::want::{Part, UNCHANGED};
use crate::plan::Identity;
use crate::sys::look::Facts;

const MOST: usize = 1024;
const GOOD_FOR: Duration = Duration::from_secs(1);

const WRITE: u32 = 2;
const SEARCH: u32 = 1;

#[derive(Debug)]
pub(super) struct Foreign<'a> {
    identity: &'a Identity,
    /// Can this directory be reached, and entered?
    ways: RefCell<HashMap<Vec<u8>, (Instant, bool)>>,
}

impl<'a> Foreign<'a> {
    pub(super) fn new(identity: &'a Identity) -> Self {
        Self {
            identity,
            ways: RefCell::default(),
        }
    }

    /// Is it kept from the sandbox's user by its mode?
    pub(super) fn is(&self, facts: &Facts, mode: u32) -> bool {
        if !self.identity.from_root {
            return false;
        }
        let shift = if facts.uid == self.identity.uid {
            6
        } else if facts.gid == self.identity.gid {
            3
        } else {
            0
        };
        (facts.mode >> shift) & mode != mode
    }

    fn is_anothers(&self, facts: &Facts) -> bool {
        self.identity.from_root && facts.uid != self.identity.uid
    }

    /// Can only another change this of it?
    pub(super) fn keeps(&self, part: Part, facts: &Facts) -> bool {
        match part {
            Part::Owner { user, group } if (user, group) == (UNCHANGED, UNCHANGED) => false,
            Part::Mode | Part::Times | Part::Owner { .. } => self.is_anothers(facts),
            Part::Now => self.is_anothers(facts) && self.is(facts, WRITE),
            Part::Length | Part::Attribute | Part::NoAttribute => self.is(facts, WRITE),
        }
    }

    /// In a sticky directory others' names stay.
    pub(super) fn sticks(&self, dir: &Facts, old: &Facts) -> bool {
        dir.mode & libc::S_ISVTX != 0 && self.is_anothers(dir) && self.is_anothers(old)
    }

    /// Does the way to a path lead through a directory that cannot be entered?
    pub(super) fn is_shut_off(&self, path: &Path, look: impl Fn(&Path) -> Option<Facts>) -> bool {
        let Some(dir) = path.parent().filter(|_| self.identity.from_root) else {
            return false;
        };
        let (now, key) = (Instant::now(), dir.as_os_str().as_bytes());
        let mut ways = self.ways.borrow_mut();
        if let Some((seen, open)) = ways.get(key)
            && now.duration_since(*seen) < GOOD_FOR
        {
            return !open;
        }
        let enters = |dir: &Path| look(dir).is_none_or(|facts| !self.is(&facts, SEARCH));
        let open = dir.ancestors().all(enters);
        if ways.len() >= MOST {
            ways.clear();
        }
        ways.insert(key.to_vec(), (now, open));
        !open
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
