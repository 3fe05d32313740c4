//! Attempts to break out of the sandbox, one file per area.
//!
//! Each is a claim with two proofs per caller: without the sandbox the attack works, inside it does not. `claims!` makes a
//! test for root and one for an ordinary user out of each line.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

/// `name_that_is_a_claim => attempt(…),` becomes the tests `name_that_is_a_claim::as_root` and `…::as_user`.
macro_rules! claims {
    ($($(#[$note:meta])* $claim:ident => $attempt:expr,)*) => {
        pub(crate) const CLAIMS: &[&str] = &[$(stringify!($claim)),*];
        $(
            $(#[$note])*
            mod $claim {
                #[allow(unused_imports, reason = "not every attempt needs everything")]
                use super::*;

                fn attempt_of_this_claim() -> glee_tests::Attempt {
                    $attempt
                }

                #[test]
                fn as_root() {
                    attempt_of_this_claim().prove(glee_tests::Caller::Root);
                }

                #[test]
                fn as_user() {
                    attempt_of_this_claim().prove(glee_tests::Caller::User);
                }
            }
        )*
    };
}

mod asked;
mod audit;
mod command;
mod copies;
mod deny;
mod deny_aside;
mod deny_flood;
mod deny_later;
mod deny_links;
mod deny_places;
mod egress;
mod environment;
mod files_read;
mod files_tricks;
mod files_write;
mod injection;
mod kernel;
mod landlock_mode;
mod lifecycle;
mod mounts;
mod namespaces;
mod network;
mod network_unix;
mod persist_beside;
mod persist_config;
mod persist_dotfiles;
mod persist_git;
mod persist_held;
mod persist_home;
mod persist_links;
mod persist_named;
mod persist_nested;
mod persist_papers;
mod persist_worktree;
mod private;
mod privilege;
mod process;
mod procfs;
mod refusal;
mod resources;
mod setid;
mod setid_routes;
mod supervisor;
mod terminal;
mod trust;

const AREAS: &[(&str, &[&str])] = &[
    ("asked", asked::CLAIMS),
    ("audit", audit::CLAIMS),
    ("copies", copies::CLAIMS),
    ("deny", deny::CLAIMS),
    ("deny_aside", deny_aside::CLAIMS),
    ("deny_flood", deny_flood::CLAIMS),
    ("deny_later", deny_later::CLAIMS),
    ("deny_links", deny_links::CLAIMS),
    ("deny_places", deny_places::CLAIMS),
    ("environment", environment::CLAIMS),
    ("files_read", files_read::CLAIMS),
    ("files_tricks", files_tricks::CLAIMS),
    ("files_write", files_write::CLAIMS),
    ("injection", injection::CLAIMS),
    ("kernel", kernel::CLAIMS),
    ("landlock_mode", landlock_mode::CLAIMS),
    ("lifecycle", lifecycle::CLAIMS),
    ("mounts", mounts::CLAIMS),
    ("namespaces", namespaces::CLAIMS),
    ("network", network::CLAIMS),
    ("network_unix", network_unix::CLAIMS),
    ("persist_beside", persist_beside::CLAIMS),
    ("persist_config", persist_config::CLAIMS),
    ("persist_dotfiles", persist_dotfiles::CLAIMS),
    ("persist_git", persist_git::CLAIMS),
    ("persist_held", persist_held::CLAIMS),
    ("persist_home", persist_home::CLAIMS),
    ("persist_links", persist_links::CLAIMS),
    ("persist_named", persist_named::CLAIMS),
    ("persist_nested", persist_nested::CLAIMS),
    ("persist_papers", persist_papers::CLAIMS),
    ("persist_worktree", persist_worktree::CLAIMS),
    ("private", private::CLAIMS),
    ("privilege", privilege::CLAIMS),
    ("process", process::CLAIMS),
    ("procfs", procfs::CLAIMS),
    ("refusal", refusal::CLAIMS),
    ("resources", resources::CLAIMS),
    ("setid", setid::CLAIMS),
    ("supervisor", supervisor::CLAIMS),
    ("terminal", terminal::CLAIMS),
    ("trust", trust::CLAIMS),
];

#[test]
fn the_suite_holds_at_least_430_attempts() {
    let areas = || AREAS.iter().chain(egress::AREAS);
    for (area, claims) in areas() {
        println!("{area}: {}", claims.len());
    }
    let all: usize = areas().map(|(_, claims)| claims.len()).sum();
    assert!(all >= 430, "only {all} attempts are left");
}

#[test]
fn both_halves_are_proved() {
    let half = std::env::var_os("GLEE_ESCAPE_BARE_ONLY");
    assert!(
        half.is_none(),
        "GLEE_ESCAPE_BARE_ONLY is set: the sandboxed half was not run, so nothing is proved"
    );
}
