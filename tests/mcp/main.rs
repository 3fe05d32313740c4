//! The MCP server from outside: its tools, hostile clients, other people's conformance suites, and real main agents.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod others;
mod support;
mod web;

mod approval;
mod conformance;
mod greedy;
mod hostile;
mod hostile_http;
mod inside;
mod inspector;
mod install;
mod limits;
mod tasks;
mod tools;
mod workflows;
