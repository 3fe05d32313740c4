//! Trees that do not want to end, and supervisors that die at the wrong moment: what is left afterwards is nothing.
//!
//! Small by default; `GLEE_SOAK=full` is the size of the promise: 200 deadlines, 500 kills, a kill after each single system
//! call, 600 kills among writers of the audit log, 10,000 of a session's writer, a thousand subagents, 64 at once. Every round has a world of its own, and every
//! failure of a test is listed, not just the first.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod audit;
mod churn;
mod cut;
mod deadline;
mod delegate;
mod keeper;
mod killed;
mod programs;
mod remains;
mod rounds;
mod sessions;
mod tasks;
mod together;

glee_tests::claims! {
    a_hostile_tree_is_gone_within_the_grace_time_after_the_deadline => crate::deadline::prove;
    kill_9_of_the_supervisor_at_any_time_leaves_nothing => crate::killed::prove;
    kill_9_of_the_supervisor_opens_no_protected_name => crate::killed::prove_protected;
    kill_9_of_a_restricted_supervisor_after_any_system_call_leaves_nothing => crate::cut::prove_restricted;
    kill_9_of_a_workspace_supervisor_after_any_system_call_leaves_nothing => crate::cut::prove_workspace;
    kill_9_of_the_supervisor_of_a_copy_after_any_system_call_leaves_nothing => crate::cut::prove_copy;
    kill_9_of_the_supervisor_at_any_time_leaves_a_log_that_is_whole => crate::audit::prove;
    kill_9_of_one_run_leaves_another_in_the_project_protected => crate::together::prove;
    kill_9_of_a_writer_leaves_no_torn_session_and_no_draft => crate::sessions::prove;
    kill_9_of_workers_loses_no_task_and_starts_none_twice => crate::tasks::prove;
    kill_9_of_workers_and_dispatchers_loses_no_subagent_and_runs_none_twice => crate::delegate::prove;
    kill_9_of_one_run_opens_nothing_while_others_come_and_go => crate::churn::prove;
}
