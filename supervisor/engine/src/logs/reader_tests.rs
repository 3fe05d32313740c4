#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;

use super::super::Logs;
use super::*;
use crate::testing::Scratch;

/// 2025-01-09T23:59:50.
const NOW: u64 = 1_736_467_190;

fn label(text: &str) -> Label {
    text.parse().expect("a name")
}

fn at(seconds: u64) -> Moment {
    Moment::from_seconds(seconds)
}

fn reader(scratch: &Scratch) -> LogReader {
    LogReader::find(scratch.path()).expect("find").expect("logs")
}

fn texts(shown: &[Shown]) -> Vec<&str> {
    shown.iter().map(|shown| shown.line.text.as_str()).collect()
}

#[test]
fn the_newest_lines_of_all_days_come_in_the_order_of_time() {
    let scratch = Scratch::new();
    assert!(LogReader::find(scratch.path()).expect("find").is_none());
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let mut run = logs.of_run(label("r0"), label("codex"));
    let mut other = logs.of_run(label("r1"), label("claude"));
    run.event("a", at(NOW)).expect("log");
    other.printed(Stream::Stdout, b"b\n", at(NOW + 1)).expect("log");
    run.event("c", at(NOW + 2)).expect("log");
    other.event("d", at(NOW + 20)).expect("log");
    run.event("e", at(NOW + 21)).expect("log");
    let reader = reader(&scratch);
    let read = |streams: &[Stream], run: Option<&str>, most| {
        let shown = reader.read(streams, run.map(label).as_ref(), most).expect("read");
        texts(&shown).join("")
    };
    assert_eq!(read(&Stream::ALL, None, 100), "abcde");
    assert_eq!(read(&Stream::ALL, None, 3), "cde");
    assert_eq!(read(&[Stream::Subagents], None, 100), "acde");
    // Their numbers change places at midnight; the runs do not.
    assert_eq!(read(&Stream::ALL, Some("r0"), 100), "ace");
    assert_eq!(read(&Stream::ALL, Some("r1"), 100), "bd");
    assert_eq!(read(&Stream::ALL, Some("r2"), 100), "");
    let file = scratch.path().join(DIRECTORY).join("subagents-20250110.log");
    let text = fs::read_to_string(&file).expect("read");
    fs::write(&file, format!("{text}not a line\n[torn")).expect("write");
    assert_eq!(read(&Stream::ALL, None, 100), "abcde");
}

#[test]
fn following_goes_on_over_midnight_and_over_a_full_file() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let mut run = logs.of_run(label("r0"), label("codex"));
    let mut slow = logs.of_run(label("r1"), label("codex"));
    run.event("before", at(NOW)).expect("log");
    let (before, mut follow) = reader(&scratch)
        .follow(&[Stream::Subagents], None, 10, at(NOW))
        .expect("follow");
    assert_eq!(texts(&before), ["before"]);
    let mut poll = |now: u64| texts(&follow.poll(at(now)).expect("poll")).join(" ");
    assert_eq!(poll(NOW), "");
    run.event("one", at(NOW + 1)).expect("log");
    assert_eq!(poll(NOW + 1), "one");
    // A writer that took the time before midnight and wrote after.
    run.event("tomorrow", at(NOW + 12)).expect("log");
    assert_eq!(poll(NOW + 12), "tomorrow");
    slow.event("late", at(NOW + 9)).expect("log");
    assert_eq!(poll(NOW + 13), "late");
    let name = |name: &str| scratch.path().join(DIRECTORY).join(name);
    run.event("last of the old", at(NOW + 14)).expect("log");
    fs::rename(name("subagents-20250110.log"), name("subagents-20250110.1.log")).expect("rotate");
    run.event("first of the new", at(NOW + 14)).expect("log");
    assert_eq!(poll(NOW + 15), "last of the old first of the new");
    assert_eq!(poll(NOW + 200), "");
    run.event("later", at(NOW + 200)).expect("log");
    assert_eq!(poll(NOW + 200), "later");
}

#[test]
fn following_one_run_knows_it_as_soon_as_it_writes() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let (_, mut follow) = reader(&scratch)
        .follow(&Stream::ALL, Some(label("wanted")), 10, at(NOW))
        .expect("follow");
    logs.of_run(label("other"), label("codex"))
        .event("no", at(NOW))
        .expect("log");
    logs.of_run(label("wanted"), label("codex"))
        .event("yes", at(NOW))
        .expect("log");
    assert_eq!(texts(&follow.poll(at(NOW)).expect("poll")), ["yes"]);
}

#[test]
fn half_a_line_waits_for_its_end() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    logs.of_run(label("r0"), label("codex"))
        .event("x", at(NOW))
        .expect("log");
    let file = scratch.path().join(DIRECTORY).join("subagents-20250109.log");
    let line = fs::read_to_string(&file).expect("read");
    fs::write(&file, "").expect("empty");
    let (_, mut follow) = reader(&scratch)
        .follow(&Stream::ALL, None, 10, at(NOW))
        .expect("follow");
    fs::write(&file, &line[..10]).expect("write");
    assert_eq!(follow.poll(at(NOW)).expect("poll"), []);
    fs::write(&file, &line).expect("write");
    assert_eq!(texts(&follow.poll(at(NOW)).expect("poll")), ["x"]);
}

#[test]
fn following_begins_with_the_newest_lines_of_all_days() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let mut run = logs.of_run(label("r0"), label("codex"));
    for n in 0..6 {
        run.event(&n.to_string(), at(NOW + 4 * n)).expect("log");
    }
    let begin = |most| {
        let (before, _) = reader(&scratch)
            .follow(&Stream::ALL, None, most, at(NOW + 30))
            .expect("follow");
        texts(&before).concat()
    };
    assert_eq!(
        (begin(10).as_str(), begin(4).as_str(), begin(2).as_str()),
        ("012345", "2345", "45")
    );
}
