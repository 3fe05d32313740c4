//! Commands that make it hard: floods, races, processes that vanish or hide.

use std::fs;
use std::time::Duration;

use glee_tests::{Caller, Policy};

use crate::support::{denials, prepared, program, put, reported, row, size, world};

pub(crate) fn flood(caller: Caller) {
    let world = world(caller);
    put(&world, &world.home().join("secrets/secret"), 0o600);
    let count = size(50_000, 1_000_000) as u64;
    let dir = world.home().join("secrets").display().to_string();
    let run = prepared(&world, Policy::Named("restricted"), &["--timeout", "10m"]).limit(Duration::from_secs(600));
    let argv = [program(), "flood".into(), count.to_string(), dir.clone()];
    let (outcome, report) = reported(&world, run.command(argv));
    assert_eq!(
        (outcome.code(), outcome.out().as_str()),
        (Some(0), "done\n"),
        "{}",
        outcome.describe()
    );
    let rows = denials(&report);
    assert!(rows.len() <= 1000, "{} rows", rows.len());
    let listed: u64 = rows.iter().filter_map(|row| row["count"].as_u64()).sum();
    let omitted = report["denials_omitted"].as_u64().expect("a number");
    // A quarter of the calls asks for what is nowhere.
    assert_eq!(listed + omitted, count / 4 * 3, "{listed} listed, {omitted} omitted");
    assert_eq!(row(&report, "fs.hidden", &format!("{dir}/secret"))["count"], count / 4);
    assert_eq!(row(&report, "syscall", "ptrace")["count"], count / 4);
    println!("{count} calls in {:?}", outcome.took);
}

pub(crate) fn race(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secrets/secret"), 0o600)
        .display()
        .to_string();
    let good = world.project().join("harmless").display().to_string();
    fs::write(&good, "nothing").expect("write a file");
    let run = prepared(&world, Policy::Named("restricted"), &[]);
    let (outcome, report) = reported(&world, run.command([program().as_str(), "race", &good, &secret]));
    assert_eq!(
        (outcome.code(), outcome.out().as_str()),
        (Some(0), "done\n"),
        "{}",
        outcome.describe()
    );
    assert!(denials(&report).len() <= 1000);
}

pub(crate) fn awkward(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secrets/secret"), 0o700)
        .display()
        .to_string();
    let run = prepared(&world, Policy::Named("restricted"), &[]);
    let (outcome, report) = reported(&world, run.command([program().as_str(), "awkward", "-", &secret]));
    assert_eq!(
        (outcome.code(), outcome.out().as_str()),
        (Some(0), "done\n"),
        "{}",
        outcome.describe()
    );
    let executed = denials(&report).iter().find(|row| row["syscall"] == "execve");
    assert_eq!(executed.map(|row| &row["count"]), Some(&50.into()), "{report}");
}

pub(crate) fn undumpable(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secrets/secret"), 0o600)
        .display()
        .to_string();
    let run = prepared(&world, Policy::Named("restricted"), &[]);
    let (outcome, report) = reported(&world, run.command([program().as_str(), "undumpable", "-", &secret]));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(row(&report, "fs.hidden", &secret)["count"], 1);
}

/// Beside an open directory, by whichever thread.
pub(crate) fn undumpable_places(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secrets/secret"), 0o600)
        .display()
        .to_string();
    let run = prepared(&world, Policy::Named("restricted"), &[]);
    let command = [program().as_str(), "beside", ".", "../secrets/secret"].map(str::to_owned);
    let (outcome, report) = reported(&world, run.command(command));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(row(&report, "fs.hidden", &secret)["count"], 4, "{report:#}");
}
