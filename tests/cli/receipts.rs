//! The receipt: what was tried in the finished sandbox, and that nothing runs when a wall is missing.

use glee_tests::Caller;
use serde_json::{Value, json};

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// Generous: the machine may be busy. `benches/startup` has the real number.
const MOST_US: u64 = 100_000;

const CONTAINED: [&str; 14] = [
    "no_new_privs",
    "capabilities",
    "bounding set",
    "uid",
    "become root",
    "read outside",
    "write outside",
    "trace pid 1",
    "seccomp",
    "io_uring",
    "mount",
    "connect out",
    "unix socket of the host",
    "new user namespace",
];

/// The names of the canaries, each once, in order.
fn names(receipt: &Value) -> Vec<String> {
    let rows = receipt["canaries"].as_array().expect("a list");
    let mut names: Vec<String> = rows
        .iter()
        .map(|row| row["name"].as_str().expect("a name").to_owned())
        .collect();
    names.dedup();
    names
}

/// The run passed, and so did each canary; returns the receipt.
#[track_caller]
fn passed(at: &Place, flags: &[&str]) -> Value {
    let (seen, report) = at.reported(&[flags, &["--", "echo", "started"]].concat());
    assert_eq!((seen.status, seen.stdout.as_str()), (0, "started\n"), "{}", seen.stderr);
    assert_eq!(report["denials"], json!([]), "canaries are not the command's denials");
    let receipt = report["receipt"].clone();
    assert_eq!(receipt["verdict"], "passed", "{receipt}");
    for row in receipt["canaries"].as_array().expect("a list") {
        let keys =
            ["name", "tried", "expected", "got"].map(|key| row[key].as_str().is_some_and(|text| !text.is_empty()));
        assert_eq!((keys, &row["ok"]), ([true; 4], &json!(true)), "{row}");
    }
    assert!(
        receipt["duration_us"].as_u64().is_some_and(|us| us < MOST_US),
        "{receipt}"
    );
    assert_eq!(receipt["policy_sha256"], report["policy"]["sha256"]);
    assert_eq!(receipt["landlock_abi"], report["layers"]["landlock_abi"]);
    let kernel = at.host("uname -r");
    assert_eq!(receipt["kernel"], kernel.trim_end());
    receipt
}

/// On a machine where this system call always returns that: refused, and nothing ran. Returns the report's receipt.
#[track_caller]
fn surprised(at: &Place, policy: &str, call: i64, value: &str) -> Value {
    let report = at.world.root().join("report.json").display().to_string();
    let script = "echo started; touch @HOME/ran @PROJECT/ran";
    let run = ["run", "--report", &report, "--policy", policy, "--", "sh", "-c", script];
    let through = ["@A", "lie", &call.to_string(), value].map(str::to_owned);
    let seen = Seen::of(&at.call(run).through(through).go());
    assert_eq!((seen.status, seen.stdout.as_str()), (125, ""), "{}", seen.stderr);
    assert!(seen.stderr.contains("the sandbox does not hold"), "{}", seen.stderr);
    assert!(!at.home().join("ran").exists() && !at.project().join("ran").exists());
    let text = std::fs::read_to_string(&report).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&report["outcome"], &report["exit_code"]),
        (&json!("refused"), &json!(125))
    );
    assert_eq!(report["receipt"]["verdict"], "failed", "{report}");
    report["receipt"].clone()
}

/// The names of the canaries that did not hold.
fn surprises(receipt: &Value) -> Vec<&str> {
    let rows = receipt["canaries"].as_array().expect("a list");
    let rows = rows.iter().filter(|row| row["ok"] == false);
    rows.filter_map(|row| row["name"].as_str()).collect()
}

claims! {
    fn restricted_has_a_canary_for_every_wall(at) {
        let receipt = passed(at, &["--policy", "restricted"]);
        assert_eq!(names(&receipt), CONTAINED);
        assert_eq!(receipt["notified"], 3, "three are refused by the supervisor itself: {receipt}");
        let layers = receipt["layers"].as_array().expect("a list");
        for layer in ["user", "mount", "pid", "net", "no_new_privs", "landlock", "seccomp"] {
            assert!(layers.contains(&json!(layer)), "{receipt}");
        }
        let left_out = &receipt["not_tried"][0];
        assert_eq!(left_out["name"], "foreign system calls");
    }

    fn workspace_has_one_for_what_it_protects(at) {
        at.world.git_init();
        let receipt = passed(at, &["--policy", "workspace"]);
        assert!(names(&receipt).contains(&"write a protected name".to_owned()), "{receipt}");
        let tried = receipt["canaries"].to_string();
        assert!(!tried.contains(&format!("open `{}` for writing", at.project().display())), "{tried}");
    }

    fn inherit_promises_one_thing(at) {
        let receipt = passed(at, &["--policy", "inherit"]);
        assert_eq!(names(&receipt), ["no_new_privs"]);
        assert_eq!(receipt["not_tried"], json!([]));
    }

    fn with_names_allowed_the_rest_of_the_network_is_still_tried(at) {
        let receipt = passed(at, &["--policy", "restricted", "--net", "192.0.2.1:80", "--net", "example.com"]);
        let tried = receipt["canaries"].to_string();
        assert!(tried.contains("198.51.100.1") && !tried.contains("192.0.2.1"), "{tried}");
    }

    fn with_the_hosts_network_no_connection_is_tried(at) {
        at.world.file("@OUT/net.yml", "extends: restricted\nnetwork: true\n");
        let receipt = passed(at, &["--policy", &at.world.fill("@OUT/net.yml")]);
        assert!(!names(&receipt).contains(&"connect out".to_owned()), "{receipt}");
        // The host's abstract sockets lie in the same namespace then: the bait is there, and Landlock keeps from it.
        let rows = receipt["canaries"].as_array().expect("a list");
        let socket = rows.iter().find(|row| row["name"] == "unix socket of the host");
        assert_eq!(socket.expect("a canary")["got"], "EPERM", "{receipt}");
    }

    fn a_low_limit_on_open_files_does_not_spoil_it(at) {
        at.world.file("@OUT/few.yml", "extends: workspace\nlimits: {open_files: 16}\n");
        passed(at, &["--policy", &at.world.fill("@OUT/few.yml")]);
    }

    fn what_the_caller_grants_is_no_surprise(at) {
        passed(at, &["--policy", "restricted", "--read", "/"]);
        let receipt = passed(at, &["--policy", "restricted", "--read", "/sys"]);
        assert!(!names(&receipt).contains(&"read outside".to_owned()), "{receipt}");
    }

    fn without_a_receipt_the_report_says_so(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--receipt", "off", "--", "echo", "started"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "started\n"), "{}", seen.stderr);
        let told = (&report["receipt"]["verdict"], &report["receipt"]["canaries"]);
        assert_eq!(told, (&json!("off"), &json!([])));
    }

    fn a_run_that_is_refused_earlier_has_none(at) {
        let (_, report) = at.reported(&["--policy", "nosuch", "--", "true"]);
        assert_eq!(report["receipt"]["verdict"], "none");
    }

    fn the_same_denial_by_the_command_is_still_reported(at) {
        let (_, report) = at.reported(&["--policy", "restricted", "--", "unshare", "--user", "true"]);
        assert_eq!(report["receipt"]["verdict"], "passed");
        let denials = report["denials"].as_array().expect("a list");
        let unshare: Vec<_> = denials.iter().filter(|d| d["syscall"] == "unshare").collect();
        assert_eq!((unshare.len(), &unshare[0]["count"]), (1, &json!(1)), "{report}");
    }

    fn a_machine_where_io_uring_is_not_refused_runs_nothing(at) {
        let receipt = surprised(at, "restricted", libc::SYS_io_uring_setup, "3");
        assert_eq!(surprises(&receipt), ["io_uring"]);
    }

    fn a_machine_where_user_namespaces_are_not_refused_runs_nothing(at) {
        let receipt = surprised(at, "workspace", libc::SYS_unshare, "0");
        assert_eq!(surprises(&receipt), ["new user namespace"]);
    }

    fn a_machine_that_answers_with_another_error_runs_nothing(at) {
        let receipt = surprised(at, "restricted", libc::SYS_io_uring_setup, "-22");
        assert_eq!(surprises(&receipt), ["io_uring"]);
    }

    fn without_the_receipt_that_machine_would_have_run_it(at) {
        let run = ["run", "--policy", "restricted", "--receipt", "off", "--", "echo", "started"];
        let call = libc::SYS_io_uring_setup.to_string();
        let seen = Seen::of(&at.call(run).through(["@A", "lie", &call, "3"]).go());
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "started\n"), "{}", seen.stderr);
    }
}

/// As root this mode is refused.
#[test]
fn the_weaker_mode_has_canaries_of_its_own() {
    let at = Place::of(Caller::User);
    at.world
        .file("@OUT/weak.yml", "extends: restricted\nisolation: landlock\n");
    let receipt = passed(
        &at,
        &["--backend", "native", "--policy", &at.world.fill("@OUT/weak.yml")],
    );
    let names = names(&receipt);
    for name in [
        "read outside",
        "write outside",
        "unix socket",
        "internet socket",
        "seccomp",
    ] {
        assert!(names.contains(&name.to_owned()), "{receipt}");
    }
    assert!(!names.contains(&"unix socket of the host".to_owned()), "{receipt}");
    assert_eq!(receipt["notified"], 5, "{receipt}");
}
