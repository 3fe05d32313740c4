//! The door: what the contract says of the command line, driven from outside as root and as an ordinary user.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../compat/claims.rs"]
mod claims;
#[path = "../soak/keeper.rs"]
mod keeper;
#[cfg(target_arch = "x86_64")]
#[path = "../soak/programs.rs"]
mod programs;
#[path = "../compat/seen.rs"]
mod seen;
mod support;

mod agents;
mod agents_def;
mod approvals;
mod audit;
#[cfg(target_arch = "x86_64")]
mod beginning;
mod commands;
mod config;
mod context;
mod copies_held;
mod cow;
mod descriptors;
mod destinations;
mod endings;
mod etc;
mod exits;
mod failures;
mod flags;
mod git_kept;
mod help;
mod helpers;
mod homes;
mod interactive;
mod jobs;
mod leftovers;
mod limits;
mod logs;
mod memory;
mod moved;
mod next;
mod owners;
mod paths;
mod places;
mod policies;
mod readonly;
mod receipts;
mod reports;
mod runs;
mod sessions;
mod signals;
mod tasks;
mod together;
mod trust;
mod ulimits;
mod worktree;
mod yaml;
