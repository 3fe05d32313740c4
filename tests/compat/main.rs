//! What must work in the sandbox, under the policy `workspace`, for root and for an ordinary user.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod build;
mod claims;
mod copies;
mod egress;
mod egress_report;
mod files;
mod git;
mod ipc;
mod node;
mod python;
mod rust;
mod seen;
mod shell;
mod sockets;
mod streams;
mod support;
mod tools;
