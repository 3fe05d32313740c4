//! Stored runs: each is found again, whole, until it is pruned.

use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::Place;

fn list(at: &Place, arguments: &[&str]) -> Vec<Value> {
    let seen = at.seen([&["runs", "list", "--json"], arguments].concat());
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    serde_json::from_str(&seen.stdout).expect("a list")
}

fn commands(at: &Place, arguments: &[&str]) -> Vec<Value> {
    list(at, arguments)
        .iter()
        .map(|run| run["command"][1].clone())
        .collect()
}

claims! {
    fn the_report_of_a_run_is_stored_byte_for_byte(at) {
        let (_, report) = at.reported(&["--policy", "restricted", "--", "unshare", "--user", "true"]);
        let written = std::fs::read_to_string(at.world.root().join("report.json")).expect("the report");
        let id = report["run_id"].as_str().expect("an id");
        for name in ["latest", id, &id[..25], &id.to_uppercase()] {
            assert_eq!(at.seen(["runs", "report", name]).whole(), (0, written.as_str(), ""), "{name}");
        }
        assert_eq!(at.seen(["runs", "report", "latest", "--json"]).whole(), (0, written.as_str(), ""));
        let shown = at.seen(["runs", "show", id, "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&shown.stdout).expect("JSON"), report);
    }

    fn a_run_is_shown_with_its_denials_and_hints(at) {
        at.reported(&["--policy", "restricted", "--", "unshare", "--user", "true"]);
        let seen = at.seen(["runs", "show", "latest"]);
        assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
        for word in ["unshare --user true", "exited", "layers", "landlock_abi", "denials", "no policy key allows", "sha256"] {
            assert!(seen.stdout.contains(word), "`{word}` is missing: {}", seen.stdout);
        }
    }

    fn runs_are_listed_newest_first_and_by_project(at) {
        at.world.dir("@OUT/other");
        for (project, name) in [("@PROJECT", "one"), ("@OUT/other", "two"), ("@PROJECT", "three")] {
            let seen = at.seen(["run", "--policy", "restricted", "--project", project, "--", "true", name]);
            assert_eq!(seen.whole(), (0, "", ""));
        }
        assert_eq!(commands(at, &[]), [json!("three"), json!("two"), json!("one")]);
        assert_eq!(commands(at, &["-n", "1"]), [json!("three")]);
        assert_eq!(commands(at, &["--project", "@OUT/other"]), [json!("two")]);
        assert_eq!(commands(at, &["--project", ".", "-n", "1"]), [json!("three")]);
        let seen = at.seen(["runs", "list"]);
        assert_eq!(seen.stdout.lines().count(), 4, "{}", seen.stdout);
    }

    fn a_report_that_cannot_be_read_does_not_hide_the_others(at) {
        at.reported(&["--policy", "restricted", "--", "true", "one"]);
        at.reported(&["--policy", "restricted", "--", "true", "two"]);
        at.host("r=$(ls @STATE/glee/runs/*/* | tail -n 1); rm $r; mkdir $r");
        assert_eq!(commands(at, &[]), [Value::Null, json!("one")]);
    }

    fn refused_runs_are_stored_too(at) {
        at.is_refused(&["run", "--policy", "nosuch", "--", "echo", "started"], &["nosuch"]);
        let run = list(at, &[]).remove(0);
        assert_eq!((&run["outcome"], &run["exit_code"]), (&json!("refused"), &json!(125)));
        assert_eq!(run["project"], json!(at.project().display().to_string()));
    }

    fn a_name_that_is_no_run_or_several_is_refused_with_a_hint(at) {
        assert_eq!(at.seen(["runs", "show"]).status, 1);
        for _ in 0..2 {
            at.seen(["run", "--policy", "restricted", "--", "true"]);
        }
        for (name, word) in [("0", "could be 2 runs"), ("zzz", "no stored run"), ("../../x", "not the id"), ("\x1b[2K", "\\u{1b}[2k")] {
            let seen = at.seen(["runs", "report", name]);
            assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{name}");
            assert!(seen.stderr.contains(word) && seen.stderr.contains("hint:"), "{}", seen.stderr);
        }
    }

    fn what_is_pruned_is_gone_and_the_log_stays_whole(at) {
        for name in ["one", "two", "three"] {
            at.seen(["run", "--policy", "restricted", "--", "true", name]);
        }
        assert_eq!(at.seen(["runs", "prune", "--keep", "2"]).whole(), (0, "1 removed, 2 kept\n", ""));
        assert_eq!(commands(at, &[]), [json!("three"), json!("two")]);
        assert_eq!(at.seen(["audit", "verify"]).status, 0);
        assert_eq!(at.seen(["runs", "prune", "--older-than", "1ms", "--json"]).status, 0);
        assert_eq!(commands(at, &[]), Vec::<Value>::new());
        assert_eq!(at.seen(["audit", "verify"]).status, 0);
        at.seen(["run", "--policy", "restricted", "--", "true", "four"]);
        at.host("rm @STATE/glee/runs/*/*");
        assert_eq!(at.seen(["audit", "verify"]).status, 1, "a removed report is taken for a pruned one");
    }

    fn an_age_without_a_unit_and_a_list_of_none_are_refused(at) {
        at.seen(["run", "--policy", "restricted", "--", "true", "one"]);
        for (call, word) in [
            (&["runs", "prune", "--older-than", "5"][..], "has no unit: write 5d, 5h, 5m or 5s"),
            (&["runs", "list", "-n", "0"], "would show nothing"),
            (&["audit", "show", "-n", "0"], "would show nothing"),
        ] {
            let seen = at.seen(call.iter().copied());
            assert_eq!((seen.status, seen.stdout.as_str()), (2, ""), "{}", seen.stderr);
            assert!(seen.stderr.contains(word), "{}", seen.stderr);
        }
        assert_eq!(commands(at, &[]), [json!("one")]);
    }

    fn nothing_stored_yet_is_an_empty_list(at) {
        assert_eq!(at.seen(["runs", "list", "--json"]).whole(), (0, "[]\n", ""));
        assert_eq!(at.seen(["runs", "prune"]).status, 0);
    }
}
