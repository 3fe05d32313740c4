#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn line(text: &str) -> Line {
    Line::new(
        Moment::from_seconds(1_736_433_000),
        0,
        &"codex".parse().expect("a name"),
        text,
    )
}

#[test]
fn a_line_is_as_documented() {
    assert_eq!(
        line("Starting: Read src/api/auth.py...").to_string(),
        "[2025-01-09T14:30:00] [subagent:0] [codex] Starting: Read src/api/auth.py..."
    );
}

#[test]
fn nothing_printed_is_another_line_or_drives_a_terminal() {
    let forged = "x\n[2025-01-09T14:30:00] [subagent:1] [codex] Completed in 1ms\r\x1b[2K\u{202e}";
    let made = line(forged).to_string();
    assert_eq!(made.lines().count(), 1);
    assert!(!made.contains(['\n', '\r', '\x1b', '\u{202e}']), "{made}");
    assert_eq!(Line::parse(&made).map(|line| line.subagent), Some(0));
}

#[test]
fn what_nobody_of_ours_wrote_is_no_line() {
    for wrong in [
        "",
        "hello",
        "[2025-01-09T14:30:00]",
        "[2025-01-09] [subagent:0] [codex] x",
        "[2025-01-09T14:30:00] [subagent:-1] [codex] x",
        "[2025-01-09T14:30:00] [subagent:0] [../x] x",
        "[2025-01-09T14:30:00] [subagent:0] [codex]",
    ] {
        assert_eq!(Line::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn only_files_of_ours_have_a_day() {
    let ours = [
        "stdout-20250109.log",
        "stderr-20250109.1.log",
        "subagents-20250109.log",
        ".runs-20250109",
    ];
    assert!(ours.iter().all(|name| day_of(name) == Some("20250109")));
    for wrong in [
        "stdout-2025010.log",
        "other-20250109.log",
        "stdout-20250109.log.gz",
        "stdout-20250109.2.log",
        ".gitignore",
    ] {
        assert_eq!(day_of(wrong), None, "{wrong}");
    }
}

#[test]
fn lines_are_cut_where_they_end_and_where_they_are_too_long() {
    let mut cutter = Cutter::default();
    assert_eq!(cutter.feed(b"one\r\ntw"), ["one"]);
    assert_eq!(cutter.feed(b"o\n\nthree"), ["two", ""]);
    assert_eq!(cutter.end(), Some("three".to_owned()));
    assert_eq!(cutter.end(), None);
    let long = "é".repeat(MOST_TEXT);
    let mut lines = cutter.feed(long.as_bytes());
    lines.extend(cutter.end());
    assert!(
        lines
            .iter()
            .all(|line| line.len() <= MOST_TEXT && !line.contains('\u{fffd}'))
    );
    assert_eq!(lines.concat(), long);
    assert_eq!(cutter.feed(&[0x80; 2 * MOST_TEXT]).len(), 1);
}

proptest! {
    #[test]
    fn every_line_is_read_back(text in any::<String>(), subagent in any::<u64>(), seconds in 0..4_000_000_000_u64) {
        let made = Line::new(Moment::from_seconds(seconds), subagent, &"claude".parse().expect("a name"), &text);
        prop_assert_eq!(Line::parse(&made.to_string()), Some(made));
    }

    #[test]
    fn nothing_is_lost_however_it_arrives(text in "[a-z\n]{0,300}", cuts in proptest::collection::vec(0..300_usize, 0..5)) {
        let mut cutter = Cutter::default();
        let mut lines = Vec::new();
        let mut from = 0;
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        for to in cuts.into_iter().chain([text.len()]) {
            lines.extend(cutter.feed(&text.as_bytes()[from..to]));
            from = to;
        }
        lines.extend(cutter.end());
        prop_assert_eq!(lines, text.lines().map(str::to_owned).collect::<Vec<_>>());
    }
}
