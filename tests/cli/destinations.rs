//! Files that the caller names to be written (`run --report`, `policy learn --output`): never through what an earlier run may
//! have left in the project, and never waited for.

use std::fs;
use std::time::{Duration, Instant};

use glee_tests::Caller;

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// Each way to name a file, and what comes before it.
const WAYS: [&[&str]; 2] = [
    &["run", "--policy", "restricted", "--report"],
    &["policy", "learn", "--force", "--output"],
];

/// A call that writes to `to`.
fn writes(at: &Place, way: &[&str], to: &str) -> Seen {
    at.seen([way, &[to, "--", "echo", "started"]].concat())
}

/// The call is refused before the command starts, soon, with these words.
#[track_caller]
fn refuses(at: &Place, to: &str, words: &[&str]) {
    for way in WAYS {
        let began = Instant::now();
        let seen = writes(at, way, to);
        assert_eq!(
            (seen.status, seen.stdout.as_str()),
            (125, ""),
            "{way:?} {to}: {}",
            seen.stderr
        );
        assert!(began.elapsed() < Duration::from_secs(30), "it waited");
        for word in words {
            let word = at.world.fill(word);
            assert!(
                seen.stderr.contains(&word),
                "`{word}` is not in the message: {}",
                seen.stderr
            );
        }
    }
}

/// The call writes what it should to `to`, where `read` finds it.
#[track_caller]
fn arrives(at: &Place, to: &str, read: &str) {
    for (way, mark) in WAYS.into_iter().zip(["run_id", "extends"]) {
        let seen = writes(at, way, to);
        assert_eq!(seen.status, 0, "{way:?} {to}: {}", seen.stderr);
        let text = at.host(&format!("cat {read}"));
        assert!(text.contains(mark), "{way:?} {to}: {text}");
    }
}

/// A script of bash on the host, in which `$RUN` and `$LEARN` begin a call.
fn script(at: &Place, script: &str) -> String {
    let words = WAYS.map(|way| format!("@BIN {}", way.join(" ")));
    let [run, learn] = words;
    at.world.file(
        "@OUT/script",
        &at.world.fill(&format!("RUN='{run}' LEARN='{learn}'\n{script}")),
    );
    at.host("export XDG_CONFIG_HOME=@CONFIG XDG_STATE_HOME=@STATE; timeout 60 bash -eu @OUT/script")
}

claims! {
    fn a_link_in_the_project_on_the_way_is_refused_with_the_path_to_type(at) {
        at.world.file("@OUT/victim/file", "old\n");
        at.host("mkdir -p sub real; ln -s @OUT/victim out; ln -s ../out sub/far; ln -s real near");
        for (to, leads_to) in [
            ("out/file", "@OUT/victim/file"),
            ("./out/new", "@OUT/victim/new"),
            ("@PROJECT/out/file", "@OUT/victim/file"),
            ("sub/far/file", "@OUT/victim/file"),
            ("sub/../out/file", "@OUT/victim/file"),
            ("near/file", "@PROJECT/real/file"),
        ] {
            refuses(at, to, &["symbolic link in the project", &format!("` leads to `{leads_to}`")]);
            let hint = format!("if that is meant: --report {leads_to}");
            at.is_refused(&[WAYS[0], &[to, "--", "echo", "started"]].concat(), &[&hint]);
        }
        assert_eq!(at.host("cat @OUT/victim/file; ls @OUT/victim; ls real"), "old\nfile\n");
        arrives(at, "@OUT/victim/file", "@OUT/victim/file");
    }

    fn a_link_in_the_project_as_the_file_is_refused_with_the_path_to_type(at) {
        at.world.file("@OUT/victim", "old\n");
        at.host("echo old > real; mkfifo @OUT/pipe");
        for target in ["@OUT/victim", "@OUT/missing", "@OUT/pipe", "/dev/null", "real"] {
            at.host(&format!("ln -sfn {target} link"));
            let leads_to = if target == "real" { "@PROJECT/real" } else { target };
            refuses(at, "link", &["symbolic link in the project", leads_to]);
            assert_eq!(at.host("readlink link"), at.world.fill(&format!("{target}\n")));
        }
        assert_eq!(at.host("cat @OUT/victim real; ls @OUT | grep missing || true"), "old\nold\n");
    }

    fn a_link_in_a_project_around_this_one_is_refused(at) {
        at.world.file("@OUT/victim/file", "old\n");
        at.host("mkdir -p .glee inner/.glee; ln -s @OUT/victim out");
        let words = [WAYS[0], &["../out/file", "--", "echo", "started"]].concat();
        let seen = Seen::of(&at.call(words).cwd("@PROJECT/inner").go());
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""), "{}", seen.stderr);
        assert_eq!(at.host("cat @OUT/victim/file"), "old\n");
    }

    fn a_link_in_the_project_is_refused_if_there_is_no_such_project_too(at) {
        at.world.file("@OUT/victim/file", "old\n");
        at.host("ln -s @OUT/victim out");
        let seen = at.seen(["run", "--project", "missing", "--report", "out/file", "--", "echo", "started"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""), "{}", seen.stderr);
        assert_eq!(at.host("cat @OUT/victim/file"), "old\n");
    }

    fn a_pipe_in_the_project_is_refused_and_not_waited_for(at) {
        at.host("mkfifo pipe");
        refuses(at, "pipe", &["pipe` is a pipe or a device in the project"]);
        refuses(at, "@PROJECT/pipe", &["is a pipe or a device in the project"]);
        refuses(at, "pipe/report", &["pipe/report"]);
        at.host("ln -s @PROJECT/pipe @OUT/link");
        refuses(at, "@OUT/link", &["is a pipe or a device in the project"]);
    }

    fn a_device_in_the_project_is_refused(at) {
        if at.world.caller() == Caller::Root {
            at.host("mknod device c 1 3; mknod block b 7 250");
        } else {
            // Of root's making, as root's own runs could have left it.
            let made = std::process::Command::new("mknod").arg(at.world.path("@PROJECT/device")).args(["-m", "666", "c", "1", "3"]).status();
            assert!(made.is_ok_and(|status| status.success()), "mknod");
        }
        refuses(at, "device", &["is a pipe or a device in the project"]);
        if at.world.caller() == Caller::Root {
            refuses(at, "block", &["is a pipe or a device in the project"]);
        }
    }

    fn a_pipe_elsewhere_is_written_to_if_somebody_reads_and_else_refused(at) {
        at.host("mkfifo @OUT/pipe");
        refuses(at, "@OUT/pipe", &["is a pipe from which nobody reads", "start its reader first"]);
        let told = script(at, "{ sleep 0.3; timeout 20 cat @OUT/pipe > @OUT/got; } & $RUN @OUT/pipe -- true; wait; grep -c run_id @OUT/got
            { sleep 0.3; timeout 20 cat @OUT/pipe > @OUT/got; } & $LEARN @OUT/pipe -- true 2> /dev/null; wait; grep -c extends @OUT/got");
        assert_eq!(told, "1\n1\n");
    }

    fn links_of_the_callers_own_are_followed(at) {
        at.host("mkdir @OUT/real; ln -s real @OUT/link; ln -s @PROJECT @OUT/way; mkdir sub; ln -s @PROJECT/sub @OUT/sub");
        arrives(at, "@OUT/link/file", "@OUT/real/file");
        arrives(at, "@OUT/way/file", "file");
        arrives(at, "@OUT/sub/file", "sub/file");
        let words = [WAYS[0], &["again", "--", "true"]].concat();
        assert_eq!(Seen::of(&at.call(words).cwd("@OUT/way").go()).whole(), (0, "", ""));
        assert!(at.project().join("again").exists());
        let words = ["run", "--project", "@OUT/way", "--report", "@OUT/way/third", "--", "true"];
        assert_eq!(at.seen(words).whole(), (0, "", ""));
        assert!(at.project().join("third").exists());
    }

    fn a_link_of_the_callers_own_as_the_file_is_followed_and_stays(at) {
        at.host("ln -s new @OUT/dangling; echo old > @OUT/old; mkdir @OUT/far; ln -s ../old @OUT/far/link; ln -s @PROJECT/in @OUT/in");
        arrives(at, "@OUT/dangling", "@OUT/new");
        arrives(at, "@OUT/far/link", "@OUT/old");
        arrives(at, "@OUT/in", "in");
        assert_eq!(at.host("readlink @OUT/dangling @OUT/far/link"), "new\n../old\n");
        assert_eq!(at.host("ls @OUT @OUT/far"), at.world.fill("@OUT:\ndangling\nfar\nin\nnew\nold\n\n@OUT/far:\nlink\n"));
    }

    fn a_link_where_the_command_may_write_is_refused_with_the_path_to_type(at) {
        at.world.file("@OUT/victim", "old\n");
        at.host("mkdir @OUT/tree; ln -s ../victim @OUT/tree/link");
        let words = ["run", "--write", "@OUT/tree", "--report", "@OUT/tree/link", "--", "echo", "started"];
        at.is_refused(&words, &["through a symbolic link where a command may write", "if that is meant: --report @OUT/victim"]);
        assert_eq!(at.host("cat @OUT/victim"), "old\n");
        at.host("mkdir @OUT/dir; ln -s ../dir @OUT/tree/way");
        let words = ["run", "--write", "@OUT/tree", "--report", "@OUT/tree/way/file", "--", "echo", "started"];
        at.is_refused(&words, &["through a symbolic link where a command may write", "if that is meant: --report @OUT/dir/file"]);
        assert_eq!(at.host("ls @OUT/dir"), "");
    }

    fn a_refused_run_is_reported_through_the_callers_own_link_and_never_silently_not(at) {
        at.host("ln -s file @OUT/link; echo old > @OUT/file");
        let report = |flags: &[&str], command: &str| {
            at.seen([&["run"], flags, &["--report", "@OUT/link", "--", command]].concat())
        };
        assert_eq!(report(&[], "/nowhere").status, 127);
        assert!(at.host("cat @OUT/file").contains("\"exit_code\": 127"));
        assert_eq!(report(&["--read", "@OUT/nowhere"], "true").status, 125);
        assert!(at.host("cat @OUT/file").contains("\"exit_code\": 125"));
        at.host("echo old > @OUT/file");
        let seen = report(&["--policy", "nowhere"], "true");
        assert!(seen.status == 125 && seen.stderr.contains("without a policy nobody knows"), "{}", seen.stderr);
        assert_eq!(at.host("cat @OUT/file"), "old\n");
    }

    fn who_could_not_read_the_old_file_cannot_read_the_new_one(at) {
        at.host("echo old > @OUT/file; chmod 600 @OUT/file");
        arrives(at, "@OUT/file", "@OUT/file");
        assert_eq!(at.host("stat -c %a @OUT/file"), "600\n");
        arrives(at, "@OUT/fresh", "@OUT/fresh");
        assert_eq!(at.host("stat -c %a @OUT/fresh"), "644\n");
    }

    fn a_file_in_a_directory_that_is_not_writable_is_written_in_place(at) {
        at.host("mkdir @OUT/closed; seq 9999 > @OUT/closed/file; chmod 555 @OUT/closed");
        arrives(at, "@OUT/closed/file", "@OUT/closed/file");
        assert_eq!(at.host("tail -c 2 @OUT/closed/file | grep -c 9 || true; ls @OUT/closed"), "0\nfile\n");
        if at.world.caller() == Caller::User {
            refuses(at, "@OUT/closed/new", &["@OUT/closed/new"]);
        }
    }

    fn a_directory_that_the_command_puts_in_the_way_is_set_aside_and_named(at) {
        let words = ["run", "--policy", "workspace", "--report", "file", "--", "sh", "-c", "mkdir file; echo x > file/y"];
        let seen = at.seen(words);
        let was = at.world.fill("@PROJECT/file");
        let said = format!("the command made a directory of `{was}`, where the report is: it was renamed to `{was}.set-aside.");
        assert!(seen.status == 0 && seen.stderr.contains(&said), "{}", seen.stderr);
        assert!(!seen.stderr.contains("git"), "{}", seen.stderr);
        let report: serde_json::Value = serde_json::from_str(&at.host("cat file")).expect("a report");
        assert_eq!(report["set_aside"], serde_json::json!([was]));
        assert_eq!(at.host("cat file.set-aside.*/y"), "x\n");
    }

    fn an_open_file_that_the_caller_hands_over_is_written_to(at) {
        let told = script(at, "$RUN /dev/fd/3 -- true 3> @OUT/three; grep -c run_id @OUT/three
            echo old > @OUT/four; ! $RUN /dev/fd/4 -- true 4< @OUT/four 2> /dev/null; cat @OUT/four
            ! $RUN /dev/fd/5 -- true 2> /dev/null; ls @OUT");
        assert_eq!(told, "1\nold\nfour\nscript\nthree\n");
    }

    fn streams_of_the_callers_own_are_written_to(at) {
        let told = script(at, "$RUN /dev/stdout -- true | grep -c run_id
            $RUN /dev/stderr -- true 2>&1 > /dev/null | grep -c run_id
            $RUN /dev/fd/3 -- true 3> >(grep -c run_id > @OUT/one); while ! [ -s @OUT/one ]; do sleep 0.1; done; cat @OUT/one
            $RUN >(grep -c run_id > @OUT/two) -- true; while ! [ -s @OUT/two ]; do sleep 0.1; done; cat @OUT/two
            $RUN /proc/self/fd/1 -- true | grep -c run_id
            $LEARN /dev/stdout -- true 2> /dev/null | grep -c extends
            $RUN /dev/null -- echo done");
        assert_eq!(told, "1\n1\n1\n1\n1\n1\ndone\n");
    }

    fn standard_output_that_is_a_file_is_followed_and_not_replaced(at) {
        // Not `/dev/stdout` itself: that a report would take its place is what is looked for.
        let told = script(at, "ln -s /proc/self/fd/1 @OUT/stdout
            { echo first; $RUN @OUT/stdout -- echo second; echo third; } > @OUT/all
            readlink @OUT/stdout; grep -c run_id @OUT/all; grep -xE 'first|second|third' @OUT/all");
        assert_eq!(told, "/proc/self/fd/1\n1\nfirst\nsecond\nthird\n");
    }

    fn a_name_as_long_as_names_may_be_is_written(at) {
        for length in [220, 240, 255] {
            let name = "a".repeat(length);
            arrives(at, &name, &name);
        }
        assert_eq!(fs::read_dir(at.project()).expect("list it").count(), 3, "nothing else is left");
    }
}
