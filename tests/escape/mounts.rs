//! What the administrator has mounted in the project: a socket on a file, and one directory at two places.

use std::fs;

use glee_tests::{Attempt, Leak, World, attempt};

/// A server on the host, mounted on a file of the project.
fn mounted_socket() -> Attempt {
    attempt("@A unix deep/agent @ID", Leak::Heard).given(|w| {
        w.listen_unix("@OUT/s");
        w.file("@PROJECT/deep/agent", "");
        w.mount("@OUT/s", "@PROJECT/deep/agent");
    })
}

/// A program of the host's that reads what comes through a pipe, which is mounted on a file of the project.
fn mounted_pipe() -> Attempt {
    const HEARD: &str = "@OUT/heard";
    attempt(
        "echo evil > pipe",
        Leak::Seen(|w, _| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            let heard = fs::read_to_string(w.path(HEARD)).unwrap_or_default();
            heard.contains("evil").then(|| "it was read outside".into())
        }),
    )
    .given(|w| {
        w.host_does("mkfifo @OUT/pipe");
        w.file("@PROJECT/pipe", "");
        w.mount("@OUT/pipe", "@PROJECT/pipe");
        // Open in both directions: nobody waits for the other end.
        w.host_does("(timeout 30 cat <> @OUT/pipe > @OUT/heard 2>&1 &)");
    })
}

/// `x` is mounted at `y/z`.
fn twice(w: &World) {
    w.dir("@PROJECT/x/d");
    w.dir("@PROJECT/y/z");
    w.mount("@PROJECT/x", "@PROJECT/y/z");
}

/// The project is mounted in itself.
fn in_itself(w: &World) {
    w.dir("@PROJECT/x/d");
    w.dir("@PROJECT/loop");
    w.mount("@PROJECT", "@PROJECT/loop");
}

/// The command does something, then the host makes a name that is denied, then the command looks.
fn later(given: fn(&World), base: &str, host: &'static str, look: &str) -> Attempt {
    attempt(look, Leak::Secret)
        .secret_at("@OUT/secret")
        .given(given)
        .meanwhile(move |w| {
            w.host_does(host);
            w.settle();
        })
        .yaml(&format!("extends: {base}\nfs: {{deny: ['**/.env', 'x/d/*.key']}}\n"))
}

fn moved(given: fn(&World), command: &str, host: &'static str, look: &str) -> Attempt {
    let script =
        format!("{command}; sleep 0.5; @A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; {look}");
    attempt(script, Leak::Secret)
        .secret_at("@OUT/secret")
        .given(given)
        .meanwhile_only(move |w| {
            w.host_does(host);
            w.settle();
        })
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
}

/// The host rewrites a configuration by rename, which takes the mounts on the old file away.
fn rewritten(given: fn(&World), at: &str) -> Attempt {
    attempt(
        format!("printf '[core]\\n fsmonitor = evil\\n' >> {at}/.git/config"),
        Leak::Seen(|w, _| {
            let text = fs::read_to_string(w.path("@PROJECT/x/.git/config")).unwrap_or_default();
            text.contains("evil").then_some(text)
        }),
    )
    .given(given)
    .given(|w| w.host_does("git init -q x"))
    .workspace()
    .meanwhile(|w| {
        w.host_does("cp x/.git/config @OUT/c; mv @OUT/c x/.git/config");
        w.settle();
    })
}

claims! {
    socket_that_is_mounted_on_a_file_is_not_reached => mounted_socket(),
    socket_that_is_mounted_on_a_file_is_not_reached_under_workspace => mounted_socket().workspace(),
    socket_that_is_mounted_far_away_is_not_reached => attempt("@A unix far/99/d/agent @ID", Leak::Heard).given(|w| {
        w.listen_unix("@OUT/s");
        for number in 0..100 {
            w.dir(&format!("@PROJECT/far/{number}/d"));
        }
        w.file("@PROJECT/far/99/d/agent", "");
        w.mount("@OUT/s", "@PROJECT/far/99/d/agent");
    }),
    pipe_that_is_mounted_on_a_file_is_not_written => mounted_pipe(),

    match_made_later_is_hidden_at_the_mount => later(twice, "restricted", "cp @OUT/secret x/.env", "cat y/z/.env"),
    match_made_later_is_hidden_where_it_lies => later(twice, "restricted", "cp @OUT/secret x/.env", "cat x/.env"),
    match_made_later_under_workspace_is_hidden_at_both => later(twice, "workspace", "cp @OUT/secret y/z/.env",
        "cat x/.env y/z/.env"),
    match_in_a_directory_made_later_is_hidden_at_both => later(twice, "restricted",
        "mkdir -p y/z/new/deep; cp @OUT/secret y/z/new/deep/.env", "cat x/new/deep/.env y/z/new/deep/.env"),
    match_of_one_of_two_places_is_hidden_there => later(twice, "restricted", "cp @OUT/secret y/z/d/a.key", "cat x/d/a.key"),
    match_in_a_project_that_is_mounted_in_itself_is_hidden => later(in_itself, "restricted",
        "cp @OUT/secret .env; cp @OUT/secret x/d/.env", "cat .env loop/.env x/d/.env loop/x/d/.env"),
    match_in_two_grants_of_one_directory_is_hidden => later(|w| {
        w.dir("@OUT/one");
        w.dir("@OUT/other");
        w.mount("@OUT/one", "@OUT/other");
    }, "workspace", "cp @OUT/secret @OUT/one/.env", "cat @OUT/one/.env @OUT/other/.env")
        .flags(&["--read", "@OUT/one", "--write", "@OUT/other"]),
    match_in_a_directory_that_was_moved_is_hidden_at_both => moved(twice, "mv x/d y/z/e", "cp @OUT/secret x/e/.env",
        "cat x/e/.env y/z/e/.env"),
    match_is_hidden_at_the_mount_when_the_directory_was_moved => moved(twice, "mv x w", "cp @OUT/secret y/z/.env",
        "cat y/z/.env w/.env"),

    configuration_that_the_host_rewrites_stays_protected_at_the_mount => rewritten(twice, "y/z"),
    configuration_that_the_host_rewrites_stays_protected_where_it_lies => rewritten(twice, "x"),
    configuration_in_a_project_that_is_mounted_in_itself_stays_protected => rewritten(in_itself, "x"),
    configuration_seen_through_the_project_itself_stays_protected => rewritten(in_itself, "loop/x"),
}
