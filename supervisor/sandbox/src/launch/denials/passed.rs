//! Paths that need no second look.

use std::collections::HashSet;

/// Paths that are remembered as harmless, and their bytes together.
const MOST_PASSED: usize = 1 << 15;
const MOST_BYTES: usize = 4 << 20;

/// Paths in which nothing inside can make a difference. INVARIANT (bounded): in number and in bytes; full, it starts anew.
#[derive(Debug, Default)]
pub(super) struct Passed {
    keys: HashSet<Vec<u8>>,
    bytes: usize,
}

impl Passed {
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn insert(&mut self, key: Vec<u8>) {
        if self.keys.len() >= MOST_PASSED || self.bytes + key.len() > MOST_BYTES {
            self.keys.clear();
            self.bytes = 0;
        }
        self.bytes += key.len();
        self.keys.insert(key);
    }
}
