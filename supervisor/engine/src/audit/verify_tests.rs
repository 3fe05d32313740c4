#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::entry::Event;
use super::head::{Found, Head};
use super::lines::Lines;
use super::settle::{Fragment, MOST, torn};
use super::verify::{Verdict, judge};
use super::{Hash, entry};

/// Files of lines, as writers leave them, and the head.
#[derive(Clone)]
struct Log {
    files: Vec<Vec<Vec<u8>>>,
    head: Head,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts = |lines: &Vec<Vec<u8>>| {
            lines
                .iter()
                .map(|line| String::from_utf8_lossy(line).into_owned())
                .collect()
        };
        let files: Vec<Vec<String>> = self.files.iter().map(texts).collect();
        write!(f, "{files:#?} {:?}", self.head)
    }
}

impl Log {
    /// `sizes`: how many entries each file has; before some of them lies an unfinished line.
    fn new(sizes: &[usize], unfinished: &[bool]) -> Self {
        let mut head = Head::FIRST;
        let mut files = Vec::new();
        let mut unfinished = unfinished.iter().cycle();
        for (number, size) in (1..).zip(sizes) {
            let mut lines: Vec<Vec<u8>> = Vec::new();
            head.file = number;
            for n in 0..*size {
                let mut event = Event::Untrusted {
                    project: format!("/p{n}"),
                    files: n,
                };
                if n == 0 && number > 1 {
                    let previous = super::head::file_name(number - 1);
                    event = Event::Rotated { previous };
                } else if *unfinished.next().unwrap() {
                    let left = format!("{{\"n\":{n},\"pr");
                    event = Event::Repaired {
                        repair: entry::Repair::Torn,
                        torn: torn(left.as_bytes()),
                        expected: None,
                    };
                    lines.push(left.into_bytes());
                }
                let line = event
                    .line(head.entries + 1, head.sha256, "2026-01-31T00:00:00.000Z")
                    .unwrap();
                head.entries += 1;
                head.sha256 = Hash::of(&line);
                lines.push(line);
            }
            files.push(lines);
        }
        Self { files, head }
    }

    fn verdict(&self) -> Verdict {
        let join = |lines: &Vec<Vec<u8>>| {
            lines
                .iter()
                .flat_map(|line| [line.as_slice(), b"\n"].concat())
                .collect()
        };
        self.judged((1..).zip(self.files.iter().map(join)).collect())
    }

    fn judged(&self, files: BTreeMap<u64, Vec<u8>>) -> Verdict {
        judge(Found::Head(self.head), &Lines::of(&files), None)
    }

    /// Every line: (file, line), from 0.
    fn places(&self) -> Vec<(usize, usize)> {
        let lines =
            |(file, lines): (usize, &Vec<Vec<u8>>)| (0..lines.len()).map(move |line| (file, line)).collect::<Vec<_>>();
        self.files.iter().enumerate().flat_map(lines).collect()
    }
}

/// Is there a problem on one of these lines?
fn located(verdict: &Verdict, places: &[(usize, usize)]) -> bool {
    verdict.problems.iter().any(|problem| {
        places.iter().any(|(file, line)| {
            problem.file == super::head::file_name(*file as u64 + 1) && problem.line == Some(*line as u64 + 1)
        })
    })
}

fn logs() -> impl Strategy<Value = Log> {
    (
        prop::collection::vec(1..12_usize, 1..4),
        prop::collection::vec(prop::bool::weighted(0.2), 1..20),
    )
        .prop_map(|(sizes, unfinished)| Log::new(&sizes, &unfinished))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_that_nobody_touched_is_whole(log in logs()) {
        let verdict = log.verdict();
        prop_assert_eq!(&verdict.problems, &vec![]);
        prop_assert_eq!(verdict.entries, log.head.entries);
    }

    #[test]
    fn an_edited_byte_is_found_and_located(log in logs(), place: prop::sample::Index, at: prop::sample::Index, byte: u8) {
        let mut log = log;
        let (file, line) = *place.get(&log.places());
        let text = &mut log.files[file][line];
        let at = at.index(text.len());
        prop_assume!(text[at] != byte);
        text[at] = byte;
        // An unfinished line is vouched for by the entry below it; a newline makes two lines of one.
        let near = [(file, line), (file, line + 1), (file, line + 2)];
        let verdict = log.verdict();
        prop_assert!(located(&verdict, &near), "line {:?}: {:?}", (file, line), verdict);
    }

    #[test]
    fn an_edit_of_an_entry_is_pinned_on_that_very_line(log in logs(), place: prop::sample::Index, at: prop::sample::Index) {
        let mut log = log;
        let entries: Vec<_> = log.places().into_iter().filter(|(f, l)| log.files[*f][*l].ends_with(b"}")).collect();
        let (file, line) = *place.get(&entries);
        let text = &mut log.files[file][line];
        let digits: Vec<usize> = (0..text.len()).filter(|i| text[*i].is_ascii_digit()).collect();
        let at = *at.get(&digits);
        text[at] = if text[at] == b'9' { b'8' } else { text[at] + 1 };
        let verdict = log.verdict();
        prop_assert!(located(&verdict, &[(file, line)]), "line {:?}: {:?}", (file, line), verdict);
    }

    #[test]
    fn a_removed_line_is_found_and_located(log in logs(), place: prop::sample::Index) {
        let mut log = log;
        let (file, line) = *place.get(&log.places());
        log.files[file].remove(line);
        // Where it was: before the line that is there now, or after the last one above, in whichever file that is.
        let mut near = vec![(file, line), (file, line + 1)];
        if line > 0 && !log.files[file][line - 1].ends_with(b"}") {
            // The unfinished line that it closed now stands in its place.
            near.push((file, line - 1));
        }
        if line == 0 && file > 0 {
            near.push((file - 1, log.files[file - 1].len()));
        }
        if line == log.files[file].len() {
            near.push((file + 1, 0));
        }
        let verdict = log.verdict();
        prop_assert!(located(&verdict, &near), "line {:?}: {:?}", (file, line), verdict);
    }

    #[test]
    fn two_lines_in_each_others_place_are_found_and_located(
        log in logs(), one: prop::sample::Index, two: prop::sample::Index
    ) {
        let mut log = log;
        let (a, b) = (*one.get(&log.places()), *two.get(&log.places()));
        prop_assume!(log.files[a.0][a.1] != log.files[b.0][b.1]);
        let saved = log.files[a.0][a.1].clone();
        log.files[a.0][a.1] = log.files[b.0][b.1].clone();
        log.files[b.0][b.1] = saved;
        let near = [a, b, (a.0, a.1 + 1), (b.0, b.1 + 1)];
        let verdict = log.verdict();
        prop_assert!(located(&verdict, &near), "lines {:?} {:?}: {:?}", a, b, verdict);
    }

    #[test]
    fn a_line_that_is_there_twice_is_found_and_located(
        log in logs(), from: prop::sample::Index, to: prop::sample::Index
    ) {
        let mut log = log;
        let (a, b) = (*from.get(&log.places()), *to.get(&log.places()));
        let copy = log.files[a.0][a.1].clone();
        let is_entry = copy.ends_with(b"}");
        log.files[b.0].insert(b.1, copy.clone());
        let verdict = log.verdict();
        prop_assume!(is_entry);
        let near = [b, (b.0, b.1 + 1), a, (a.0, a.1 + 1)];
        prop_assert!(located(&verdict, &near), "{:?} at {:?}: {:?}", a, b, verdict);
    }

    #[test]
    fn a_log_that_was_cut_off_is_found_and_located(log in logs(), cut: prop::sample::Index) {
        let join = |lines: &Vec<Vec<u8>>| lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
        let mut files: BTreeMap<u64, Vec<u8>> = (1..).zip(log.files.iter().map(join)).collect();
        let last = log.files.len() as u64;
        let content = files.get_mut(&last).unwrap();
        let keep = cut.index(content.len());
        content.truncate(keep);
        let line = content.iter().filter(|byte| **byte == b'\n').count();
        let before = log.files.len().checked_sub(2).map(|file| (file, log.files[file].len()));
        let file = log.files.len() - 1;
        let mut near: Vec<_> = [Some((file, line)), Some((file, line + 1)), before].into_iter().flatten().collect();
        if line > 0 && !log.files[file][line - 1].ends_with(b"}") {
            // Without the entry that closed it, the unfinished line above is the last one.
            near.push((file, line - 1));
        }
        let verdict = log.judged(files);
        prop_assert!(located(&verdict, &near), "{} bytes, line {}: {:?}", keep, line, verdict);
    }

    #[test]
    fn a_file_that_is_gone_is_found(log in logs(), gone: prop::sample::Index) {
        let join = |lines: &Vec<Vec<u8>>| lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
        let mut files: BTreeMap<u64, Vec<u8>> = (1..).zip(log.files.iter().map(join)).collect();
        files.remove(&(gone.index(log.files.len()) as u64 + 1));
        prop_assert!(!log.judged(files).problems.is_empty());
    }
}

/// A writer refuses to go on after so much, and says that `verify` tells where.
#[test]
fn more_than_a_writer_takes_for_an_unfinished_line_is_foreign() {
    let end = Head::FIRST.mark();
    let long = usize::try_from(MOST).expect("a length");
    assert_eq!(
        [long, long + 1].map(|length| Fragment::of(&vec![0; length]).may_be_left(end)),
        [true, false]
    );
}

#[test]
fn the_first_and_the_last_line_of_a_file_are_missed_where_they_were() {
    let whole = Log::new(&[4, 4], &[false]);
    for ((file, line), found) in [((1, 0), (2, 1)), ((0, 3), (1, 4)), ((1, 1), (2, 2))] {
        let mut log = whole.clone();
        log.files[file].remove(line);
        let places: Vec<_> = log
            .verdict()
            .problems
            .into_iter()
            .map(|at| (at.file, at.line))
            .collect();
        assert_eq!(
            places,
            [(super::head::file_name(found.0), Some(found.1))],
            "{:?}",
            (file, line)
        );
    }
}
