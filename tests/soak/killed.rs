//! `kill -9` of the supervisor at a random moment.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use glee_tests::{Caller, World, binary, carrying, wait_until};

use crate::programs::compiled;
use crate::remains::Before;
use crate::rounds::{all_hold, random_between, rounds};

/// While the sandbox is being built, and a little longer.
const START: Duration = Duration::from_millis(60);
/// While the tree is busy.
const LATER: Duration = Duration::from_millis(500);
const SOON: Duration = Duration::from_secs(10);
/// Eight that try, and the supervisor, its janitor and pid 1.
const SWARM: usize = 11;

pub(crate) fn prove(caller: Caller) {
    let claim = format!("nothing is left after kill -9, as {}", caller.name());
    let sizes = all_hold(&claim, rounds(25, 500), |n| {
        let moment = if n % 5 == 4 {
            random_between(START, LATER)
        } else {
            random_between(Duration::ZERO, START)
        };
        round(caller, moment)
    });
    println!(
        "{claim}: in {} rounds nothing ran yet, in {} the tree had 20 processes or more",
        sizes.iter().filter(|s| **s <= 1).count(),
        sizes.iter().filter(|s| **s >= 20).count()
    );
}

/// What is protected stays so to the last moment: removing a placeholder before the last process is dead opens its name.
pub(crate) fn prove_protected(caller: Caller) {
    let claim = format!("kill -9 opens no protected name, as {}", caller.name());
    all_hold(&claim, rounds(15, 300), |_| swarm(caller));
}

fn swarm(caller: Caller) -> Result<(), String> {
    let world = World::new(caller);
    world.git_init();
    let before = Before::of(&world);
    let mut run = start(&world, "swarm");
    let up = wait_until(SOON, || carrying(world.nonce()).len() >= SWARM);
    sleep(random_between(Duration::ZERO, START));
    run.kill().expect("kill the supervisor");
    run.wait().expect("wait for the supervisor");
    let remains = before.nothing_is_left(&world, &[run.id()]);
    if up {
        remains
    } else {
        Err(format!("the swarm did not start, {remains:?}"))
    }
}

fn start(world: &World, what: &str) -> Child {
    world
        .host_command(&binary().display().to_string())
        .args(["run", "--policy", "workspace", "--"])
        .arg(compiled("soak/programs/hostile.c"))
        .args([what, world.nonce()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the supervisor")
}

/// How many processes there were at the kill.
fn round(caller: Caller, moment: Duration) -> Result<usize, String> {
    let world = World::new(caller);
    world.git_init();
    let before = Before::of(&world);
    let mut run = start(&world, "tree");
    let started = Instant::now();
    // Looking takes some milliseconds: only where there is time.
    let look = Duration::from_millis(30);
    if moment > look {
        sleep(moment - look);
    }
    let size = if moment > look {
        carrying(world.nonce()).len()
    } else {
        0
    };
    sleep(moment.saturating_sub(started.elapsed()));
    run.kill().expect("kill the supervisor");
    let killed = started.elapsed();
    let supervisor = run.id();
    run.wait().expect("wait for the supervisor");
    let remains = before.nothing_is_left(&world, &[supervisor]);
    remains
        .map(|()| size)
        .map_err(|left| format!("killed {killed:?} after its start ({size} processes seen): {left}"))
}
