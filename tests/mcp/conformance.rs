//! The protocol's own conformance suite, two versions of it, against a program that shares the server's code.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use glee_tests::Caller;

use crate::others::node;
use crate::support::Place;

/// The server with the tools that the suite wants to find.
struct Fixture {
    child: Child,
    url: String,
}

impl Fixture {
    fn start(at: &Place) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-fixture"))
            .env_clear()
            .env("HOME", at.world.home())
            .env("XDG_STATE_HOME", at.world.root().join("state"))
            .current_dir(at.world.project())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the fixture");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("its output"))
            .read_line(&mut url)
            .expect("its address");
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the suite; returns the lines of its summary.
#[track_caller]
fn run(package: &str, flags: &[&str]) -> (bool, Vec<String>) {
    let at = Place::of(Caller::Root);
    let fixture = Fixture::start(&at);
    let arguments = [&["server", "--url", &fixture.url], flags].concat();
    let (succeeded, out, err) = node(package, "dist/index.js", &arguments, at.world.root());
    let summary: Vec<String> = out
        .lines()
        .skip_while(|line| !line.contains("=== SUMMARY ==="))
        .map(str::to_owned)
        .collect();
    assert!(summary.len() > 20, "{out}\n{err}");
    (succeeded, summary)
}

fn failed(summary: &[String]) -> Vec<&str> {
    let lines = summary.iter().filter_map(|line| line.strip_prefix("✗ "));
    lines.filter_map(|line| line.split(':').next()).collect()
}

#[test]
fn the_older_suite_passes() {
    let (succeeded, summary) = run("conformance-old", &[]);
    assert_eq!((succeeded, failed(&summary)), (true, vec![]), "{summary:#?}");
    assert!(
        summary.contains(&"Total: 40 passed, 0 failed".to_owned()),
        "{summary:#?}"
    );
}

#[test]
fn the_newer_suite_passes_for_2025_11_25() {
    let (succeeded, summary) = run("conformance-new", &["--requirements", "2025-11-25"]);
    assert_eq!((succeeded, failed(&summary)), (true, vec![]), "{summary:#?}");
    assert!(
        summary.contains(&"Total: 83 passed, 0 failed".to_owned()),
        "{summary:#?}"
    );
}

/// Every scenario that the revision requires. The extension's scenarios want tools that only wait, which the fixture does
/// not have: `tasks::a_client_that_knows_tasks_gets_one` holds our tasks to the extension.
#[test]
fn the_newer_suite_passes_for_2026_07_28() {
    let (succeeded, summary) = run("conformance-new", &["--requirements", "2026-07-28"]);
    assert!(succeeded, "{summary:#?}");
    let ours: Vec<&str> = failed(&summary)
        .into_iter()
        .filter(|name| !name.starts_with("tasks-"))
        .collect();
    assert_eq!(ours, [""; 0], "{summary:#?}");
    let passed = summary.iter().filter(|line| line.starts_with("✓ ")).count();
    assert!(passed >= 40, "{passed}: {summary:#?}");
}
