//! The container backend through its own door: Podman as root and as an ordinary user, from the first byte to the last mount.
//!
//! The escape, compatibility, egress, agents and command line suites run on it too, from their own files: `GLEE_BACKEND=podman`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../agents/api/mod.rs"]
#[allow(dead_code, reason = "the agents suite uses the rest")]
mod api;
#[path = "../compat/claims.rs"]
mod claims;
#[path = "../agents/cli.rs"]
#[allow(dead_code, reason = "the agents suite uses the rest")]
mod cli;

mod gvisor;
mod hostile;
mod images;
mod killed;
mod large_image;
mod made;
mod runs;
mod support;
