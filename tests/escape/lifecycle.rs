//! The end of a run is the end of all it started: by its own end, by the deadline, by the death of the supervisor.

use std::time::Duration;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// The command ends at once and leaves this behind.
fn leaving(script: &'static str) -> Attempt {
    attempt(script, Leak::Survived)
}

/// The command never ends; the deadline is one second.
fn deadline(script: &'static str) -> Attempt {
    attempt(script, Leak::Seen(too_late))
        .flags(&["--timeout", "1s"])
        .endless(Duration::from_secs(2))
}

/// Bare: alive after two seconds. Inside: over within the deadline and a grace time, with nothing left.
fn too_late(world: &World, outcome: &Outcome) -> Option<String> {
    if outcome.hung || outcome.took > Duration::from_secs(20) {
        return Some(format!("the run took {:?}", outcome.took));
    }
    world.remains()
}

/// The supervisor is ended by a signal while this runs.
fn orphaned(signal: &'static str, script: &'static str) -> Attempt {
    attempt(format!("{script}; @A mark ready @ID; sleep 30"), Leak::Survived).ended_by(signal)
}

claims! {
    background_child_ends_with_the_run => leaving("@A sleep 20 @ID & sleep 0.1"),
    daemon_ends_with_the_run => leaving("@A daemon 20 @ID"),
    daemon_under_workspace_ends_with_the_run => leaving("@A daemon 20 @ID").workspace(),
    nohup_child_ends_with_the_run => leaving("nohup setsid @A sleep 20 @ID >/dev/null 2>&1 & sleep 0.1"),
    child_that_ignores_signals_ends_with_the_run => leaving("@A stubborn 20 @ID & sleep 0.2"),
    stopped_child_ends_with_the_run => leaving("setsid @A stopped @ID & sleep 0.2"),
    hydra_ends_with_the_run => leaving("@A hydra 10 @ID & sleep 0.3"),
    subreaper_and_its_orphans_end_with_the_run => leaving("setsid @A reaper 20 @ID & sleep 0.3"),
    hundred_children_end_with_the_run => leaving("@A crowd 100 20 @ID"),
    busy_child_ends_with_the_run => leaving("setsid @A burn 10 @ID & sleep 0.2"),
    /// The run returns when the command does, though a child still holds its output.
    child_that_holds_the_output_ends_with_the_run => attempt("@A holder 20 @ID", Leak::Survived),
    child_that_floods_the_output_ends_with_the_run => leaving("setsid @A flood 10 @ID & sleep 0.2"),
    child_is_gone_after_a_failing_command => leaving("@A daemon 20 @ID; exit 3").only_started(),
    child_is_gone_after_a_killed_command => leaving("@A daemon 20 @ID; kill -9 $$").only_started(),
    child_is_gone_after_its_own_pid_exhaustion => attempt("@A crowd 200 20 @ID; true", Leak::Survived)
        .yaml("extends: restricted\nlimits: {pids: 40}\n"),

    process_without_its_first_thread_ends_with_the_run => leaving("@A headless 20 @ID"),
    process_without_its_first_thread_ends_with_the_run_under_inherit => leaving("@A headless 20 @ID")
        .policy(glee_tests::Policy::Named("inherit")),
    chain_of_forks_ends_with_the_run_under_inherit => attempt("@A chain 20 @ID; sleep 0.4",
        Leak::Seen(crate::landlock_mode::chain_stays)).policy(glee_tests::Policy::Named("inherit")),

    sleeper_ends_at_the_deadline => deadline("@A sleep 30 @ID"),
    ignorer_of_signals_ends_at_the_deadline => deadline("trap '' TERM INT HUP; @A stubborn 30 @ID"),
    stopped_tree_ends_at_the_deadline => deadline("@A stop_group @ID"),
    stopped_child_ends_at_the_deadline => deadline("@A stopped @ID"),
    process_without_its_first_thread_ends_at_the_deadline_under_inherit => deadline("@A headless 30 @ID; @A stubborn 30 @ID")
        .policy(glee_tests::Policy::Named("inherit")),
    daemons_end_at_the_deadline => deadline("@A daemon 30 @ID; @A daemon 30 @ID; @A stubborn 30 @ID"),
    hydra_ends_at_the_deadline => deadline("@A hydra 20 @ID & @A sleep 30 @ID"),
    busy_loop_ends_at_the_deadline => deadline("@A burn 20 @ID"),
    flood_ends_at_the_deadline => deadline("@A flood 20 @ID"),
    crowd_ends_at_the_deadline => deadline("@A crowd 60 30 @ID; @A stubborn 30 @ID"),
    flood_of_refused_calls_ends_at_the_deadline => deadline("for i in 1 2 3 4; do @A refused_calls 20 @ID & done; \
        wait"),
    command_that_stops_itself_does_not_free_its_daemons => deadline("@A daemon 30 @ID; kill -STOP $$"),
    deadline_holds_though_pid_1_is_tampered_with => deadline("@A tamper '@PIDNS'; for i in 1 2 3 4; \
        do @A burn 20 @ID & done; @A stubborn 30 @ID"),
    deadline_of_the_policy_counts => attempt("@A stubborn 30 @ID", Leak::Seen(too_late))
        .yaml("extends: restricted\nmax_runtime_mins: 0.02\n").endless(Duration::from_secs(2)),
    command_cannot_outlive_the_deadline_by_stopping_pid_1 => deadline("kill -STOP 1; @A stubborn 30 @ID"),

    daemon_ends_with_a_killed_supervisor => orphaned("KILL", "@A daemon 30 @ID"),
    ignorer_of_signals_ends_with_a_killed_supervisor => orphaned("KILL", "@A stubborn 30 @ID & sleep 0.1"),
    stopped_child_ends_with_a_killed_supervisor => orphaned("KILL", "setsid @A stopped @ID & sleep 0.1"),
    hydra_ends_with_a_killed_supervisor => orphaned("KILL", "@A hydra 10 @ID & sleep 0.1"),
    command_under_workspace_ends_with_a_killed_supervisor => orphaned("KILL", "@A daemon 30 @ID").workspace()
        .given(|w| w.git_init()).project_unchanged(),
    crowd_ends_with_a_killed_supervisor => orphaned("KILL", "@A crowd 60 30 @ID"),
    daemon_ends_with_a_killed_supervisor_though_pid_1_is_tampered_with => orphaned("KILL",
        "@A tamper '@PIDNS'; @A daemon 30 @ID"),
    /// No containment, but an end.
    daemon_under_inherit_ends_with_a_killed_supervisor => orphaned("KILL", "@A daemon 30 @ID")
        .policy(glee_tests::Policy::Named("inherit")),
    process_without_its_first_thread_under_inherit_ends_with_a_killed_supervisor => orphaned("KILL", "@A headless 30 @ID")
        .policy(glee_tests::Policy::Named("inherit")),
    stubborn_child_under_inherit_ends_with_a_killed_supervisor => orphaned("KILL", "setsid @A stubborn 30 @ID & sleep 0.2")
        .policy(glee_tests::Policy::Named("inherit")),
    crowd_under_inherit_ends_with_a_killed_supervisor => orphaned("KILL", "@A crowd 60 30 @ID")
        .policy(glee_tests::Policy::Named("inherit")),
    daemon_ends_with_a_segfaulted_supervisor => orphaned("SEGV", "@A daemon 30 @ID"),
    daemon_ends_with_a_supervisor_that_aborts => orphaned("ABRT", "@A daemon 30 @ID"),
}
