//! Links that the command leaves in a git directory, so that the host's git writes where they lead. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// What `git commit` would write into the configuration.
const MESSAGE: &str = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = @OUT/payload\\n' > ";

/// The script leaves a link; then the host commits, fetches and looks.
fn leave(script: impl Into<String>) -> Attempt {
    attempt(script, Leak::Seen(wrote_through_a_link))
        .given(repository)
        .workspace()
}

fn repository(w: &World) {
    w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
    w.file("@OUT/victim", "old\n");
    w.git_init();
}

fn submodule(w: &World) {
    w.dir("@OUT/lib");
    w.git("@OUT/lib", &["init", "-q"]);
    w.git("@OUT/lib", &["commit", "-q", "--allow-empty", "-m", "lib"]);
    let url = w.fill("@OUT/lib");
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &url,
        "lib",
    ];
    w.git("@PROJECT", &add);
    w.git("@PROJECT", &["commit", "-q", "-m", "submodule"]);
}

/// What a person does next, in the project and in what lies in it.
fn wrote_through_a_link(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    for place in [".", "lib", "new"].iter().filter(|dir| w.project().join(dir).is_dir()) {
        for args in [
            &["commit", "--allow-empty", "-q"][..],
            &["commit", "--allow-empty", "-qm", "mine"],
            &["fetch", "-q", ".", "HEAD"],
            &["status"],
        ] {
            let mut git = w.host_command("git");
            let _ = git.env("GIT_EDITOR", "true").args(["-C", place]).args(args).output();
        }
    }
    let changed = fs::read_to_string(w.path("@OUT/victim")).is_ok_and(|text| text != "old\n");
    let ran = fs::exists(w.path("@OUT/pwned")).unwrap_or(false);
    match (ran, changed) {
        (true, _) => Some("git on the host ran what the sandbox had planted".into()),
        (false, true) => Some("git on the host wrote a file of the user's".into()),
        (false, false) => None,
    }
}

claims! {
    message_is_no_link_to_the_configuration => leave(format!(
        "rm -f .git/COMMIT_EDITMSG; ln -s config .git/COMMIT_EDITMSG; {MESSAGE} .git/MERGE_MSG")),
    message_is_no_link_to_a_file_of_the_user => leave(
        "rm -f .git/COMMIT_EDITMSG; ln -s @OUT/victim .git/COMMIT_EDITMSG"),
    message_is_no_link_where_one_led_elsewhere => leave(
        "rm -f .git/COMMIT_EDITMSG; ln -s @OUT/victim .git/COMMIT_EDITMSG").given(|w| {
            let _ = fs::remove_file(w.path("@PROJECT/.git/COMMIT_EDITMSG"));
            w.link("message", "@PROJECT/.git/COMMIT_EDITMSG");
        }),
    log_of_head_is_no_link => leave("rm -f .git/logs/HEAD; ln -s @OUT/victim .git/logs/HEAD"),
    directory_of_logs_is_not_replaced_by_one_with_links_of_old => leave("rm -rf .git/logs; mv links .git/logs")
        .given(|w| { w.dir("@PROJECT/links"); w.link("@OUT/victim", "@PROJECT/links/HEAD"); }),
    directory_that_cannot_be_read_hides_no_link => leave("rm -f .git/logs/HEAD; ln -s @OUT/victim .git/logs/HEAD; \
        chmod 311 .git/logs"),
    log_of_a_branch_is_no_link => leave("b=$(git symbolic-ref HEAD); rm -f .git/logs/$b; ln -s @OUT/victim .git/logs/$b"),
    log_of_a_branch_with_a_long_name_is_no_link => leave("b=$(git symbolic-ref HEAD); rm -f .git/logs/$b; ln -s @OUT/victim .git/logs/$b")
        .given(|w| { w.git("@PROJECT", &["checkout", "-q", "-b", &"a".repeat(248)]); }),
    list_of_what_was_fetched_is_no_link => leave("rm -f .git/FETCH_HEAD; ln -s @OUT/victim .git/FETCH_HEAD"),
    message_of_a_module_is_no_link => leave("rm -f .git/modules/lib/COMMIT_EDITMSG; \
        ln -s @OUT/victim .git/modules/lib/COMMIT_EDITMSG").given(submodule),
    message_of_a_new_repository_is_no_link => leave("rm -rf .git; git init -q .; ln -s @OUT/victim .git/COMMIT_EDITMSG")
        .given(|w| fs::remove_dir_all(w.path("@PROJECT/.git")).expect("no repository")),
    message_is_no_second_name_of_the_configuration => leave(format!(
        "rm -f .git/COMMIT_EDITMSG; ln .git/config .git/COMMIT_EDITMSG; {MESSAGE} .git/MERGE_MSG")),
}
