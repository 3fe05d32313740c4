//! gVisor as the runtime of a container: what holds there, and what is refused by name.
//!
//! Run where `runsc` is installed; scripts/test installs it.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use glee_tests::{Caller, Outcome, Policy, Run};

use crate::support::Place;

fn run<'a>(at: &'a Place, more: &str) -> Run<'a> {
    let policy = format!("extends: restricted\nruntime: runsc\nmodel_access: none\n{more}");
    Run::sandboxed(&at.world, Policy::Yaml(policy))
        .flags(["--backend", "podman"])
        .limit(Duration::from_secs(120))
}

#[track_caller]
fn is_refused(seen: &Outcome, words: &[&str]) {
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(125), ""),
        "{}",
        seen.describe()
    );
    for word in words {
        assert!(seen.err().contains(word), "`{word}` is not in: {}", seen.err());
    }
}

#[test]
fn the_command_runs_on_another_kernel_and_the_report_says_what_is_missing() {
    let at = Place::of(Caller::Root);
    let (flag, path) = at.report();
    at.world.file("@HOME/secret", "x");
    let script = at.world.fill(
        "grep -q gVisor /proc/version || dmesg | grep -qi gvisor
         cat @HOME/secret 2>/dev/null && echo secret
         echo x 2>/dev/null > @PROJECT/made && echo made
         touch /usr/made 2>/dev/null && echo usr
         echo private > /tmp/own && cat /tmp/own
         test \"$(id -u)\" != 0
         exit 7",
    );
    let seen = run(&at, "")
        .flags(["--report", &flag])
        .command(["sh", "-c", &script])
        .go();
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(7), "private\n"),
        "{}",
        seen.describe()
    );
    let report = Place::read(&path);
    assert_eq!(report["layers"]["isolation"], "gvisor");
    assert_eq!(report["layers"]["landlock_abi"], 0);
    assert_eq!(report["receipt"]["verdict"], "passed", "{}", report["receipt"]);
    let not_tried = report["receipt"]["not_tried"].as_array().expect("a list");
    for (name, words) in [
        ("read outside", "`/sys"),
        ("write outside", "`/` for writing"),
        ("write outside", "/project` for writing"),
    ] {
        let told = |row: &&serde_json::Value| {
            row["name"] == name
                && row["reason"]
                    .as_str()
                    .is_some_and(|why| why.contains(words) && why.contains("gVisor"))
        };
        assert_eq!(
            not_tried.iter().filter(told).count(),
            1,
            "{name} {words}: {not_tried:?}"
        );
    }
    let missing = report["layers"]["not_given"].to_string();
    assert!(missing.contains("Landlock") && missing.contains("denials"), "{missing}");
    let limits = report["layers"]["cgroup"].to_string();
    assert!(limits.contains("memory") && limits.contains("pids"), "{limits}");
}

#[test]
fn system_calls_are_filtered_there_too() {
    let at = Place::of(Caller::Root);
    let script = "import ctypes, errno\nl = ctypes.CDLL(None, use_errno=True)\n\
                  print(l.unshare(0x10000000), errno.errorcode[ctypes.get_errno()])";
    let seen = run(&at, "").command(["python3", "-c", script]).go();
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(0), "-1 EPERM\n"),
        "{}",
        seen.describe()
    );
}

#[test]
fn the_deadline_and_a_kill_end_it_and_leave_nothing() {
    let at = Place::of(Caller::Root);
    let seen = run(&at, "").flags(["--timeout", "1s"]).command(["sleep", "300"]).go();
    assert_eq!(seen.code(), Some(124), "{}", seen.describe());
    let before = at.running();
    let running = run(&at, "").command(["sh", "-c", "echo ready; sleep 300"]).spawn();
    assert!(running.wait_for("ready"), "the command did not start");
    let runs: Vec<String> = at.running().into_iter().filter(|run| !before.contains(run)).collect();
    running.signal("KILL");
    let _ = running.finish();
    let clean = || runs.iter().all(|run| at.left(std::slice::from_ref(run)).is_empty());
    assert!(
        glee_tests::wait_until(Duration::from_secs(30), clean),
        "left: {:?}",
        at.left(&runs)
    );
}

#[test]
fn what_gvisor_cannot_enforce_is_refused_by_name() {
    let at = Place::of(Caller::Root);
    let ran = |more: &str| run(&at, more).command(["echo", "ran"]).go();
    is_refused(&ran("network: {allow: [example.org]}\n"), &["network", "gVisor"]);
    is_refused(&ran("network: true\n"), &["network", "gVisor"]);
    is_refused(&ran("fs: {write: [.]}\n"), &["fs.write", "gVisor"]);
    is_refused(&ran("fs: {deny: ['**/.env']}\n"), &["fs.deny", "gVisor"]);
    is_refused(&ran("fs: {deny: [later]}\n"), &["fs.deny", "gVisor"]);
    let native = Run::sandboxed(
        &at.world,
        Policy::Yaml("extends: restricted\nruntime: runsc\n".to_owned()),
    );
    is_refused(
        &native.flags(["--backend", "native"]).command(["echo", "ran"]).go(),
        &["runtime: runsc", "--backend podman"],
    );
    let user = Place::of(Caller::User);
    is_refused(
        &run(&user, "").command(["echo", "ran"]).go(),
        &["runtime: runsc", "root"],
    );
}

#[test]
fn a_file_as_standard_output_is_refused_and_a_device_of_the_machine_keeps_its_owner() {
    let at = Place::of(Caller::Root);
    let owner = || {
        std::fs::metadata("/dev/null")
            .map(|null| null.uid())
            .expect("/dev/null")
    };
    let before = owner();
    let seen = run(&at, "").command(["echo", "ran"]).go();
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(0), "ran\n"),
        "{}",
        seen.describe()
    );
    assert_eq!(owner(), before);
    let file = at.world.file("@PROJECT/log", "what was there\n");
    let into = format!("exec \"$@\" >> '{}'", file.display());
    let seen = run(&at, "")
        .through(["sh", "-c", &into, "sh"])
        .command(["echo", "ran"])
        .go();
    is_refused(&seen, &["gVisor", "pipe"]);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "what was there\n");
}
