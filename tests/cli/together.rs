//! Many runs at once, and two in one project.

use std::time::Duration;

use glee_tests::{Running, wait_until};

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

/// How long a janitor may take.
const SOON: Duration = Duration::from_secs(5);

/// Policies that hold different names in the project; what lies there without any.
fn differing(at: &Place) -> String {
    at.world.git_init();
    at.world
        .file("@OUT/deny.yml", "extends: workspace\nfs: {deny: ['later/secret']}\n");
    let unprotected = "['.vscode', '.envrc', '.git/commondir']";
    at.world.file(
        "@OUT/fewer.yml",
        &format!("extends: workspace\nunprotect: {unprotected}\n"),
    );
    let included = at
        .world
        .fill("[include]\n\tpath = @PROJECT/ginc\n[core]\n\thooksPath = ghooks\n");
    at.world.file("@OUT/gitconfig", &included);
    at.host("ls -A . .git")
}

/// A run that is at work until there is `stop`.
fn waiting(at: &Place, policy: &str) -> Running {
    let wait = "n=0; until [ -e stop ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
    let run = at.shell(policy, &format!("echo up; {wait}")).spawn();
    assert!(run.wait_for("up"), "the run did not start");
    run
}

claims! {
    fn a_hundred_runs_at_once_each_answer_for_themselves(at) {
        at.world.file("@PROJECT/file", "content\n");
        let script = "cat file; echo $1 > $HOME/own; sleep 0.3; cat $HOME/own; exit $1";
        let started: Vec<Running> = (0..100)
            .map(|n| at.call(["run", "--policy", "restricted", "--", "sh", "-c", script, "sh", &n.to_string()]).spawn())
            .collect();
        let seen: Vec<_> = started.into_iter().map(|run| run.finish()).map(|o| (told(&o), o.out(), o.err())).collect();
        let expected: Vec<_> = (0..100).map(|n| (n, format!("content\n{n}\n"), String::new())).collect();
        assert_eq!(seen, expected);
        assert_eq!(at.host("ls -A; ls -A $HOME; ls -A @TMP"), "file\nproject\n");
    }

    fn two_runs_in_one_project_see_each_others_files_and_not_each_others_processes(at) {
        let script = "touch $1; n=0; until [ -e $2 ] || [ $n -gt 200 ]; do sleep 0.05; n=$((n+1)); done; ls
            echo $1 > /tmp/shared; sleep 0.3; cat /tmp/shared
            grep -slxz \"mark[-]$2\" /proc/[0-9]*/cmdline || echo alone; touch $1-done
            n=0; until [ -e $2-done ] || [ $n -gt 200 ]; do sleep 0.05; n=$((n+1)); done";
        let start = |own: &str, other: &str| {
            let mark = format!("mark-{own}");
            at.call(["run", "--policy", "workspace", "--", "sh", "-c", script, "sh", own, other, &mark]).spawn()
        };
        let (one, two) = (start("one", "two"), start("two", "one"));
        let seen = [one, two].map(|run| run.finish()).map(|o| (told(&o), o.out()));
        let expected = ["one", "two"].map(|own| (0, format!("one\ntwo\n{own}\nalone\n")));
        assert_eq!(seen, expected);
        assert_eq!(at.host("ls"), "one\none-done\ntwo\ntwo-done\n");
    }

    fn the_end_of_one_run_does_not_touch_another_in_the_same_project(at) {
        let wait = "n=0; until [ -e stop ] || [ $n -gt 1000 ]; do sleep 0.05; n=$((n+1)); done";
        let long = at.shell("workspace", &format!("echo up; {wait}; echo > after; ls")).spawn();
        assert!(long.wait_for("up"), "the long run did not start");
        assert_eq!(at.run("workspace", "ls; echo x > short").whole(), (0, "", ""));
        assert_eq!(at.run("restricted", "cat short").whole(), (0, "x\n", ""));
        at.host("touch stop");
        let seen = long.finish();
        assert_eq!((told(&seen), seen.out().as_str()), (0, "up\nafter\nshort\nstop\n"), "{}", seen.err());
    }

    fn a_command_that_locks_the_project_does_not_keep_other_runs_waiting(at) {
        let wait = "n=0; until [ -e stop ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let locker = at.shell("restricted", &format!("flock -x . sh -c 'echo locked; {wait}'")).spawn();
        assert!(locker.wait_for("locked"), "the command could not lock");
        let started = std::time::Instant::now();
        assert_eq!(at.run("workspace", "echo in").whole(), (0, "in\n", ""));
        assert!(started.elapsed() < std::time::Duration::from_secs(4), "it waited {:?}", started.elapsed());
        assert_eq!(at.host("ls -A"), "");
        at.host("touch stop");
        assert_eq!(told(&locker.finish()), 0);
    }

    fn a_command_that_shares_a_lock_on_the_project_does_not_make_placeholders_stay(at) {
        let wait = "n=0; until [ -e stop ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let locker = at.shell("workspace", &format!("flock -s . sh -c 'echo locked; {wait}'")).spawn();
        assert!(locker.wait_for("locked"), "the command could not lock");
        assert_eq!(at.run("workspace", "echo in").whole(), (0, "in\n", ""));
        at.host("touch stop");
        assert_eq!(told(&locker.finish()), 0);
        assert_eq!(at.host("ls -A"), "stop\n");
    }

    fn names_that_only_one_of_two_runs_holds_go_with_the_last(at) {
        let before = differing(at);
        let pairs = [("workspace", "@OUT/deny.yml"), ("@OUT/deny.yml", "workspace"), ("@OUT/fewer.yml", "workspace")];
        for (long, short) in pairs {
            let long = waiting(at, long);
            assert_eq!(at.run(short, "echo in").whole(), (0, "in\n", ""));
            at.host("touch stop");
            assert_eq!(told(&long.finish()), 0);
            assert_eq!(at.host("rm stop; ls -A . .git"), before);
        }
        let long = waiting(at, "workspace");
        let short = at.shell("workspace", "ls").env("GIT_CONFIG_GLOBAL", "@OUT/gitconfig").go();
        assert_eq!((told(&short), short.out().contains("ginc\nginc.lock\n")), (0, true), "{}", short.err());
        at.host("touch stop");
        assert_eq!(told(&long.finish()), 0);
        assert_eq!(at.host("rm stop; ls -A . .git"), before);
    }

    fn what_a_killed_run_held_goes_with_the_last(at) {
        let before = differing(at);
        let long = waiting(at, "workspace");
        let killed = waiting(at, "@OUT/deny.yml");
        killed.signal("KILL");
        killed.finish();
        at.host("sleep 2; ls later; touch stop");
        assert_eq!(told(&long.finish()), 0);
        assert!(wait_until(SOON, || at.host("rm -f stop; ls -A . .git") == before), "{}", at.host("ls -A . .git"));
    }

    fn what_a_run_held_that_was_killed_with_its_janitor_goes_with_the_next_of_another_policy(at) {
        let before = differing(at);
        let killed = waiting(at, "@OUT/deny.yml");
        at.host(&format!("kill -9 $(pgrep -P {0} -x glee-janitor) {0}", killed.pid()));
        killed.finish();
        assert!(at.host("ls -A").contains("later"), "nothing was left, so nothing is shown");
        assert_eq!(at.run("workspace", "echo in").whole(), (0, "in\n", ""));
        assert_eq!(at.host("ls -A . .git"), before);
    }

    fn what_somebody_put_in_the_place_of_a_held_name_stays(at) {
        let before = differing(at);
        let long = waiting(at, "workspace");
        assert_eq!(at.run("@OUT/deny.yml", "echo in").whole(), (0, "in\n", ""));
        at.host("rm later; echo own > later; touch stop");
        assert_eq!(told(&long.finish()), 0);
        assert_eq!(at.host("cat later; rm later stop; ls -A . .git"), format!("own\n{before}"));
    }

    fn a_run_inside_a_run_is_refused_or_works_but_never_hangs(at) {
        at.host("cp @BIN @PROJECT/supervisor");
        let seen = at.run("workspace", "./supervisor run --policy restricted -- echo nested || echo status $?");
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert!(["nested\n", "status 125\n"].contains(&seen.stdout.as_str()), "{}", seen.stdout);
    }

    fn what_another_run_holds_in_the_project_is_not_a_change_of_a_copy(at) {
        at.host("git init -q .; mkdir sub; echo a > a");
        let wait = "n=0; until [ -e stop ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let long = at.shell("workspace", &format!("echo up; {wait}")).spawn();
        assert!(long.wait_for("up"), "the long run did not start");
        let copy = ["--policy", "workspace", "--workspace", "cow", "--", "sh", "-euc", "echo c > c; rm -r sub; mkdir sub"];
        let (seen, report) = at.reported(&copy);
        at.host("touch stop");
        assert_eq!(told(&long.finish()), 0);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let listed = at.seen(["runs", "diff", "latest", "--names"]);
        let workspace = &report["workspace"];
        let counts = ["created", "changed", "deleted"].map(|key| workspace[key].as_u64());
        assert_eq!(counts, [Some(1), Some(0), Some(0)], "{}", listed.stdout);
    }
}
