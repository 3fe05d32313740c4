//! Everything that a run was refused stands in its report, whatever the command does to the one who writes it down.
//!
//! Small by default; `GLEE_SOAK=full` is the size of the promise: 10,000 seeded denials, a flood of a million.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod again;
mod builds;
mod held;
mod listener;
mod looks;
mod making;
mod ordinary;
mod owners;
#[path = "../soak/programs.rs"]
mod programs;
mod records;
#[path = "../compat/rust.rs"]
mod rust;
mod seeded;
mod sockets;
mod stress;
mod support;
mod words;

glee_tests::claims! {
    seeded_denials_are_reported_with_path_call_and_program => crate::seeded::prove;
    a_row_names_the_clause_and_the_smallest_change => crate::words::rules_and_hints;
    what_would_fail_without_a_sandbox_is_no_denial => crate::words::ordinary_failures;
    a_move_that_succeeds_leaves_no_denial => crate::ordinary::moves;
    what_fails_by_what_the_names_are_is_no_denial => crate::ordinary::names;
    what_would_have_succeeded_with_two_names_is_a_denial => crate::ordinary::refused;
    a_slash_behind_a_file_is_no_denial => crate::ordinary::slashes;
    what_is_opened_and_changed_as_it_cannot_be_is_no_denial => crate::ordinary::kinds;
    a_call_with_what_is_no_socket_is_no_denial => crate::ordinary::descriptors;
    behind_a_hidden_link_the_path_is_named_as_it_would_be_found => crate::ordinary::behind_links;
    the_directory_is_named_that_the_way_to_a_granted_file_leads_through => crate::ordinary::through_hidden;
    a_hidden_path_that_is_opened_as_a_place_is_reported => crate::looks::opened_as_a_place;
    asking_for_a_console_is_no_row => crate::looks::asked_for_a_console;
    looks_are_reported_as_far_as_they_would_succeed => crate::looks::explained;
    what_may_be_done_with_a_cover_is_reported_on_request => crate::looks::covered;
    a_change_of_a_link_is_none_of_what_it_leads_to => crate::ordinary::links;
    a_file_that_could_not_be_made_to_be_read_is_reported => crate::words::locks;
    a_hidden_directory_that_was_to_be_entered_is_reported => crate::words::entered;
    a_file_that_could_not_be_shortened_is_reported_under_landlock_alone => crate::words::shortened;
    a_hidden_path_by_way_of_the_own_root_is_reported => crate::ordinary::own_root;
    a_link_out_of_the_project_is_reported_by_where_it_leads => crate::words::links;
    looks_are_reported_only_on_request => crate::words::looks;
    without_denials_only_refused_calls_are_listed => crate::words::without;
    limits_that_were_reached_are_listed => crate::words::limits;
    open_files_and_private_space_have_an_end_that_is_listed => crate::words::full;
    refused_connections_name_their_program => crate::words::clients;
    an_allowed_host_at_another_port_is_reported_by_its_name => crate::sockets::other_ports;
    a_name_refused_outside_has_its_clause_with_its_place => crate::sockets::places;
    the_port_that_nothing_can_allow_has_no_hint_to_allow_it => crate::sockets::port_zero;
    a_server_inside_at_the_address_of_a_name_is_no_denial => crate::sockets::own_servers;
    a_name_that_was_looked_up_is_reported_where_nothing_leads_out => crate::sockets::names;
    a_name_that_was_looked_up_hides_no_address => crate::sockets::beside_names;
    a_server_on_the_hosts_loopback_is_reported => crate::sockets::host_servers;
    calls_that_seem_not_to_exist_are_reported_unless_they_are_probes => crate::words::absent_calls;
    datagrams_are_reported_wherever_their_address_stands => crate::sockets::datagrams;
    datagrams_are_reported_whatever_is_allowed => crate::sockets::only_tcp;
    changes_of_times_owners_and_attributes_are_reported => crate::words::changes;
    a_hidden_path_is_reported_however_it_is_written => crate::words::spellings;
    a_directory_that_could_not_be_made_is_reported => crate::words::directories;
    a_hidden_interpreter_is_reported => crate::words::interpreters;
    what_is_made_by_way_of_the_directory_above_is_no_denial => crate::making::beside_the_source;
    no_directory_that_could_not_be_made_is_forgotten => crate::making::many_directories;
    the_hint_for_a_link_itself_names_its_directory => crate::making::links_themselves;
    what_is_granted_and_covered_has_no_hint_to_grant_it => crate::words::granted;
    what_only_another_user_may_do_is_reported_to_root => crate::owners::prove;
    a_table_of_files_that_others_fill_is_listed => crate::words::crowded;
    what_cannot_be_given_a_second_name_is_reported => crate::making::second_names;
    the_hint_for_a_link_to_nothing_can_be_followed => crate::making::links_to_nothing;
    a_project_that_was_to_be_moved_is_reported_however_it_is_named => crate::making::moved_project;
    a_path_that_is_no_text_is_reported_with_its_bytes => crate::words::bytes;
    hints_can_be_followed => crate::words::followed;
    the_hint_for_a_git_directory_names_what_is_held_in_it => crate::words::git_directories;
    what_lies_above_a_grant_is_to_be_granted_itself => crate::held::above_a_grant;
    a_name_on_the_way_to_a_denied_path_is_held_by_that_rule => crate::held::before_a_denied_path;
    a_directory_that_stays_names_what_holds_it => crate::held::directories;
    a_hidden_link_is_seen_with_its_directory => crate::held::links;
    what_cannot_be_used_by_its_own_name_is_not_granted_already => crate::held::granted_names;
    a_call_that_failed_by_another_name_hides_no_later_denial => crate::again::beside_another_name;
    what_is_renamed_elsewhere_keeps_no_denial_out => crate::again::beside_renames;
    what_appears_on_the_host_during_a_run_is_reported => crate::again::appeared;
    a_killed_listener_ends_the_run => crate::listener::killed;
    a_stopped_listener_ends_the_run => crate::listener::stopped;
    a_listener_that_is_silent_at_the_end_is_named => crate::listener::silent;
    a_flood_is_bounded_and_counted => crate::stress::flood;
    sixty_four_threads_racing_a_path_reach_nothing => crate::stress::race;
    processes_that_vanish_or_stop_do_no_harm => crate::stress::awkward;
    a_process_that_hides_its_memory_is_reported_all_the_same => crate::stress::undumpable;
    what_such_a_process_opens_beside_a_directory_is_reported => crate::stress::undumpable_places;
    records_of_landlock_are_read_and_audit_is_as_it_was => crate::records::prove;
    clean_builds_have_next_to_no_false_reports => crate::builds::prove;
}
