//! The deadline ends every tree.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use glee_tests::{Caller, World, binary, carrying, wait_until};

use crate::programs::compiled;
use crate::remains::{Before, end};
use crate::rounds::{all_hold, rounds};

const DEADLINE: Duration = Duration::from_millis(500);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// For a busy machine: killing and reaping sixty processes, and looking at them.
const SLACK: Duration = Duration::from_secs(1);
/// A tree that never grew proves nothing.
const GROWN: usize = 20;
const RETRIES: usize = 4;

pub(crate) fn prove(caller: Caller) {
    survives_without_the_sandbox(caller);
    let mut times = all_hold(
        &format!("gone after the deadline, as {}", caller.name()),
        rounds(8, 200),
        |_| {
            (0..RETRIES)
                .map(|_| round(caller))
                .find_map(Result::transpose)
                .unwrap_or_else(slow)
        },
    );
    times.sort_unstable();
    let [least, median, most] = [0, times.len() / 2, times.len().saturating_sub(1)].map(|n| times.get(n).copied());
    println!(
        "gone this long after the start, deadline {DEADLINE:?}, grace {GRACE:?}: {least:?} … {median:?} … {most:?}"
    );
}

/// So many in a row is no longer the machine's fault.
fn slow() -> Result<Duration, String> {
    Err(format!(
        "the tree did not have {GROWN} processes at the deadline, {RETRIES} times in a row"
    ))
}

/// When the last process was gone, since the start. `None` if the tree had not grown by then, on a busy machine.
fn round(caller: Caller) -> Result<Option<Duration>, String> {
    let world = World::new(caller);
    let before = Before::of(&world);
    let timeout = format!("{}ms", DEADLINE.as_millis());
    let started = Instant::now();
    let mut run = world
        .host_command(&binary().display().to_string())
        .args(["run", "--policy", "restricted", "--timeout", &timeout, "--"])
        .arg(compiled("soak/programs/hostile.c"))
        .args(["tree", world.nonce()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the supervisor");
    let supervisor = run.id();
    sleep(DEADLINE.mul_f64(0.9).saturating_sub(started.elapsed()));
    let grown = carrying(world.nonce()).len();
    let limit = DEADLINE + GRACE + SLACK;
    let ended = wait_until(limit.saturating_sub(started.elapsed()), || {
        matches!(run.try_wait(), Ok(Some(_)))
    });
    let gone = wait_until(limit.saturating_sub(started.elapsed()), || {
        carrying(world.nonce()).is_empty()
    });
    let took = started.elapsed();
    let left = carrying(world.nonce());
    let status = finish(&mut run);
    let remains = before.nothing_is_left(&world, &[supervisor]);
    end(&world);
    match (ended && gone, status, remains) {
        (false, ..) => Err(format!(
            "after {took:?} the supervisor has ended: {ended}, and there are {left:?}"
        )),
        (true, Some(124), Ok(())) => Ok((grown >= GROWN).then_some(took)),
        (true, status, remains) => Err(format!("status {status:?}, left {remains:?}")),
    }
}

fn finish(run: &mut Child) -> Option<i32> {
    let _ = run.kill();
    run.wait().expect("wait for the supervisor").code()
}

/// Bare, the tree is there long after its first process was killed.
fn survives_without_the_sandbox(caller: Caller) {
    let world = World::new(caller);
    let mut root = world
        .host_command(&compiled("soak/programs/hostile.c").display().to_string())
        .args(["tree", world.nonce()])
        .stdout(Stdio::null())
        .spawn()
        .expect("start the tree");
    sleep(DEADLINE);
    finish(&mut root);
    sleep(Duration::from_secs(1));
    let left = carrying(world.nonce()).len();
    end(&world);
    assert!(
        left >= GROWN,
        "bare control: only {left} processes outlived their root, so the tree proves nothing"
    );
}
