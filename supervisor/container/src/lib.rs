//! The same plan in a container of Podman or Docker.
//!
//! `lower` turns a [`glee_sandbox::plan::SandboxPlan`] into container settings and refuses a clause that no setting enforces;
//! `stage` makes on the host what is mounted; `carry` speaks to the engine, in a process of its own.
//! INVARIANT: nothing is pulled, and nothing that was made for a run outlives it; the next run removes what a killed one left.

mod below;
mod body;
mod carry;
pub mod facts;
pub mod gvisor;
mod image;
mod layout;
mod ledger;
pub mod lower;
mod names;
mod orphans;
pub mod plan;
mod rundir;
pub mod seccomp_json;
mod service;
mod trees;
mod vessel;
mod view;

pub use facts::{Engine, Facts};
pub use lower::{Refused, origin};
pub use rundir::RunDirError;
pub use vessel::Container;
