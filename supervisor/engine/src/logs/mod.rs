//! Logs: what subagents print and what becomes of them, one line each, in three files a day in `.glee/stream_logs`.
//!
//! Written by the supervisor only; a sandbox has a directory of its own in that place. Any number of processes write at
//! once. INVARIANT: a line is one `write` to a file opened for appending, of bounded length, and nothing in it drives a
//! terminal or looks like another line.

mod line;
mod reader;
mod writer;

pub use line::{Line, Stream};
pub use reader::{Follow, LogReader, Shown};
pub use writer::{LogError, Logs, RunLog};

/// Where the logs of a project lie.
pub const DIRECTORY: &str = ".glee/stream_logs";
