//! Is the log what was written? Finds what was edited, removed, moved or cut off, and says where.
//!
//! Reads only. What is known to be true is followed backwards from the head: each entry that is proven names the hash of the
//! one before. So the first line that does not fit is the one that was changed, not its neighbour.

use std::collections::HashMap;
use std::fs::File;

use glee_sandbox::sys::fd::Lock;
use serde::Serialize;

use super::entry::{Hash, Mark, Parsed, Repair};
use super::head::{self, Found, Head, file_name};
use super::lines::{Lines, Link};
use super::log::{LogError, lock};
use super::place::{PlaceError, State};
use super::stored;

const MISPLACED: &str = "this line does not belong here";
/// The first event of each file but the first.
const ROTATED: &str = "rotated";
const FOREIGN: &str = "this line is no entry, and nothing that a writer leaves: somebody put it here";

/// Where something is, and what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub file: String,
    pub line: Option<u64>,
    pub entry: Option<u64>,
    pub what: String,
}

impl Finding {
    fn new(file: u64, line: impl Into<Option<u64>>, entry: impl Into<Option<u64>>, what: &str) -> Self {
        Self {
            file: file_name(file),
            line: line.into(),
            entry: entry.into(),
            what: what.to_owned(),
        }
    }

    fn at(link: &Link, entry: impl Into<Option<u64>>, what: &str) -> Self {
        Self::new(link.file, link.line, entry, what)
    }
}

/// What verification found.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub entries: u64,
    /// The last entry. Whoever keeps it elsewhere can tell later whether this log is still the same.
    pub head: Option<Mark>,
    /// Signs that the log was tampered with, or that the machine lost a part of it.
    pub problems: Vec<Finding>,
    /// What killed writers left, and how it was put right.
    pub notes: Vec<Finding>,
    /// Stored reports that were compared with their entries.
    pub reports: u64,
}

impl Verdict {
    /// On a log that was never begun.
    #[must_use]
    pub fn of_nothing(expected: Option<Hash>) -> Self {
        judge(Found::Empty, &Lines::default(), expected)
    }
}

/// Verifies the chain. `expected`: the hash of an entry that must be in it.
pub fn verify(state: &State, expected: Option<Hash>) -> Result<Verdict, LogError> {
    let (mut verdict, lines) = verify_chain(state, expected)?;
    let entries: Vec<&Parsed> = lines.links.iter().filter_map(|link| link.entry.as_ref()).collect();
    stored::compare(state, &entries, &mut verdict)?;
    Ok(verdict)
}

/// The chain alone, and its lines.
pub(super) fn verify_chain(state: &State, expected: Option<Hash>) -> Result<(Verdict, Lines), LogError> {
    let head_file = state.existing(head::NAME)?.map(|(file, _)| file);
    if let Some(file) = &head_file {
        lock(state, file, Lock::TryShared)?;
    }
    let found = match &head_file {
        Some(file) => read_head(state, file)?,
        None => Found::Empty,
    };
    let lines = Lines::read(state)?;
    let verdict = judge(found, &lines, expected);
    Ok((verdict, lines))
}

fn read_head(state: &State, file: &File) -> Result<Found, PlaceError> {
    Head::read(file).map_err(|error| PlaceError::Io {
        path: state.path.join(head::NAME),
        error,
    })
}

/// Judges what was read.
pub(super) fn judge(found: Found, lines: &Lines, expected: Option<Hash>) -> Verdict {
    let mut verdict = Verdict::default();
    for number in &lines.missing {
        verdict
            .problems
            .push(Finding::new(*number, None, None, "the file is missing"));
    }
    for closed in &lines.closed {
        let by = closed.by;
        let (found, what) = match closed.repair {
            Some(Repair::Foreign) => {
                let what =
                    format!("a line that no writer left, which was here before entry {by}: somebody put it here");
                (&mut verdict.problems, what)
            }
            Some(Repair::Torn | Repair::Truncated | Repair::HeadLost) | None => {
                let what =
                    format!("an unfinished line, which entry {by} closed: its writer was killed, or the disk was full");
                (&mut verdict.notes, what)
            }
        };
        found.push(Finding::new(closed.file, closed.line, None, &what));
    }
    for link in &lines.forged {
        let what = "the unfinished line that this entry names is not the one above it";
        verdict.problems.push(Finding::at(link, link.number(), what));
    }
    for link in &lines.links {
        let Some(entry) = &link.entry else { continue };
        let is_last_there = entry.expected.is_some_and(|last| last == before(entry.n, entry.prev));
        let what = match entry.repair {
            Some(Repair::Truncated) if is_last_there => {
                "here the log was shorter than its head said: the end of the line above was missing"
            }
            Some(Repair::Truncated) => {
                "here the log was shorter than its head said: entries before this one are missing"
            }
            Some(Repair::HeadLost) => "here the head was gone: entries before this one may be missing",
            Some(Repair::Torn | Repair::Foreign) | None => continue,
        };
        verdict.problems.push(Finding::at(link, link.number(), what));
    }
    let head = match found {
        Found::Head(head) => Some(head),
        Found::Empty if lines.links.is_empty() => return expecting(verdict, lines, expected),
        Found::Empty | Found::Damaged => {
            let finding = Finding {
                file: head::NAME.to_owned(),
                line: None,
                entry: None,
                what: "the head is gone or unreadable: entries at the end may be missing".to_owned(),
            };
            verdict.problems.push(finding);
            None
        }
    };
    let chain = Chain::new(head, &lines.links, &mut verdict);
    chain.follow(&mut verdict);
    verdict
        .problems
        .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    expecting(verdict, lines, expected)
}

fn expecting(mut verdict: Verdict, lines: &Lines, expected: Option<Hash>) -> Verdict {
    let Some(hash) = expected else { return verdict };
    if !lines.links.iter().any(|link| link.hash == hash) {
        let last = lines.links.last().map_or(1, |link| link.file);
        let what = format!("no entry has the hash {hash}: this is another log, or its end was cut off");
        verdict.problems.push(Finding::new(last, None, None, &what));
    }
    verdict
}

/// The lines that must form a chain, and what the last one must be.
struct Chain<'a> {
    links: &'a [Link],
    last: Mark,
}

impl<'a> Chain<'a> {
    /// Splits off what the head does not know yet.
    fn new(head: Option<Head>, links: &'a [Link], verdict: &mut Verdict) -> Self {
        let last_good = links.iter().rev().find_map(|link| Some((link.number()?, link.hash)));
        let believed = last_good.map_or((0, Hash::NONE), |last| last);
        let last = head.map_or(
            Mark {
                entry: believed.0,
                sha256: believed.1,
            },
            |head| head.mark(),
        );
        let (links, tail) = split(links, head, last);
        let mut end = last;
        for link in tail {
            let Some(entry) = &link.entry else {
                let fragment = link.fragment.as_ref();
                if !fragment.is_some_and(|fragment| fragment.may_be_left(end)) {
                    verdict.problems.push(Finding::at(link, None, FOREIGN));
                    continue;
                }
                let what = "an unfinished line at the end: its writer was killed, or the disk was full";
                verdict.notes.push(Finding::at(link, None, what));
                continue;
            };
            if entry.n != end.entry + 1 || entry.prev != end.sha256 {
                verdict.problems.push(Finding::at(link, entry.n, MISPLACED));
                continue;
            }
            end = Mark {
                entry: entry.n,
                sha256: link.hash,
            };
            let what = "an entry that the head does not know yet: its writer was killed right after";
            verdict.notes.push(Finding::at(link, entry.n, what));
        }
        verdict.entries = end.entry;
        verdict.head = (end.entry > 0).then_some(end);
        Self { links, last }
    }

    fn follow(&self, verdict: &mut Verdict) {
        // The head counts the newline of every entry that it knows.
        let cut = self.links.iter().filter(|link| link.is_open && link.entry.is_some());
        let what = "the end of the line is missing";
        verdict
            .problems
            .extend(cut.map(|link| Finding::at(link, link.number(), what)));
        if let Some(moved) = self.moved() {
            verdict.problems.extend(moved);
            return;
        }
        let places: HashMap<Hash, usize> = self.links.iter().zip(0..).map(|(link, at)| (link.hash, at)).collect();
        let mut wanted = self.last;
        let mut left = self.links;
        while let Some((link, above)) = left.split_last() {
            left = above;
            if let Some(entry) = link.entry.as_ref().filter(|_| link.hash == wanted.sha256) {
                if entry.n != wanted.entry {
                    missing(verdict, self.behind(link, above), entry.n + 1, wanted.entry);
                }
                wanted = before(entry.n, entry.prev);
                continue;
            }
            if places.get(&wanted.sha256).is_some_and(|at| *at < above.len()) {
                // The right one is further up: this one was put in between.
                verdict.problems.push(Finding::at(link, link.number(), MISPLACED));
                continue;
            }
            wanted = self.changed(link, above, wanted, verdict);
        }
        if wanted.entry > 0 || wanted.sha256 != Hash::NONE {
            let first = self.links.first().map_or(1, |link| link.file);
            missing(verdict, (first, 1), 1, wanted.entry);
        }
    }

    /// The right line is nowhere: this one was edited, or what followed it was removed. Returns what must come above.
    fn changed(&self, link: &Link, above: &[Link], wanted: Mark, verdict: &mut Verdict) -> Mark {
        let next_up = above.last();
        let number_above = next_up.map_or(Some(0), Link::number);
        let fits_above = |prev: Hash| prev == next_up.map_or(Hash::NONE, |up| up.hash);
        let removed = link
            .entry
            .as_ref()
            .filter(|entry| number_above.is_none_or(|up| up + 1 != wanted.entry) && fits_above(entry.prev));
        if let Some(entry) = removed {
            missing(verdict, self.behind(link, above), entry.n + 1, wanted.entry);
            return before(entry.n, entry.prev);
        }
        let number = number_above.map_or(wanted.entry, |up| up + 1);
        if number < wanted.entry {
            missing(verdict, self.behind(link, above), number + 1, wanted.entry);
        }
        let what = if link.is_open {
            "the line is cut off"
        } else {
            "the line was changed"
        };
        verdict.problems.push(Finding::at(link, number, what));
        // What it said of the one above may have been changed too: that one is believed until it contradicts itself.
        match next_up {
            Some(up) => Mark {
                entry: number.saturating_sub(1),
                sha256: up.hash,
            },
            None => before(number, Hash::NONE),
        }
    }

    /// The file and line that what followed a line was on. A file whose first entry is not that it was begun has lost it.
    fn behind(&self, link: &Link, above: &[Link]) -> (u64, u64) {
        let next = self.links.get(above.len() + 1).filter(|next| next.file != link.file);
        let entry = next.and_then(|next| next.entry.as_ref().map(|entry| (next.file, entry)));
        match entry {
            Some((file, entry)) if entry.event != ROTATED => (file, 1),
            Some(_) | None => (link.file, link.line + 1),
        }
    }

    /// If all that is wrong is the order: the lines that are not where they belong.
    fn moved(&self) -> Option<Vec<Finding>> {
        let mut sorted: Vec<&Link> = self.links.iter().collect();
        sorted.sort_by_key(|link| link.number());
        let mut end = Mark {
            entry: 0,
            sha256: Hash::NONE,
        };
        for link in &sorted {
            let entry = link.entry.as_ref()?;
            if entry.n != end.entry + 1 || entry.prev != end.sha256 {
                return None;
            }
            end = Mark {
                entry: entry.n,
                sha256: link.hash,
            };
        }
        if end != self.last {
            return None;
        }
        let misplaced = self.links.iter().zip(sorted).filter(|(is, belongs)| is != belongs);
        let finding = |(is, belongs): (&Link, &Link)| {
            let what = format!("entry {} belongs here", belongs.number().unwrap_or(0));
            Finding::at(is, is.number(), &what)
        };
        Some(misplaced.map(finding).collect())
    }
}

/// What must be a chain up to the entry that the head names, and what was added after it.
fn split(links: &[Link], head: Option<Head>, last: Mark) -> (&[Link], &[Link]) {
    // As long as the head says, or, if what is before was changed, as far as the numbers go.
    let beyond = |link: &&Link| head.is_some_and(|head| (link.file, link.start as u64) >= (head.file, head.bytes));
    let later = |link: &&Link| link.number().is_none_or(|number| number > last.entry);
    let by_length = links.iter().rev().take_while(beyond).count();
    let by_number = links.iter().rev().take_while(later).count();
    let ends = |(chain, _): &(&[Link], &[Link])| chain.last().map_or(Hash::NONE, |link| link.hash) == last.sha256;
    [by_length, by_number]
        .iter()
        .filter_map(|tail| links.split_at_checked(links.len() - tail))
        .find(ends)
        .unwrap_or((links, &[]))
}

fn before(n: u64, prev: Hash) -> Mark {
    Mark {
        entry: n.saturating_sub(1),
        sha256: prev,
    }
}

fn missing(verdict: &mut Verdict, (file, line): (u64, u64), first: u64, last: u64) {
    let what = match last.checked_sub(first) {
        Some(0) => format!("entry {first} is missing here"),
        Some(_) => format!("the entries {first} to {last} are missing here"),
        None => "entries are missing here".to_owned(),
    };
    verdict.problems.push(Finding::new(file, line, first, &what));
}
