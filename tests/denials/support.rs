//! A world with something to be refused, and the report of a run in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use glee_tests::{Caller, Outcome, Policy, Run, World};
use serde_json::Value;

use crate::programs::compiled;

/// `GLEE_SOAK=full` asks for the size of the promise; everything else for one that a CI run can wait for.
pub(crate) fn size(small: usize, full: usize) -> usize {
    if std::env::var_os("GLEE_SOAK").is_some_and(|size| size == "full") {
        full
    } else {
        small
    }
}

/// The program that is refused things.
pub(crate) fn program() -> String {
    compiled("denials/deny.c").display().to_string()
}

/// A file of the caller's, made by the harness.
pub(crate) fn put(world: &World, path: &Path, mode: u32) -> PathBuf {
    let (uid, gid) = (Some(world.caller().uid()), Some(world.caller().gid()));
    for dir in path
        .ancestors()
        .skip(1)
        .take_while(|dir| !dir.exists())
        .collect::<Vec<_>>()
        .iter()
        .rev()
    {
        fs::create_dir(dir).expect("make a directory");
        chown(dir, uid, gid).expect("give a directory away");
    }
    fs::write(path, "secret").expect("write a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set a mode");
    chown(path, uid, gid).expect("give a file away");
    path.to_owned()
}

pub(crate) fn report_file(world: &World) -> PathBuf {
    world.home().join("report.json")
}

pub(crate) fn prepared<'w>(world: &'w World, policy: Policy, flags: &[&str]) -> Run<'w> {
    let report = report_file(world).display().to_string();
    Run::sandboxed(world, policy).flags(["--report", &report]).flags(flags)
}

pub(crate) fn read_report(world: &World, outcome: &Outcome) -> Value {
    let text = fs::read(report_file(world)).unwrap_or_else(|e| panic!("no report ({e}): {}", outcome.describe()));
    serde_json::from_slice(&text).expect("a report is JSON")
}

/// Runs to the end and returns the report.
pub(crate) fn reported(world: &World, run: Run<'_>) -> (Outcome, Value) {
    let outcome = run.go();
    assert!(!outcome.hung, "{}", outcome.describe());
    let report = read_report(world, &outcome);
    (outcome, report)
}

pub(crate) fn denials(report: &Value) -> &Vec<Value> {
    report["denials"].as_array().expect("denials are a list")
}

/// The row about a path, host or name.
pub(crate) fn row<'r>(report: &'r Value, kind: &str, what: &str) -> &'r Value {
    let found = denials(report).iter().find(|row| {
        let about = ["path", "host", "name"].iter().find_map(|key| row[key].as_str());
        row["kind"] == kind && about == Some(what)
    });
    found.unwrap_or_else(|| panic!("no {kind} row about {what}: {:#}", report["denials"]))
}

pub(crate) fn world(caller: Caller) -> World {
    World::new(caller)
}

/// The child of a process that bears this name.
pub(crate) fn child_called(parent: u32, name: &str) -> u32 {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let called = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|own| own.trim_end() == name);
    let mut pids = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
    pids.find(called)
        .unwrap_or_else(|| panic!("no `{name}` among the children {children}"))
}
