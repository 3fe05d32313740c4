//! Links that a deny rule goes by: they stay as they are, and what the host writes by a denied name stays hidden wherever a link
//! leads it. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// A link on the way to what is denied is not replaced, nor moved with what it lies in: the next run would show the secret.
fn held(rule: &str, links: &'static [(&'static str, &'static str)], link: &'static str, script: &str) -> Attempt {
    attempt(format!("{script}; cat x/d/a.key"), Leak::Changed(link))
        .file("@PROJECT/x/d/a.key", "a secret\n")
        .given(|w| {
            w.dir("@PROJECT/app/deep");
        })
        .given(move |w| links.iter().for_each(|(target, at)| w.link(target, at)))
        .yaml(&denying(rule))
}

fn denying(rule: &str) -> String {
    format!("extends: workspace\nfs: {{deny: ['{rule}']}}\n")
}

/// The command does something first; then the host writes a secret; then the command looks.
fn written(rule: &str, command: &str, host: &'static str, look: &str) -> Attempt {
    seen(Leak::Secret, rule, command, host, look)
}

/// The same where it cannot be hidden: the report says so.
fn told(rule: &str, command: &str, host: &'static str, look: &str) -> Attempt {
    seen(Leak::Seen(no_word), rule, command, host, look).flags(&["--report", "@OUT/report.json"])
}

fn seen(leak: Leak, rule: &str, command: &str, host: &'static str, look: &str) -> Attempt {
    let script = format!(
        "{command}; sleep 0.3; @A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; sleep 0.3; {look}"
    );
    attempt(script, leak)
        .secret_at("@OUT/secret")
        .given(|w| {
            w.dir("@PROJECT/a");
        })
        .meanwhile_only(move |w| {
            w.host_does(host);
            w.settle();
        })
        .yaml(&denying(rule))
}

const ENV: &str = "cat @OUT/secret > @PROJECT/.env";
/// The host fails where the name is held.
const TOKEN: &str = "{ mkdir -p @PROJECT/secrets; cp @OUT/secret @PROJECT/secrets/token; } || true";
const CERTS: &str = "cp @OUT/secret @PROJECT/a/certs/t.key";

const TO_FILE: &[(&str, &str)] = &[("x/d/a.key", "@PROJECT/.env")];
const IN_TWO: &[(&str, &str)] = &[("y", "@PROJECT/.env"), ("x/d/a.key", "@PROJECT/y")];
const TO_DIR: &[(&str, &str)] = &[("x/d", "@PROJECT/secrets")];
const BELOW: &[(&str, &str)] = &[("../../x/d", "@PROJECT/app/deep/secrets")];

/// Where a report says that it could not be covered.
fn no_word(w: &World, o: &Outcome) -> Option<String> {
    let report = fs::read_to_string(w.path("@OUT/report.json")).unwrap_or_default();
    let is_told = report.contains("\"covered\": false");
    (o.says(w.secret()) && !is_told).then(|| format!("it was read, and the report does not say so: {report}"))
}

claims! {
    link_that_is_denied_is_not_removed => held(".env", TO_FILE, "@PROJECT/.env", "rm .env"),
    link_that_is_denied_is_not_replaced => held(".env", TO_FILE, "@PROJECT/.env", "ln -s y z; mv -f z .env"),
    second_link_to_what_is_denied_is_not_removed => held(".env", IN_TWO, "@PROJECT/y", "rm y"),
    second_link_to_a_match_is_not_removed => held("**/.env", IN_TWO, "@PROJECT/y", "rm y"),
    link_above_a_denied_name_is_not_removed => held("secrets/a.key", TO_DIR, "@PROJECT/secrets", "rm secrets"),
    link_above_a_denied_name_is_not_moved => held("secrets/a.key", TO_DIR, "@PROJECT/secrets", "mv secrets c2"),
    link_above_a_pattern_is_not_removed => held("secrets/*.key", TO_DIR, "@PROJECT/secrets", "rm secrets"),
    link_within_a_pattern_is_not_removed => held("**/secrets/**", TO_DIR, "@PROJECT/secrets", "rm secrets"),
    link_in_place_of_a_star_is_not_removed => held("*/a.key", TO_DIR, "@PROJECT/secrets", "rm secrets"),
    link_that_is_a_denied_directory_is_not_removed => held("secrets", TO_DIR, "@PROJECT/secrets", "rm secrets"),
    directory_of_a_link_within_a_pattern_is_not_moved => held("**/secrets/**", BELOW, "@PROJECT/app", "mv app b"),
    directory_of_a_link_above_a_denied_name_is_not_moved => held("app/deep/secrets/a.key", BELOW, "@PROJECT/app/deep",
        "mv app/deep app/b"),
    directory_that_a_link_leaves_is_not_replaced => held(".env", &[("app/../x/d/a.key", "@PROJECT/.env")], "@PROJECT/app",
        "mkdir -p q/w; mv app b && ln -s q/w app"),
    link_above_a_denied_name_that_leads_nowhere_is_not_replaced => written("secrets/token",
        "rm secrets; mkdir y; ln -s y secrets", TOKEN, "cat secrets/token y/token").given(|w| w.link("x", "@PROJECT/secrets")),
    link_that_leads_a_denied_name_elsewhere_is_not_made => written("secrets/token", "rm secrets; mkdir y; ln -s y secrets",
        TOKEN, "cat secrets/token y/token").given(|w| { w.dir("@PROJECT/x"); w.link("x", "@PROJECT/secrets"); }),

    what_is_written_through_a_new_link_at_a_patterns_base_is_hidden => written("secrets/*", "mkdir x; ln -s x secrets",
        TOKEN, "cat secrets/token x/token"),
    what_is_written_deep_through_a_new_link_at_a_patterns_base_is_hidden => written("secrets/**", "mkdir x; ln -s x secrets",
        "mkdir @PROJECT/secrets/b; cp @OUT/secret @PROJECT/secrets/b/token", "cat x/b/token"),
    what_is_written_through_a_new_link_within_a_pattern_is_hidden => written("**/secrets/**", "mkdir x; ln -s x secrets",
        TOKEN, "cat secrets/token x/token"),
    what_is_written_through_a_link_in_place_of_a_directory_is_hidden => written("**/certs/*.key",
        "mv a/certs x; ln -s ../x a/certs", CERTS, "cat x/t.key").given(|w| { w.dir("@PROJECT/a/certs"); }),
    what_is_written_through_a_link_that_was_moved_is_hidden => written("**/certs/*.key",
        "ln -s ../x a/certs; mkdir -p x c/x; sleep 0.2; mv a c/a; ln -s c/a a", CERTS, "cat c/x/t.key"),
    what_is_written_through_a_link_to_something_new_is_hidden => written("**/secrets/*",
        "rmdir x; ln -s y x; mkdir y", TOKEN, "cat y/token").given(|w| { w.dir("@PROJECT/x"); w.link("x", "@PROJECT/secrets"); }),
    what_is_written_through_a_link_out_of_a_patterns_base_is_hidden => written("a/**/*.key", "mkdir x; ln -s ../x a/certs",
        CERTS, "cat x/t.key"),
    what_is_written_through_a_link_that_led_nowhere_is_hidden => written("**/.env", "ln -s x .env", ENV, "cat x"),
    what_is_written_through_an_old_link_that_led_nowhere_is_hidden => written("**/.env", ":", ENV, "cat x")
        .given(|w| w.link("x", "@PROJECT/.env")),
    what_is_written_through_two_new_links_is_hidden => written("**/.env", "ln -s y .env; sleep 0.2; ln -s z y", ENV, "cat z"),
    what_is_written_through_a_link_to_a_new_directory_is_hidden => written("**/.env",
        "ln -s d/e/x .env; sleep 0.2; mkdir -p f/e; ln -s f d", ENV, "cat f/e/x"),
    denied_name_that_was_written_with_a_link_is_hidden_when_the_host_makes_it_anew => written("secrets/token", ":",
        "rm @PROJECT/secrets; mkdir @PROJECT/secrets; cp @OUT/secret @PROJECT/secrets/token", "cat secrets/token")
        .given(|w| { w.dir("@PROJECT/x"); w.link("x", "@PROJECT/secrets"); }),
    denied_name_is_hidden_where_the_host_leads_it => written("secrets/token", ":",
        "ln -sfn y @PROJECT/secrets; cp @OUT/secret @PROJECT/secrets/token", "cat y/token")
        .given(|w| { w.dir("@PROJECT/x"); w.dir("@PROJECT/y"); w.link("x", "@PROJECT/secrets"); }),
    pattern_whose_base_was_a_link_holds_in_the_directory_that_the_host_makes => written("secrets/*.key", ":",
        "rm @PROJECT/secrets; mkdir @PROJECT/secrets; cp @OUT/secret @PROJECT/secrets/a.key", "cat secrets/a.key")
        .given(|w| { w.dir("@PROJECT/x"); w.link("x", "@PROJECT/secrets"); }),
    protected_name_that_a_pattern_denies_stays_hidden_when_the_host_saves_it => written("**/.envrc", ":",
        "cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/.envrc", "cat .envrc").file("@PROJECT/.envrc", "old\n"),

    /// These cannot be closed: the file is the command's own, and so is the directory. They are named.
    what_is_written_into_the_commands_own_hard_link_is_told => told("**/.env", "touch x; ln x .env", ENV, "cat x"),
    what_is_written_through_a_link_to_the_project_is_told => told("secrets/*", "ln -s . secrets", TOKEN, "cat token"),
}
