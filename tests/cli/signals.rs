//! Signals to the supervisor reach the command; a second one ends it.

use std::time::Duration;

use glee_tests::{Run, carrying, wait_until};

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

/// The command is told of the signal, and how it answers is how the run ends.
fn reaches_the_command(at: &Place, signal: &str) {
    let script = format!("trap 'echo told {signal}; exit 7' {signal}; echo ready; while :; do sleep 0.05; done");
    let running = at.shell("restricted", &script).spawn();
    assert!(running.wait_for("ready"), "the command did not start");
    running.signal(signal);
    let seen = running.finish();
    assert_eq!(
        (told(&seen), seen.out()),
        (7, format!("ready\ntold {signal}\n")),
        "{}",
        seen.err()
    );
}

/// The command ignores the first; the second ends it and all that it started.
fn ends_the_command_when_sent_twice(at: &Place, signal: &str, number: i32) {
    let id = at.world.nonce();
    // No shell: told while it starts a program, dash was seen to end once in some fifty times.
    let script = format!(
        "trap '' HUP INT TERM; sh -c 'trap \"\" HUP INT TERM; sleep 300; :' {id} & \
         exec perl -e '$| = 1; $SIG{{{signal}}} = sub {{ print \"told\\n\" }}; print \"ready\\n\"; select undef, undef, undef, 0.05 while 1'"
    );
    let running = at.shell("restricted", &script).spawn();
    assert!(running.wait_for("ready"), "the command did not start");
    running.signal(signal);
    if !running.wait_for("told") {
        let seen = running.finish();
        panic!(
            "the first {signal} was not told: {:?}",
            (told(&seen), seen.out(), seen.err())
        );
    }
    running.signal(signal);
    let seen = running.finish();
    assert!(
        seen.took < Duration::from_secs(20),
        "the second {signal} took {:?}",
        seen.took
    );
    assert!(
        [137, 128 + number].contains(&told(&seen)),
        "status {}: {}",
        told(&seen),
        seen.err()
    );
    assert!(
        wait_until(Duration::from_secs(5), || carrying(id).is_empty()),
        "alive: {:?}",
        carrying(id)
    );
}

claims! {
    fn signals_without_a_meaning_of_ours_reach_the_command(at) {
        for signal in ["ALRM", "VTALRM", "PROF", "IO", "PWR", "XCPU", "URG", "WINCH", "CONT", "40", "64"] {
            reaches_the_command(at, signal);
        }
    }

    fn sigint_reaches_the_command(at) {
        reaches_the_command(at, "INT");
    }

    fn sigterm_reaches_the_command(at) {
        reaches_the_command(at, "TERM");
    }

    fn sighup_reaches_the_command(at) {
        reaches_the_command(at, "HUP");
    }

    fn sigquit_reaches_the_command(at) {
        reaches_the_command(at, "QUIT");
    }

    fn sigusr1_and_sigusr2_reach_the_command(at) {
        reaches_the_command(at, "USR1");
        reaches_the_command(at, "USR2");
    }

    fn a_pause_that_the_command_declines_stops_nobody(at) {
        // No shell: what it waits for would stop.
        let run = ["run", "--policy", "restricted", "--", "perl", "-e", "$| = 1; $SIG{TSTP} = sub { exit 7 }; print 'ready'; sleep 30"];
        let running = at.call(run).spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        running.signal("TSTP");
        let seen = running.finish();
        assert!(told(&seen) == 7 && seen.took < Duration::from_secs(20), "{} after {:?}: {}", told(&seen), seen.took, seen.err());
    }

    fn a_second_sigint_ends_a_command_that_ignores_the_first(at) {
        ends_the_command_when_sent_twice(at, "INT", 2);
    }

    fn a_second_sigterm_ends_a_command_that_ignores_the_first(at) {
        ends_the_command_when_sent_twice(at, "TERM", 15);
    }

    fn a_second_sighup_ends_a_command_that_ignores_the_first(at) {
        ends_the_command_when_sent_twice(at, "HUP", 1);
    }

    fn a_command_without_a_handler_ends_by_the_signal(at) {
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let running = at.shell("restricted", "echo ready; exec sleep 300").spawn();
            assert!(running.wait_for("ready"), "the command did not start");
            running.signal(signal);
            assert_eq!(told(&running.finish()), 128 + number, "{signal}");
        }
    }

    fn the_command_starts_with_the_callers_own_handling_of_signals(at) {
        // Rust's runtime ignores SIGPIPE, and a supervisor blocks and catches much: none of it may be inherited.
        let masks = |text: &str| {
            let masks = text.lines().filter(|l| ["SigBlk", "SigIgn", "SigCgt"].iter().any(|name| l.starts_with(name)));
            masks.map(str::to_owned).collect::<Vec<_>>()
        };
        let seen = at.call(["run", "--policy", "restricted", "--", "cat", "/proc/self/status"]).go();
        let bare = Run::bare(&at.world).command(["cat", "/proc/self/status"]).go();
        assert_eq!((told(&seen), masks(&seen.out())), (0, masks(&bare.out())));
    }
}
