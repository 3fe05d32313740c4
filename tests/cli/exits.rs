//! Exit statuses: the command's own, 128+N, and the four that are the supervisor's.

use std::time::Duration;

use crate::claims::claims;
use crate::seen::told;
use crate::support::text;

claims! {
    fn the_commands_status_is_the_runs_status(at) {
        for code in [0, 1, 42, 124, 125, 126, 127, 255] {
            assert_eq!(at.run("restricted", &format!("exit {code}")).whole(), (code, "", ""));
        }
    }

    fn a_signal_that_ends_the_command_is_128_plus_its_number(at) {
        let signals = [1, 2, 3, 6, 9, 11, 13, 14, 15];
        let seen = signals.map(|n| at.run("restricted", &format!("kill -{n} $$; sleep 9")).status);
        assert_eq!(seen, signals.map(|n| 128 + n));
    }

    fn a_program_of_another_machine_or_cut_off_is_126_and_not_for_a_shell(at) {
        at.world.program("@PROJECT/cut", "\x7fELF");
        at.world.program("@PROJECT/binary", "echo ran\0\n");
        at.world.program("@PROJECT/script", "echo ran\n");
        let seen = ["./cut", "./binary", "./script"].map(|name| {
            let seen = at.seen(["run", "--policy", "restricted", "--", name]);
            (seen.status, seen.stdout)
        });
        assert_eq!(seen, [(126, String::new()), (126, String::new()), (0, "ran\n".to_owned())]);
    }

    fn the_deadline_gives_124(at) {
        let seen = at.call(["run", "--policy", "restricted", "--timeout", "1s", "--", "sleep", "50"]).go();
        assert_eq!((told(&seen), seen.out().as_str()), (124, ""));
        assert!(seen.took >= Duration::from_secs(1) && seen.took < Duration::from_secs(15), "took {:?}", seen.took);
        assert!(seen.err().ends_with("\n") && !seen.err().contains('\r'), "not a line of a file: {:?}", seen.err());
    }

    fn the_deadline_gives_124_also_to_a_tree_that_ignores_every_signal(at) {
        let script = "trap '' HUP INT QUIT TERM; (setsid sleep 51 &) ; echo up; while :; do sleep 1; done";
        let seen = at.call(["run", "--policy", "restricted", "--timeout", "1s", "--", "sh", "-c", script]).go();
        assert_eq!((told(&seen), seen.out().as_str()), (124, "up\n"));
        assert!(seen.took < Duration::from_secs(20), "took {:?}", seen.took);
    }

    fn a_command_that_handles_term_may_say_goodbye_at_the_deadline(at) {
        let script = "trap 'echo goodbye; exit 3' TERM; while :; do sleep 0.1; done";
        let seen = at.call(["run", "--policy", "restricted", "--timeout", "1s", "--", "sh", "-c", script]).go();
        assert_eq!((told(&seen), seen.out().as_str()), (124, "goodbye\n"));
    }

    fn an_unknown_policy_is_refused_by_name(at) {
        at.is_refused(&["run", "--policy", "nosuch", "--", "echo", "started"], &["`nosuch`"]);
    }

    fn a_policy_file_that_is_not_there_is_refused_by_name(at) {
        at.is_refused(&["run", "--policy", "./nosuch.yml", "--", "echo", "started"], &["nosuch.yml"]);
    }

    fn an_unknown_flag_is_refused_by_name(at) {
        at.is_refused(&["run", "--no-such-flag", "--", "echo", "started"], &["--no-such-flag"]);
    }

    fn a_timeout_that_is_no_time_is_refused(at) {
        at.is_refused(&["run", "--timeout", "soon", "--", "echo", "started"], &["soon"]);
    }

    fn a_run_without_a_command_is_refused(at) {
        at.is_refused(&["run", "--policy", "restricted"], &["COMMAND"]);
    }

    fn a_project_that_is_not_there_is_refused_by_name(at) {
        at.is_refused(&["run", "--project", "/nonexistent/project", "--", "echo", "started"], &["/nonexistent/project"]);
    }

    fn a_project_that_is_a_file_is_refused_by_name(at) {
        at.world.file("@OUT/file", "");
        at.is_refused(&["run", "--project", "@OUT/file", "--", "echo", "started"], &["@OUT/file"]);
    }

    fn a_command_that_is_not_found_gives_127(at) {
        for command in ["no-such-command", "./no-such-command", "/no/such/command"] {
            let seen = at.seen(["run", "--policy", "restricted", "--", command]);
            assert_eq!((seen.status, seen.stdout.as_str()), (127, ""), "{command}");
            assert!(seen.stderr.contains(command), "`{command}` is not in the message: {}", seen.stderr);
        }
    }

    fn a_file_without_the_executable_bit_gives_126(at) {
        at.world.file("@PROJECT/plain", "#!/bin/sh\necho ran\n");
        let seen = at.seen(["run", "--policy", "restricted", "--", "./plain"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (126, ""));
        assert!(seen.stderr.contains("plain`"), "{}", seen.stderr);
    }

    fn a_file_with_a_slash_behind_it_is_no_directory(at) {
        at.host("cp /bin/true ok");
        let seen = at.seen(["run", "--", "./ok/"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (126, ""));
        assert!(seen.stderr.contains("ok/` is not a directory"), "{}", seen.stderr);
    }

    fn a_directory_as_command_gives_126(at) {
        let project = text(&at.project());
        let seen = at.seen(["run", "--policy", "restricted", "--", &project]);
        assert_eq!((seen.status, seen.stdout.as_str()), (126, ""));
        assert!(seen.stderr.contains(&project), "{}", seen.stderr);
    }

    fn a_script_whose_interpreter_is_a_script_outside_names_it_and_what_to_grant(at) {
        at.world.program("@OUT/tools/inner", "#!/bin/sh\nexec cat \"$1\"\n");
        let inner = at.world.fill("@OUT/tools/inner");
        at.world.program("@OUT/tools/script", &format!("#!{inner}\nread\n"));
        let seen = at.seen(["run", "--policy", "restricted", "--", "@OUT/tools/script"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (127, ""));
        assert!(seen.stderr.contains(&format!("`--read {inner}`")), "{}", seen.stderr);
        let seen = at.seen(["run", "--policy", "restricted", "--read", "@OUT/tools/inner", "--", "@OUT/tools/script"]);
        assert_eq!(seen.whole(), (0, format!("#!{inner}\nread\n").as_str(), ""));
    }

    fn a_script_whose_interpreter_is_missing_does_not_run_and_names_it(at) {
        at.world.program("@PROJECT/orphan", "#!/no/such/interpreter\necho ran\n");
        let seen = at.seen(["run", "--policy", "restricted", "--", "./orphan"]);
        assert!(matches!(seen.status, 126 | 127), "status {}: {}", seen.status, seen.stderr);
        assert_eq!(seen.stdout, "");
        assert!(seen.stderr.contains("/no/such/interpreter"), "{}", seen.stderr);
    }
}
