//! `runs apply` and `runs discard` at the same time: one waits for the other, and a result is taken whole or not at all.

use std::time::Duration;

use glee_tests::{Running, wait_until};

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

/// More than is applied while a second process starts.
const FILES: &str = "1500";

/// A result of many files, which say `b` in it and `a` in the project; its run.
fn kept(at: &Place) -> String {
    at.host(&format!("for i in $(seq {FILES}); do echo a > f$i; done"));
    let script = format!("for i in $(seq {FILES}); do echo b > f$i; done");
    let copy = [
        "--policy",
        "workspace",
        "--workspace",
        "cow",
        "--",
        "sh",
        "-euc",
        &script,
    ];
    let (seen, report) = at.reported(&copy);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    report["run_id"].as_str().expect("an id").to_owned()
}

/// An `apply` that has begun, and goes on only when it is told to.
fn stopped(at: &Place, run: &str) -> Running {
    let applying = at.call(["runs", "apply", run]).spawn();
    let begun = || !at.host("grep -l b f1 f2 || :").is_empty();
    assert!(wait_until(Duration::from_secs(20), begun), "nothing is applied");
    applying.signal("STOP");
    assert_eq!(at.host("cat f* | sort -u"), "a\nb\n", "it is in the middle of it");
    applying
}

/// What the files say, and what lies there besides.
fn project(at: &Place) -> String {
    at.host("cat f* | sort -u; ls -A | grep -v '^f[0-9]*$' || :")
}

claims! {
    fn a_result_that_is_being_applied_is_not_discarded(at) {
        let run = kept(at);
        let applying = stopped(at, &run);
        let seen = at.seen(["runs", "discard", &run]);
        assert_eq!(seen.status, 1, "{}", seen.stderr);
        let holder = format!("process {} is applying or discarding", applying.pid());
        for word in [&holder, "waiting for it", "nothing was done"] {
            assert!(seen.stderr.contains(word), "`{word}`: {}", seen.stderr);
        }
        applying.signal("CONT");
        assert_eq!(told(&applying.finish()), 0);
        assert_eq!(project(at), "b\n");
    }

    fn of_two_that_apply_one_result_the_second_finds_it_taken(at) {
        let run = kept(at);
        let first = stopped(at, &run);
        let second = at.call(["runs", "apply", &run]).spawn();
        std::thread::sleep(Duration::from_millis(300));
        first.signal("CONT");
        let second = second.finish();
        assert_eq!((told(&first.finish()), told(&second)), (0, 1));
        assert!(second.err().contains("was applied or discarded just now"), "{}", second.err());
        assert_eq!(project(at), "b\n");
    }

    fn of_two_results_for_one_project_the_second_waits_and_sees_what_the_first_has_made(at) {
        let (one, two) = (kept(at), kept(at));
        let first = stopped(at, &one);
        let second = at.call(["runs", "apply", &two]).spawn();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(at.host("cat f* | sort -u"), "a\nb\n", "the second waits");
        first.signal("CONT");
        let second = second.finish();
        assert_eq!(told(&first.finish()), 0);
        // All that it brings is there already.
        assert_eq!((told(&second), second.out().as_str()), (0, "0 applied\n"), "{}", second.err());
        assert!(second.err().contains("another run changed in the same tree"), "{}", second.err());
        assert_eq!(project(at), "b\n");
    }

    fn what_a_killed_apply_left_goes_with_the_next_one_or_with_the_result(at) {
        for last in ["apply", "discard"] {
            let run = kept(at);
            let killed = stopped(at, &run);
            killed.signal("KILL");
            killed.finish();
            at.host(&format!("echo half > .glee-apply-{run}"));
            let seen = at.seen(["runs", last, &run]);
            assert_eq!(seen.status, 0, "{}", seen.stderr);
            assert_eq!(project(at), if last == "apply" { "b\n" } else { "a\nb\n" });
            assert_eq!(at.host("ls -A @STATE/glee/workspaces"), "");
        }
    }
}
