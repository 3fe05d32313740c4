//! The log as lines, with the place of each.
//!
//! Reads only. INVARIANT: a line keeps its file and its number in it whatever is found out about it.

use std::collections::BTreeMap;
use std::io::Read;

use super::entry::{Hash, Parsed, Repair};
use super::head::{file_name, file_number};
use super::place::{PlaceError, State};
use super::settle::{Fragment, torn};

/// More of one file is not read.
const MOST: u64 = 256 << 20;

/// One line of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) file: u64,
    /// From 1.
    pub(super) line: u64,
    /// Where in the file it begins.
    pub(super) start: usize,
    pub(super) hash: Hash,
    /// `None` if it is no entry.
    pub(super) entry: Option<Parsed>,
    /// What it may be if it is none.
    pub(super) fragment: Option<Fragment>,
    /// Nothing ends it.
    pub(super) is_open: bool,
}

/// A line that is no entry, and that a later entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) file: u64,
    pub(super) line: u64,
    /// The entry.
    pub(super) by: u64,
    /// What its writer took it for.
    pub(super) repair: Option<Repair>,
}

impl Link {
    pub(super) fn number(&self) -> Option<u64> {
        self.entry.as_ref().map(|entry| entry.n)
    }
}

/// Everything there is, in order.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) links: Vec<Link>,
    pub(super) closed: Vec<Closed>,
    /// The same, but what is there is something else: the entry.
    pub(super) forged: Vec<Link>,
    /// Files that must have been there.
    pub(super) missing: Vec<u64>,
}

impl Lines {
    pub(super) fn read(state: &State) -> Result<Self, PlaceError> {
        let numbers: Vec<u64> = state.names()?.iter().filter_map(|name| file_number(name)).collect();
        let mut files = BTreeMap::new();
        for number in numbers {
            files.insert(number, content(state, number)?);
        }
        Ok(Self::of(&files))
    }

    pub(super) fn of(files: &BTreeMap<u64, Vec<u8>>) -> Self {
        let mut lines = Self::default();
        let last = files.keys().next_back().copied().unwrap_or(0);
        lines.missing = (1..=last)
            .filter(|number| !files.contains_key(number))
            .take(1000)
            .collect();
        for (number, content) in files {
            lines.file(*number, content);
        }
        lines
    }

    fn file(&mut self, file: u64, content: &[u8]) {
        let first = self.links.len();
        let mut offset = 0;
        for (raw, line) in content.split_inclusive(|byte| *byte == b'\n').zip(1..) {
            let text = raw.strip_suffix(b"\n").unwrap_or(raw);
            let entry = Parsed::of(text);
            let link = Link {
                file,
                line,
                start: offset,
                hash: Hash::of(text),
                fragment: entry.is_none().then(|| Fragment::of(raw)),
                entry,
                is_open: text.len() == raw.len(),
            };
            if let Some(named) = link.entry.as_ref().and_then(|entry| entry.torn) {
                let count = usize::try_from(named.lines).unwrap_or(usize::MAX);
                let from = self.links.len().checked_sub(count).filter(|from| *from >= first);
                let begin = from.and_then(|from| self.links.get(from)).map(|link| link.start);
                match (from, begin.and_then(|begin| content.get(begin..offset)).and_then(torn)) {
                    (Some(from), Some(found)) if found == named => {
                        let by = link.number().unwrap_or(0);
                        let repair = link.entry.as_ref().and_then(|entry| entry.repair);
                        self.closed.extend(self.links.drain(from..).map(|torn| Closed {
                            file: torn.file,
                            line: torn.line,
                            by,
                            repair,
                        }));
                    }
                    (_, _) => self.forged.push(link.clone()),
                }
            }
            self.links.push(link);
            offset += raw.len();
        }
    }
}

/// One file of the log.
pub(super) fn content(state: &State, number: u64) -> Result<Vec<u8>, PlaceError> {
    let name = file_name(number);
    let Some((file, _)) = state.existing(&name)? else {
        return Ok(Vec::new());
    };
    let mut bytes = Vec::new();
    file.take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|error| PlaceError::Io {
            path: state.path.join(name),
            error,
        })?;
    Ok(bytes)
}
