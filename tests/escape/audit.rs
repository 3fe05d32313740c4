//! The audit log, when what is granted lies around it: neither written nor read. Under `restricted`, with the caller's own flags.

use glee_tests::{Attempt, Leak, attempt};

const OLD: &str = "@HOME/.local/state/glee/audit-000001.jsonl.old";

/// A log in the usual place, with something in it that the supervisor itself does not touch.
fn with_state(script: &str, leak: Leak) -> Attempt {
    attempt(script.to_owned(), leak)
        .env("XDG_STATE_HOME", "@HOME/.local/state")
        .file(OLD, "kept\n")
}

/// Every way to write, replace or remove it.
fn tamper(leak: &'static str) -> Attempt {
    let script = "d=@HOME/.local/state/glee; chmod -R u+rwX $d; echo evil > $d/audit-000001.jsonl.old
        mv $d $d.away; rm -rf $d; ln -s @PROJECT $d; rm $d; mkdir -p $d; echo evil > $d/new.jsonl
        mv @HOME/.local/state @HOME/.local/away; mkdir -p $d; echo evil > $d/new.jsonl; echo evil > $d/audit-000001.jsonl.old";
    with_state(script, Leak::Changed(leak))
}

/// What the next `--workspace worktree` reads back of one whose supervisor died.
fn worktree(state: &'static str) -> Attempt {
    let plot = "glee/worktrees/01m7jzzzzzzzzzzzzzzzzzzzzz/plot.json";
    let path: &'static str = format!("{state}/{plot}").leak();
    attempt(
        format!("mkdir -p $(dirname {path}); echo evil > {path}"),
        Leak::Changed(path),
    )
    .env("XDG_STATE_HOME", state)
}

claims! {
    log_is_not_changed_in_a_home_that_is_granted => tamper(OLD).flags(&["--write", "@HOME"]),
    log_is_not_added_to_in_a_home_that_is_granted => tamper("@HOME/.local/state/glee/new.jsonl").flags(&["--write", "@HOME"]),
    log_is_not_changed_in_a_directory_that_is_granted => tamper(OLD).flags(&["--write", "@HOME/.local/state"]),
    log_is_not_replaced_in_a_directory_above_that_is_granted => tamper("@HOME/.local/away").flags(&["--write", "@HOME/.local"]),
    log_is_not_changed_where_a_policy_unprotects_it => tamper(OLD)
        .yaml("extends: restricted\nfs: {write: [\"~\"]}\nunprotect: [\".local/state/glee\", \"glee\", \".local\"]\n"),
    log_is_not_changed_where_a_link_leads_to_it => with_state(
        "echo evil > @HOME/link/glee/audit-000001.jsonl.old; rm @HOME/link; ln -s @PROJECT @HOME/link", Leak::Changed(OLD))
        .env("XDG_STATE_HOME", "@HOME/link").given(|w| w.link("@HOME/.local/state", "@HOME/link")).flags(&["--write", "@HOME"]),
    link_to_the_log_is_not_replaced => with_state(
        "rm @HOME/link; ln -s @PROJECT @HOME/link", Leak::Changed("@HOME/link"))
        .env("XDG_STATE_HOME", "@HOME/link").given(|w| w.link("@HOME/.local/state", "@HOME/link")).flags(&["--write", "@HOME"]),
    log_is_not_changed_where_the_home_is_the_project => with_state(
        "echo evil > @PROJECT/.local/state/glee/audit-000001.jsonl.old", Leak::Changed("@PROJECT/.local/state/glee/audit-000001.jsonl.old"))
        .file("@PROJECT/.local/state/glee/audit-000001.jsonl.old", "kept\n").env("HOME", "@PROJECT")
        .env("XDG_STATE_HOME", "@PROJECT/.local/state").workspace(),
    log_that_is_granted_by_name_is_refused => tamper(OLD).flags(&["--write", "@HOME/.local/state/glee"]).refused(),
    part_of_the_log_that_is_granted_is_refused => tamper(OLD).flags(&["--write", OLD]).refused(),
    log_is_not_read_in_a_home_that_is_granted => with_state("cat @HOME/.local/state/glee/*", Leak::Secret)
        .given(|w| { w.secret_at("@HOME/.local/state/glee/audit-000009.jsonl"); }).flags(&["--read", "@HOME"]),
    description_of_a_worktree_is_not_planted_in_a_home_that_is_granted => worktree("@HOME/.local/state").flags(&["--write", "@HOME"]),
    description_of_a_worktree_is_not_planted_where_the_home_is_the_project => worktree("@PROJECT/.local/state")
        .env("HOME", "@PROJECT").workspace(),
    description_of_a_worktree_is_not_planted_where_the_state_is_in_the_project => worktree("@PROJECT/state").workspace(),
    log_is_not_changed_under_landlock_alone => tamper(OLD).yaml("extends: restricted\nfs: {write: [\"~\"]}\nisolation: landlock\n")
        .refused(),
}
