//! `policy explain` against reality: random policies and random questions, each answer checked by doing it in the sandbox.
//! `policy learn` the same way: what it writes is run under.
//!
//! Small by default; `GLEE_SOAK=full` is the size of the promise. A failure prints the seed; `GLEE_SEED` repeats it.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod ask;
mod chance;
mod hints;
mod learn;
mod net;
mod paths;
mod policies;
mod terrain;

/// `claim => function;` becomes the tests `claim::as_root` and `claim::as_user`.
macro_rules! claims {
    ($($claim:ident => $prove:path;)*) => {$(
        mod $claim {
            use glee_tests::Caller;

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

claims! {
    what_is_said_of_paths_and_variables_is_what_happens => crate::paths::prove;
    what_a_hint_says_is_what_allows_it => crate::hints::prove;
    what_is_said_of_connections_is_what_happens => crate::net::prove;
    what_was_learned_lets_the_command_pass_and_no_secret => crate::learn::prove;
    names_that_were_refused_are_learned => crate::learn::prove_network;
}
