//! Nothing outlives a killed supervisor: no process, container, mount or directory.

use std::process::Command;
use std::thread;
use std::time::Duration;

use glee_tests::{Running, carrying, wait_until};

use crate::claims::claims;
use crate::support::Place;

/// How long the engine may take to remove what is left.
const PATIENCE: Duration = Duration::from_secs(30);

fn started(at: &Place) -> (Running, String) {
    let id = at.world.nonce();
    let before = at.running();
    let script = format!("sh -c 'trap \"\" HUP TERM INT; sleep 300; :' {id} & echo ready; wait");
    let running = at.sh("restricted", &script).spawn();
    assert!(running.wait_for("ready"), "the command did not start");
    // Others may start runs at the same time: ours is in the name of the lock that our carrier holds.
    let ours = |run: &String| !before.contains(run) && holds(&children(running.pid()), run);
    let run = at.running().into_iter().find(ours);
    (running, run.expect("its container runs"))
}

/// Children of the supervisor, its carrier among them.
fn children(of: u32) -> Vec<u32> {
    let out = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &of.to_string()])
        .output()
        .expect("ps");
    String::from_utf8_lossy(&out.stdout)
        .split_ascii_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

fn holds(pids: &[u32], run: &str) -> bool {
    let open = |pid: &u32| {
        std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
    };
    pids.iter().flat_map(open).any(|fd| {
        let file = std::fs::read_link(fd.path()).unwrap_or_default();
        file.ends_with(format!("{run}/lock"))
    })
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
}

claims! {
    fn a_killed_supervisor_leaves_nothing(at) {
        let (running, run) = started(at);
        running.signal("KILL");
        let _ = running.finish();
        let id = at.world.nonce();
        assert!(wait_until(PATIENCE, || carrying(id).is_empty()), "alive: {:?}", carrying(id));
        let runs = [run];
        assert!(wait_until(PATIENCE, || at.left(&runs).is_empty()), "left: {:?}", at.left(&runs));
    }

    fn what_supervisor_and_carrier_left_is_reaped_by_the_next_run(at) {
        let (running, run) = started(at);
        let all = children(running.pid());
        assert!(!all.is_empty(), "the supervisor has a carrier");
        kill(running.pid());
        all.into_iter().for_each(kill);
        let _ = running.finish();
        let id = at.world.nonce();
        assert!(wait_until(PATIENCE, || carrying(id).is_empty()), "alive: {:?}", carrying(id));
        let seen = at.sh("restricted", "true").go();
        assert_eq!(seen.code(), Some(0), "{}", seen.describe());
        let runs = [run];
        assert!(wait_until(PATIENCE, || at.left(&runs).is_empty()), "left: {:?}", at.left(&runs));
    }
}

/// How many runs; the whole number takes minutes (`GLEE_RUNS=200`).
fn runs() -> u64 {
    std::env::var("GLEE_RUNS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(32)
}

const BASE: &str = "/run/glee-containers";

/// Runs of root's whose lock nobody holds, by their directories and their mounts.
fn abandoned() -> Vec<String> {
    // Without a lock it is just being made or removed.
    let held = |run: &str| match std::fs::File::open(format!("{BASE}/{run}/lock")) {
        Ok(lock) => lock.try_lock().is_err(),
        Err(_) => true,
    };
    let entries = std::fs::read_dir(BASE).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let dirs: Vec<String> = names.collect();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let lost = mounts.lines().filter_map(|line| {
        let run = line.split_once(&format!(" {BASE}/"))?.1.split('/').next()?;
        (!dirs.iter().any(|dir| dir == run)).then(|| format!("mount of {run}"))
    });
    let unheld = dirs.iter().filter(|run| !held(run)).cloned();
    unheld.chain(lost).collect()
}

#[test]
fn runs_killed_at_random_leave_nothing() {
    let before = Place::of(glee_tests::Caller::Root);
    let known = before.podman(&["ps", "--all", "--format", "{{.Names}}", "--filter", "label=glee.run"]);
    let networks = before.podman(&["network", "ls", "--quiet"]);
    let threads: Vec<_> = (0..16u64)
        .map(|thread| {
            thread::spawn(move || {
                for turn in 0..runs().div_ceil(16) {
                    let at = Place::of(glee_tests::Caller::Root);
                    let running = at.sh("workspace", "echo x > made; sleep 1; true").spawn();
                    // Anywhere between the first step and the end of the command.
                    let chance = (thread * 2_654_435_761 + turn * 40_503) % 2_500;
                    thread::sleep(Duration::from_millis(chance));
                    if (thread + turn) % 4 != 0 {
                        running.signal("KILL");
                    }
                    let _ = running.finish();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("no thread fails"));
    let seen = before.sh("restricted", "true").go();
    assert_eq!(seen.code(), Some(0), "{}", seen.describe());
    let clean = || {
        let now = before.podman(&["ps", "--all", "--format", "{{.Names}}", "--filter", "label=glee.run"]);
        now.lines().all(|name| known.contains(name))
    };
    assert!(wait_until(PATIENCE, clean), "containers are left");
    assert!(
        wait_until(PATIENCE, || abandoned().is_empty()),
        "left: {:?}",
        abandoned()
    );
    assert_eq!(
        before.podman(&["network", "ls", "--quiet"]),
        networks,
        "networks are left"
    );
    let volumes = before.podman(&["volume", "ls", "--quiet"]);
    assert_eq!(volumes, "", "volumes are left");
}
