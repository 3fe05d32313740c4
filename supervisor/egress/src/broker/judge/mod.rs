//! Judges a prompt before it is sent: does it ask the vendor to do anything but answer?
//!
//! Pure. With a tool of the vendor's, or an address in place of content, the vendor would carry data to wherever the
//! sandbox says: a way out that no socket shows. So a body is walked once, along what is known of the API, and nothing of it is
//! kept. INVARIANT: what is passed has one meaning, for whoever reads it; a key, a kind or a form that is not known is refused.
//! INVARIANT (bounded): depth by `serde_json` (128), the keys of the open objects by `KEYS`.

pub(super) mod claude;
pub(super) mod codex;
mod fault;
pub(super) mod gemini;
mod keys;
mod shape;
mod walk;

use std::cell::{Cell, RefCell};
use std::hash::RandomState;

use serde::de::DeserializeSeed;

pub(super) use fault::Fault;
pub(super) use shape::{Shape, searches};

use fault::Path;
use walk::Walk;

/// Keys of all objects that are open at once.
const KEYS: usize = 1 << 20;

/// What a walk shares.
struct Court {
    fault: RefCell<Option<Fault>>,
    keys: Cell<usize>,
    hasher: RandomState,
}

/// # Errors
/// With what is wrong first.
pub(super) fn judge(shape: &'static Shape, body: &[u8]) -> Result<(), Fault> {
    let not_json = |problem: &dyn std::fmt::Display| Fault::NotJson(problem.to_string());
    let text = std::str::from_utf8(body).map_err(|e| not_json(&e))?;
    let court = Court {
        fault: RefCell::default(),
        keys: Cell::new(KEYS),
        hasher: RandomState::new(),
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let walk = Walk {
        shape,
        at: Path::Top,
        court: &court,
    };
    let read = walk.deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|e| match (court.fault.take(), e.is_data()) {
        (Some(fault), _) => fault,
        // The one thing that the reader itself demands of a value.
        (None, true) => Fault::Form { at: "type".to_owned() },
        (None, false) => not_json(&e),
    })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
