//! The real agent CLIs in the sandbox, offline: their model is a server that these tests script.
//!
//! Each claim is proved for codex, claude and gemini, as root and as an ordinary user. The key is in the supervisor's
//! environment; it must arrive at the server, in the header where the vendor wants it, and be found nowhere else.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod api;
mod bare;
mod cli;
mod support;

mod contained;
mod drift;
mod endings;
mod inside;
mod key;
mod layouts;
mod mains;
mod subagents;
mod tasks;
mod tools;
mod turns;
mod vendor;
