//! The harness of the tests that drive the built binary from outside.
//!
//! A test makes a `World` (a home, a project, secrets and listeners on the host, all thrown away afterwards), starts a
//! command in it with `Run::bare` or `Run::sandboxed`, and judges the `Outcome` and the world. An `Attempt` does both:
//! the attack must succeed bare and must be contained in the sandbox.
//!
//! Needs root, because every test runs as root and as the ordinary user `glee-test`. A machine that cannot do this fails.
//! INVARIANT: only processes and files that a world made are killed and removed.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a harness fails its test by panicking"
)]

mod attempt;
mod binary;
mod caller;
mod files;
mod guests;
mod host;
mod judge;
mod lab;
mod listen;
mod process;
mod prove;
mod run;
mod tools;
mod world;

#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod world_tests;

pub use attempt::{Attempt, Bare, Inside, Refusal, attempt};
pub use binary::binary;
pub use caller::Caller;
pub use files::{Look, Snapshot, setid_files, tree};
pub use judge::{Leak, Verdict, judge};
pub use lab::Lab;
pub use listen::Listener;
pub use process::{alive, capable, carrying, mounts, wait_until};
pub use run::{Outcome, Policy, Run, Running};
pub use tools::{attack_tool, installed_copy};
pub use world::World;

/// `claim => function;` becomes the tests `claim::as_root` and `claim::as_user`.
#[macro_export]
macro_rules! claims {
    ($($(#[$note:meta])* $claim:ident => $prove:path;)*) => {$(
        $(#[$note])*
        mod $claim {
            use $crate::Caller;

            #[test]
            fn as_root() {
                $prove(Caller::Root);
            }

            #[test]
            fn as_user() {
                $prove(Caller::User);
            }
        }
    )*};
}
