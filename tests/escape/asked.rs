//! Files that the caller named for the supervisor itself, in a project that the command reads or writes: the report is the
//! supervisor's, and the key of a model's API stays outside.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

fn forged(w: &World, _: &Outcome) -> Option<String> {
    let text = fs::read_to_string(w.path("@PROJECT/out/deep/report.json")).unwrap_or_default();
    (text == "forged\n").then(|| "the report is the command's own".into())
}

fn forged_in_a_grant(w: &World, _: &Outcome) -> Option<String> {
    let text = fs::read_to_string(w.path("@OUT/tree/deep/report.json")).unwrap_or_default();
    (text == "forged\n").then(|| "the report is the command's own".into())
}

/// What is put beside it to write it whole has a name that fits, what is set aside one that does not.
const LONG: &str = "@PROJECT/00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

fn in_the_place_of_a_long_name(w: &World, _: &Outcome) -> Option<String> {
    let text = fs::read_to_string(w.path(LONG).join("file")).unwrap_or_default();
    (text == "forged\n").then(|| "what lies where the report was asked for is the command's own".into())
}

/// Puts something else where the report was asked for.
fn forge(script: &'static str) -> Attempt {
    let script = format!("{script}; mkdir -p out/deep; echo forged > out/deep/report.json");
    attempt(script, Leak::Seen(forged))
        .given(|w| {
            w.dir("@PROJECT/out/deep");
        })
        .workspace()
        .flags(&["--report", "@PROJECT/out/deep/report.json"])
        .then(|w, _| {
            let text = fs::read_to_string(w.path("@PROJECT/out/deep/report.json"));
            assert!(
                text.is_ok_and(|text| text.contains("run_id")),
                "the report is where it was asked for"
            );
        })
}

fn key(script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@PROJECT/conf/key")
        .given(|w| w.link("conf/key", "@PROJECT/key"))
        .flags(&["--key-file", "@PROJECT/key"])
}

claims! {
    report_is_not_written_by_the_command => forge("true"),
    report_is_not_written_to_a_directory_in_place_of_another => forge("mv out/deep out/away"),
    report_is_not_written_to_a_directory_in_place_of_the_one_above => forge("mv out away"),
    report_is_not_written_to_a_directory_that_was_made_anew => forge("rm -rf out"),
    report_is_not_kept_from_a_directory_that_was_closed => attempt("echo forged > out/deep/report.json; chmod 555 out/deep",
        Leak::Seen(forged)).given(|w| { w.dir("@PROJECT/out/deep"); }).workspace().flags(&["--report", "@PROJECT/out/deep/report.json"]),
    report_in_a_grant_is_not_written_to_a_directory_that_was_made_anew => attempt(
        "cd @OUT/tree; mv deep away; mkdir -p deep; echo forged > deep/report.json", Leak::Seen(forged_in_a_grant))
        .given(|w| { w.dir("@OUT/tree/deep"); })
        .flags(&["--write", "@OUT/tree", "--report", "@OUT/tree/deep/report.json"]),
    report_is_not_kept_away_by_a_directory => attempt(
        "mkdir -p out/deep/report.json/full; echo forged > out/deep/report.json/file", Leak::Changed("@PROJECT/out/deep/report.json/file"))
        .given(|w| { w.dir("@PROJECT/out/deep"); }).workspace().flags(&["--report", "@PROJECT/out/deep/report.json"]),
    report_of_a_long_name_is_not_kept_away_by_a_directory => attempt(
        "n=$(printf %0220d 0); mkdir -p $n; echo forged > $n/file", Leak::Seen(in_the_place_of_a_long_name))
        .workspace().flags(&["--report", LONG]),
    key_of_a_model_is_not_read => key("cat conf/key"),
    key_of_a_model_is_not_read_through_its_link => key("cat key"),
    key_of_a_model_is_not_read_under_workspace => key("cp conf/key x; cat x conf/key; mv conf c2; cat c2/key").workspace(),
    key_of_a_model_that_the_host_replaces_is_not_read => key(
        "@A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; sleep 0.2; cat conf/key")
        .meanwhile_only(|w| {
            w.host_does("cp @PROJECT/conf/key @OUT/new; mv @OUT/new @PROJECT/conf/key");
            w.settle();
        }),
}
