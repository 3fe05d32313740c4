//! What stays where it is: the row says for whose sake, and its hint can be followed.

use glee_tests::{Caller, Policy, World};
use serde_json::{Value, json};

use crate::support::{denials, prepared, put, reported, row, world};

fn words(row: &Value) -> [&str; 2] {
    ["rule", "hint"].map(|key| row[key].as_str().unwrap_or_default())
}

fn ask(world: &World, policy: &str, script: &str) -> Value {
    let script = format!("{script}; exec true");
    let run = prepared(world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", &script]);
    let (outcome, report) = reported(world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    report
}

/// A grant to write below a directory protects names there, and says nothing about the directory.
pub(crate) fn above_a_grant(caller: Caller) {
    for (script, at) in [
        ("touch .", ""),
        ("chmod 755 .", ""),
        ("touch in", "in"),
        ("mv in/k in/k2", "in/k"),
        ("rmdir in/k", "in/k"),
        ("mv in in2", "in"),
    ] {
        let world = world(caller);
        world.dir("@PROJECT/in/k");
        let path = world.project().join(at).display().to_string();
        let path = path.trim_end_matches('/');
        let policy = |more: &str| format!("extends: restricted\nfs: {{write: [\"in/k\"{more}]}}\n");
        let report = ask(&world, &policy(""), script);
        let [rule, hint] = words(row(&report, "fs.write", path));
        assert!(
            rule.starts_with("fs.read `.` (") && rule.ends_with(" only reads"),
            "{script}: {rule}"
        );
        let named = hint.strip_prefix("fs.write: [").and_then(|hint| hint.strip_suffix(']'));
        let named = named.unwrap_or_else(|| panic!("{script}: {hint}"));
        let report = ask(&world, &policy(&format!(", {named}")), script);
        assert_eq!(report["denials"], json!([]), "{script}: {hint}");
    }
}

/// The first missing directory on the way to a denied path is held in its place.
pub(crate) fn before_a_denied_path(caller: Caller) {
    let world = world(caller);
    let report = ask(
        &world,
        "extends: workspace\nfs: {deny: [\"k1/k2\"]}\n",
        "mkdir k1; echo x > k1",
    );
    let path = world.project().join("k1").display().to_string();
    assert_eq!(denials(&report).len(), 2, "{report:#}");
    for found in denials(&report) {
        let [rule, hint] = words(found);
        assert_eq!(
            (found["path"].as_str(), hint),
            (Some(path.as_str()), "remove fs.deny \"k1/k2\"")
        );
        assert!(rule.starts_with("fs.deny `k1/k2` ("), "{rule}");
    }
}

/// A directory that holds what is hidden, or the report, cannot be renamed.
pub(crate) fn directories(caller: Caller) {
    let world = world(caller);
    put(&world, &world.project().join("src/sub/x.pem"), 0o600);
    let policy = "extends: workspace\nfs: {deny: [\"**/*.pem\"]}\n";
    for at in ["src/sub", "src"] {
        let report = ask(&world, policy, &format!("mv {at} {at}2"));
        let path = world.project().join(at).display().to_string();
        let [rule, hint] = words(row(&report, "fs.write", &path));
        let begins = "it holds `src/sub/x.pem` for fs.deny `**/*.pem` (";
        assert!(rule.starts_with(begins), "{at}: {rule}");
        assert_eq!(hint, "remove fs.deny \"**/*.pem\"", "{at}");
    }
    let world = World::new(caller);
    world.dir("@PROJECT/rep");
    let to = world.project().join("rep/report.json").display().to_string();
    let run = glee_tests::Run::sandboxed(&world, Policy::Named("workspace")).flags(["--report", &to]);
    let outcome = run.command(["mv", "rep", "rep2"]).go();
    assert_ne!(outcome.code(), Some(0), "{}", outcome.describe());
    let report = std::fs::read(&to).unwrap_or_else(|e| panic!("no report ({e}): {}", outcome.describe()));
    let report: Value = serde_json::from_slice(&report).expect("a report is JSON");
    let path = world.project().join("rep").display().to_string();
    assert_eq!(
        words(row(&report, "fs.write", &path)),
        [
            "the report is written below it",
            "write the report outside of it (`--report`)"
        ]
    );
}

/// A link of the project that leads out is seen with its directory, and then what it leads to is wanting.
pub(crate) fn links(caller: Caller) {
    let world = world(caller);
    let file = put(&world, &world.home().join("o/f"), 0o644).display().to_string();
    world.dir("@PROJECT/src");
    world.link("@HOME/o/f", "@PROJECT/l_f");
    let link = world.project().join("l_f").display().to_string();
    let ask = |read: &str| {
        ask(
            &world,
            &format!("extends: restricted\nfs: {{read: [{read}]}}\n"),
            "cat l_f",
        )
    };
    let report = ask("src");
    assert_eq!(words(row(&report, "fs.hidden", &link))[1], "fs.read: [\".\"]");
    let report = ask("src, .");
    assert_eq!(words(row(&report, "fs.hidden", &file))[1], "fs.read: [\"~/o/f\"]");
    assert_eq!(ask("src, ., ~/o/f")["denials"], json!([]));
}

/// What is granted under its own name and cannot be used by it either.
pub(crate) fn granted_names(caller: Caller) {
    let world = world(caller);
    let file = put(&world, &world.home().join("ext/f"), 0o644).display().to_string();
    world.link("@HOME/ext/f", "@PROJECT/l_f");
    world.link("@PROJECT", "@HOME/palias");
    let report = ask(&world, "extends: workspace\n", "cat ../palias/l_f");
    assert_eq!(
        words(row(&report, "fs.hidden", &file))[1],
        "fs.read: [\"~/ext/f\"]",
        "{report:#}"
    );
    // Every sandbox has a `/tmp` of its own, whatever is granted around it.
    let shared = std::env::temp_dir().join(format!("glee-held-{}-{}", caller.name(), std::process::id()));
    let shared = put(&world, &shared, 0o644);
    let at = shared.display().to_string();
    let told = |read: &str| {
        let policy = format!("extends: restricted\nfs: {{read: [\"/\"{read}]}}\n");
        ask(&world, &policy, &format!("cat {at}"))
    };
    let (report, after) = (told(""), told(&format!(", \"{at}\"")));
    std::fs::remove_file(&shared).expect("remove a file");
    assert_eq!(
        words(row(&report, "fs.hidden", &at))[1],
        format!("fs.read: [\"{at}\"]"),
        "{report:#}"
    );
    assert_eq!(after["denials"], json!([]));
}
