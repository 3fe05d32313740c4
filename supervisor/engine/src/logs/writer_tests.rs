#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::testing::Scratch;

/// 2025-01-09T14:30:00.
const NOW: u64 = 1_736_433_000;
const DAY: u64 = 86_400;

fn label(text: &str) -> Label {
    text.parse().expect("a name")
}

fn at(seconds: u64) -> Moment {
    Moment::from_seconds(seconds)
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path().join(DIRECTORY).join(name)).unwrap_or_default()
}

fn names(scratch: &Scratch) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(scratch.path().join(DIRECTORY))
        .expect("list")
        .map(|entry| entry.expect("a name").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn the_three_files_of_a_day_are_as_documented() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let mut run = logs.of_run(label("r0"), label("codex"));
    run.event("Starting: Read src/api/auth.py...", at(NOW)).expect("log");
    run.printed(Stream::Stdout, b"one\ntw", at(NOW + 1)).expect("log");
    run.printed(Stream::Stderr, b"warn\n", at(NOW + 1)).expect("log");
    run.printed(Stream::Stdout, b"o", at(NOW + 1)).expect("log");
    run.end(at(NOW + 1)).expect("log");
    let mut other = logs.of_run(label("r1"), label("claude"));
    other.event("Output: a\nb", at(NOW + 1)).expect("log");
    run.event("Completed in 3200ms", at(NOW + 2)).expect("log");
    let expected = "[2025-01-09T14:30:00] [subagent:0] [codex] Starting: Read src/api/auth.py...\n\
        [2025-01-09T14:30:01] [subagent:1] [claude] Output: a\\nb\n\
        [2025-01-09T14:30:02] [subagent:0] [codex] Completed in 3200ms\n";
    assert_eq!(read(&scratch, "subagents-20250109.log"), expected);
    let expected = "[2025-01-09T14:30:01] [subagent:0] [codex] one\n[2025-01-09T14:30:01] [subagent:0] [codex] two\n";
    assert_eq!(read(&scratch, "stdout-20250109.log"), expected);
    assert_eq!(
        read(&scratch, "stderr-20250109.log"),
        "[2025-01-09T14:30:01] [subagent:0] [codex] warn\n"
    );
    let mode = fs::metadata(scratch.path().join(DIRECTORY).join("stdout-20250109.log"))
        .expect("facts")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[test]
fn a_new_day_has_new_files_and_new_numbers() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let mut first = logs.of_run(label("r0"), label("codex"));
    let mut second = logs.of_run(label("r1"), label("codex"));
    first.event("a", at(NOW)).expect("log");
    second.event("b", at(NOW)).expect("log");
    second.event("c", at(NOW + DAY)).expect("log");
    assert!(read(&scratch, "subagents-20250109.log").ends_with("[subagent:1] [codex] b\n"));
    assert_eq!(
        read(&scratch, "subagents-20250110.log"),
        "[2025-01-10T14:30:00] [subagent:0] [codex] c\n"
    );
}

#[test]
fn a_file_that_is_full_makes_room_also_for_others_who_have_it_open() {
    let scratch = Scratch::new();
    let mut logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    logs.most_file = 1000;
    let mut runs = [
        logs.of_run(label("r0"), label("codex")),
        logs.of_run(label("r1"), label("codex")),
    ];
    for n in 0..60 {
        runs[n % 2]
            .printed(Stream::Stdout, format!("line {n}\n").as_bytes(), at(NOW))
            .expect("log");
        for name in ["stdout-20250109.log", "stdout-20250109.1.log"] {
            let text = read(&scratch, name);
            assert!(
                text.len() < 1100 && (text.is_empty() || text.ends_with('\n')),
                "{name}: {}",
                text.len()
            );
        }
    }
    let both = read(&scratch, "stdout-20250109.1.log") + &read(&scratch, "stdout-20250109.log");
    let numbers: Vec<u32> = both
        .lines()
        .map(|l| l.rsplit(' ').next().expect("a word").parse().expect("a number"))
        .collect();
    let expected: Vec<u32> = (numbers[0]..60).collect();
    assert_eq!(numbers, expected, "the newest lines are there, in their order");
}

#[test]
fn old_days_and_too_much_are_removed() {
    let scratch = Scratch::new();
    for n in 0..20 {
        let logs = Logs::open(scratch.path(), at(NOW + n * DAY)).expect("open");
        logs.of_run(label("r"), label("codex"))
            .event("x", at(NOW + n * DAY))
            .expect("log");
    }
    assert_eq!(
        names(&scratch)
            .iter()
            .filter(|name| name.starts_with("subagents-"))
            .count(),
        15
    );
    assert_eq!(
        names(&scratch).iter().filter(|name| name.starts_with(".runs-")).count(),
        15
    );
    let last = at(NOW + 19 * DAY);
    let logs = Logs::open(scratch.path(), last).expect("open");
    logs.tidy(last, 200).expect("tidy");
    let left = names(&scratch);
    let size: u64 = left
        .iter()
        .filter(|n| day_of(n).is_some())
        .map(|n| read(&scratch, n).len() as u64)
        .sum();
    assert!(
        size <= 200 && left.contains(&format!("subagents-{}.log", last.day())),
        "{left:?}"
    );
}

#[test]
fn what_is_no_plain_file_is_not_written_to() {
    let scratch = Scratch::new();
    let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
    let secret = scratch.path().join("secret");
    let name = scratch.path().join(DIRECTORY).join("stdout-20250109.log");
    fs::write(&secret, "secret").expect("write");
    let mut run = logs.of_run(label("r"), label("codex"));
    symlink(&secret, &name).expect("link");
    assert!(run.printed(Stream::Stdout, b"x\n", at(NOW)).is_err());
    fs::remove_file(&name).expect("remove");
    fs::hard_link(&secret, &name).expect("link");
    assert!(run.printed(Stream::Stdout, b"x\n", at(NOW)).is_err());
    fs::remove_file(&name).expect("remove");
    assert!(run.printed(Stream::Stdout, b"x\n", at(NOW)).is_ok());
    assert_eq!(fs::read_to_string(&secret).expect("read"), "secret");
}

#[test]
fn lines_of_several_writers_are_never_mixed_and_none_is_lost() {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let scratch = &scratch;
            scope.spawn(move || {
                let logs = Logs::open(scratch.path(), at(NOW)).expect("open");
                let mut run = logs.of_run(label(&format!("r{writer}")), label("codex"));
                for n in 0..200 {
                    let text = format!("{writer} {n} {}\n", "x".repeat(2000));
                    run.printed(Stream::Stdout, text.as_bytes(), at(NOW)).expect("log");
                }
            });
        }
    });
    let text = read(&scratch, "stdout-20250109.log");
    let lines: Vec<Line> = text
        .lines()
        .map(|line| Line::parse(line).expect("a whole line"))
        .collect();
    assert_eq!(lines.len(), 800);
    assert!(
        lines
            .iter()
            .all(|line| line.text.len() >= 2004 && line.text.len() <= 2006)
    );
    let mut numbers: Vec<u64> = lines.iter().map(|line| line.subagent).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers, [0, 1, 2, 3]);
}
