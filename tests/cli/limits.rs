//! A limit that a run came up to is named in its report.

use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::Place;

/// The cause, and the limits among the denials.
fn reached(at: &Place, program: &str) -> (Value, Vec<Value>) {
    at.world
        .file("@OUT/limits.yml", "extends: restricted\nlimits: {pids: 16}\n");
    let (_, report) = at.reported(&["--policy", "@OUT/limits.yml", "--", "perl", "-e", program]);
    let denials = report["denials"].as_array().expect("denials is a list");
    let limits = denials.iter().filter(|row| row["kind"] == "limit");
    (report["cause"].clone(), limits.map(|row| row["name"].clone()).collect())
}

claims! {
    fn a_fork_loop_that_waits_is_told_of_as_the_limit_on_processes(at) {
        let waits = "for (1..40) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } } 1 while wait != -1;";
        assert_eq!(reached(at, waits), (json!("pids"), vec![json!("limits.pids")]));
    }

    fn a_fork_loop_that_leaves_its_children_is_told_of_as_the_limit_on_processes(at) {
        let leaves = "for (1..40) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } }";
        assert_eq!(reached(at, leaves), (json!("pids"), vec![json!("limits.pids")]));
    }

    fn as_many_processes_as_are_allowed_are_had(at) {
        let program = "my $n = 0; for (1..40) { my $p = fork; last if !defined $p; $n++; if (!$p) { sleep 1; exit } } print $n";
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {pids: 16}\n");
        // Pid 1 of the sandbox and the command are two of them.
        let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "perl", "-e", program]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "14"), "{}", seen.stderr);
    }

    fn fewer_processes_than_the_limit_are_not_told_of(at) {
        let few = "for (1..8) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } } 1 while wait != -1;";
        assert_eq!(reached(at, few), (json!(null), vec![]));
    }
}
