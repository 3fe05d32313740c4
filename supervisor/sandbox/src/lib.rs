//! Plan, launch, init: from a resolved policy to a contained process tree, and back to what happened.
//!
//! The only crate in which `unsafe` compiles, and there only in `sys`.

pub mod answer;
pub mod cgroup;
mod control;
mod init;
pub mod launch;
pub mod lower;
pub mod plan;
pub mod receipt;
pub mod seccomp;
pub mod steps;
pub mod survey;
pub mod sys;
pub mod workspace;

pub use control::Cause;
pub use init::contained;
