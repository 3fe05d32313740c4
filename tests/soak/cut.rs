//! `kill -9` of the supervisor after each system call that it makes, one run for each.
//!
//! Random moments rarely meet the gap of a few microseconds that matters; this meets them all. `cutter` is the clock.

use std::process::{Command, Stdio};

use glee_tests::{Caller, World, binary};

use crate::audit::is_whole;
use crate::programs::compiled;
use crate::remains::Before;
use crate::rounds::{all_hold, is_full};

/// Of the calls, in a small run, this many are tried, spread evenly and shifted at random.
const SMALL: usize = 24;

pub(crate) fn prove_restricted(caller: Caller) {
    prove(caller, "restricted", "shared");
}

pub(crate) fn prove_workspace(caller: Caller) {
    prove(caller, "workspace", "shared");
}

pub(crate) fn prove_copy(caller: Caller) {
    prove(caller, "workspace", "cow");
}

fn prove(caller: Caller, policy: &str, workspace: &str) {
    // Uncut, to count them.
    let (_, whole) =
        round(caller, policy, workspace, 0).unwrap_or_else(|why| panic!("a run that nobody killed: {why}"));
    let tried: Vec<usize> = if is_full() {
        (1..=whole).collect()
    } else {
        let step = (whole / SMALL).max(1);
        let shift = usize::try_from(std::process::id()).unwrap_or(0) % step;
        (1 + shift..=whole).step_by(step).collect()
    };
    let claim = format!(
        "nothing is left after kill -9 after any of {whole} calls, {policy}, {workspace}, as {}",
        caller.name()
    );
    all_hold(&claim, tried.len(), |n| {
        let count = tried.get(n).copied().unwrap_or(1);
        round(caller, policy, workspace, count).map_err(|why| format!("killed after {why}"))
    });
}

/// Kills the supervisor after its `count`th call (0: never) and returns its pid and how many it made.
fn round(caller: Caller, policy: &str, workspace: &str, count: usize) -> Result<(u32, usize), String> {
    let world = World::new(caller);
    world.git_init();
    let before = Before::of(&world);
    let out = Command::new(compiled("soak/programs/cutter.c"))
        .args([count.to_string(), caller.uid().to_string(), caller.gid().to_string()])
        .arg(binary())
        .args(["run", "--policy", policy, "--workspace", workspace, "--"])
        .arg(compiled("soak/programs/hostile.c"))
        .args(["brief", world.nonce()])
        .env_clear()
        .envs([
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", &world.home().display().to_string()),
        ])
        .current_dir(world.project())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .expect("start the cutter");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let said: Vec<i64> = text
        .lines()
        .last()
        .unwrap_or_default()
        .split(' ')
        .filter_map(|n| n.parse().ok())
        .collect();
    let [pid, calls, last, status] = said.as_slice() else {
        return Err(format!(
            "the cutter said `{text}` {}",
            String::from_utf8_lossy(&out.stderr)
        ));
    };
    let (pid, calls) = (u32::try_from(*pid).unwrap_or(0), usize::try_from(*calls).unwrap_or(0));
    let remains = before.nothing_is_left(&world, &[pid]).and_then(|()| is_whole(&world));
    if count == 0 && *status != 0 {
        return Err(format!("it ended with {status}"));
    }
    remains
        .map(|()| (pid, calls))
        .map_err(|left| format!("call {calls} (system call {last}): {left}"))
}
