//! What is still to be done, in the order in which it came, each thing once.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Queue<T> {
    order: VecDeque<(T, Instant)>,
    known: BTreeSet<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            order: VecDeque::new(),
            known: BTreeSet::new(),
        }
    }
}

impl<T: Ord + Clone> Queue<T> {
    pub(super) fn push(&mut self, thing: T) {
        self.push_since(thing, Instant::now());
    }

    /// Puts something back that has waited since then.
    pub(super) fn push_since(&mut self, thing: T, since: Instant) {
        if self.known.insert(thing.clone()) {
            self.order.push_back((thing, since));
        }
    }

    pub(super) fn pop(&mut self) -> Option<(T, Instant)> {
        while let Some((thing, since)) = self.order.pop_front() {
            if self.known.remove(&thing) {
                return Some((thing, since));
            }
        }
        None
    }

    /// It need not be done any more.
    pub(super) fn cancel(&mut self, thing: &T) {
        self.known.remove(thing);
        while self.order.front().is_some_and(|(first, _)| !self.known.contains(first)) {
            self.order.pop_front();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Has the first one waited for so long?
    pub(super) fn waited(&self, patience: Duration) -> bool {
        let first = self.order.front();
        first.is_some_and(|(_, since)| since.elapsed() >= patience)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
