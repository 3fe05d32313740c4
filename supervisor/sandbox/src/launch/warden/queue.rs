//! What is still to be done, in the order in which it came, each thing once.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Queue<T> {
    /// What was cancelled may still stand here, but never first.
    order: VecDeque<(T, Instant)>,
    known: BTreeMap<T, Instant>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            order: VecDeque::new(),
            known: BTreeMap::new(),
        }
    }
}

impl<T: Ord + Clone> Queue<T> {
    pub(super) fn push(&mut self, thing: T) {
        self.push_since(thing, Instant::now());
    }

    /// Puts something back that has waited since then.
    pub(super) fn push_since(&mut self, thing: T, since: Instant) {
        if !self.known.contains_key(&thing) {
            self.known.insert(thing.clone(), since);
            self.order.push_back((thing, since));
        }
    }

    pub(super) fn pop(&mut self) -> Option<(T, Instant)> {
        let first = self.order.pop_front()?;
        self.known.remove(&first.0);
        self.trim();
        Some(first)
    }

    /// It need not be done any more.
    pub(super) fn cancel(&mut self, thing: &T) {
        self.known.remove(thing);
        self.trim();
    }

    fn trim(&mut self) {
        let known = &self.known;
        let is_gone = |(thing, since): &(T, Instant)| known.get(thing) != Some(since);
        while self.order.front().is_some_and(is_gone) {
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
