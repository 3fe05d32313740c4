//! The listener dies or stands still: the run ends, soon, and says so; nothing is left.

use std::process::Command;
use std::time::{Duration, Instant};

use glee_tests::{Caller, Policy, alive, wait_until};

use crate::support::{child_called, prepared, program, read_report, world};

pub(crate) fn killed(caller: Caller) {
    ends_the_run(caller, "KILL", Duration::from_secs(5));
}

pub(crate) fn stopped(caller: Caller) {
    ends_the_run(caller, "STOP", Duration::from_secs(25));
}

fn ends_the_run(caller: Caller, signal: &str, limit: Duration) {
    let world = world(caller);
    let program = program();
    let run = prepared(&world, Policy::Named("restricted"), &[]).limit(Duration::from_secs(60));
    let running = run.command([program.as_str(), "ready", "/etc/hosts"]).spawn();
    assert!(running.wait_for("ready"), "{}", running.finish().describe());
    let listener = child_called(running.pid(), "glee-listener");
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &listener.to_string()])
        .status();
    assert!(
        sent.is_ok_and(|status| status.success()),
        "no listener {listener} to signal"
    );
    let started = Instant::now();
    let outcome = running.finish();
    assert!(!outcome.hung && started.elapsed() < limit, "{}", outcome.describe());
    assert_eq!(outcome.code(), Some(137), "{}", outcome.describe());
    assert!(outcome.err().contains("the run was ended"), "{}", outcome.describe());
    let report = read_report(&world, &outcome);
    assert_eq!(
        (&report["outcome"], &report["cause"]),
        (&"signaled".into(), &"listener".into()),
        "{report}"
    );
    assert!(
        wait_until(Duration::from_secs(2), || !alive(listener)),
        "the listener outlives its run"
    );
}

/// Nobody waits for it, and so nobody notices before the end.
pub(crate) fn silent(caller: Caller) {
    let world = world(caller);
    let run = prepared(&world, Policy::Named("restricted"), &[]).limit(Duration::from_secs(60));
    let script = "import os, time\ntry: os.mkdir('new')\nexcept OSError: print('ready', flush=True)\n\
                  time.sleep(3); os._exit(0)";
    let running = run.command(["python3", "-I", "-c", script]).spawn();
    assert!(running.wait_for("ready"), "{}", running.finish().describe());
    let listener = child_called(running.pid(), "glee-listener");
    let sent = Command::new("kill").args(["-STOP", &listener.to_string()]).status();
    assert!(
        sent.is_ok_and(|status| status.success()),
        "no listener {listener} to stop"
    );
    let outcome = running.finish();
    let report = read_report(&world, &outcome);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert!(
        outcome.err().contains("the list of denials is not complete"),
        "{}",
        outcome.describe()
    );
    assert_eq!(
        (&report["outcome"], &report["cause"], &report["denials_lost"]),
        (&"exited".into(), &"listener".into(), &1.into()),
        "{report}"
    );
}
