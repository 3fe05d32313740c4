//! Where the project lies and from where `run` is called.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use glee_tests::{Run, binary};

use crate::claims::claims;
use crate::support::{PATH, Place, text};

/// A project of this name beside the usual one: read and written from within, and seen from outside afterwards.
fn works_in_a_project_called(at: &Place, name: &[u8]) {
    let project = at.home().join(Path::new(std::ffi::OsStr::from_bytes(name)));
    at.world.file("@PROJECT/file", "content\n");
    fs::rename(at.project(), &project).expect("rename the project");
    let script = "cat file; pwd -P; [ \"$PWD\" -ef . ]; echo written > new; cat \"$(pwd -P)/new\"";
    let enter = "cd \"$1\" && shift && exec \"$@\"";
    let mut argv: Vec<OsString> = ["sh", "-c", enter, "sh"].map(OsString::from).to_vec();
    argv.push(project.clone().into());
    argv.push(binary().into());
    argv.extend(["run", "--policy", "workspace", "--", "bash", "-euc", script].map(OsString::from));
    let seen = Run::bare(&at.world)
        .raw_command(argv)
        .cwd("@HOME")
        .env("PATH", PATH)
        .go();
    let expected = [b"content\n", project.as_os_str().as_bytes(), b"\nwritten\n"].concat();
    assert_eq!(
        (seen.code(), OsString::from_vec(seen.stdout.clone())),
        (Some(0), OsString::from_vec(expected)),
        "{}",
        seen.err()
    );
    assert_eq!(
        fs::read_to_string(project.join("new")).expect("the new file"),
        "written\n"
    );
    fs::rename(&project, at.project()).expect("rename the project back");
}

claims! {
    fn a_tree_too_deep_to_be_searched_for_denied_names_is_hidden_and_stops_no_run(at) {
        let deep = "import os\nfor i in range(2300): os.mkdir('a'); os.chdir('a')\nopen('.env', 'w').write('secret')";
        at.host(&format!("mkdir -p x; cd x; python3 -c \"{deep}\""));
        at.world.file("@CONFIG/p.yml", "extends: workspace\nfs: {deny: ['**/.env']}\n");
        let look = "find . -name .env 2> /dev/null | head -c 100; echo ran";
        let seen = at.seen(["run", "--policy", "@CONFIG/p.yml", "--", "sh", "-c", look]);
        at.host("rm -rf x");
        assert_eq!(seen.whole(), (0, "ran\n", ""));
    }

    fn a_project_named_from_a_linked_directory_is_there_under_both_names(at) {
        at.host("mkdir -p real/sub; echo text > real/sub/file; ln -s real link");
        let link = at.project().join("link");
        let enter = format!("cd '{}' && export PWD && exec \"$@\"", link.display());
        for project in [".", "sub", "sub/..", "@PROJECT/real"] {
            let named = link.join("sub/file").display().to_string();
            let call = at.call(["run", "--policy", "restricted", "--project", project, "--", "cat", &named]);
            let seen = call.through(["sh", "-c", &enter, "sh"]).go();
            assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "text\n", ""), "{project}");
        }
    }

    fn the_whole_machine_is_not_granted_for_writing(at) {
        at.is_refused(&["run", "--policy", "restricted", "--write", "/", "--", "echo", "started"], &["whole machine"]);
        at.is_refused(&["run", "--project", "/", "--policy", "workspace", "--", "echo", "started"], &["whole machine"]);
        let seen = at.call(["run", "--project", "/", "--policy", "restricted", "--", "echo", "read"]).cwd("/").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "read\n"), "{}", seen.err());
    }

    fn a_command_behind_a_closed_directory_is_126(at) {
        at.world.program("@PROJECT/shut/tool", "#!/bin/sh\necho ran\n");
        at.world.mode("@PROJECT/shut", 0o000);
        let seen = at.seen(["run", "--policy", "restricted", "--", "shut/tool"]);
        at.world.mode("@PROJECT/shut", 0o755);
        // Nothing is closed to root.
        let expected = if at.world.caller() == glee_tests::Caller::Root { seen.status } else { 126 };
        assert_eq!(seen.status, expected, "{}", seen.stderr);
    }

    fn a_project_path_may_have_spaces(at) {
        works_in_a_project_called(at, b"two  words ");
    }

    fn a_project_path_may_have_quotes_and_shell_characters(at) {
        works_in_a_project_called(at, b"it's \"$HOME\" `id` *;&|<>\\ #!~{}[]()%:,=");
    }

    fn a_project_path_may_have_newlines_and_control_characters(at) {
        works_in_a_project_called(at, b"new\nline\ttab\x1b[31m\x7f");
    }

    fn a_project_path_may_have_bytes_that_are_no_utf_8(at) {
        works_in_a_project_called(at, b"latin-\xe9-\xff\xfe");
    }

    fn a_project_path_may_be_unicode(at) {
        works_in_a_project_called(at, "プロジェクト-🎉-\u{202e}rtl".as_bytes());
    }

    fn a_project_path_may_be_named_like_an_option(at) {
        works_in_a_project_called(at, b"--project=x");
    }

    fn a_project_path_may_be_long(at) {
        works_in_a_project_called(at, "n".repeat(255).as_bytes());
    }

    fn a_project_under_a_symlink_works_by_its_logical_path(at) {
        at.world.file("@PROJECT/file", "content\n");
        at.world.link("@HOME", "@OUT/alias");
        let call = ["run", "--policy", "workspace", "--", "sh", "-euc", "cat file; pwd -P; echo x > new"];
        let seen = at.call(call).through(["sh", "-c", "cd @OUT/alias/project && exec \"$@\"", "sh"]).go();
        let expected = format!("content\n{}\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out(), seen.err()), (Some(0), expected, String::new()));
        assert_eq!(at.host("cat new"), "x\n");
    }

    fn a_project_named_by_a_symlink_works(at) {
        at.world.file("@PROJECT/file", "content\n");
        at.world.link("@PROJECT", "@OUT/alias");
        let seen = at.seen(["run", "--project", "@OUT/alias", "--policy", "restricted", "--", "cat", "@PROJECT/file"]);
        assert_eq!(seen.whole(), (0, "content\n", ""));
    }

    fn a_working_directory_below_the_project_is_kept(at) {
        at.world.file("@PROJECT/a/b/file", "below\n");
        at.world.dir("@PROJECT/.glee");
        let run = at.shell("restricted", "pwd -P; cat file ../../top").cwd("@PROJECT/a/b");
        at.world.file("@PROJECT/top", "top\n");
        let seen = run.go();
        let expected = format!("{}/a/b\nbelow\ntop\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out(), seen.err()), (Some(0), expected, String::new()));
    }

    fn without_glee_the_working_directory_is_the_project(at) {
        at.world.file("@PROJECT/sub/file", "below\n");
        at.world.file("@PROJECT/top", "top\n");
        let seen = at.shell("restricted", "pwd -P; cat file; cat ../top || echo hidden").cwd("@PROJECT/sub").go();
        let expected = format!("{}/sub\nbelow\nhidden\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out()), (Some(0), expected), "{}", seen.err());
    }

    fn project_names_another_directory_than_the_working_directory(at) {
        at.world.file("@PROJECT/file", "content\n");
        let call = ["run", "--project", "@PROJECT", "--policy", "restricted", "--", "sh", "-euc", "cat file; pwd -P"];
        let seen = at.call(call).cwd("@OUT").go();
        let expected = format!("content\n{}\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out(), seen.err()), (Some(0), expected, String::new()));
    }

    fn a_missing_glee_directory_is_not_made(at) {
        at.world.file("@PROJECT/file", "content\n");
        for policy in ["restricted", "workspace"] {
            assert_eq!(at.run(policy, "cat file").whole(), (0, "content\n", ""));
            assert_eq!(at.host("ls -A"), "file\n", "{policy}");
        }
    }

    fn a_restricted_run_changes_nothing_in_the_project(at) {
        at.host("git init -q . && mkdir -p .glee src && echo x > src/a && ln -s src link && mkfifo fifo && chmod 700 src");
        let before = at.listing();
        let attempts = "for f in src/a new .git/config .git/new .glee/new link/new; do echo y > $f || echo kept $f; done
            rm -rf src .git/HEAD || :; mkdir dir || :; touch src/a || :; chmod 777 src || :
            mkdir -p .glee/agent_sessions && cd .glee/agent_sessions && echo s > mine && cat mine";
        let seen = at.call(["run", "--policy", "restricted", "--", "sh", "-c", attempts]).go();
        let kept = "kept src/a\nkept new\nkept .git/config\nkept .git/new\nkept .glee/new\nkept link/new\ns\n";
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), kept), "{}", seen.err());
        assert_eq!(at.listing(), before);
    }
}
