//! A run is killed while others in its project come and go, each of which may be the last and clean up.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use glee_tests::{Caller, World, binary, carrying, wait_until};

use crate::programs::compiled;
use crate::remains::Before;
use crate::rounds::{all_hold, random_between, rounds};

const SOON: Duration = Duration::from_secs(10);
/// Eight that try to plant files, and the supervisor, its janitor and pid 1.
const SWARM: usize = 11;
/// How many come and go at a time.
const PASSERS: usize = 3;

pub(crate) fn prove(caller: Caller) {
    let claim = format!(
        "nothing is opened or left while others come and go, as {}",
        caller.name()
    );
    all_hold(&claim, rounds(8, 150), |_| round(caller));
}

fn round(caller: Caller) -> Result<(), String> {
    let world = World::new(caller);
    world.git_init();
    let before = Before::of(&world);
    let victim_mark = format!("{}-victim", world.nonce());
    let mut victim = start(
        &world,
        &compiled("soak/programs/hostile.c").display().to_string(),
        &["swarm", &victim_mark],
    );
    let up = wait_until(SOON, || carrying(&victim_mark).len() >= SWARM);
    let over = AtomicBool::new(false);
    let mut supervisors = vec![victim.id()];
    let mut refused = Vec::new();
    thread::scope(|scope| {
        let passers: Vec<_> = (0..PASSERS)
            .map(|_| {
                // A world is not shared between threads; a command is made here and started there.
                let mut passer = command(&world, "/bin/true", &[]);
                let over = &over;
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let child = passer.spawn().expect("start a supervisor");
                        let pid = child.id();
                        seen.push((pid, child.wait_with_output().expect("wait for a supervisor")));
                    }
                    seen
                })
            })
            .collect();
        sleep(random_between(Duration::from_millis(60), Duration::from_millis(150)));
        victim.kill().expect("kill the victim");
        victim.wait().expect("wait for the victim");
        sleep(Duration::from_millis(60));
        over.store(true, Ordering::Relaxed);
        for (pid, out) in passers
            .into_iter()
            .flat_map(|passer| passer.join().expect("no passer panics"))
        {
            supervisors.push(pid);
            if !out.status.success() {
                refused.push(format!("{}: {}", out.status, String::from_utf8_lossy(&out.stderr)));
            }
        }
    });
    let remains = before.nothing_is_left(&world, &supervisors);
    match (up, refused.as_slice(), remains) {
        (true, [], Ok(())) => Ok(()),
        (up, refused, remains) => Err(format!(
            "the swarm was up: {up}; runs beside it: {refused:?}; {remains:?}"
        )),
    }
}

fn command(world: &World, program: &str, arguments: &[&str]) -> std::process::Command {
    let mut command = world.host_command(&binary().display().to_string());
    command
        .args(["run", "--policy", "workspace", "--", program])
        .args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn start(world: &World, program: &str, arguments: &[&str]) -> Child {
    command(world, program, arguments)
        .stderr(Stdio::null())
        .spawn()
        .expect("start a supervisor")
}
