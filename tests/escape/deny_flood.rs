//! The command makes more changes than anybody needs, so that nobody sees those of the host: names stay covered, and the run
//! ends when it must.

use std::fs;
use std::time::Duration;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// A thousand directories that are moved to and fro for some seconds, and a script that goes on once the host has acted.
fn storm(pause: &str, rest: &str, leak: Leak) -> Attempt {
    let moves = format!(
        "$end = time + 5; mkdir q(big); mkdir qq(big/$_) for 1..1000; open F, q(>), q(made); \
         while (time < $end) {{ rename q(big), q(big2); select undef, undef, undef, {pause}; \
         rename q(big2), q(big); select undef, undef, undef, {pause} }}"
    );
    attempt(
        format!(
            "perl -e '{moves}' & until [ -e made ]; do sleep 0.02; done; sleep 1; @A mark ready @ID; \
             until [ -e @PROJECT/go ]; do sleep 0.02; done; {rest}; wait"
        ),
        leak,
    )
    .yaml("extends: workspace\nfs: {deny: ['**/.env', '**/conf/*.key']}\n")
}

fn secret(pause: &str, host: &'static str, look: &str) -> Attempt {
    storm(pause, look, Leak::Secret)
        .secret_at("@OUT/secret")
        .meanwhile_only(move |w| {
            w.host_does(host);
            w.settle();
        })
}

fn evil_in_git(w: &World, _: &Outcome) -> Option<String> {
    let config = fs::read_to_string(w.path("@PROJECT/.git/config")).ok()?;
    config.contains("evil").then(|| "the configuration was changed".into())
}

fn took_long(_: &World, outcome: &Outcome) -> Option<String> {
    (outcome.took > Duration::from_secs(9)).then(|| format!("the run took {:?}", outcome.took))
}

claims! {
    match_that_the_host_writes_while_a_tree_is_moved_to_and_fro_is_hidden => secret(
        "0.001", "cp @OUT/secret @PROJECT/.env", "cat .env"),
    match_in_a_tree_that_is_moved_to_and_fro_is_hidden => secret(
        "0.005", "for i in $(seq 500); do cp @OUT/secret @PROJECT/big/.env 2>/dev/null && exit; done; exit 1",
        "for i in $(seq 20); do cat big/.env big2/.env; done"),
    match_in_a_directory_of_a_tree_that_is_moved_to_and_fro_is_hidden => secret(
        "0.005", "for i in $(seq 500); do cp @OUT/secret @PROJECT/big/7/.env 2>/dev/null && exit; done; exit 1",
        "for i in $(seq 20); do cat big/7/.env big2/7/.env; done"),
    // After the longest that a change may wait: it is covered, or the run has been ended.
    match_among_thousands_that_the_command_makes_is_hidden => attempt(
        "perl -e '$end = time + 9; for ($i = 0; $i < 40000 && time < $end; $i++) { mkdir qq(e$i); open F, q(>), qq(e$i/.env) }' & \
         sleep 2; @A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; sleep 6; cat .env; wait", Leak::Secret)
        .secret_at("@OUT/secret")
        .meanwhile_only(|w| {
            w.host_tries("cp @OUT/secret @PROJECT/.env");
            w.settle();
        })
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
        .only_started(),
    configuration_that_the_host_replaces_while_a_tree_is_moved_to_and_fro_cannot_be_written => storm(
        "0.001", "echo '# evil' >> .git/config", Leak::Seen(evil_in_git))
        .given(World::git_init)
        .meanwhile_only(|w| {
            w.host_does("cp @PROJECT/.git/config @PROJECT/.git/new && mv @PROJECT/.git/new @PROJECT/.git/config");
            w.settle();
        }),
    deadline_holds_while_a_tree_is_moved_to_and_fro => attempt(
        "perl -e '$end = time + 15; mkdir q(big); mkdir qq(big/$_) for 1..1000; \
         while (time < $end) { rename q(big), q(big2); rename q(big2), q(big) }'", Leak::Seen(took_long))
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
        .flags(&["--timeout", "3s"])
        .bare_limit(Duration::from_secs(20))
        .only_started(),
}
