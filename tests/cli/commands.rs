//! Which file COMMAND is, and what of its surroundings the sandbox shows.

use crate::claims::claims;
use crate::support::{PATH, text};

claims! {
    fn a_command_in_home_bin_is_found_through_path_and_its_neighbours_are_not_shown(at) {
        at.world.program("@HOME/bin/tool", "#!/bin/sh\necho tool \"$@\"; ls -A \"${0%/*}\"\n");
        at.world.file("@HOME/bin/neighbour", "");
        let path = format!("{}/bin:{PATH}", text(&at.home()));
        let seen = at.call(["run", "--policy", "restricted", "--", "tool", "a b"]).env("PATH", &path).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "tool a b\ntool\n"), "{}", seen.err());
    }

    fn a_command_behind_a_symlink_in_home_bin_runs(at) {
        at.world.program("@HOME/tools/real/tool", "#!/bin/sh\necho real\n");
        at.world.dir("@HOME/bin");
        at.world.link("../tools/real/tool", "@HOME/bin/tool");
        let path = format!("{}/bin:{PATH}", text(&at.home()));
        let seen = at.call(["run", "--policy", "restricted", "--", "tool"]).env("PATH", &path).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "real\n"), "{}", seen.err());
    }

    fn a_script_with_an_interpreter_outside_the_system_directories_runs(at) {
        at.host("mkdir -p @OUT/interpreters && cp /bin/sh @OUT/interpreters/mysh");
        at.world.program("@OUT/scripts/tool", "#!@OUT/interpreters/mysh\n");
        let interpreter = at.world.fill("@OUT/interpreters/mysh");
        at.world.program("@OUT/scripts/tool", &format!("#!{interpreter} -e\necho interpreted $1\n"));
        let seen = at.seen(["run", "--policy", "restricted", "--", "@OUT/scripts/tool", "x"]);
        assert_eq!(seen.whole(), (0, "interpreted x\n", ""));
    }

    fn a_script_that_names_its_interpreter_through_env_runs(at) {
        at.world.program("@OUT/tool", "#!/usr/bin/env python3\nimport sys\nprint('python', sys.argv[1])\n");
        assert_eq!(at.seen(["run", "--policy", "restricted", "--", "@OUT/tool", "x"]).whole(), (0, "python x\n", ""));
    }

    fn a_script_without_a_first_line_is_run_by_sh_as_execvp_does(at) {
        at.world.program("@PROJECT/bare-script", "echo by sh $1\n");
        let seen = at.seen(["run", "--policy", "restricted", "--", "./bare-script", "x"]);
        assert_eq!(seen.whole(), (0, "by sh x\n", ""));
    }

    fn a_command_by_relative_path_is_taken_from_the_working_directory(at) {
        at.world.program("@PROJECT/sub/tool", "#!/bin/sh\npwd -P\n");
        at.world.dir("@PROJECT/.glee");
        let seen = at.call(["run", "--policy", "restricted", "--", "./tool"]).cwd("@PROJECT/sub").go();
        let expected = format!("{}/sub\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out()), (Some(0), expected), "{}", seen.err());
    }

    fn arguments_arrive_as_they_were_given(at) {
        let odd = ["", " ", "a b", "'", "\"", "$HOME", "*", "-x", "--", "new\nline", "tab\t", "\\", "ünï", "`id`", "%s"];
        let show = "for a in \"$@\"; do printf '[%s]' \"$a\"; done";
        let call = [&["run", "--policy", "restricted", "--", "sh", "-c", show, "sh"], odd.as_slice()].concat();
        let expected: String = odd.iter().map(|a| format!("[{a}]")).collect();
        assert_eq!(at.seen(call).whole(), (0, expected.as_str(), ""));
    }

    fn the_sandbox_runs_the_command_as_neither_root_nor_pid_1(at) {
        let script = "test $(id -u) -ne 0 && test $$ -ne 1 && grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status";
        let seen = at.run("restricted", script);
        let none = "0000000000000000";
        assert_eq!(seen.whole(), (0, format!("CapPrm:\t{none}\nCapEff:\t{none}\nCapBnd:\t{none}\n").as_str(), ""));
    }

    fn ps_shows_only_what_runs_inside(at) {
        let outside = at.world.victim("sleep", &["86399.25"], &[]);
        let script = "ps -e -o args= | grep -c '86399[.]25' || true; ps -e -o comm= | wc -l | awk '{ print ($1 <= 6) }'";
        let seen = at.run("restricted", script);
        assert_eq!(seen.whole(), (0, "0\n1\n", ""), "pid {outside} on the host is seen");
    }

    fn the_same_program_answers_to_glee(at) {
        at.host("ln -s @BIN @OUT/glee");
        let version = at.seen(["--version"]);
        assert_eq!(version.status, 0, "{}", version.stderr);
        let seen = at.host("@OUT/glee --version; @OUT/glee run --policy restricted -- echo ran");
        let (first, rest) = seen.split_once('\n').expect("two lines");
        assert_eq!((first.split(' ').next_back(), rest), (version.stdout.trim().split(' ').next_back(), "ran\n"));
    }

    fn a_quiet_command_leaves_both_streams_empty(at) {
        for policy in ["restricted", "workspace", "inherit"] {
            assert_eq!(at.run(policy, ":").whole(), (0, "", ""), "{policy}");
        }
    }
}
