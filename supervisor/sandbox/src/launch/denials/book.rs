//! Rows of the report while it is being written: equal ones are counted, and there is an end.
//!
//! INVARIANT (bounded): at most `MOST` rows, whatever the command does; every refusal is in a row or in `omitted`.
//! A flood of one kind cannot keep another kind out: each has places that only it may take.

use std::collections::HashMap;

use super::people::Person;
use super::row::{Because, Denied, DeniedKind, Refusals, Subject};

/// Rows in a report.
pub(super) const MOST: usize = 1000;
/// Of these, kept for each kind.
const RESERVED: usize = 50;
const KINDS: usize = 8;

/// What was refused to whom.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) kind: DeniedKind,
    pub(super) subject: Subject,
    pub(super) program: String,
    pub(super) nr: u32,
}

/// What else is known of it.
pub(super) struct Details<'a> {
    pub(super) because: Because,
    pub(super) why: &'a str,
    pub(super) syscall: &'a str,
    pub(super) pid: u32,
    /// How often.
    pub(super) count: u64,
}

#[derive(Debug, Default)]
pub(super) struct Book {
    rows: Vec<Denied>,
    places: HashMap<Entry, usize>,
    by_kind: HashMap<DeniedKind, usize>,
    /// Rows beyond the reserved ones.
    shared: usize,
    omitted: u64,
}

impl Book {
    pub(super) fn add(&mut self, entry: Entry, details: &Details<'_>) {
        if let Some(row) = self.places.get(&entry).and_then(|at| self.rows.get_mut(*at)) {
            row.count += details.count;
            return;
        }
        let of_kind = self.by_kind.entry(entry.kind).or_default();
        if *of_kind >= RESERVED {
            if self.shared >= MOST - KINDS * RESERVED {
                self.omitted += details.count;
                return;
            }
            self.shared += 1;
        }
        *of_kind += 1;
        self.rows.push(Denied {
            kind: entry.kind,
            syscall: details.syscall.to_owned(),
            subject: entry.subject.clone(),
            because: details.because,
            why: details.why.to_owned(),
            pid: details.pid,
            program: entry.program.clone(),
            count: details.count,
        });
        self.places.insert(entry, self.rows.len() - 1);
    }

    pub(super) fn note(
        &mut self,
        kind: DeniedKind,
        subject: Subject,
        because: Because,
        (nr, syscall): (u32, &str),
        person: Person,
    ) {
        let entry = Entry {
            kind,
            subject,
            program: person.program,
            nr,
        };
        let details = Details {
            because,
            why: "",
            syscall,
            pid: person.pid,
            count: 1,
        };
        self.add(entry, &details);
    }

    pub(super) fn into_refusals(self) -> Refusals {
        Refusals {
            list: self.rows,
            omitted: self.omitted,
            ..Refusals::default()
        }
    }
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
