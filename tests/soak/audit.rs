//! `kill -9` of supervisors while others write the same audit log: whatever the moment, the log is whole and goes on.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use glee_tests::{Caller, World, binary};

use crate::rounds::{all_hold, random_between, rounds};

/// At once, of which all but one are killed.
const TOGETHER: usize = 6;
/// While a run of `true` is going on, and a little longer.
const WHILE: Duration = Duration::from_millis(40);

pub(crate) fn prove(caller: Caller) {
    let claim = format!(
        "the log is whole after kill -9 of {} of {TOGETHER} writers, as {}",
        TOGETHER - 1,
        caller.name()
    );
    let seen = all_hold(&claim, rounds(8, 60), |_| round(caller));
    let ended: usize = seen.iter().sum();
    println!("{claim}: {ended} runs got to their end");
}

fn supervisor(world: &World, arguments: &[&str]) -> std::process::Command {
    let mut command = world.host_command(&binary().display().to_string());
    command.args(arguments);
    command
}

/// Fails with what `audit verify` says if it finds a problem. What killed writers left is none.
pub(crate) fn is_whole(world: &World) -> Result<(), String> {
    let out = supervisor(world, &["audit", "verify"])
        .output()
        .expect("start the supervisor");
    if out.status.success() {
        return Ok(());
    }
    Err(format!(
        "the audit log: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    ))
}

/// How many runs the log says have ended.
fn round(caller: Caller) -> Result<usize, String> {
    let world = World::new(caller);
    let start = || -> Child {
        supervisor(&world, &["run", "--policy", "restricted", "--", "true"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("start a run")
    };
    let mut ended = 0;
    for _ in 0..2 {
        let survivor = start();
        let killed: Vec<Child> = (1..TOGETHER).map(|_| start()).collect();
        for mut run in killed {
            sleep(random_between(Duration::ZERO, WHILE / 5));
            run.kill().expect("kill a supervisor");
            run.wait().expect("wait for it");
        }
        let out = survivor.wait_with_output().expect("wait for the one that lives");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        if !out.status.success() || !said.is_empty() {
            return Err(format!("the run that nobody killed: {} {said}", out.status));
        }
        is_whole(&world)?;
        ended = count(&world, "\"ended\"");
        if ended == 0 {
            return Err("the run that nobody killed is not in the log".to_owned());
        }
    }
    Ok(ended)
}

fn count(world: &World, event: &str) -> usize {
    let log = world.home().join(".local/state/glee/audit-000001.jsonl");
    let text = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&text).matches(event).count()
}
