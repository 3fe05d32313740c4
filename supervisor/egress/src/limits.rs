//! How much a run may ask of the companion at once, and how long it may take.
//!
//! Touches nothing. INVARIANT: a slot that was taken comes back when its holder is dropped.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections beyond these that are told so; the rest is reset.
    pub farewells: usize,
    /// Destinations being dialled at once; others wait for their turn as long as for first bytes.
    pub dials: usize,
    /// From a connection's start to its first whole hello or head, and from a later head's first byte to its last.
    pub first_bytes: Duration,
    /// Without a byte either way.
    pub idle: Duration,
    /// For a server to finish earlier answers, after a bad request stopped the connection.
    pub grace: Duration,
}

impl Limits {
    /// What a run gets.
    pub const STANDARD: Self = Self {
        connections: 256,
        farewells: 32,
        dials: 64,
        first_bytes: Duration::from_secs(10),
        idle: Duration::from_secs(600),
        grace: Duration::from_secs(5),
    };
}

/// What is left of the bounds.
#[derive(Debug)]
pub struct Slots {
    connections: Arc<Semaphore>,
    farewells: Arc<Semaphore>,
    dials: Arc<Semaphore>,
}

/// A place that is given back on drop.
#[derive(Debug)]
pub struct Slot {
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let semaphore = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self {
            connections: semaphore(limits.connections),
            farewells: semaphore(limits.farewells),
            dials: semaphore(limits.dials),
        }
    }

    #[must_use]
    pub fn connection(&self) -> Option<Slot> {
        take(&self.connections)
    }

    #[must_use]
    pub fn farewell(&self) -> Option<Slot> {
        take(&self.farewells)
    }

    /// Waits for its turn: a client that opens many connections at once is not refused for that. None when it takes
    /// longer than `patience`.
    pub async fn dial(&self, patience: Duration) -> Option<Slot> {
        let permit = timeout(patience, Arc::clone(&self.dials).acquire_owned())
            .await
            .ok()?
            .ok()?;
        Some(Slot { _permit: permit })
    }
}

fn take(slots: &Arc<Semaphore>) -> Option<Slot> {
    let permit = Arc::clone(slots).try_acquire_owned().ok()?;
    Some(Slot { _permit: permit })
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
