//! The audit log: what is entered, that nobody changes it unseen, and that it never stands in a run's way.

use std::fs;

use glee_tests::{Caller, Running, wait_until};
use serde_json::{Value, json};

use crate::claims::claims;
use crate::seen::told;
use crate::support::{PATH, Place};

/// The entries, as `audit show --json` tells them.
fn entries(at: &Place) -> Vec<Value> {
    let seen = at.seen(["audit", "show", "-n", "100000", "--json"]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    let shown: Vec<Value> = serde_json::from_str(&seen.stdout).expect("a list");
    shown.iter().map(|shown| shown["entry"].clone()).collect()
}

fn events(at: &Place) -> Vec<String> {
    let text = |entry: &Value| entry["event"].as_str().unwrap_or("none").to_owned();
    entries(at).iter().map(text).collect()
}

#[track_caller]
fn runs(at: &Place, arguments: &[&str]) {
    let seen = at.seen([&["run", "--policy", "restricted"], arguments].concat());
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
}

#[track_caller]
fn is_whole(at: &Place) -> String {
    let seen = at.seen(["audit", "verify"]);
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{}", seen.stdout);
    seen.stdout
}

/// `audit verify` fails, and names this place.
#[track_caller]
fn is_broken_at(at: &Place, place: &str) {
    let seen = at.seen(["audit", "verify"]);
    assert_eq!(seen.status, 1, "{}", seen.stdout);
    let problems: Vec<&str> = seen
        .stdout
        .lines()
        .filter(|line| line.starts_with("problem:"))
        .collect();
    assert!(
        problems.iter().any(|line| line.contains(place)),
        "`{place}` is not named: {problems:?}"
    );
}

/// The run works, is told of once, and its report says that it is not in the log.
#[track_caller]
fn runs_without_a_log(at: &Place, state: &str) {
    let report = at.world.root().join("report.json");
    let path = report.display().to_string();
    let call = |more: &[&'static str]| {
        let arguments = [
            &["run", "--policy", "restricted", "--report", &path],
            more,
            &["--", "echo", "ran"],
        ]
        .concat();
        at.call(arguments).env("XDG_STATE_HOME", state).go()
    };
    let seen = call(&[]);
    assert_eq!((told(&seen), seen.out().as_str()), (0, "ran\n"), "{}", seen.err());
    assert_eq!(seen.err().matches("warning:").count(), 1, "{}", seen.err());
    assert!(seen.err().contains("audit log"), "{}", seen.err());
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
    assert_eq!(report.get("audit"), Some(&Value::Null));
    let refused = call(&["--require-audit"]);
    assert_eq!((told(&refused), refused.out().as_str()), (125, ""), "{}", refused.err());
    assert!(refused.err().contains("audit log"), "{}", refused.err());
}

claims! {
    fn a_run_is_entered_before_it_starts_and_when_it_has_ended(at) {
        let (seen, report) = at.reported(&["--policy", "restricted", "--", "sh", "-c", "exit 3", "x y"]);
        assert_eq!(seen.whole(), (3, "", ""));
        let [started, ended] = entries(at).try_into().expect("two entries");
        for entry in [&started, &ended] {
            let told = ["run_id", "command", "policy", "project"].map(|key| entry[key].clone());
            let project = json!(at.project().display().to_string());
            assert_eq!(told, [report["run_id"].clone(), json!(["sh", "-c", "exit 3", "x y"]), report["policy"].clone(), project]);
        }
        assert_eq!(started["event"], "started");
        let keys = ["event", "outcome", "exit_code", "signal", "denials", "egress", "changed_files"];
        let expected = [json!("ended"), json!("exited"), json!(3), Value::Null, json!(0), json!(0), json!(0)];
        assert_eq!(keys.map(|key| ended[key].clone()), expected);
        assert_eq!(report["audit"]["entry"], 1);
        assert_eq!(ended["prev"], report["audit"]["sha256"]);
        let stored = at.host("cat @STATE/glee/runs/*/*.json | sha256sum | cut -c1-64");
        assert_eq!(ended["report_sha256"], stored.trim());
        is_whole(at);
    }

    fn a_run_that_is_going_on_or_was_killed_is_in_the_log(at) {
        let run = at.shell("restricted", "echo up; sleep 300").spawn();
        assert!(run.wait_for("up"), "the command did not start");
        assert_eq!(events(at), ["started"]);
        run.signal("KILL");
        run.finish();
        assert_eq!(events(at), ["started"]);
        runs(at, &["--", "true"]);
        assert_eq!(events(at), ["started", "started", "ended"]);
        is_whole(at);
    }

    fn refusals_trust_and_its_end_are_entered(at) {
        at.is_refused(&["run", "--policy", "nosuch", "--", "echo", "started"], &["nosuch"]);
        let inherit = ["run", "--policy", "inherit", "--backend", "podman", "--", "echo", "started"];
        at.is_refused(&inherit, &["backend"]);
        assert_eq!(at.seen(["run", "--", "no-such-command"]).status, 127);
        at.world.file("@PROJECT/.glee/config.yml", "security: {subagent_permissions: {fs: {write: [\".\"]}}}\n");
        assert_eq!(at.seen(["trust", "--yes"]).status, 0);
        assert_eq!(at.seen(["untrust"]).status, 0);
        assert_eq!(at.seen(["untrust"]).status, 0);
        let list = entries(at);
        let told: Vec<_> = list.iter().map(|entry| (entry["event"].as_str().expect("an event"), &entry["exit_code"])).collect();
        let (refused, missing) = (json!(125), json!(127));
        let expected = [("refused", &refused), ("refused", &refused), ("refused", &missing),
            ("trusted", &Value::Null), ("untrusted", &Value::Null)];
        assert_eq!(told, expected);
        let digest = at.host("sha256sum < .glee/config.yml | cut -c1-64");
        assert_eq!(list[3]["files"][0][1], digest.trim());
        assert_eq!((&list[4]["files"], list[0]["reason"].as_str().is_some_and(|r| r.contains("nosuch"))), (&json!(1), true));
        is_whole(at);
    }

    fn what_was_edited_removed_moved_or_cut_off_is_found_and_named(at) {
        let log = "@STATE/glee/audit-000001.jsonl";
        for name in ["one", "two", "three"] {
            runs(at, &["--", "true", name]);
        }
        is_whole(at);
        at.host(&format!("cp -a @STATE @OUT/whole; test $(wc -l < {log}) = 6"));
        let edits = [
            ("sed -i '3s/two/owt/' LOG", "audit-000001.jsonl:3: entry 3"),
            ("sed -i '6s/three/ether/' LOG", "audit-000001.jsonl:6: entry 6"),
            ("sed -i '1d' LOG", "audit-000001.jsonl:1: entry 1"),
            ("sed -i '4d' LOG", "audit-000001.jsonl:4: entry 4"),
            ("sed -i '2{h;d};3{G}' LOG", "audit-000001.jsonl:2: entry 3"),
            ("sed -i '5,$d' LOG", "audit-000001.jsonl:5: entry 5"),
            ("truncate -s -100 LOG", "audit-000001.jsonl:6: entry 6"),
            ("sed -i '2a\\{\"n\":3}' LOG", "audit-000001.jsonl:3"),
            ("echo '{\"n\":1}' >> LOG", "audit-000001.jsonl:7"),
            ("tail -n 1 LOG > @OUT/last; cat @OUT/last >> LOG", "audit-000001.jsonl:7"),
            (": > LOG", "audit-000001.jsonl:1: entry 1"),
            ("rm LOG", "audit-000001.jsonl:1: entry 1"),
            ("rm @STATE/glee/head", "head"),
            ("for r in @STATE/glee/runs/*/*; do sed -i 's/\"three\"/\"eerht\"/' $r; done", ": entry 6: the stored report"),
            ("rm $(ls @STATE/glee/runs/*/* | head -n 1)", ": entry 2: the stored report"),
            ("r=$(ls @STATE/glee/runs/*/* | head -n 1); rm $r; mkdir $r", ": entry 2: the stored report"),
            // The log and its head as they were some time ago: the stored reports know better.
            ("head -n 2 LOG > @OUT/part; cp @OUT/part LOG; h=$(tail -n 1 LOG | tr -d '\\n' | sha256sum | cut -c1-64)
              printf '{\"file\":1,\"bytes\":%s,\"entries\":2,\"sha256\":\"%s\"}' $(stat -c %s LOG) $h > @STATE/glee/head",
                "entry 3: there is a report of the run"),
        ];
        for (edit, place) in edits {
            at.host("rm -rf @STATE; cp -a @OUT/whole @STATE");
            is_whole(at);
            at.host(&edit.replace("LOG", log));
            is_broken_at(at, place);
        }
    }

    fn a_hash_that_was_kept_elsewhere_tells_a_new_log_from_the_old(at) {
        runs(at, &["--", "true"]);
        let told = is_whole(at);
        let hash = told.trim().rsplit(' ').next().expect("a hash").to_owned();
        runs(at, &["--", "true"]);
        assert_eq!(at.seen(["audit", "verify", "--expect", &hash]).status, 0);
        at.host("rm -r @STATE/glee");
        runs(at, &["--", "true"]);
        is_whole(at);
        assert_eq!(at.seen(["audit", "verify", "--expect", &hash]).status, 1);
    }

    fn thirty_two_runs_at_once_make_one_chain(at) {
        let started: Vec<Running> =
            (0..32).map(|n| at.call(["run", "--policy", "restricted", "--", "true", &n.to_string()]).spawn()).collect();
        for run in started {
            let seen = run.finish();
            assert_eq!((told(&seen), seen.err().as_str()), (0, ""));
        }
        assert_eq!(entries(at).len(), 64);
        assert!(is_whole(at).starts_with("whole: 64 entries, 32 stored reports\n"));
    }

    fn a_line_that_was_left_unfinished_is_closed_and_named(at) {
        runs(at, &["--", "true"]);
        at.host("printf '{\"n\":3,\"prev\":\"12' >> @STATE/glee/audit-000001.jsonl");
        assert!(is_whole(at).starts_with("note: audit-000001.jsonl:3: an unfinished line at the end"));
        runs(at, &["--", "true"]);
        assert!(is_whole(at).starts_with("note: audit-000001.jsonl:3: an unfinished line, which entry 3 closed"));
        assert_eq!(events(at), ["started", "ended", "none", "repaired", "started", "ended"]);
    }

    fn a_line_that_no_writer_left_stays_found_whatever_is_run_afterwards(at) {
        let log = "@STATE/glee/audit-000001.jsonl";
        for line in ["echo '{\"n\":1}'", "tail -n 1 LOG"] {
            at.host("rm -rf @STATE");
            runs(at, &["--", "true"]);
            at.host(&format!("{line} > @OUT/line; cat @OUT/line >> LOG").replace("LOG", log));
            is_broken_at(at, "audit-000001.jsonl:3");
            for _ in 0..2 {
                runs(at, &["--", "true"]);
                is_broken_at(at, "audit-000001.jsonl:3");
            }
            assert!(events(at).contains(&"repaired".to_owned()));
        }
    }

    fn only_the_owner_can_read_it(at) {
        runs(at, &["--", "true"]);
        let odd = at.host("find @STATE/glee -type d ! -perm 700 -o -type f ! -perm 600");
        assert_eq!(odd, "");
    }

    fn a_link_in_the_place_of_the_directory_is_not_followed(at) {
        at.world.dir("@OUT/elsewhere");
        at.world.dir("@STATE");
        at.world.link("@OUT/elsewhere", "@STATE/glee");
        runs_without_a_log(at, "@STATE");
        assert_eq!(at.host("ls -A @OUT/elsewhere"), "");
        assert_eq!(at.seen(["audit", "verify"]).status, 1);
    }

    fn a_link_or_a_pipe_in_the_place_of_a_file_is_not_followed_and_nothing_waits(at) {
        for name in ["head", "audit-000001.jsonl"] {
            at.host(&format!("rm -rf @STATE; mkdir -p -m 700 @STATE/glee; echo kept > @OUT/target; ln -s @OUT/target @STATE/glee/{name}"));
            runs_without_a_log(at, "@STATE");
            assert_eq!(at.host("cat @OUT/target"), "kept\n");
            at.host(&format!("rm @STATE/glee/{name}; mkfifo -m 600 @STATE/glee/{name}"));
            runs_without_a_log(at, "@STATE");
        }
    }

    fn a_place_where_nothing_can_be_made_stops_no_run(at) {
        runs_without_a_log(at, "/dev/null");
        runs_without_a_log(at, "/proc/1/nothing");
    }

    fn a_log_of_another_user_is_left_alone(at) {
        at.world.dir("@STATE/glee");
        at.world.give("@STATE/glee", 4321);
        at.world.mode("@STATE/glee", 0o777);
        runs_without_a_log(at, "@STATE");
        assert_eq!(fs::read_dir(at.world.path("@STATE/glee")).expect("the directory").count(), 0);
    }

    fn a_full_disk_stops_no_run_and_the_log_goes_on_when_there_is_room(at) {
        let seen = at.in_mount_namespace(
            "mkdir -p @STATE; mount -t tmpfs -o size=64k,mode=777 none @STATE
             as_caller @BIN run --policy restricted -- true
             as_caller dd if=/dev/zero of=@STATE/fill bs=1k status=none || :
             for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do as_caller @BIN run --policy restricted -- echo $n 2>> @OUT/err; done
             rm @STATE/fill
             as_caller @BIN run --policy restricted -- echo room 2> @OUT/after
             as_caller @BIN audit verify",
        );
        assert_eq!(seen.status, 0, "{} {}", seen.stdout, seen.stderr);
        let ran: String = (1..=16).map(|n| format!("{n}\n")).collect();
        assert!(seen.stdout.starts_with(&format!("{ran}room\n")), "{}", seen.stdout);
        assert!(seen.stdout.contains("whole: "), "{}", seen.stdout);
        assert_eq!(at.host("grep -c 'warning: this run is not wholly in the audit log' @OUT/err > @OUT/n; test $(cat @OUT/n) -gt 1; cat @OUT/after"), "");
    }

    fn no_descriptor_of_the_log_is_open_while_a_command_runs(at) {
        let run = at.shell("restricted", "echo up; sleep 300").spawn();
        assert!(run.wait_for("up"), "the command did not start");
        let state = at.world.path("@STATE");
        let open = || {
            let pids = fs::read_dir("/proc").expect("proc").flatten();
            let fds = pids.flat_map(|pid| fs::read_dir(pid.path().join("fd")).into_iter().flatten().flatten());
            fds.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|target| target.starts_with(&state))
        };
        let own = fs::File::open(&state).expect("the directory");
        assert!(open(), "this would not see a descriptor");
        drop(own);
        assert!(!open());
        run.signal("KILL");
        run.finish();
    }

    fn values_of_variables_are_not_kept(at) {
        let call = ["run", "--policy", "restricted", "--env", "TOLD=hunter2", "--env", "PASSED", "--", "sh", "-c", "echo $TOLD $PASSED"];
        let seen = at.call(call).env("PASSED", "hunter3").env("WITHHELD", "hunter4").go();
        assert_eq!((told(&seen), seen.out().as_str()), (0, "hunter2 hunter3\n"));
        assert_eq!(at.host("grep -rE 'hunter[0-9]' @STATE || echo none"), "none\n");
    }

    fn what_drives_a_terminal_is_shown_and_does_not(at) {
        let word = "a\x1b]0;owned\x07\u{202e}\nb";
        runs(at, &["--", "true", word]);
        for call in [&["audit", "show"][..], &["runs", "list"], &["runs", "show"]] {
            let seen = at.seen(call.iter().copied());
            assert!(seen.stdout.contains("a\\u{1b}]0;owned\\u{7}\\u{202e}\\nb"), "{}", seen.stdout);
            assert!(!seen.stdout.contains(['\x1b', '\x07', '\u{202e}']), "{}", seen.stdout);
        }
    }

    fn entries_are_chosen_by_run_time_and_number(at) {
        for name in ["one", "two"] {
            runs(at, &["--", "true", name]);
        }
        let id = entries(at)[2]["run_id"].as_str().expect("an id").to_owned();
        let count = |arguments: &[&str]| {
            let seen = at.seen([&["audit", "show", "--json"], arguments].concat());
            assert_eq!(seen.status, 0, "{}", seen.stderr);
            serde_json::from_str::<Vec<Value>>(&seen.stdout).expect("a list").len()
        };
        assert_eq!((count(&["--run", &id]), count(&["--run", &id[..25]]), count(&["-n", "3"])), (2, 2, 3));
        assert_eq!((count(&["--since", "1h"]), count(&["--since", "2999-01-01"]), count(&["--since", "2020-01-01"])), (4, 0, 4));
        assert_eq!(at.seen(["audit", "show", "--since", "yesterday"]).status, 2);
    }

    fn nothing_kept_yet_is_no_failure(at) {
        assert_eq!(at.seen(["audit", "verify"]).whole(), (0, "whole: 0 entries, 0 stored reports\n", ""));
        assert_eq!(at.seen(["audit", "show", "--json"]).whole(), (0, "[]\n", ""));
        assert!(!at.world.path("@STATE/glee").exists(), "looking has made a directory");
    }
}

/// `run` as root with this environment; where the log lies afterwards.
fn of_root(at: &Place, env: &str) -> (String, String) {
    let seen = at.in_mount_namespace(&format!(
        "cp @BIN @OUT/glee; mount -t tmpfs none /var/lib
         env -i PATH={PATH} {env} @OUT/glee run --policy restricted -- true
         find /var/lib @HOME @OUT -name head"
    ));
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    (seen.stdout, seen.stderr)
}

#[test]
fn root_without_a_home_of_its_own_keeps_its_log_in_var_lib() {
    let at = Place::of(Caller::Root);
    let expected = ("/var/lib/glee/head\n".to_owned(), String::new());
    assert_eq!(of_root(&at, ""), expected);
    let users = Place::of(Caller::User);
    assert_eq!(of_root(&users, "HOME=@HOME"), expected);
    assert_eq!(of_root(&users, "XDG_STATE_HOME=@OUT/not/yet"), expected);
    let own = at.world.fill("@HOME/.local/state/glee/head\n");
    assert_eq!(of_root(&at, "HOME=@HOME"), (own, String::new()));
}

#[test]
fn a_user_without_a_home_is_told_once_and_the_command_runs() {
    let at = Place::of(Caller::User);
    let seen = at.call(["run", "--policy", "restricted", "--", "echo", "ran"]);
    let seen = seen.without_env("HOME").without_env("XDG_STATE_HOME").go();
    assert_eq!((told(&seen), seen.out().as_str()), (0, "ran\n"), "{}", seen.err());
    assert_eq!(seen.err().matches("warning:").count(), 1, "{}", seen.err());
}

#[test]
fn a_stopped_writer_keeps_others_waiting_for_seconds_only() {
    let at = Place::of(Caller::User);
    runs(&at, &["--", "true"]);
    let head = fs::File::open(at.world.path("@STATE/glee/head")).expect("the head");
    head.lock().expect("lock it");
    let started = std::time::Instant::now();
    let seen = at.seen(["run", "--policy", "restricted", "--", "echo", "ran"]);
    assert_eq!((seen.status, seen.stdout.as_str()), (0, "ran\n"));
    assert!(seen.stderr.contains("has locked"), "{}", seen.stderr);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    head.unlock().expect("unlock it");
    assert!(wait_until(std::time::Duration::from_secs(5), || at
        .seen(["audit", "verify"])
        .status
        == 0));
}
