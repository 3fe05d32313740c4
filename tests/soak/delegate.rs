//! `kill -9` of workers and of whoever waits for them, at random moments, while a thousand tasks are worked on.

use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

use glee_tests::{Caller, Run, World, binary, carrying};
use serde_json::Value;

use crate::rounds::{is_full, random_between};

/// Far more than the tasks need.
const LONG: Duration = Duration::from_secs(600);

fn call<'w>(world: &'w World, arguments: &[&str]) -> Run<'w> {
    let words = arguments.iter().map(OsString::from);
    let argv = [OsString::from(binary())].into_iter().chain(words);
    Run::bare(world)
        .raw_command(argv)
        .env("XDG_CONFIG_HOME", &world.root().join("config").display().to_string())
        .limit(LONG)
}

fn listed(world: &World) -> Vec<Value> {
    let outcome = call(world, &["tasks", "list", "--all", "--most", "5000", "--json"]).go();
    let list: Value = serde_json::from_slice(&outcome.stdout).unwrap_or_else(|e| panic!("{e}\n{}", outcome.describe()));
    list.as_array().expect("a list").clone()
}

fn in_state(list: &[Value], states: &[&str]) -> usize {
    let is = |task: &&Value| task["state"].as_str().is_some_and(|state| states.contains(&state));
    list.iter().filter(is).count()
}

fn workers(world: &World) -> Vec<u32> {
    let mut found = carrying("__worker");
    found.retain(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(world.nonce())
    });
    found
}

fn kill(pid: u32) {
    let _ = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status();
}

/// A configuration that the user trusts.
fn configure(world: &World, at_once: u32) {
    let config = format!(
        "subagents:\n  max_concurrent: {at_once}\nsecurity:\n  subagent_permissions:\n    extends: workspace\n"
    );
    world.file("@PROJECT/.glee/config.yml", &config);
    let trusted = call(world, &["trust", "--config", "--yes"]).go();
    assert_eq!(trusted.code(), Some(0), "{}", trusted.describe());
}

pub(crate) fn prove(caller: Caller) {
    let (tasks, at_once, time) = if is_full() { (1000, 64, 1500) } else { (60, 12, 700) };
    let world = World::new(caller);
    configure(&world, 1);
    // It has the only place until all the others wait, so that none of them sees a configuration that is not trusted yet.
    let first = call(
        &world,
        &["subagent", "stub: sleep 600000", "--cli", "stub", "--background"],
    )
    .go();
    assert_eq!(first.code(), Some(0), "{}", first.describe());
    let newest = || {
        let task = listed(&world).into_iter().next();
        task.and_then(|task| task.get("task_id").and_then(Value::as_str).map(str::to_owned))
            .expect("a task")
    };
    let first = newest();
    let began = glee_tests::wait_until(LONG, || in_state(&listed(&world), &["running"]) == 1);
    assert!(began, "the first task does not start");
    let list: Vec<Value> = (0..tasks)
        .map(
            |n| serde_json::json!({"prompt": format!("stub: append journal {n}\nstub: sleep {time}"), "agent_cli": "stub"}),
        )
        .collect();
    let file = world.file("@OUT/tasks.json", &Value::from(list).to_string());
    let file = file.display().to_string();
    // In the background: those that somebody waits for end with who waits.
    let taken = call(&world, &["subagents", "--file", &file, "--background"]).go();
    assert_eq!(taken.code(), Some(0), "{}", taken.describe());
    assert_eq!(listed(&world).len(), tasks + 1, "not all were taken");
    configure(&world, at_once);
    let cancelled = call(&world, &["tasks", "cancel", &first]).go();
    assert_eq!(cancelled.code(), Some(0), "{}", cancelled.describe());
    let end = Instant::now() + LONG;
    let mut dispatcher = call(&world, &["tasks", "wait", &newest()]).spawn();
    let (mut killed_workers, mut killed_dispatchers) = (0, 0);
    let last = loop {
        assert!(Instant::now() < end, "the queue did not empty");
        std::thread::sleep(random_between(Duration::from_millis(5), Duration::from_millis(120)));
        let found = workers(&world);
        let which = random_between(Duration::ZERO, Duration::from_millis(found.len() as u64)).as_millis();
        if let Some(pid) = found.get(usize::try_from(which).unwrap_or(0)) {
            kill(*pid);
            killed_workers += 1;
        }
        let list = listed(&world);
        let open: Vec<&str> = list
            .iter()
            .filter(|task| in_state(std::slice::from_ref(task), &["queued", "claimed", "running"]) == 1)
            .filter_map(|task| task["task_id"].as_str())
            .collect();
        let Some(oldest) = open.last() else { break list };
        if killed_workers % 3 == 2 {
            kill(dispatcher.pid());
            dispatcher.finish();
            killed_dispatchers += 1;
            dispatcher = call(&world, &["tasks", "wait", oldest]).spawn();
        } else if !glee_tests::alive(dispatcher.pid()) {
            dispatcher.finish();
            dispatcher = call(&world, &["tasks", "wait", oldest]).spawn();
        }
    };
    dispatcher.finish();
    let (done, failed) = (in_state(&last, &["done"]), in_state(&last, &["failed"]));
    println!(
        "as {}: {tasks} tasks, {at_once} at once: {killed_workers} workers and {killed_dispatchers} dispatchers killed, {done} done, {failed} failed",
        caller.name()
    );
    assert_eq!(done + failed, tasks, "a task is lost");
    for task in last.iter().filter(|task| task["state"] == "failed") {
        let why = task
            .pointer("/outcome/error")
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(why.starts_with("the supervisor ended"), "{task}");
    }
    assert!(failed <= killed_workers, "{failed} failed by {killed_workers} kills");
    assert!(killed_workers >= 7 && killed_dispatchers >= 1, "too few kills");
    let journal = fs::read_to_string(world.project().join("journal")).unwrap_or_default();
    let mut starts: Vec<&str> = journal.lines().collect();
    let all = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), all, "a task ran twice");
    assert!(all >= done, "{all} ran and {done} are done");
    let quiet = glee_tests::wait_until(Duration::from_secs(20), || world.remains().is_none());
    assert!(quiet, "{:?}", world.remains());
    let bench = world.root().join("state/glee/projects");
    let left = std::process::Command::new("find")
        .arg(bench)
        .args(["-name", "*.job"])
        .output();
    println!(
        "files left for the next worker: {}",
        left.map_or(0, |left| left.stdout.split(|b| *b == b'\n').count() - 1)
    );
}
