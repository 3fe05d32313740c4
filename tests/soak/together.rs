//! Two runs in one project, of which one is killed: the other's protections hold, and in the end nothing is left.

use std::fs::{self, File};
use std::os::unix::fs::lchown;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use glee_tests::{Caller, World, binary, carrying, wait_until};

use crate::programs::compiled;
use crate::remains::Before;
use crate::rounds::{all_hold, random_between, rounds};

const SOON: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_millis(60);

pub(crate) fn prove(caller: Caller) {
    let claim = format!("the other run stays protected, as {}", caller.name());
    all_hold(&claim, rounds(12, 200), |n| round(caller, n));
}

/// Which of the two was there first, and how the guard ends.
#[derive(Debug, Clone, Copy)]
enum Order {
    GuardFirst,
    VictimFirst,
    AtOnce,
    /// At once, and the guard is killed too.
    BothKilled,
}

fn round(caller: Caller, n: usize) -> Result<(), String> {
    let order = [Order::GuardFirst, Order::VictimFirst, Order::AtOnce, Order::BothKilled]
        .get(n % 4)
        .copied();
    let order = order.expect("one of four");
    let world = World::new(caller);
    world.git_init();
    let before = Before::of(&world);
    let (guard_mark, victim_mark) = (format!("{}-guard", world.nonce()), format!("{}-victim", world.nonce()));
    let output = world.root().join("guard-output");
    let to = || {
        File::options()
            .create(true)
            .append(true)
            .open(&output)
            .expect("open the output")
    };
    let mut guard = command(&world, "guard", &guard_mark);
    guard.stdout(to()).stderr(to());
    let mut victim = command(&world, "tree", &victim_mark);
    let up = || wait_until(SOON, || said(&output).contains("up"));
    let moment = random_between(Duration::ZERO, START);
    let (mut guard, mut victim) = match order {
        Order::GuardFirst => {
            let guard = start(&mut guard);
            up();
            (guard, start(&mut victim))
        }
        Order::VictimFirst => {
            let victim = start(&mut victim);
            wait_until(SOON, || carrying(&victim_mark).len() > 10);
            (start(&mut guard), victim)
        }
        Order::AtOnce | Order::BothKilled => {
            let victim = start(&mut victim);
            (start(&mut guard), victim)
        }
    };
    let supervisors = [guard.id(), victim.id()];
    sleep(moment);
    victim.kill().expect("kill the victim");
    victim.wait().expect("wait for the victim");
    if let Order::BothKilled = order {
        sleep(random_between(Duration::ZERO, START));
        guard.kill().expect("kill the guard");
        guard.wait().expect("wait for the guard");
    } else {
        up();
        // With the victim's janitor gone, and some time for the guard to try what its end has opened.
        wait_until(SOON, || carrying(&victim_mark).is_empty());
        sleep(Duration::from_millis(60));
        let stop = world.project().join(format!("stop-{guard_mark}"));
        fs::write(&stop, "")
            .and_then(|()| lchown(&stop, Some(caller.uid()), Some(caller.gid())))
            .expect("stop the guard");
        let ended = wait_until(SOON, || matches!(guard.try_wait(), Ok(Some(_))));
        let _ = guard.kill();
        let status = guard.wait().expect("wait for the guard");
        fs::remove_file(&stop).expect("remove the stop file");
        let tried = said(&output)
            .lines()
            .any(|l| l.starts_with("tried ") && l != "tried 0 times");
        if !ended || !status.success() || !tried {
            let told = said(&output);
            let remains = before.nothing_is_left(&world, &supervisors);
            return Err(format!(
                "{order:?}, killed at {moment:?}: the guard ended: {ended}, {status}, {told}, {remains:?}"
            ));
        }
    }
    // The guard's tool, which it had no time to remove if it was killed; it may make one until it is gone.
    wait_until(SOON, || carrying(world.nonce()).is_empty());
    let _ = fs::remove_file(world.project().join(format!("own-{guard_mark}")));
    let planted: Vec<String> = said(&output)
        .lines()
        .filter(|l| l.starts_with("PLANTED"))
        .take(5)
        .map(str::to_owned)
        .collect();
    let remains = before.nothing_is_left(&world, &supervisors);
    match (planted.as_slice(), remains) {
        ([], Ok(())) => Ok(()),
        (planted, remains) => Err(format!("{order:?}, killed at {moment:?}: {planted:?}, {remains:?}")),
    }
}

fn command(world: &World, what: &str, mark: &str) -> Command {
    let mut command = world.host_command(&binary().display().to_string());
    command
        .args(["run", "--policy", "workspace", "--"])
        .arg(compiled("soak/programs/hostile.c"))
        .args([what, mark]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(command: &mut Command) -> Child {
    command.spawn().expect("start a supervisor")
}

fn said(output: &std::path::Path) -> String {
    fs::read_to_string(output).unwrap_or_default()
}
