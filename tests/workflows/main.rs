//! Workflows, through the built binary: the language (read, checked, drawn) and the running.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../compat/claims.rs"]
mod claims;
#[allow(dead_code, reason = "shared with the suites `compat` and `cli`")]
#[path = "../compat/seen.rs"]
mod seen;
#[allow(dead_code, reason = "shared with the suite `cli`, which uses all of it")]
#[path = "../cli/support.rs"]
mod support;

mod budgets;
mod hostile;
mod kills;
mod language;
mod place;
mod semantics;
mod speed;
