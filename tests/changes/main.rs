//! `changed_files`: every kind of change is told, whatever a hostile command does to hide it, as root and as an ordinary user.
//!
//! The truth is a complete snapshot that the test takes itself before and after, from outside.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../compat/claims.rs"]
mod claims;
mod support;

mod endings;
mod kinds;
mod marks;
mod random;
mod tricks;
