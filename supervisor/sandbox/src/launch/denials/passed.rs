//! Paths that need no second look.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Paths that are remembered as harmless, and their bytes together.
const MOST_PASSED: usize = 1 << 15;
const MOST_BYTES: usize = 4 << 20;

/// How long the host's answer is good: the host goes on while the run lasts.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// Paths in which nothing inside can make a difference. INVARIANT (bounded): in number and in bytes; full, it starts anew.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// Until when. `None`: as long as the run lasts.
    keys: HashMap<Vec<u8>, Option<Instant>>,
    bytes: usize,
}

impl Passed {
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        let until = self.keys.get(key);
        until.is_some_and(|until| until.is_none_or(|until| Instant::now() < until))
    }

    pub(super) fn insert(&mut self, key: Vec<u8>) {
        self.add(key, None);
    }

    /// The sandbox refuses it, and the host would have, too.
    pub(super) fn insert_for_now(&mut self, key: Vec<u8>) {
        self.add(key, Some(Instant::now() + GOOD_FOR));
    }

    fn add(&mut self, key: Vec<u8>, until: Option<Instant>) {
        if self.keys.len() >= MOST_PASSED || self.bytes + key.len() > MOST_BYTES {
            self.keys.clear();
            self.bytes = 0;
        }
        let length = key.len();
        if self.keys.insert(key, until).is_none() {
            self.bytes += length;
        }
    }
}
