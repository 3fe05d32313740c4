//! Denied names in directories that are made anew, moved or exchanged while the command runs: they stay hidden.

use glee_tests::{Attempt, Leak, attempt};

/// The command does something to a directory first; then the host writes a secret; then the command looks.
fn prepared(command: &str, host: &'static str, look: &str) -> Attempt {
    let script = format!(
        "{command}; sleep 0.3; @A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; sleep 0.2; {look}"
    );
    attempt(script, Leak::Secret)
        .secret_at("@OUT/secret")
        .given(|w| {
            w.dir("@PROJECT/conf");
            w.dir("@PROJECT/conf2");
        })
        .meanwhile_only(move |w| {
            w.host_does(host);
            w.settle();
        })
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
}

/// The host alone changes a project that the command may only read.
fn changed(rule: &str, host: &'static str, look: &str) -> Attempt {
    prepared(":", host, look).yaml(&format!("extends: restricted\nfs: {{deny: ['{rule}']}}\n"))
}

const WRITES: &str = "cp @OUT/secret @PROJECT/conf/.env";

claims! {
    match_in_a_directory_that_was_not_touched_is_hidden => prepared(":", WRITES, "cat conf/.env"),
    match_in_a_directory_that_was_made_anew_is_hidden => prepared("rmdir conf; mkdir conf", WRITES, "cat conf/.env"),
    match_in_a_directory_that_was_moved_and_came_back_is_hidden => prepared(
        "mv conf x; sleep 0.2; mv x conf", WRITES, "cat conf/.env"),
    match_in_a_directory_that_took_the_place_of_another_is_hidden => prepared(
        "mv conf x; mv conf2 conf", WRITES, "cat conf/.env"),
    match_in_a_directory_that_was_exchanged_is_hidden => prepared("@A exchange conf conf2", WRITES, "cat conf/.env"),
    match_in_a_directory_that_was_moved_deeper_is_hidden => prepared(
        "mkdir -p a/b; mv conf a/b/c", "cp @OUT/secret @PROJECT/a/b/c/.env", "cat a/b/c/.env"),
    match_in_a_tree_that_was_made_anew_is_hidden => prepared(
        "mkdir -p conf/d/e; rm -rf conf; mkdir -p conf/d/e", "cp @OUT/secret @PROJECT/conf/d/e/.env",
        "cat conf/d/e/.env"),
    match_in_a_directory_that_was_moved_a_hundred_times_is_hidden => prepared(
        "for i in $(seq 50); do mv conf x; mv x conf; done", WRITES, "cat conf/.env"),
    match_in_a_directory_of_a_pattern_that_appears_later_is_hidden => changed("none/deep/*.key",
        "mkdir -p @PROJECT/none/deep; cp @OUT/secret @PROJECT/none/deep/a.key", "cat none/deep/a.key"),
    match_in_a_directory_of_a_pattern_that_the_host_makes_anew_is_hidden => changed("conf/*.key",
        "rmdir @PROJECT/conf; mkdir @PROJECT/conf; cp @OUT/secret @PROJECT/conf/a.key", "cat conf/a.key"),
    denied_name_whose_grandparent_the_host_makes_anew_is_hidden => changed("conf/deep/key",
        "mv @PROJECT/conf @PROJECT/old; mkdir -p @PROJECT/conf/deep; cp @OUT/secret @PROJECT/conf/deep/key",
        "cat conf/deep/key").file("@PROJECT/conf/deep/key", "old\n"),
}
