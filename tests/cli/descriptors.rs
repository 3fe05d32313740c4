//! Standard streams that are closed, odd or of another kind, and arguments at the limits.

use glee_tests::Caller;

use crate::claims::claims;
use crate::support::Place;

/// Starts the run from a shell that first redirects.
fn through(at: &Place, redirection: &str, script: &str) -> (Option<i32>, String, String) {
    let enter = format!("exec \"$@\" {redirection}");
    let seen = at.shell("workspace", script).through(["sh", "-c", &enter, "sh"]).go();
    (seen.code(), seen.out(), seen.err())
}

/// Makes a repository, has as many descriptors on their way as can be, and makes a call that the filter refuses.
const IN_FLIGHT: &str = "
import array, ctypes, socket, subprocess
subprocess.run(['git', 'init', '-q', '.'])
subprocess.run(['git', 'config', 'core.fsmonitor', './evil'])
open('ran', 'w').close()
held, files = [], array.array('i', [0] * 253)
for _ in range(100):
    held.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        for _ in range(8):
            held[-1][0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    except OSError:
        pass
ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, None)
raise SystemExit(7)
";

/// Starts the run with what `made` is as one of its standard files.
fn with(at: &Place, policy: &str, number: &str, made: &str) -> (Option<i32>, String, String) {
    let enter = format!(
        "import os, select, socket, subprocess, sys\nmade = {made}\n\
         this = made if isinstance(made, int) else made.fileno()\n\
         sys.exit(subprocess.run(sys.argv[1:], {number}=this).returncode)"
    );
    let seen = at
        .shell(policy, "echo started > /dev/null; exit 5")
        .through(["python3", "-c", &enter])
        .go();
    (seen.code(), seen.out(), seen.err())
}

const PIPES: &str = "hint: put pipes between: `cat | glee-supervisor run … 2>&1 | cat`\n";
const FILES: &str = "hint: redirect it from or to a file, or `/dev/null`\n";

/// Only of root's: an ordinary user's pipes belong to the sandbox's user as well (docs/threat-model.md).
#[test]
fn a_pipe_of_roots_cannot_be_opened_the_other_way() {
    let at = &Place::of(Caller::Root);
    let script =
        "(echo evil > /proc/self/fd/0) 2> /dev/null || :; if (: < /proc/self/fd/1) 2> /dev/null; then echo read; fi";
    let enter = "printf 'a\nb\n' | while read -r line; do echo saw $line; [ $line != a ] || \"$@\" | cat; done";
    let bare = at.host(&format!("set -- sh -c '{script}'; {enter}"));
    assert_eq!(bare, "saw a\nread\nsaw b\nsaw evil\n");
    let seen = at.shell("workspace", script).through(["sh", "-c", enter, "sh"]).go();
    assert_eq!((seen.out().as_str(), seen.err().as_str()), ("saw a\nsaw b\n", ""));
}

claims! {
    fn an_internet_socket_is_no_standard_file(at) {
        at.world.file("@PROJECT/names.yml", "extends: workspace\nnetwork: {allow: [example.org]}\n");
        let told = |name: &str| format!(
            "glee-supervisor: error: {name} is an internet socket, through which the command could reach this machine's network\n{PIPES}"
        );
        for made in ["socket.socket()", "socket.socket(type=socket.SOCK_DGRAM)"] {
            for policy in ["restricted", "workspace", "./names.yml"] {
                let seen = with(at, policy, "stdin", made);
                assert_eq!(seen, (Some(125), String::new(), told("standard input")), "{policy}: {made}");
            }
        }
        let seen = with(at, "restricted", "stdout", "socket.socket()");
        assert_eq!(seen, (Some(125), String::new(), told("standard output")));
        assert_eq!(with(at, "restricted", "stderr", "socket.socket()").0, Some(125));
    }

    fn an_internet_socket_can_be_standard_input_where_the_network_is_the_hosts(at) {
        at.world.file("@PROJECT/open.yml", "extends: workspace\nnetwork: true\n");
        for made in ["socket.socket()", "socket.socket(type=socket.SOCK_DGRAM)"] {
            let seen = with(at, "./open.yml", "stdin", made);
            assert_eq!(seen, (Some(5), String::new(), String::new()), "{made}");
        }
        let seen = with(at, "./open.yml", "stdin", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)");
        assert_eq!((seen.0, seen.1.as_str()), (Some(125), ""), "{}", seen.2);
        assert!(seen.2.contains("standard input is a netlink socket"), "{}", seen.2);
        assert_eq!(with(at, "inherit", "stdin", "socket.socket()").0, Some(5));
    }

    fn a_handle_is_no_standard_file(at) {
        for (made, handle) in [
            ("os.pidfd_open(os.getpid())", "anon_inode:[pidfd]"),
            ("select.epoll()", "anon_inode:[eventpoll]"),
        ] {
            let told = format!("glee-supervisor: error: standard input is a handle (`{handle}`), not a file, a pipe or a device\n{FILES}");
            assert_eq!(with(at, "restricted", "stdin", made), (Some(125), String::new(), told), "{made}");
        }
        let seen = through(at, "< /proc/self/ns/net", "echo started");
        assert_eq!((seen.0, seen.1.as_str()), (Some(125), ""), "{}", seen.2);
        assert!(seen.2.contains("standard input is a handle (`net:["), "{}", seen.2);
    }

    fn what_leads_to_one_place_can_be_a_standard_file(at) {
        for made in [
            "socket.socketpair()[0]",
            "socket.socketpair(type=socket.SOCK_SEQPACKET)[0]",
            "os.pipe()[0]",
            "os.eventfd(0)",
            "os.open('/proc/cpuinfo', os.O_RDONLY)",
            "os.open('/dev/null', os.O_RDONLY)",
        ] {
            assert_eq!(with(at, "restricted", "stdin", made), (Some(5), String::new(), String::new()), "{made}");
        }
    }

    fn a_unix_socket_that_leads_anywhere_is_no_standard_file(at) {
        for made in ["socket.socket(socket.AF_UNIX)", "socket.socketpair(type=socket.SOCK_DGRAM)[0]"] {
            let told = format!(
                "glee-supervisor: error: standard input is a unix socket that is not connected for good, \
                 through which the command could reach other sockets\n{PIPES}"
            );
            assert_eq!(with(at, "restricted", "stdin", made), (Some(125), String::new(), told), "{made}");
        }
    }

    fn a_closed_stdin_does_not_stop_a_run(at) {
        assert_eq!(through(at, "<&-", "echo out; cat < /dev/null"), (Some(0), "out\n".into(), String::new()));
    }

    fn a_closed_stdout_does_not_stop_a_run(at) {
        assert_eq!(through(at, ">&-", "echo lost 2> /dev/null || :; exit 3"), (Some(3), String::new(), String::new()));
    }

    fn a_low_limit_on_open_files_does_not_stop_a_run(at) {
        for limit in ["32", "48", "64", "100"] {
            let enter = format!("ulimit -n {limit}; exec \"$@\"");
            let seen = at.shell("restricted", "exit 5").through(["sh", "-c", &enter, "sh"]).go();
            assert_eq!((seen.code(), seen.err()), (Some(5), String::new()), "{limit}");
        }
    }

    // For an ordinary user they keep the listener from being handed what it listens on, after the command has started.
    fn descriptors_in_flight_do_not_keep_a_repository_armed(at) {
        at.world.file("@PROJECT/flight.py", IN_FLIGHT);
        let enter = "ulimit -n 4096; exec \"$@\"";
        let seen = at.shell("workspace", "python3 flight.py").through(["sh", "-c", enter, "sh"]).go();
        let ended = [Some(7), Some(137)].contains(&seen.code());
        assert!(ended && at.world.path("@PROJECT/ran").exists(), "{}", seen.err());
        assert_eq!(at.host("git config --file .git/config core.fsmonitor || echo none"), "none\n", "{}", seen.err());
    }

    fn children_that_the_caller_ignores_do_not_stop_a_run(at) {
        let enter = "trap '' CHLD; exec \"$@\"";
        let seen = at.shell("workspace", "exit 5").through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.code(), seen.err()), (Some(5), String::new()));
    }

    fn a_full_pipe_for_errors_does_not_hold_up_the_deadline(at) {
        let enter = "import os, subprocess, sys\nout, to = os.pipe()\nos.set_blocking(to, False)\n\
                     try:\n  while True: os.write(to, bytes(4096))\nexcept BlockingIOError: os.set_blocking(to, True)\n\
                     sys.exit(subprocess.run(sys.argv[1:], stderr=to, timeout=30).returncode)";
        let run = at.call(["run", "--policy", "workspace", "--timeout", "1s", "--", "sleep", "60"]);
        assert_eq!(run.through(["python3", "-c", enter]).go().code(), Some(124));
    }

    fn a_file_without_a_name_can_be_standard_output(at) {
        let enter = "import os, subprocess, sys\nto = os.memfd_create('out')\n\
                     status = subprocess.run(sys.argv[1:], stdout=to).returncode\nos.lseek(to, 0, 0)\n\
                     print(os.read(to, 100).decode(), end='')\nsys.exit(status)";
        let script = "echo out; echo again > /dev/stdout; exit 5";
        let seen = at.shell("restricted", script).through(["python3", "-c", enter]).go();
        // Whoever opens it again begins where it begins.
        assert_eq!((seen.code(), seen.out().as_str()), (Some(5), "again\n"), "{}", seen.err());
    }

    // Whoever holds the same file has the same flags, also after the run.
    fn flags_of_standard_files_are_as_they_were(at) {
        let enter = "import fcntl, os, subprocess, sys\nout, to = os.pipe()\nflags = lambda: fcntl.fcntl(to, fcntl.F_GETFL)\n\
                     before = flags()\nstatus = subprocess.run(sys.argv[1:], stdout=to).returncode\n\
                     print(status, flags() == before, os.read(out, 100).decode(), end='')";
        let change = "python3 -c 'import os; os.set_blocking(1, False); print(os.get_blocking(1))'";
        for (rest, status) in [("exit 5", 5), ("sleep 60", 124)] {
            let script = format!("{change}; {rest}");
            let run = at.call(["run", "--policy", "workspace", "--timeout", "3s", "--", "sh", "-c", &script]);
            let seen = run.through(["python3", "-c", enter]).go();
            assert_eq!(seen.out(), format!("{status} True False\n"), "{}", seen.err());
        }
    }

    fn pipes_can_be_opened_again_in_their_own_direction(at) {
        let enter = "echo in | { \"$@\" 2>&1 1>&3 | sed 's/^/err /' >&2; } 3>&1 | cat";
        let script = "cat < /dev/stdin; echo out > /dev/stdout; echo err > /proc/self/fd/2";
        let seen = at.shell("workspace", script).through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.out().as_str(), seen.err().as_str()), ("in\nout\n", "err err\n"));
        // One run's output is the other's input.
        let enter = "\"$@\" 'echo out > /dev/stdout' | \"$@\" 'cat /dev/stdin'";
        let call = at.call(["run", "--policy", "workspace", "--", "sh", "-euc"]);
        let seen = call.through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.out().as_str(), seen.err().as_str()), ("out\n", ""));
    }

    fn a_directory_is_no_standard_file(at) {
        for redirection in ["< @OUT", "< .", "1< @OUT", "2< @OUT"] {
            let seen = through(at, &at.world.fill(redirection), "echo started");
            assert_eq!((seen.0, seen.1.as_str()), (Some(125), ""), "{redirection}: {}", seen.2);
        }
        let told = through(at, "< .", "echo started").2;
        assert!(told.contains("standard input is a directory"), "{told}");
    }

    fn all_streams_closed_do_not_stop_a_run(at) {
        assert_eq!(through(at, "<&- >&- 2>&-", "exit 4"), (Some(4), String::new(), String::new()));
    }

    fn stdin_from_a_file_is_read_and_may_be_sought(at) {
        at.world.file("@PROJECT/input", "one\ntwo\n");
        let seen = through(at, "< input", "read -r line; echo got $line; cat");
        assert_eq!(seen, (Some(0), "got one\ntwo\n".into(), String::new()));
    }

    // The command has a copy: what it reads counts for the caller all the same.
    fn a_covered_file_can_be_standard_input(at) {
        at.world.file("@PROJECT/.envrc", "one\ntwo\nthree\n");
        let enter = "{ read -r line; echo host $line; \"$@\"; cat; } < .envrc";
        let script = "read -r line; echo inside $line; head -n 1 /dev/stdin; (echo x > /dev/stdin) 2> /dev/null || echo kept";
        let seen = at.shell("workspace", script).through(["sh", "-c", enter, "sh"]).go();
        let told = "host one\ninside two\none\nkept\nthree\n";
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), told, ""));
    }

    // Landlock knows it by the directory in which it lay, as it knows what is there.
    fn a_covered_file_whose_name_was_removed_is_covered_all_the_same(at) {
        let file = "@PROJECT/.claude/notes";
        let script = "cat; (echo evil > /proc/self/fd/0) 2> /dev/null || echo kept";
        let enter = "exec 3< .claude/notes 4< .claude/notes; rm .claude/notes; \"$@\" <&3 3<&- 4<&-; cat <&4";
        at.world.file(file, "old\n");
        at.world.mode(file, 0o666);
        let bare = at.host(&format!("exec 3< .claude/notes; rm .claude/notes; sh -c '{script}' <&3; cat /proc/self/fd/3"));
        assert_eq!(bare, "old\nevil\n");
        at.world.file(file, "old\n");
        at.world.mode(file, 0o666);
        let seen = at.shell("workspace", script).through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "old\nkept\nold\n", ""));

        // For appending there is no copy.
        at.world.file(file, "old\n");
        let enter = "exec 3>> .claude/notes; rm .claude/notes; exec \"$@\" >&3 3>&-";
        let seen = at.shell("workspace", "echo started >&2").through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.err());
        assert!(seen.err().contains("hidden or read-only inside"), "{}", seen.err());
    }

    fn a_covered_file_is_standard_output_only_if_it_is_empty(at) {
        at.world.file("@PROJECT/.envrc", "old\n");
        for redirection in [">> .envrc", "1<> .envrc"] {
            let seen = through(at, redirection, "echo out");
            let told = at.world.fill(
                "glee-supervisor: error: standard output is `@PROJECT/.envrc`, which is hidden or read-only inside: \
                 the command could open it again, to read or change what it holds\n\
                 hint: put a pipe between: `glee-supervisor run … | cat >> FILE`\n",
            );
            assert_eq!(seen, (Some(125), String::new(), told), "{redirection}");
        }
        assert_eq!(through(at, "> .envrc", "echo out").0, Some(0));
        assert_eq!(at.host("cat .envrc"), "out\n");
    }

    fn a_covered_file_is_known_under_another_name_of_its_tree(at) {
        at.world.file("@PROJECT/.envrc", "old\n");
        at.world.mode("@PROJECT/.envrc", 0o666);
        let seen = at.in_mount_namespace(
            "mkdir @OUT/alias; mount --bind @PROJECT @OUT/alias
             as_caller @BIN run --policy workspace -- sh -c 'cat; echo evil > /proc/self/fd/0; :' < @OUT/alias/.envrc
             cat .envrc",
        );
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "old\nold\n"), "{}", seen.stderr);
    }

    fn a_large_covered_file_is_no_standard_input(at) {
        at.host("mkdir .claude; truncate -s 17M .claude/large");
        let seen = through(at, "< .claude/large", "wc -c");
        assert_eq!((seen.0, seen.1.as_str()), (Some(125), ""), "{}", seen.2);
        assert!(seen.2.contains("too large to be copied"), "{}", seen.2);
        assert!(seen.2.contains("hint: put a pipe between: `cat FILE | glee-supervisor run …`"), "{}", seen.2);
        at.host("truncate -s 17M large");
        assert_eq!(through(at, "< large", "wc -c").1, "17825792\n");
    }

    fn a_file_of_the_project_is_standard_input_and_output_as_it_is(at) {
        at.world.file("@PROJECT/log", "before\n");
        assert_eq!(through(at, ">> log 2>&1", "echo out; echo err >&2").0, Some(0));
        assert_eq!(at.host("cat log"), "before\nout\nerr\n");
        assert_eq!(through(at, "<> log", "read -r line; echo inside >&0; echo $line").1, "before\n");
        assert_eq!(at.host("cat log"), "before\ninside\n\n");
    }

    fn stdout_to_a_file_outside_the_project_is_written(at) {
        assert_eq!(through(at, "> @OUT/output 2> @OUT/errors", "echo out; echo err >&2").0, Some(0));
        assert_eq!(at.host("cat @OUT/output @OUT/errors"), "out\nerr\n");
    }

    fn output_appended_to_a_file_keeps_what_was_there(at) {
        at.world.file("@OUT/log", "before\n");
        assert_eq!(through(at, ">> @OUT/log", "echo after").0, Some(0));
        assert_eq!(at.host("cat @OUT/log"), "before\nafter\n");
    }

    fn no_other_descriptor_of_the_callers_is_open(at) {
        at.world.secret_at("@OUT/secret");
        let seen = through(at, "7< @OUT/secret 9> @OUT/other", "ls /proc/self/fd | tr '\\n' ' '");
        // The fourth is the directory that `ls` itself has open.
        assert_eq!(seen, (Some(0), "0 1 2 3 ".into(), String::new()));
    }

    fn an_argument_of_a_hundred_kilobytes_arrives(at) {
        let long = "x".repeat(100_000);
        let call = ["run", "--policy", "restricted", "--", "sh", "-c", "printf %s \"$1\" | wc -c", "sh", &long];
        assert_eq!(at.seen(call).whole(), (0, "100000\n", ""));
    }

    fn a_thousand_arguments_arrive(at) {
        let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let fixed = ["run", "--policy", "restricted", "--", "sh", "-c", "echo $# $1000", "sh"].map(str::to_owned);
        let seen = at.seen(fixed.iter().chain(&many));
        assert_eq!((seen.status, seen.stdout.split(' ').next()), (0, Some("1000")), "{}", seen.stderr);
    }

    fn a_working_directory_that_is_gone_is_refused(at) {
        let enter = "mkdir @OUT/gone; cd @OUT/gone; rmdir @OUT/gone; exec \"$@\"";
        let seen = at.call(["run", "--policy", "restricted", "--", "echo", "started"]).through(["sh", "-c", enter, "sh"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.err());
        assert!(seen.err().contains("working directory"), "{}", seen.err());
    }

    fn nohup_keeps_a_run_alive_when_its_terminal_hangs_up(at) {
        let wait = "n=0; until [ -e stop ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let call = at.shell("workspace", &format!("echo up; {wait}; echo end"));
        let running = call.through(["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]).spawn();
        assert!(running.wait_for("up"), "the command did not start");
        running.signal("HUP");
        running.signal("HUP");
        at.host("sleep 0.3; touch stop");
        let seen = running.finish();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "up\nend\n"), "{}", seen.err());
    }

    fn limits_of_the_callers_shell_are_kept(at) {
        let call = at.shell("workspace", "ulimit -c; ulimit -f; ulimit -s");
        let seen = call.through(["sh", "-c", "ulimit -c 0; ulimit -f 2048; ulimit -s 4096; exec \"$@\"", "sh"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "0\n2048\n4096\n"), "{}", seen.err());
    }

    fn niceness_of_the_caller_is_kept(at) {
        let seen = at.shell("workspace", "nice").through(["nice", "-n", "7"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "7\n"), "{}", seen.err());
    }
}
