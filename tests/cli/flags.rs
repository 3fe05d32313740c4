//! The flags of `run` that widen it: the invoking person's own word.

use std::fs;

use crate::claims::claims;

claims! {
    fn a_further_grant_takes_no_socket_away(at) {
        at.host("mkdir @OUT/so");
        let path = at.world.path("@OUT/so/sock");
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("listen");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).expect("open it");
        let connects = |flags: &[&str]| {
            let connect = "import socket; socket.socket(socket.AF_UNIX).connect('@OUT/so/sock'); print('connected')";
            let words = [&["run"], flags, &["--", "python3", "-c", connect]].concat();
            at.seen(words).stdout == "connected\n"
        };
        assert!(connects(&["--read", "@OUT/so/sock"]));
        assert!(connects(&["--read", "@OUT/so", "--read", "@OUT/so/sock"]));
        assert!(connects(&["--write", "@OUT/so", "--write", "@OUT/so/sock"]));
        assert!(!connects(&["--read", "@OUT/so"]));
        assert!(!connects(&["--write", "@OUT/so"]));
    }

    fn read_grants_a_directory_for_reading_only(at) {
        at.world.file("@OUT/data/file", "granted\n");
        at.world.file("@OUT/other", "not granted\n");
        let script = "cat @OUT/data/file; echo x > @OUT/data/file || echo kept; cat @OUT/other || echo hidden";
        let seen = at.seen(["run", "--policy", "restricted", "--read", "@OUT/data", "--", "sh", "-c", script]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "granted\nkept\nhidden\n"), "{}", seen.stderr);
    }

    fn write_grants_a_directory_whose_changes_stay(at) {
        at.world.dir("@OUT/data");
        let script = "echo kept > @OUT/data/new";
        let seen = at.seen(["run", "--policy", "restricted", "--write", "@OUT/data", "--", "sh", "-c", script]);
        assert_eq!(seen.whole(), (0, "", ""));
        let path = at.world.path("@OUT/data/new");
        assert_eq!(fs::read_to_string(&path).expect("the new file is there"), "kept\n");
    }

    fn read_and_write_of_a_single_file_grant_no_neighbour(at) {
        at.world.file("@OUT/one", "one\n");
        at.world.file("@OUT/two", "two\n");
        at.world.file("@OUT/three", "three\n");
        let script = "cat @OUT/one; echo changed > @OUT/two; cat @OUT/three || ls @OUT";
        let flags = ["run", "--policy", "restricted", "--read", "@OUT/one", "--write", "@OUT/two"];
        let seen = at.seen([flags.as_slice(), &["--", "sh", "-c", script]].concat());
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "one\none\ntwo\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat @OUT/two"), "changed\n");
    }

    fn a_name_that_a_link_of_the_project_leads_to_what_the_host_obeys_is_refused(at) {
        at.host("git init -q .; mkdir .claude src; ln -s .git/hooks build; ln -s .claude out; ln -s . all; ln -s src fine");
        for name in ["build", "out", "all"] {
            let seen = at.seen(["run", "--write", name, "--", "true"]);
            assert_eq!(seen.status, 125, "{name}: {}", seen.stderr);
            assert!(seen.stderr.contains("through a symbolic link in the project"), "{}", seen.stderr);
            at.world.file("@OUT/p.yml", &format!("fs: {{read: ['.'], write: ['{name}']}}\n"));
            let seen = at.seen(["run", "--policy", "@OUT/p.yml", "--", "true"]);
            assert_eq!(seen.status, 125, "{name}: {}", seen.stderr);
        }
        let seen = at.seen(["run", "--write", "fine", "--", "sh", "-c", "echo x > fine/file"]);
        assert_eq!(seen.whole(), (0, "", ""));
        let seen = at.seen(["run", "--write", ".claude", "--", "sh", "-c", "echo x > .claude/file"]);
        assert_eq!(seen.whole(), (0, "", ""), "somebody's own word");
    }

    fn a_name_that_a_link_of_the_project_leads_out_is_refused_with_the_path_to_type(at) {
        at.world.file("@OUT/private/key", "secret\n");
        at.world.link(&at.world.fill("@OUT/private"), "@PROJECT/out");
        for flag in ["--read", "--write"] {
            for name in ["out", "./out", "@PROJECT/out", "out/key"] {
                let words = [&format!("{flag} @OUT/private"), "symbolic link"];
                at.is_refused(&["run", "--policy", "restricted", flag, name, "--", "echo", "started"], &words);
            }
        }
        let script = "cat @OUT/private/key";
        let flags = ["run", "--policy", "restricted", "--read", "@OUT/private", "--", "sh", "-c", script];
        assert_eq!(at.seen(flags).whole(), (0, "secret\n", ""));
    }

    fn a_name_that_a_link_of_the_callers_own_leads_elsewhere_is_granted(at) {
        at.world.file("@OUT/real/file", "granted\n");
        at.world.link("real", "@OUT/link");
        let flags = ["run", "--policy", "restricted", "--read", "@OUT/link", "--", "cat", "@OUT/link/file"];
        assert_eq!(at.seen(flags).whole(), (0, "granted\n", ""));
    }

    fn a_grant_through_a_link_that_the_command_could_replace_is_refused(at) {
        at.world.dir("@OUT/ws");
        at.world.dir("@OUT/private");
        at.world.link("../private", "@OUT/ws/out");
        let policy = at.world.fill("extends: restricted\nfs: {write: ['@OUT/ws', '@OUT/ws/out']}\n");
        at.world.file("@CONFIG/p.yml", &policy);
        at.is_refused(&["run", "--policy", "@CONFIG/p.yml", "--", "echo", "started"], &["p.yml:2", "symbolic link"]);
        let flags = ["run", "--policy", "restricted", "--write", "@OUT/ws", "--read", "@OUT/ws/out"];
        at.is_refused(&[flags.as_slice(), &["--", "echo", "started"]].concat(), &["--read", "symbolic link"]);
    }

    fn a_path_that_is_not_there_cannot_be_granted_for_reading(at) {
        at.is_refused(
            &["run", "--policy", "restricted", "--read", "@OUT/nosuch", "--", "echo", "started"],
            &["@OUT/nosuch"],
        );
    }

    fn hints_about_the_command_line_can_be_followed(at) {
        let told = |call: &[&str]| {
            let seen = at.call(call.iter().copied()).go();
            assert_eq!(seen.out(), "", "{call:?}");
            seen.err()
        };
        let nothing = "glee-supervisor: error: cannot enforce `fs.FLAG: @OUT/nosuch` (--FLAG): there is nothing at this path\n\
                       hint: create it first, or leave the flag out\n";
        for flag in ["read", "write"] {
            let seen = told(&["run", &format!("--{flag}"), "@OUT/nosuch", "--", "true"]);
            assert_eq!(seen, at.world.fill(&nothing.replace("FLAG", flag)));
        }
        assert_eq!(
            told(&["run", "--net", "https://example.org:8443/path", "--", "true"]),
            "glee-supervisor: --net: error: `--net`: `https://example.org:8443/path` is a URL, and only its host is wanted\n\
             hint: write `example.org:8443`\n",
        );
        assert_eq!(
            told(&["policy", "show", "nosuch"]),
            "glee-supervisor: policy: error: there is no profile `nosuch`\n\
             hint: `glee-supervisor policy list` shows the profiles\n",
        );
        at.world.file("@PROJECT/big.yml", &format!("# {}\n", "x".repeat(1_100_000)));
        assert_eq!(
            told(&["policy", "show", "./big.yml"]),
            format!(
                "glee-supervisor: ./big.yml:1:1048577: error: the file is larger than 1 MiB, and no more is read\n\
                 1 | {}\n  | {}^\n\
                 hint: keep only the policy in this file\n",
                "x".repeat(61),
                " ".repeat(60),
            ),
        );
    }

    fn a_home_that_is_no_absolute_path_is_none(at) {
        let seen = at.call(["run", "--write", "~/x", "--", "true"]).env("HOME", "relative").go();
        let told = "--write: error: `--write`: `~/x` needs a home directory, and HOME is not set to an absolute path\n\
                    hint: set HOME, or write an absolute path\n";
        assert!(seen.code() == Some(125) && seen.err().contains(told), "{}", seen.err());
    }

    fn env_passes_a_name_or_sets_a_value(at) {
        let flags = ["run", "--policy", "restricted", "--env", "GIVEN", "--env", "SET=a value"];
        let call = at.call([flags.as_slice(), &["--", "sh", "-c", "echo $GIVEN,$SET,$OTHER"]].concat());
        let seen = call.env("GIVEN", "from outside").env("OTHER", "hidden").go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "from outside,a value,\n", ""));
    }

    fn the_user_by_name_is_the_sandboxs_own(at) {
        let call = |flags: &[&str], policy: &str| {
            let script = "echo $USER $LOGNAME; id -un";
            let call = [&["run", "--policy", policy], flags, &["--", "sh", "-c", script]].concat();
            let name = at.world.caller().name();
            at.call(call).env("USER", name).env("LOGNAME", name).go().out()
        };
        let said = call(&[], "workspace");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], format!("{0} {0}", lines[1]));
        assert!(call(&["--env", "USER=root", "--env", "LOGNAME=ada"], "workspace").starts_with("root ada\n"));
        assert_eq!(call(&[], "inherit").lines().next(), Some(format!("{0} {0}", at.world.caller().name()).as_str()));
    }

    fn env_passes_term_for_full_screen_programs(at) {
        let script = "echo $TERM; tput bold | od -An -c";
        let call = ["run", "--policy", "workspace", "--env", "TERM", "--", "sh", "-c", script];
        let seen = at.call(call).env("TERM", "xterm").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "xterm\n 033   [   1   m\n"), "{}", seen.err());
    }

    fn timeout_takes_seconds_minutes_and_fractions(at) {
        for time in ["30s", "1m", "2.5s", "1500ms", "1h"] {
            let seen = at.seen(["run", "--policy", "restricted", "--timeout", time, "--", "true"]);
            assert_eq!(seen.whole(), (0, "", ""), "--timeout {time}");
        }
    }

    fn a_policy_file_decides_like_a_profile(at) {
        at.world.file("@OUT/mine.yml", "extends: restricted\nfs:\n  write: [\"out\"]\nenv:\n  set: {COLOUR: green}\n");
        at.world.dir("@PROJECT/out");
        let script = "echo $COLOUR > out/file; echo x > file || echo kept";
        let seen = at.seen(["run", "--policy", "@OUT/mine.yml", "--", "sh", "-c", script]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "kept\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat out/file; ls"), "green\nout\n");
    }

    fn a_policy_file_may_carry_the_prefix_of_the_configuration(at) {
        let policy = "security:\n  subagent_permissions:\n    fs: {read: [\".\"], write: [\".\"]}\n";
        at.world.file("@OUT/prefixed.yml", policy);
        assert_eq!(at.run("@OUT/prefixed.yml", "echo x > file; cat file").whole(), (0, "x\n", ""));
    }

    fn an_empty_list_of_reads_hides_the_project(at) {
        at.world.file("@PROJECT/file", "content\n");
        at.world.file("@OUT/none.yml", "fs: {read: [], write: []}\n");
        let seen = at.shell("@OUT/none.yml", "cat @PROJECT/file || echo hidden").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "hidden\n"), "{}", seen.err());
    }

    fn the_default_policy_is_restricted(at) {
        let (seen, report) = at.reported(&["--", "sh", "-c", "touch started || echo kept"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "kept\n"), "{}", seen.stderr);
        assert_eq!(report["policy"]["name"], "restricted");
    }

    fn inherit_keeps_the_callers_rights_under_a_deadline(at) {
        at.world.file("@OUT/file", "readable\n");
        let script = "cat @OUT/file; id -u; sleep 30";
        let seen = at.seen(["run", "--policy", "inherit", "--timeout", "1s", "--", "sh", "-c", script]);
        let uid = at.world.caller().uid();
        assert_eq!((seen.status, seen.stdout), (124, format!("readable\n{uid}\n")), "{}", seen.stderr);
    }
}
