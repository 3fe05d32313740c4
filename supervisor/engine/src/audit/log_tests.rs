#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::entry::{Event, bounded, bounded_command};
use super::log::append_rotating;
use super::place::{PlaceError, State};
use super::verify::{Verdict, verify};
use super::{LogError, append};

/// A state directory that goes away.
pub(super) struct Dir(pub(super) PathBuf);

impl Dir {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("glee-audit-{}-{count}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(super) fn state(&self) -> State {
        State::at(self.0.clone()).unwrap()
    }

    pub(super) fn log(&self, number: u64) -> PathBuf {
        self.0.join(super::head::file_name(number))
    }

    pub(super) fn verify(&self) -> Verdict {
        verify(&self.state(), None).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn event(files: usize) -> Event<'static> {
    Event::Untrusted {
        project: "/p".into(),
        files,
    }
}

fn places(findings: &[super::verify::Finding]) -> Vec<(String, Option<u64>, Option<u64>)> {
    findings.iter().map(|f| (f.file.clone(), f.line, f.entry)).collect()
}

fn add(path: &Path, text: &[u8]) {
    use std::io::Write;
    fs::OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(text)
        .unwrap();
}

#[test]
fn entries_are_numbered_and_each_names_the_hash_of_the_one_before() {
    let dir = Dir::new();
    let marks: Vec<_> = (0..3).map(|n| append(&dir.state(), &event(n)).unwrap()).collect();
    let text = fs::read_to_string(dir.log(1)).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| (line["n"].as_u64().unwrap(), line["files"].as_u64().unwrap()))
        .collect();
    assert_eq!(seen, [(1, 0), (2, 1), (3, 2)]);
    assert_eq!(lines[0]["prev"], "0".repeat(64));
    assert_eq!(lines[2]["prev"], marks[1].sha256.to_string());
    let verdict = dir.verify();
    assert_eq!((verdict.problems, verdict.notes), (vec![], vec![]));
    assert_eq!((verdict.entries, verdict.head), (3, Some(marks[2])));
}

#[test]
fn files_and_directory_are_for_their_owner_only() {
    let dir = Dir::new();
    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o755)).unwrap();
    append(&dir.state(), &event(0)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(
        [mode(&dir.0), mode(&dir.log(1)), mode(&dir.0.join("head"))],
        [0o700, 0o600, 0o600]
    );
}

#[test]
fn links_in_the_place_of_the_directory_or_a_file_are_refused_and_not_followed() {
    let dir = Dir::new();
    let link = dir.0.join("link");
    fs::create_dir(dir.0.join("real")).unwrap();
    symlink(dir.0.join("real"), &link).unwrap();
    assert!(matches!(State::at(link), Err(PlaceError::NotADirectory { .. })));
    for name in ["head", "audit-000001.jsonl"] {
        let other = Dir::new();
        let target = other.0.join("target");
        fs::write(&target, "kept").unwrap();
        symlink(&target, other.0.join(name)).unwrap();
        let refused = append(&other.state(), &event(0));
        assert!(
            matches!(refused, Err(LogError::Place(PlaceError::NotAFile { .. }))),
            "{name}: {refused:?}"
        );
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    }
}

#[test]
fn an_unfinished_line_is_closed_and_named_by_the_next_writer() {
    for torn in [
        "{\"n\":2,\"prev\":\"00",
        "{\"n\":2,\n{\"n\"",
        "{\"n\":2,\n",
        "garbage",
        "\0\0\0",
    ] {
        let dir = Dir::new();
        append(&dir.state(), &event(0)).unwrap();
        let whole = fs::read(dir.log(1)).unwrap();
        add(&dir.log(1), torn.as_bytes());
        let before = dir.verify();
        assert_eq!((before.problems, before.entries), (vec![], 1), "{torn:?}");
        assert_eq!(before.notes[0].line, Some(2), "{torn:?}");
        append(&dir.state(), &event(1)).unwrap();
        let after = fs::read(dir.log(1)).unwrap();
        let closed = [&whole, torn.as_bytes()].concat();
        assert!(after.starts_with(&closed), "{torn:?}: what was there has changed");
        let verdict = dir.verify();
        assert_eq!((verdict.problems, verdict.entries), (vec![], 3), "{torn:?}");
        assert_eq!(verdict.notes[0].line, Some(2), "{torn:?}");
        assert!(verdict.notes[0].what.contains("entry 2"), "{torn:?}");
    }
}

#[test]
fn lines_that_no_writer_leaves_are_found_and_stay_found() {
    let dir = Dir::new();
    append(&dir.state(), &event(0)).unwrap();
    append(&dir.state(), &event(1)).unwrap();
    let text = fs::read_to_string(dir.log(1)).unwrap();
    let copy = text.lines().last().unwrap();
    let cases = [
        ("\n".to_owned(), 1),
        ("x\n".to_owned(), 1),
        ("{\"n\":3}\n".to_owned(), 1),
        ("{\"n\":3}".to_owned(), 1),
        ("{\"n\":1}\n".repeat(5), 5),
        ("{\"n\":2,\n".to_owned(), 1),
        ("garbage\nmore garbage".to_owned(), 1),
        (format!("{copy}\n"), 1),
        (copy.to_owned(), 1),
        (format!("{copy}\nx\n"), 2),
    ];
    for (foreign, lines) in cases {
        let dir = Dir::new();
        append(&dir.state(), &event(0)).unwrap();
        append(&dir.state(), &event(1)).unwrap();
        fs::write(dir.log(1), &text).unwrap();
        let bytes = text.len();
        let head = format!(
            "{{\"file\":1,\"bytes\":{bytes},\"entries\":2,\"sha256\":\"{}\"}}",
            super::Hash::of(copy.as_bytes())
        );
        fs::write(dir.0.join("head"), head).unwrap();
        assert_eq!(dir.verify().problems, vec![], "{foreign:?}");
        add(&dir.log(1), foreign.as_bytes());
        let at = |verdict: &Verdict| -> Vec<Option<u64>> { verdict.problems.iter().map(|found| found.line).collect() };
        let found = at(&dir.verify());
        assert!(
            !found.is_empty() && found.iter().all(|line| *line >= Some(3)),
            "{foreign:?}: {found:?}"
        );
        assert_eq!(found.len(), lines, "{foreign:?}: {found:?}");
        for n in 0..3 {
            append(&dir.state(), &event(n)).unwrap();
            let verdict = dir.verify();
            let after = at(&verdict);
            assert!(
                found.iter().all(|line| after.contains(line)),
                "{foreign:?}: {verdict:?}"
            );
            assert_eq!(verdict.entries, 4 + n as u64, "{foreign:?}");
        }
        assert!(
            fs::read_to_string(dir.log(1))
                .unwrap()
                .contains("\"repair\":\"foreign\""),
            "{foreign:?}"
        );
    }
}

#[test]
fn a_repair_that_the_head_does_not_know_counts_wherever_its_writer_was_killed() {
    for torn in ["{\"n\":2,", "{\"n\":2,\n{\"n\":2,\"pr"] {
        let make = || {
            let dir = Dir::new();
            append(&dir.state(), &event(0)).unwrap();
            add(&dir.log(1), torn.as_bytes());
            let length = fs::metadata(dir.log(1)).unwrap().len();
            let head = fs::read(dir.0.join("head")).unwrap();
            append(&dir.state(), &event(1)).unwrap();
            fs::write(dir.0.join("head"), head).unwrap();
            let whole = fs::metadata(dir.log(1)).unwrap().len();
            (dir, length, whole)
        };
        let (_, length, whole) = make();
        for cut in (length..whole - 1).step_by(9).chain([whole - 1, whole]) {
            let (dir, _, _) = make();
            let log = fs::OpenOptions::new().write(true).open(dir.log(1)).unwrap();
            log.set_len(cut.min(fs::metadata(dir.log(1)).unwrap().len())).unwrap();
            assert_eq!(dir.verify().problems, vec![], "{torn:?} {cut}");
            append(&dir.state(), &event(2)).unwrap();
            assert_eq!(dir.verify().problems, vec![], "{torn:?} {cut}");
        }
    }
}

#[test]
fn the_repair_of_a_repair_that_was_cut_short_is_no_problem_either() {
    let dir = Dir::new();
    append(&dir.state(), &event(0)).unwrap();
    add(&dir.log(1), b"{\"n\":2,");
    for cut in 1..12 {
        let head = fs::read(dir.0.join("head")).unwrap();
        let length = fs::metadata(dir.log(1)).unwrap().len();
        append(&dir.state(), &event(1)).unwrap();
        // As if that writer had been killed after some bytes, before the head.
        fs::write(dir.0.join("head"), head).unwrap();
        let log = fs::OpenOptions::new().write(true).open(dir.log(1)).unwrap();
        log.set_len(length + cut * 7).unwrap();
        assert_eq!(dir.verify().problems, vec![], "{cut}");
    }
    append(&dir.state(), &event(2)).unwrap();
    let verdict = dir.verify();
    assert_eq!((verdict.problems, verdict.entries), (vec![], 3));
}

#[test]
fn an_entry_that_was_written_whole_counts_although_the_head_does_not_know_it() {
    for newline in [true, false] {
        let dir = Dir::new();
        append(&dir.state(), &event(0)).unwrap();
        let head = fs::read(dir.0.join("head")).unwrap();
        append(&dir.state(), &event(1)).unwrap();
        fs::write(dir.0.join("head"), head).unwrap();
        if !newline {
            let length = fs::metadata(dir.log(1)).unwrap().len();
            let log = fs::OpenOptions::new().write(true).open(dir.log(1)).unwrap();
            log.set_len(length - 1).unwrap();
        }
        let verdict = dir.verify();
        assert_eq!((verdict.problems, verdict.entries, verdict.notes.len()), (vec![], 2, 1));
        assert_eq!(append(&dir.state(), &event(2)).unwrap().entry, 3);
        let verdict = dir.verify();
        assert_eq!((verdict.problems, verdict.entries, verdict.notes), (vec![], 3, vec![]));
    }
}

#[test]
fn every_rotation_keeps_the_chain_wherever_its_writer_was_killed() {
    let dir = Dir::new();
    for n in 0..40 {
        append_rotating(&dir.state(), &event(n), 700).unwrap();
    }
    let verdict = dir.verify();
    let files = fs::read_dir(&dir.0).unwrap().count() - 1;
    assert_eq!((verdict.problems, verdict.notes), (vec![], vec![]));
    assert!(files > 8, "{files} files");
    assert_eq!(verdict.entries, 40 + files as u64 - 1);
    for number in 2..=files as u64 {
        let text = fs::read_to_string(dir.log(number)).unwrap();
        let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&first["event"], &first["previous"]),
            (&"rotated".into(), &super::head::file_name(number - 1).into())
        );
    }
    // A rotation that got no further than the new file, or some bytes of it.
    for cut in [0, 1, 90] {
        let dir = Dir::new();
        while fs::metadata(dir.log(1)).map_or(0, |m| m.len()) < 700 {
            append_rotating(&dir.state(), &event(0), 700).unwrap();
        }
        let head = fs::read(dir.0.join("head")).unwrap();
        append_rotating(&dir.state(), &event(1), 700).unwrap();
        fs::write(dir.0.join("head"), head).unwrap();
        fs::OpenOptions::new()
            .write(true)
            .open(dir.log(2))
            .unwrap()
            .set_len(cut)
            .unwrap();
        assert_eq!(dir.verify().problems, vec![], "{cut}");
        append_rotating(&dir.state(), &event(2), 700).unwrap();
        let verdict = dir.verify();
        assert_eq!(verdict.problems, vec![], "{cut}");
        assert!(fs::read_to_string(dir.log(2)).unwrap().contains("\"rotated\""), "{cut}");
    }
}

#[test]
fn a_log_that_was_cut_off_or_lost_its_head_goes_on_and_says_so_for_ever() {
    let dir = Dir::new();
    for n in 0..4 {
        append(&dir.state(), &event(n)).unwrap();
    }
    let text = fs::read_to_string(dir.log(1)).unwrap();
    let two: String = text.split_inclusive('\n').take(2).collect();
    fs::write(dir.log(1), &two).unwrap();
    assert_eq!(
        places(&dir.verify().problems),
        [("audit-000001.jsonl".into(), Some(3), Some(3))]
    );
    append(&dir.state(), &event(4)).unwrap();
    let verdict = dir.verify();
    assert!(verdict.problems.iter().all(|p| p.line == Some(3)), "{verdict:?}");
    assert_eq!((verdict.problems.len(), verdict.entries), (2, 6));

    for damage in [None, Some("{\"file\":1"), Some("")] {
        let dir = Dir::new();
        append(&dir.state(), &event(0)).unwrap();
        match damage {
            None => fs::remove_file(dir.0.join("head")).unwrap(),
            Some(text) => fs::write(dir.0.join("head"), text).unwrap(),
        }
        assert_eq!(
            places(&dir.verify().problems),
            [("head".into(), None, None)],
            "{damage:?}"
        );
        append(&dir.state(), &event(1)).unwrap();
        let expected = [("audit-000001.jsonl".to_owned(), Some(2), Some(2))];
        assert_eq!(places(&dir.verify().problems), expected, "{damage:?}");
    }
}

#[test]
fn writers_at_once_make_one_chain() {
    let dir = Dir::new();
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for n in 0..20 {
                    append_rotating(&dir.state(), &event(n), 20_000).unwrap();
                }
            });
        }
    });
    let verdict = dir.verify();
    assert_eq!((verdict.problems, verdict.notes), (vec![], vec![]));
    assert!(verdict.entries >= 640);
}

#[test]
fn an_expected_hash_must_be_in_the_log() {
    let dir = Dir::new();
    let mark = append(&dir.state(), &event(0)).unwrap();
    append(&dir.state(), &event(1)).unwrap();
    assert_eq!(verify(&dir.state(), Some(mark.sha256)).unwrap().problems, vec![]);
    fs::remove_file(dir.log(1)).unwrap();
    fs::remove_file(dir.0.join("head")).unwrap();
    append(&dir.state(), &event(1)).unwrap();
    assert_eq!(dir.verify().problems, vec![]);
    assert_eq!(verify(&dir.state(), Some(mark.sha256)).unwrap().problems.len(), 1);
}

#[test]
fn what_a_caller_chose_is_bounded() {
    let long = "ü".repeat(100_000);
    assert!(bounded(&long).len() < 4200 && bounded(&long).ends_with("bytes more"));
    let command: Vec<String> = std::iter::repeat_n(long, 3).collect();
    let kept = bounded_command(&command);
    assert!(kept.iter().map(String::len).sum::<usize>() < 5000);
    assert_eq!(kept.last().map(String::as_str), Some("… and 2 arguments more"));
    let short = ["a".to_owned(), "b".to_owned()];
    assert_eq!(bounded_command(&short), short);
}

#[test]
fn where_our_own_filter_refuses_the_hint_names_the_sandbox_and_no_permissions() {
    let help = |number| {
        PlaceError::Io {
            path: "p".into(),
            error: std::io::Error::from_raw_os_error(number),
        }
        .help()
    };
    assert!(help(libc::ENOSYS).contains("inside of a sandbox"));
    assert!(help(libc::EACCES).contains("writable"));
}

#[test]
fn a_newline_that_was_cut_off_is_found_and_no_entry_is_missing() {
    let cut = |dir: &Dir, number| {
        let log = fs::OpenOptions::new().write(true).open(dir.log(number)).unwrap();
        log.set_len(log.metadata().unwrap().len() - 1).unwrap();
    };
    let dir = Dir::new();
    append(&dir.state(), &event(0)).unwrap();
    append(&dir.state(), &event(1)).unwrap();
    cut(&dir, 1);
    let verdict = dir.verify();
    let at = |line| [("audit-000001.jsonl".to_owned(), Some(line), Some(line))];
    assert_eq!((places(&verdict.problems).as_slice(), verdict.entries), (&at(2)[..], 2));
    for entries in [4, 5] {
        append(&dir.state(), &event(2)).unwrap();
        let verdict = dir.verify();
        assert_eq!(
            (places(&verdict.problems).as_slice(), verdict.entries),
            (&at(3)[..], entries)
        );
        assert!(verdict.problems[0].what.contains("the line above"), "{verdict:?}");
    }
    // A file that nobody writes any more.
    let dir = Dir::new();
    while !dir.log(2).exists() {
        append_rotating(&dir.state(), &event(0), 300).unwrap();
    }
    let lines = fs::read_to_string(dir.log(1)).unwrap().lines().count() as u64;
    cut(&dir, 1);
    append_rotating(&dir.state(), &event(1), 300).unwrap();
    assert_eq!(places(&dir.verify().problems), at(lines));
}
