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
mod granted;
mod hints;
mod learn;
mod net;
mod paths;
mod policies;
mod started;
mod terrain;

glee_tests::claims! {
    a_tree_that_is_granted_and_denied_is_hidden => crate::granted::prove;
    what_is_said_of_paths_and_variables_is_what_happens => crate::paths::prove;
    a_program_is_allowed_only_with_what_starts_it => crate::started::prove;
    what_a_temporary_file_is_made_with_makes_it_no_secret => crate::learn::prove_temporary;
    what_a_hint_says_is_what_allows_it => crate::hints::prove;
    what_is_said_of_connections_is_what_happens => crate::net::prove;
    a_hint_about_loopback_can_be_followed => crate::net::prove_loopback;
    what_was_learned_lets_the_command_pass_and_no_secret => crate::learn::prove;
    a_permissive_lesson_ends_when_the_command_passes => crate::learn::prove_permissive;
    what_an_earlier_round_made_does_not_narrow_what_is_learned => crate::learn::prove_made;
    what_a_link_of_the_host_leads_to_is_learned_only_as_its_end_would_be => crate::learn::prove_links;
    a_link_to_nothing_is_learned_with_the_directory_that_it_leads_into => crate::learn::prove_dangling;
    a_round_that_cannot_be_started_loses_nothing_that_was_learned => crate::learn::prove_refused;
    settings_that_say_a_login_are_not_learned => crate::learn::prove_content;
    what_holds_a_key_or_is_closed_to_others_is_not_learned => crate::learn::prove_closed;
    what_the_host_would_run_later_is_not_learned_for_writing => crate::learn::prove_later;
    a_file_that_is_there_is_replaced_only_by_force => crate::learn::prove_kept;
    names_that_were_refused_are_learned => crate::learn::prove_network;
}
