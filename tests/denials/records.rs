//! Landlock's own records, taken from the kernel's audit: what they say, and that audit is afterwards as it was.
//!
//! One claim, since audit is one for the whole machine. As a user there are no records, and the run is refused.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use glee_sandbox::sys::audit::{self, Tuning};
use glee_tests::{Caller, Policy, World, wait_until};

use crate::support::{child_called, denials, prepared, program, read_report, report_file, reported, row, size, world};

/// What a machine has on which nobody ever touched it.
const OFF: Tuning = Tuning {
    enabled: 0,
    rate_limit: 0,
    backlog_limit: 64,
    backlog_wait: 15_000,
};

pub(crate) fn prove(caller: Caller) {
    match caller {
        Caller::Root => {
            let was = tuning();
            let steps: [(&str, fn()); 6] = [
                ("what was refused", what_was_refused),
                ("names chosen with care", chosen_names),
                ("several at once", several_at_once),
                ("a flood", flood),
                ("killed", killed),
                ("on already", on_already),
            ];
            for (name, step) in steps {
                audit::set(&OFF).expect("audit can be set");
                println!("{name}");
                step();
                assert_eq!(tuning(), OFF, "audit is not as it was: {name}");
            }
            audit::set(&was).expect("audit can be set");
        }
        Caller::User => {
            let world = world(caller);
            let run = prepared(&world, Policy::Named("restricted"), &["--kernel-audit"]);
            let outcome = run.command(["true"]).go();
            assert_eq!(outcome.code(), Some(125), "{}", outcome.describe());
            assert!(outcome.err().contains("run as root"), "{}", outcome.describe());
        }
    }
}

fn tuning() -> Tuning {
    audit::status().expect("root can ask for the state of audit").tuning
}

/// Without the listener's looks: what is in the report comes from the kernel.
const FLAGS: &[&str] = &["--kernel-audit", "--no-denials"];

fn what_was_refused() {
    let world = world(Caller::Root);
    let run = prepared(&world, Policy::Named("restricted"), FLAGS).command([program().as_str(), "signal", "3"]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let found = row(&report, "syscall", "kill");
    assert_eq!(
        (&found["count"], &found["syscall"]),
        (&3.into(), &"kill".into()),
        "{found}"
    );
    assert_eq!(found["rule"], "Landlock keeps signals inside the sandbox");
    assert_eq!(
        (&report["denials_lost"], denials(&report).len()),
        (&0.into(), 1),
        "{report}"
    );
    assert_ne!(found["pid"], 0, "{found}");
    // The canaries are refused things, too, and a quiet command nothing.
    let quiet = prepared(&world, Policy::Named("restricted"), FLAGS).command(["true"]);
    assert!(denials(&reported(&world, quiet).1).is_empty());
}

/// A file of the host that is the command's standard output can be written and not read.
fn chosen_names() {
    for name in [
        "plain",
        "a\" domain=1 path=\"secret",
        "two\nlines\u{1b}[31m",
        "é\u{202e}",
    ] {
        let world = world(Caller::Root);
        let out = world.home().join(name);
        fs::write(&out, "").expect("make a file");
        let into = ["sh", "-c", "out=$1; shift; exec \"$@\" > \"$out\"", "sh"].map(str::to_owned);
        let through: Vec<String> = into.into_iter().chain([out.display().to_string()]).collect();
        let run = prepared(&world, Policy::Named("restricted"), FLAGS).through(through);
        let (outcome, report) = reported(&world, run.command(["sh", "-c", "cat /proc/self/fd/1; exec true"]));
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        let [found] = denials(&report).as_slice() else {
            panic!("{name:?}: {report:#}");
        };
        let path = found["path"].as_str().expect("it is about a path");
        assert!(path.ends_with(name), "{name:?}: {found}");
        assert_eq!(
            (&found["kind"], &found["program"], &found["syscall"]),
            (&"fs.read".into(), &"cat".into(), &"openat".into()),
            "{found}"
        );
    }
}

/// Each gets its own and nobody else's; audit is on until the last has ended.
fn several_at_once() {
    let worlds: Vec<World> = (0..4).map(|_| world(Caller::Root)).collect();
    let program = program();
    let running: Vec<_> = worlds
        .iter()
        .enumerate()
        .map(|(n, world)| {
            let run = prepared(world, Policy::Named("restricted"), FLAGS);
            run.command([program.as_str(), "signal", &(10 + n).to_string()]).spawn()
        })
        .collect();
    for (n, (world, running)) in worlds.iter().zip(running).enumerate() {
        let outcome = running.finish();
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        let report = read_report(world, &outcome);
        assert_eq!(row(&report, "syscall", "kill")["count"], 10 + n, "{report}");
    }
}

/// Everything is counted, in a row or as lost, and neither the run nor the machine waits.
fn flood() {
    let world = world(Caller::Root);
    let count = size(100_000, 1_000_000);
    let run = prepared(&world, Policy::Named("restricted"), FLAGS).limit(Duration::from_secs(300));
    let running = run.command([program().as_str(), "signal", &count.to_string()]).spawn();
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(500) {
        let one = Instant::now();
        // Writes a record of its own, for which there must be room or none is waited for.
        Command::new("true").status().expect("start a program");
        slowest = slowest.max(one.elapsed());
    }
    let outcome = running.finish();
    assert!(!outcome.hung && outcome.code() == Some(0), "{}", outcome.describe());
    let report = read_report(&world, &outcome);
    let seen = denials(&report)
        .iter()
        .filter_map(|row| row["count"].as_u64())
        .sum::<u64>();
    let lost = report["denials_lost"].as_u64().expect("a number");
    assert_eq!(seen + lost, count as u64, "{seen} recorded, {lost} lost");
    assert!(seen > 1000, "{seen} recorded, {lost} lost");
    println!(
        "{count} refusals in {:?}: {seen} recorded, {lost} lost; a program beside it took at most {slowest:?}",
        outcome.took
    );
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

fn killed() {
    // The supervisor alone: its janitor puts audit back.
    let world = world(Caller::Root);
    let run =
        || prepared(&world, Policy::Named("restricted"), FLAGS).command([program().as_str(), "ready", "/etc/hosts"]);
    let running = run().spawn();
    assert!(running.wait_for("ready"));
    assert_eq!(tuning().enabled, 1);
    kill(running.pid());
    assert!(
        wait_until(Duration::from_secs(15), || tuning() == OFF),
        "{:?}",
        tuning()
    );
    running.finish();
    // Both: the next start of any run does.
    let running = run().spawn();
    assert!(running.wait_for("ready"));
    let janitor = child_called(running.pid(), "glee-janitor");
    kill(janitor);
    kill(running.pid());
    running.finish();
    assert_eq!(tuning().enabled, 1, "nobody is left who could have put it back");
    let _ = fs::remove_file(report_file(&world));
    let next = prepared(&world, Policy::Named("restricted"), &[])
        .command(["true"])
        .go();
    assert_eq!(next.code(), Some(0), "{}", next.describe());
}

/// What somebody else has turned on is used and stays as it is.
fn on_already() {
    let theirs = Tuning {
        enabled: 1,
        rate_limit: 0,
        backlog_limit: 333,
        backlog_wait: 7,
    };
    audit::set(&theirs).expect("audit can be set");
    let world = world(Caller::Root);
    let run = prepared(&world, Policy::Named("restricted"), FLAGS).command([program().as_str(), "signal", "5"]);
    let (_, report) = reported(&world, run);
    assert_eq!(row(&report, "syscall", "kill")["count"], 5, "{report}");
    assert_eq!(tuning(), theirs);
    audit::set(&OFF).expect("audit can be set");
}

fn kill(pid: u32) {
    let sent = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "no process {pid} to kill");
}
