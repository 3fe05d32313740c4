//! Processes of ours beside and below a command, stopped or killed by somebody: the run ends all the same, as itself, and
//! leaves nothing.

use std::fs;
use std::process::Command;
use std::time::Duration;

use glee_tests::{Running, carrying, wait_until};

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

/// Longer than any of these runs has a reason to last, on a busy machine.
const LONG: Duration = Duration::from_secs(25);

/// The supervisor's child of this name.
fn helper(running: &Running, name: &str) -> u32 {
    let find = || {
        let pids = fs::read_dir("/proc").expect("list /proc").flatten();
        let mut pids = pids.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        let start = format!("({name}) ");
        pids.find(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let rest = stat.split_once(&start).map(|(_, rest)| rest.to_owned());
            rest.is_some_and(|rest| rest.split(' ').nth(1) == Some(&running.pid().to_string()))
        })
    };
    assert!(wait_until(LONG, || find().is_some()), "there is no `{name}`");
    find().expect("it was there a moment ago")
}

fn send(signal: &str, pid: u32) {
    let done = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "cannot send {signal} to {pid}"
    );
}

/// A run in a repository, whose names are covered meanwhile, ends as its command does, though its janitor cannot help.
fn ends_without_a_janitor(at: &Place, signal: &str) {
    at.world.git_init();
    let before = at.contents();
    let go = at.world.outside().join("go");
    let script = "echo up; until test -e @OUT/go; do sleep 0.05; done; echo down; exit 5";
    let call = at.call([
        "run",
        "--policy",
        "workspace",
        "--read",
        "@OUT",
        "--",
        "sh",
        "-c",
        script,
    ]);
    let running = call.limit(LONG).spawn();
    assert!(running.wait_for("up"), "the command did not start");
    send(signal, helper(&running, "glee-janitor"));
    fs::write(go, "").expect("tell the command to go on");
    let seen = running.finish();
    assert!(!seen.hung, "the run waits for its janitor: {}", seen.describe());
    assert_eq!((told(&seen), seen.out().as_str()), (5, "up\ndown\n"), "{}", seen.err());
    assert_eq!(at.contents(), before, "something was left, or is gone");
}

/// Without a pid namespace the command has the same rights as the process that ends it.
fn ends_at_the_deadline(at: &Place, what: &str) {
    let id = at.world.nonce();
    let script = format!("{what}; trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' {id}");
    let call = at.call([
        "run",
        "--policy",
        "inherit",
        "--timeout",
        "1s",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    let seen = call.limit(LONG).go();
    assert!(!seen.hung, "the deadline does not hold: {}", seen.describe());
    assert!([124, 137].contains(&told(&seen)), "{}", seen.describe());
    let is_gone = wait_until(Duration::from_secs(5), || carrying(id).is_empty());
    assert!(is_gone, "alive: {:?}", carrying(id));
}

claims! {
    fn a_stopped_janitor_does_not_hold_up_the_end(at) {
        ends_without_a_janitor(at, "STOP");
    }

    fn a_killed_janitor_is_not_missed(at) {
        ends_without_a_janitor(at, "KILL");
    }

    // What both would have removed, the next run does.
    fn names_that_a_killed_janitor_did_not_uncover_the_next_run_does(at) {
        at.world.git_init();
        let before = at.contents();
        let running = at.shell("workspace", "echo up; exec sleep 300").limit(LONG).spawn();
        assert!(running.wait_for("up"), "the command did not start");
        send("KILL", helper(&running, "glee-janitor"));
        running.signal("KILL");
        running.finish();
        let next = at.run("workspace", "true");
        assert_eq!(next.status, 0, "{}", next.stderr);
        assert_eq!(at.contents(), before, "something was left, or is gone");
    }

    fn the_deadline_holds_under_inherit_though_the_command_stops_its_guardian(at) {
        ends_at_the_deadline(at, "kill -STOP $PPID");
    }

    fn the_deadline_holds_under_inherit_though_the_guardian_is_stopped_again_and_again(at) {
        // For twenty seconds at most.
        let again = "end=$(($(date +%s) + 20)); (trap '' TERM; while test $(date +%s) -lt $end; do \
            i=0; while test $i -lt 5000; do kill -STOP $PPID || exit; i=$((i + 1)); done; done) 2>/dev/null & :";
        ends_at_the_deadline(at, again);
    }

    fn a_command_under_inherit_does_not_outlive_the_guardian_that_it_killed(at) {
        ends_at_the_deadline(at, "kill -KILL $PPID");
    }

    fn a_stopped_guardian_under_inherit_ends_the_command_of_a_killed_supervisor(at) {
        let id = at.world.nonce();
        let script = format!("echo up; sh -c 'while :; do sleep 1; done' {id}");
        let call = at.call(["run", "--policy", "inherit", "--", "sh", "-c", &script]);
        let running = call.limit(LONG).spawn();
        assert!(running.wait_for("up"), "the command did not start");
        send("STOP", helper(&running, "glee-init"));
        running.signal("KILL");
        running.finish();
        let is_gone = wait_until(Duration::from_secs(10), || carrying(id).is_empty());
        assert!(is_gone, "alive: {:?}", carrying(id));
    }
}
