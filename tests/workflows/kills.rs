//! `kill -9` of drivers and workers, at every step boundary and inside steps: nothing is lost, nothing runs twice, and what was
//! used is used.
//!
//! Small by default; `GLEE_SOAK=full` is the size of the promise: 500 kills.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use glee_tests::{Caller, alive, carrying, wait_until};
use serde_json::{Value, json};

use crate::place::{Place, WORKSPACE, says, steps};

const LONG: Duration = Duration::from_secs(60);

glee_tests::claims! {
    kill_9_at_any_time_loses_no_step_and_runs_none_twice => super::prove;
    of_two_that_resume_at_once_one_wins => super::two;
    what_was_used_before_a_crash_is_used => super::used;
    a_run_can_be_ended_with_and_without_a_driver => super::ended;
    a_workflow_that_changed_is_not_gone_on_with => super::changed;
    an_interrupted_caller_takes_its_agents_along => super::interrupted;
}

fn kills() -> usize {
    if std::env::var("GLEE_SOAK").is_ok_and(|size| size == "full") {
        500
    } else {
        12
    }
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
}

fn below(most: u64) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    (u64::from(now) / 64) % most
}

/// The workers of this world.
fn workers(at: &Place) -> Vec<u32> {
    let mut found = carrying("__worker");
    found.retain(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(at.world.nonce())
    });
    found
}

/// Eight agents in three workflows, each of which leaves a line.
fn define(at: &Place) {
    at.trusted(&format!(
        "{WORKSPACE}workflows:\n  budgets: {{max_steps: 10, max_parallel: 2}}\n"
    ));
    let step = |name: &str, more: &str| {
        format!(
            "  - {{agent: stub, name: {name}, prompt: \"stub: append journal ${{tag}}-{name}\\nstub: sleep 30\\nstub: say {name}\"{more}}}\n"
        )
    };
    let inner = [step("a", ""), step("b", ", inputs: {x: '${steps.a.output}'}")].concat();
    at.workflow("inner", &format!("steps:\n{inner}"));
    let wide = [
        step("c", ", parallel_group: g"),
        step("d", ", parallel_group: g"),
        step("e", ""),
    ]
    .concat();
    at.workflow("wide", &format!("execution: parallel\nsteps:\n{wide}"));
    let outer = [
        "  - {workflow: inner}\n".to_owned(),
        "  - {workflow: wide}\n".to_owned(),
        step("f", ""),
        step("h", ", needs: [0, 1]"),
        step("i", ", inputs: {x: '${steps.h.output}'}"),
    ]
    .concat();
    at.workflow("outer", &format!("execution: dag\nsteps:\n{outer}"));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// As soon as the driver says that so many things have happened.
    Boundary(usize),
    /// After so many milliseconds.
    Inside(u64),
}

fn prove(caller: Caller) {
    let at = Place::of(caller);
    define(&at);
    let (mut killed, mut killed_workers, mut round, mut failed) = (0, 0, 0usize, 0);
    let mut last = String::new();
    while killed < kills() {
        round += 1;
        let tag = format!("tag=r{round}");
        let begin = ["workflow", "run", "outer", "--input", &tag, "--json"];
        let mut driver = at.call(&begin).spawn();
        let run = run_of(&at, &last, &driver);
        last.clone_from(&run);
        let mut tries = 0;
        loop {
            tries += 1;
            assert!(
                tries < 60,
                "it never ends: {:?}",
                at.told(&["workflow", "status", &run])
            );
            let when = match tries % 3 {
                0 => When::Inside(below(250)),
                1 => When::Boundary(1 + round % 12),
                _ => When::Boundary(1),
            };
            let is_alive = reach(&driver, when);
            if is_alive && killed < kills() {
                kill(driver.pid());
                killed += 1;
            }
            if killed % 5 == 4
                && let Some(worker) = workers(&at).first()
            {
                kill(*worker);
                killed_workers += 1;
                killed += 1;
            }
            driver.finish();
            let (_, view) = at.told(&["workflow", "status", &run]);
            if !["running", "paused"].contains(&view["status"].as_str().expect("a status")) {
                failed += check(&at, &view, round);
                break;
            }
            driver = at.call(&["workflow", "resume", &run, "--json"]).spawn();
        }
    }
    println!(
        "as {}: {round} runs, {killed} kills ({killed_workers} of workers), {failed} runs failed by one",
        caller.name()
    );
    assert!(
        failed <= killed_workers,
        "{failed} runs failed by {killed_workers} killed workers"
    );
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
}

/// The id of the newest run, once it is written down: another one than the last.
fn run_of(at: &Place, last: &str, driver: &glee_tests::Running) -> String {
    let end = Instant::now() + LONG;
    loop {
        let (_, list) = at.told(&["workflow", "history", "--most", "1"]);
        match list[0]["run_id"].as_str() {
            Some(id) if id != last => return id.to_owned(),
            Some(_) | None => assert!(Instant::now() < end && alive(driver.pid()), "no run after {last}"),
        }
    }
}

/// Waits for the moment. False if the driver was over before.
fn reach(driver: &glee_tests::Running, when: When) -> bool {
    let end = Instant::now() + LONG;
    match when {
        When::Inside(millis) => std::thread::sleep(Duration::from_millis(millis)),
        When::Boundary(count) => {
            while alive(driver.pid()) && driver.stderr().iter().filter(|byte| **byte == b'\n').count() < count {
                assert!(Instant::now() < end, "the driver does nothing");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    alive(driver.pid())
}

/// Each step of the run once or not at all, as it ended. Returns 1 if the run failed.
fn check(at: &Place, view: &Value, round: usize) -> usize {
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    for line in at.lines("journal") {
        if let Some(name) = line.strip_prefix(&format!("r{round}-")) {
            *ran.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(ran.values().all(|count| *count == 1), "{ran:?}: {view:#}");
    let names = [
        ("inner[0]", "a"),
        ("inner[1]", "b"),
        ("wide[0]", "c"),
        ("wide[1]", "d"),
        ("wide[2]", "e"),
        ("outer[2]", "f"),
        ("outer[3]", "h"),
        ("outer[4]", "i"),
    ];
    for step in view["steps"].as_array().expect("steps") {
        let path = step["path"].as_str().expect("a path");
        let Some((_, name)) = names.iter().find(|(end, _)| path.ends_with(end)) else {
            continue;
        };
        let result = &step["result"];
        match step["state"].as_str() {
            Some("success") => {
                assert_eq!(ran.get(*name), Some(&1), "{path}: {view:#}");
                assert_eq!(result["output"], format!("{name}\n"), "{path}");
            }
            Some("error") => {
                let why = result["error"].as_str().unwrap_or_default();
                assert!(why.starts_with("the supervisor ended"), "{path}: {why}");
            }
            Some("skipped") => assert_eq!(ran.get(*name), None, "{path}: {view:#}"),
            other => panic!("{path} is {other:?}"),
        }
    }
    // The budget holds exactly this tree: one step too many would have ended it.
    let begun = steps(view).iter().filter(|step| !step.ends_with("skipped")).count();
    assert_eq!(view["budget"]["steps_remaining"], json!(10 - begun), "{view:#}");
    usize::from(view["status"] != "success")
}

/// A run whose driver was killed while its first step was at work.
fn left(at: &Place, name: &str) -> String {
    let driver = at.call(&["workflow", "run", name]).spawn();
    assert!(
        wait_until(LONG, || !at.lines("journal").is_empty()),
        "it does not begin"
    );
    kill(driver.pid());
    driver.finish();
    let (_, list) = at.told(&["workflow", "history"]);
    assert_eq!(
        (&list[0]["status"], &list[0]["driven"]),
        (&json!("running"), &json!(false)),
        "{list}"
    );
    list[0]["run_id"].as_str().expect("an id").to_owned()
}

fn slow(at: &Place, millis: u32) {
    at.trusted(WORKSPACE);
    at.workflow(
        "w",
        &format!("steps:\n  - {{agent: stub, prompt: \"stub: append journal one\\nstub: sleep {millis}\\nstub: say one\"}}\n  - {{agent: stub, prompt: \"stub: append journal two\\nstub: say two\"}}\n"),
    );
}

fn two(caller: Caller) {
    let at = Place::of(caller);
    slow(&at, 1500);
    let run = left(&at, "w");
    let all: Vec<_> = (0..4).map(|_| at.call(&["workflow", "resume", &run]).spawn()).collect();
    let done: Vec<_> = all.into_iter().map(glee_tests::Running::finish).collect();
    let won = done.iter().filter(|one| one.code() == Some(0)).count();
    let lost = done
        .iter()
        .filter(|one| says(one, "is driven by process") || says(one, "is over"))
        .count();
    assert_eq!(
        (won, lost),
        (1, 3),
        "{:?}",
        done.iter().map(glee_tests::Outcome::describe).collect::<Vec<_>>()
    );
    assert_eq!(at.lines("journal"), ["one", "two"]);
    let again = at.go(&["workflow", "resume", &run]);
    assert!(
        again.code() == Some(1) && says(&again, "is over: success"),
        "{}",
        again.describe()
    );
}

fn used(caller: Caller) {
    let at = Place::of(caller);
    slow(&at, 1500);
    let run = left(&at, "w");
    // Nobody drives it, its agent works on; afterwards nothing happens and nothing counts.
    std::thread::sleep(Duration::from_secs(4));
    let (status, view) = at.told(&["workflow", "resume", &run]);
    assert_eq!(status, Some(0), "{view}");
    let took = view["duration_ms"].as_u64().expect("a number");
    assert!((1400..3900).contains(&took), "{took}");
    assert_eq!(view["budget"]["steps_remaining"], 98);
    assert_eq!(at.lines("journal"), ["one", "two"]);
}

fn ended(caller: Caller) {
    let at = Place::of(caller);
    slow(&at, 60_000);
    let run = left(&at, "w");
    assert_eq!(at.go(&["workflow", "cancel", &run]).code(), Some(0));
    let (_, view) = at.told(&["workflow", "status", &run]);
    assert_eq!(
        (&view["status"], steps(&view)),
        (
            &json!("cancelled"),
            vec!["w[0] error".to_owned(), "w[1] skipped".into()]
        ),
        "{view}"
    );
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
    let (_, begun) = at.run("w", &["--background"]);
    let run = begun["run_id"].as_str().expect("an id").to_owned();
    assert!(wait_until(LONG, || at.lines("journal").len() == 2), "it does not begin");
    let seen = at.go(&["workflow", "cancel", &run]);
    assert!(says(&seen, "asked to end"), "{}", seen.describe());
    let over = || at.told(&["workflow", "status", &run]).1["status"] == "cancelled";
    assert!(wait_until(LONG, over), "{:?}", at.told(&["workflow", "status", &run]));
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
}

fn changed(caller: Caller) {
    let at = Place::of(caller);
    slow(&at, 300);
    let run = left(&at, "w");
    let file = at.world.project().join(".glee/workflows/w.yml");
    let before = fs::read_to_string(&file).expect("read");
    fs::write(&file, before.replace("say two", "say three")).expect("write");
    let seen = at.go(&["workflow", "resume", &run]);
    assert!(
        seen.code() == Some(1) && says(&seen, "has changed since"),
        "{}",
        seen.describe()
    );
    fs::write(&file, before).expect("write");
    assert_eq!(at.told(&["workflow", "resume", &run]).1["output"], "two\n");
    // The same goes for its agents, and for a run that somebody drives.
    at.agent("helper", "stub: say kind");
    at.workflow(
        "w",
        "steps:\n  - {agent: stub, prompt: \"stub: append journal one\\nstub: sleep 1500\"}\n  - {agent: helper}\n",
    );
    fs::remove_file(at.world.project().join("journal")).expect("remove");
    let run = left(&at, "w");
    at.agent("helper", "stub: say cruel");
    let seen = at.go(&["workflow", "resume", &run]);
    assert!(
        seen.code() == Some(1) && says(&seen, "helper.yml` has changed since"),
        "{}",
        seen.describe()
    );
    at.agent("helper", "stub: say kind");
    assert_eq!(at.told(&["workflow", "resume", &run]).1["output"], "kind\n");
    fs::remove_file(at.world.project().join("journal")).expect("remove");
    let driver = at.call(&["workflow", "run", "w", "--json"]).spawn();
    assert!(
        wait_until(LONG, || !at.lines("journal").is_empty()),
        "it does not begin"
    );
    at.agent("helper", "stub: say cruel");
    let done = driver.finish();
    assert!(
        done.code() == Some(1) && says(&done, "`helper` has changed since the workflow began"),
        "{}",
        done.describe()
    );
}

fn interrupted(caller: Caller) {
    let at = Place::of(caller);
    slow(&at, 60_000);
    let driver = at.call(&["workflow", "run", "w", "--json"]).spawn();
    assert!(
        wait_until(LONG, || !at.lines("journal").is_empty()),
        "it does not begin"
    );
    driver.signal("INT");
    let done = driver.finish();
    let view: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}\n{}", done.describe()));
    assert_eq!((done.code(), &view["status"]), (Some(1), &json!("cancelled")), "{view}");
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
}
