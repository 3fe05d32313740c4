//! What a row says, and what is no row.

use std::fs;
use std::os::unix::fs::symlink;

use glee_tests::{Caller, Policy};
use serde_json::{Value, json};

use crate::support::{denials, prepared, put, reported, row, world};

fn words(row: &Value) -> [&str; 4] {
    ["rule", "hint", "program", "syscall"].map(|key| row[key].as_str().unwrap_or_default())
}

pub(crate) fn rules_and_hints(caller: Caller) {
    let world = world(caller);
    let key = put(&world, &world.home().join(".ssh/id_ed25519"), 0o600)
        .display()
        .to_string();
    let envrc = world.project().join(".envrc").display().to_string();
    let denied = put(&world, &world.project().join("conf/.env"), 0o600)
        .display()
        .to_string();
    let policy = "extends: workspace\nfs:\n  write: [\".\"]\n  deny: [\"**/.env\"]\n";
    let script = "cat ~/.ssh/id_ed25519; cat conf/.env; echo x > .envrc; exec cat /dev/null";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let [rule, hint, program, call] = words(row(&report, "fs.hidden", &key));
    assert_eq!(
        (rule, hint, program, call),
        (
            "no grant covers the path",
            "fs.read: [\"~/.ssh/id_ed25519\"]",
            "cat",
            "openat"
        )
    );
    let [rule, hint, ..] = words(row(&report, "fs.read", &denied));
    assert!(
        rule.starts_with("fs.deny `**/.env` (") && rule.ends_with("policy.yml:4)"),
        "{rule}"
    );
    assert_eq!(hint, "remove fs.deny \"**/.env\"");
    let [rule, hint, program, _] = words(row(&report, "fs.write", &envrc));
    assert!(rule.contains("programs outside obey it"), "{rule}");
    assert_eq!((hint, program), ("unprotect: [\".envrc\"]", "sh"));
    assert_eq!(denials(&report).len(), 3, "{:#}", report["denials"]);
}

pub(crate) fn ordinary_failures(caller: Caller) {
    let world = world(caller);
    let mine = put(&world, &world.project().join("mine"), 0o644);
    let script = format!(
        "cat nowhere; cat /no/such/file; cat ~/not-there; mkdir /usr; ls {0}/below; cat {0}; cat /proc/self/status; \
         echo x > /tmp/t && cat /tmp/t && rm /tmp/t; echo x > ~/mine && rm ~/mine; exec true",
        mine.display()
    );
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", &script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(
        (outcome.code(), &report["denials"]),
        (Some(0), &json!([])),
        "{}",
        outcome.describe()
    );
}

pub(crate) fn links(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("data/secret"), 0o600);
    symlink(world.home().join("data"), world.project().join("data")).expect("make a link");
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["cat", "data/secret"]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(1), "{}", outcome.describe());
    assert_eq!(
        row(&report, "fs.hidden", &secret.display().to_string())["program"],
        "cat"
    );
}

pub(crate) fn looks(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secret"), 0o600).display().to_string();
    let ask = |flags: &[&str]| {
        let run = prepared(&world, Policy::Named("restricted"), flags).command(["test", "-e", &secret]);
        reported(&world, run).1
    };
    assert_eq!(ask(&[])["denials"], json!([]));
    assert_eq!(row(&ask(&["--explain"]), "fs.hidden", &secret)["program"], "test");
}

pub(crate) fn without(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secret"), 0o600).display().to_string();
    let script = format!("cat {secret}; unshare -U true; exec true");
    let run = prepared(&world, Policy::Named("restricted"), &["--no-denials"]).command(["sh", "-c", &script]);
    let (_, report) = reported(&world, run);
    assert_eq!(denials(&report).len(), 1, "{report}");
    assert_eq!(row(&report, "syscall", "unshare")["program"], "unshare");
}

pub(crate) fn limits(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nlimits: {file_size_mb: 1}\n";
    let script = "exec dd if=/dev/zero of=big bs=65536 count=64";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
    let (_, report) = reported(&world, run);
    assert_eq!(
        words(row(&report, "limit", "limits.file_size_mb"))[1],
        "limits: {file_size_mb: 2}"
    );
    let _ = fs::remove_file(world.project().join("big"));
    let run = prepared(&world, Policy::Named("restricted"), &["--timeout", "300ms"]).command(["sleep", "20"]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(124), "{}", outcome.describe());
    assert_eq!(row(&report, "limit", "max_runtime_mins")["kind"], "limit");
}
