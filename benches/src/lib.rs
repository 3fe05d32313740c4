//! What the measurements share: subjects, their interleaving, statistics, `/proc`.
//!
//! INVARIANT (one run): numbers that are compared come from one interleaved run on one machine as one user.
//! INVARIANT (outside): a subject is judged from outside, by wall clock and `/proc`, never by what it says of itself.

pub mod args;
pub mod error;
pub mod footprint;
pub mod machine;
pub mod peers;
pub mod place;
pub mod proc;
pub mod rng;
pub mod stats;
pub mod subject;
pub mod table;
pub mod user;
pub mod ways;
pub mod wire;
pub mod workload;

pub use error::BenchError;
