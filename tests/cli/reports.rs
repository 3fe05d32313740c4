//! The report: every key of the contract, for every ending.

use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::keys;

const KEYS: [&str; 17] = [
    "backend",
    "changed_files",
    "command",
    "denials",
    "duration_ms",
    "egress",
    "exit_code",
    "layers",
    "max_rss_kb",
    "outcome",
    "policy",
    "receipt",
    "run_id",
    "signal",
    "started_at",
    "sys_ms",
    "user_ms",
];

/// Keys are only ever added: those of the contract are all there, and of their types.
#[track_caller]
fn is_complete(report: &Value) {
    let missing: Vec<_> = KEYS.iter().filter(|key| report.get(*key).is_none()).collect();
    assert!(missing.is_empty(), "the report lacks {missing:?}: {report}");
    let lists = ["command", "denials", "egress", "changed_files"].map(|key| report[key].is_array());
    let objects = ["policy", "layers", "receipt"].map(|key| report[key].is_object());
    let numbers = ["duration_ms", "user_ms", "sys_ms", "max_rss_kb"].map(|key| report[key].is_u64());
    let texts = ["run_id", "backend", "outcome", "started_at"].map(|key| report[key].is_string());
    assert_eq!(
        (lists, objects, numbers, texts),
        ([true; 4], [true; 3], [true; 4], [true; 4]),
        "{report}"
    );
    for key in ["name", "sha256"] {
        assert!(report["policy"].get(key).is_some(), "`policy` lacks `{key}`: {report}");
    }
    for key in ["landlock_abi", "seccomp", "namespaces", "cgroup"] {
        assert!(report["layers"].get(key).is_some(), "`layers` lacks `{key}`: {report}");
    }
}

claims! {
    fn under_inherit_nobody_looks_for_changes(at) {
        let (seen, report) = at.reported(&["--policy", "inherit", "--", "touch", "made"]);
        assert_eq!((seen.status, &report["changes"], &report["changed_files"]), (0, &Value::Null, &json!([])), "{}", seen.stderr);
        assert!(at.project().join("made").exists());
    }

    fn the_policy_of_a_command_that_is_not_found_is_reported(at) {
        let (_, ran) = at.reported(&["--policy", "workspace", "--", "true"]);
        at.world.file("@PROJECT/plain", "no program\n");
        for (name, status) in [("nosuchcmd", 127), ("./plain", 126)] {
            let (seen, report) = at.reported(&["--policy", "workspace", "--", name]);
            assert_eq!((seen.status, &report["policy"]), (status, &ran["policy"]), "{report}");
        }
    }

    fn a_run_that_exits_is_reported_whole(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "sh", "-c", "exit 3"]);
        assert_eq!(seen.whole(), (3, "", ""));
        is_complete(&report);
        let told = ["outcome", "exit_code", "signal", "command", "egress", "denials"].map(|key| report[key].clone());
        assert_eq!(told, [json!("exited"), json!(3), json!(null), json!(["sh", "-c", "exit 3"]), json!([]), json!([])]);
        let backend = std::env::var("GLEE_BACKEND").unwrap_or_else(|_| "native".to_owned());
        assert_eq!((&report["policy"]["name"], &report["backend"]), (&json!("restricted"), &json!(backend)));
        let digest = report["policy"]["sha256"].as_str().expect("a digest");
        assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{digest}");
    }

    fn a_run_that_is_signalled_is_reported_whole(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "sh", "-c", "kill -9 $$"]);
        assert_eq!(seen.status, 137);
        is_complete(&report);
        assert_eq!((&report["outcome"], &report["signal"]), (&json!("signaled"), &json!(9)));
    }

    fn a_run_that_times_out_is_reported_whole(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--timeout", "1s", "--", "sleep", "50"]);
        assert_eq!(seen.status, 124);
        is_complete(&report);
        assert_eq!(report["outcome"], "timeout");
        assert!(report["duration_ms"].as_u64().expect("a number") >= 1000, "{report}");
    }

    fn a_command_that_is_not_found_is_reported_whole(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "no-such-command"]);
        assert_eq!(seen.status, 127);
        is_complete(&report);
        assert_eq!(report["command"], json!(["no-such-command"]));
    }

    fn an_unknown_policy_is_reported_as_refused_with_every_key(at) {
        let (seen, report) = at.reported(&["--policy", "nosuch", "--", "echo", "started"]);
        assert_eq!(seen.status, 125);
        is_complete(&report);
        assert_eq!((&report["outcome"], &report["command"]), (&json!("refused"), &json!(["echo", "started"])));
    }

    fn a_policy_with_an_error_is_reported_as_refused_with_every_key(at) {
        at.world.file("@OUT/bad.yml", "fs:\n  raed: [\".\"]\n");
        let policy = at.world.fill("@OUT/bad.yml");
        let (seen, report) = at.reported(&["--policy", &policy, "--", "echo", "started"]);
        assert_eq!(seen.status, 125);
        is_complete(&report);
        assert_eq!(report["outcome"], "refused");
    }

    fn each_run_has_an_id_of_its_own_and_the_same_policy_the_same_digest(at) {
        let [one, two] = [0, 1].map(|_| at.reported(&["--policy", "restricted", "--", "true"]).1);
        assert_ne!(one["run_id"], two["run_id"]);
        assert_eq!(one["policy"], two["policy"]);
    }

    fn a_denied_syscall_is_in_the_report_with_every_key(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "unshare", "--user", "true"]);
        assert_ne!(seen.status, 0);
        let denials = report["denials"].as_array().expect("a list");
        let denial = denials.iter().find(|d| d["syscall"] == "unshare");
        let denial = denial.unwrap_or_else(|| panic!("not reported: {report}"));
        for key in ["count", "hint", "kind", "pid", "program", "rule", "syscall"] {
            assert!(keys(denial).contains(&key), "the denial lacks `{key}`: {denial}");
        }
        assert_eq!(denial["program"].as_str().map(|p| p.rsplit('/').next()), Some(Some("unshare")), "{denial}");
    }

    fn times_and_memory_are_those_of_the_command(at) {
        let work = "x = bytearray(64 << 20)\nfrom time import process_time as now\nwhile now() < 0.4: pass";
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "python3", "-c", work]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let number = |key: &str| report[key].as_u64().expect("a number");
        let spent = (number("user_ms") + number("sys_ms") >= 250, number("duration_ms") >= 250);
        let measured = (spent.0, spent.1, number("max_rss_kb") >= 64 << 10);
        assert_eq!(measured, (true, true, true), "{report}");
    }

    fn a_report_that_cannot_be_written_refuses_the_run(at) {
        at.is_refused(
            &["run", "--policy", "restricted", "--report", "/nonexistent/report.json", "--", "echo", "started"],
            &["/nonexistent/report.json"],
        );
    }

    fn started_at_is_a_time_of_day_with_a_zone(at) {
        let (_, report) = at.reported(&["--policy", "restricted", "--", "true"]);
        let started = report["started_at"].as_str().expect("a time");
        let seconds: i64 = at.host(&format!("date -d '{started}' +%s")).trim().parse().expect("date reads it");
        let now: i64 = at.host("date +%s").trim().parse().expect("a number");
        assert!((now - 60..=now).contains(&seconds), "{started}");
    }
}
