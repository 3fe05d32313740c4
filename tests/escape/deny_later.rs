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

/// A match that is there from the start, in a directory that may be moved. The host saves it anew or makes another one meanwhile.
fn matched(command: &str, host: &'static str, look: &str) -> Attempt {
    prepared(command, host, look).given(|w| {
        w.file("@PROJECT/conf/.env", "old\n");
        w.file("@PROJECT/conf2/sub/.env", "old\n");
    })
}

/// Likewise, without the host.
fn moved(script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@PROJECT/conf/deep/.env")
        .file("@PROJECT/other/.env", "no secret\n")
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
}

/// A match whose directory the rule names: under another name the next run would see it.
fn named(rule: &str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@PROJECT/conf/deep/key"))
        .secret_at("@PROJECT/conf/deep/key")
        .yaml(&format!("extends: workspace\nfs: {{deny: ['{rule}']}}\n"))
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

    match_stays_hidden_when_its_parent_is_moved => moved("mv conf/deep x; cat x/.env"),
    match_stays_hidden_when_its_grandparent_is_moved => moved("mv conf x; cat x/deep/.env"),
    match_stays_hidden_when_its_parent_is_exchanged => moved("@A exchange conf/deep other; cat other/.env conf/deep/.env"),
    match_stays_hidden_when_its_parent_is_moved_out_and_back => moved(
        "mkdir -p a/b; mv conf/deep a/b/c; cat a/b/c/.env; mv a/b/c conf/deep; cat conf/deep/.env"),
    match_in_a_moved_directory_cannot_be_renamed_or_linked => moved(
        "mv conf x; mv x/deep/.env y; ln x/deep/.env z; cat y z; rm -f x/deep/.env; cat x/deep/.env"),
    match_in_a_moved_directory_is_not_taken_out_of_the_mask => moved(
        "mv conf x; mkdir -p conf/deep; mv x/deep/.env conf/deep/.env; cat conf/deep/.env; rm -rf conf; mv x conf; cat conf/deep/.env"),
    match_that_is_saved_anew_in_a_moved_directory_is_hidden => matched("mv conf x",
        "cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/x/.env", "cat x/.env"),
    match_that_is_saved_anew_below_a_moved_directory_is_hidden => matched("mkdir y; mv conf2 y/z",
        "cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/y/z/sub/.env", "cat y/z/sub/.env"),
    match_that_is_made_at_the_old_path_of_a_moved_one_is_hidden => matched("mv conf x; mkdir conf", WRITES, "cat conf/.env"),
    match_that_is_saved_anew_after_an_exchange_is_hidden => matched("@A exchange conf conf2",
        "cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/conf2/.env", "cat conf2/.env"),
    match_of_a_rule_that_names_its_directory_is_not_moved => named("conf/deep/*", "mv conf/deep x; mv conf y"),
    match_of_a_rule_that_ends_in_its_directory_is_not_moved => named("**/deep/key", "mv conf/deep x; mv conf/deep conf/y"),
    match_below_a_directory_that_the_rule_names_is_not_moved_out => named("conf/**/key", "mv conf/deep x; mv conf y"),
    match_that_another_rule_names_is_not_moved => attempt("mv conf x", Leak::Changed("@PROJECT/conf/deep/key"))
        .secret_at("@PROJECT/conf/deep/key").yaml("extends: workspace\nfs: {deny: ['conf/deep/key', '**/key']}\n"),
}
