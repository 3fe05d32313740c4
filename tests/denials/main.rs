//! Everything that a run was refused stands in its report, whatever the command does to the one who writes it down.
//!
//! Small by default; `GLEE_SOAK=full` is the size of the promise: 10,000 seeded denials, a flood of a million.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod builds;
mod listener;
#[path = "../soak/programs.rs"]
mod programs;
mod records;
#[path = "../compat/rust.rs"]
mod rust;
mod seeded;
mod stress;
mod support;
mod words;

glee_tests::claims! {
    seeded_denials_are_reported_with_path_call_and_program => crate::seeded::prove;
    a_row_names_the_clause_and_the_smallest_change => crate::words::rules_and_hints;
    what_would_fail_without_a_sandbox_is_no_denial => crate::words::ordinary_failures;
    a_link_out_of_the_project_is_reported_by_where_it_leads => crate::words::links;
    looks_are_reported_only_on_request => crate::words::looks;
    without_denials_only_refused_calls_are_listed => crate::words::without;
    limits_that_were_reached_are_listed => crate::words::limits;
    open_files_and_private_space_have_an_end_that_is_listed => crate::words::full;
    refused_connections_name_their_program => crate::words::clients;
    a_killed_listener_ends_the_run => crate::listener::killed;
    a_stopped_listener_ends_the_run => crate::listener::stopped;
    a_flood_is_bounded_and_counted => crate::stress::flood;
    sixty_four_threads_racing_a_path_reach_nothing => crate::stress::race;
    processes_that_vanish_or_stop_do_no_harm => crate::stress::awkward;
    a_process_that_hides_its_memory_is_reported_all_the_same => crate::stress::undumpable;
    records_of_landlock_are_read_and_audit_is_as_it_was => crate::records::prove;
    clean_builds_have_next_to_no_false_reports => crate::builds::prove;
}
