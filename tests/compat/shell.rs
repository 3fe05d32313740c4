//! Shells and their processes: job control, signals, deadlines, terminals made inside, many processes.

use std::time::Duration;

use crate::claims::claims;
use crate::seen::told;

claims! {
    fn bash_job_control_stops_and_resumes_a_job(at) {
        at.prints(
            "bash -c 'set -m; sleep 30 & jobs; kill -STOP %1; sleep 0.2; jobs
                      kill -CONT %1; sleep 0.2; jobs; kill %1; wait %1; echo status $?'",
            concat!(
                "[1]+  Running                 sleep 30 &\n",
                "[1]+  Stopped                 sleep 30\n",
                "[1]+  Running                 sleep 30 &\n",
                "status 143\n"
            ),
        );
    }

    fn bash_substitutes_processes_and_keeps_coprocesses(at) {
        at.prints(
            "bash -c 'diff <(echo a) <(echo a) && echo same; coproc cat; echo through >&${COPROC[1]}
                      read -ru ${COPROC[0]} x; echo $x
                      exec 5<> <(:); echo here <<< text; cat <<< text'",
            "same\nthrough\nhere\ntext\n",
        );
    }

    fn script_gives_its_child_a_terminal(at) {
        at.needs(&["script"]);
        at.prints(
            "script -qec 'tty; stty size; echo > /dev/tty; test -t 1 && echo terminal' /dev/null < /dev/null |
                 tr -d '\\r' | sed 's,pts/[0-9]*,pts/N,'",
            "/dev/pts/N\n0 0\n\nterminal\n",
        );
    }

    fn interactive_bash_in_script_runs_a_foreground_job(at) {
        at.needs(&["script"]);
        at.prints(
            "script -qec 'bash --norc -ic \"{ sleep 0.2 & } 2>/dev/null; fg >/dev/null; echo foreground\"' /dev/null < /dev/null |
                 tr -d '\\r'",
            "foreground\n",
        );
    }

    fn traps_catch_signals_sent_inside(at) {
        at.prints(
            "trap 'echo term' TERM; trap 'echo usr' USR1; trap 'echo hup' HUP; trap 'echo bye' EXIT
             kill -TERM $$; kill -USR1 $$; kill -HUP $$; (kill -TERM $$)",
            "term\nusr\nhup\nterm\nbye\n",
        );
    }

    fn timeout_ends_a_child_and_says_so(at) {
        at.prints(
            "timeout 0.2 sleep 30 || echo $?; timeout -s KILL 0.2 sleep 30 || echo $?; timeout 20 true; echo $?",
            "124\n137\n0\n",
        );
    }

    fn nohup_setsid_nice_and_disown_start_children(at) {
        at.prints(
            "nohup sh -c 'trap - HUP; kill -HUP $$; echo survived' > out 2>&1; grep survived out
             setsid -w sh -c 'echo session'; nice -n 5 nice; bash -c 'sleep 0.1 & disown; echo disowned'",
            "survived\nsession\n5\ndisowned\n",
        );
    }

    fn two_hundred_processes_pass_a_line_along_one_pipeline(at) {
        let pipeline = format!("seq 1 2000{} | tail -n 1", " | cat".repeat(198));
        at.prints(&pipeline, "2000\n");
    }

    fn a_thousand_short_processes_run_one_after_another(at) {
        at.prints("n=0; while [ $n -lt 1000 ]; do /bin/true; n=$((n+1)); done; echo $n", "1000\n");
    }

    fn a_background_child_that_holds_stdout_does_not_hold_the_run(at) {
        let seen = at.inside("sleep 15 & echo started").go();
        assert_eq!((told(&seen), seen.out().as_str()), (0, "started\n"));
        assert!(seen.took < Duration::from_secs(8), "the run waited {:?} for a background child", seen.took);
    }

    fn exit_statuses_are_the_commands_own(at) {
        let seen = [0, 1, 2, 42, 127, 255].map(|code| at.ends(&format!("exit {code}")));
        assert_eq!(seen, [0, 1, 2, 42, 127, 255]);
    }

    fn a_signal_is_told_as_128_plus_its_number(at) {
        let signals = [1, 2, 3, 6, 9, 11, 15];
        let seen = signals.map(|n| at.ends(&format!("ulimit -c 0; kill -{n} $$; sleep 5")));
        assert_eq!(seen, signals.map(|n| 128 + n));
    }

    fn ulimit_n_leaves_room_for_a_thousand_files(at) {
        at.needs(&["python3"]);
        at.prints(
            "test $(ulimit -n) -ge 1024 && echo enough
             python3 -c 'files = [open(\"/dev/null\") for _ in range(1000)]; print(len(files))'",
            "enough\n1000\n",
        );
    }

    fn ps_and_pgrep_show_the_commands_own_children(at) {
        at.needs(&["ps", "pgrep"]);
        at.prints(
            "sleep 20 & child=$!; sleep 0.3; ps -o comm= -p $child; pgrep -P $$ sleep | grep -cx $child; kill $child
             ps -o ppid= -p $$ | wc -l",
            "sleep\n1\n1\n",
        );
    }
}
