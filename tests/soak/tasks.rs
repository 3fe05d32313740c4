//! `kill -9` of workers at random moments while they work through a queue.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use glee_tests::{Caller, World};

use crate::keeper::{keeper_in, said_by};
use crate::rounds::{random_between, rounds};

const WORKERS: usize = 16;
const TASKS: u64 = 1000;
/// Far more than the tasks need.
const LONG: Duration = Duration::from_secs(300);

pub(crate) fn prove(caller: Caller) {
    for round in 0..rounds(1, 10) {
        one(caller, round);
    }
}

fn one(caller: Caller, round: usize) {
    let world = World::new(caller);
    said_by(&world, &["tasks", "fill", &TASKS.to_string()]).expect("fill the queue");
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| start(&world)).collect();
    let end = Instant::now() + LONG;
    let mut kills = 0;
    // Until one finds that all is over.
    loop {
        assert!(Instant::now() < end, "the queue did not empty");
        sleep(random_between(Duration::from_millis(1), Duration::from_millis(40)));
        let n = kills % WORKERS;
        let worker = workers.get_mut(n).expect("a worker");
        if worker.try_wait().expect("look at a worker").is_some() {
            break;
        }
        worker.kill().expect("kill a worker");
        worker.wait().expect("wait for a worker");
        kills += 1;
        *worker = start(&world);
    }
    for worker in &mut workers {
        let status = worker.wait().expect("wait for a worker");
        assert!(status.success(), "a worker that was not killed failed: {status}");
    }
    let counts = counts(&world);
    let (done, failed) = (counted(&counts, "done"), counted(&counts, "failed"));
    println!(
        "round {round} as {}: {kills} workers killed, {done} tasks done, {failed} failed",
        caller.name()
    );
    assert_eq!(done + failed, TASKS, "{counts:?}");
    assert!(failed <= kills as u64, "{failed} tasks failed by {kills} kills");
    assert!(kills >= WORKERS, "only {kills} kills");
    let read = |name: &str| fs::read_to_string(world.project().join(name)).unwrap_or_default();
    assert_eq!(read("violations"), "", "claimed by two who lived");
    let journal = read("journal");
    let mut starts: Vec<&str> = journal.lines().collect();
    let all = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), all, "a task was started twice");
    assert!(all as u64 >= done, "{all} starts and {done} done");
}

fn start(world: &World) -> Child {
    let mut command = keeper_in(world);
    command.args(["tasks", "work"]).stdout(Stdio::null());
    command.spawn().expect("start a worker")
}

fn counts(world: &World) -> BTreeMap<String, u64> {
    let text = said_by(world, &["tasks", "counts"]).expect("count the tasks");
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .map(|(state, count)| (state.to_owned(), count.parse().expect("a number")))
        .collect()
}

fn counted(counts: &BTreeMap<String, u64>, state: &str) -> u64 {
    counts.get(state).copied().unwrap_or(0)
}
