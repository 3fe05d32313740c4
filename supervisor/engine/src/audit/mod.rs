//! The audit log: what was run, refused and trusted, as a chain of entries that shows whether any was changed later.
//!
//! Touches the user's state directory and nothing else. Format and guarantees: docs/audit.md. INVARIANT: a sandbox can
//! neither write nor see the directory (`survey`), and no descriptor of it is open while a command runs.

mod entry;
pub mod guard;
mod head;
mod lines;
mod log;
pub mod place;
pub mod record;
mod settle;
pub mod show;
mod stored;
pub mod verify;

pub use entry::{Answer, Event, Hash, Mark, Torn};
pub use log::{LogError, append};

#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod verify_tests;
