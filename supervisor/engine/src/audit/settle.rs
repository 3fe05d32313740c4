//! What a writer finds after the place where the head says the log ends, and what it makes of it.
//!
//! Pure. Entries that were written whole before their writer was killed count; anything else is closed and named in an entry
//! of its own. Nothing is ever removed.
//! INVARIANT: what no writer leaves, whenever it is killed, is never taken for what one left.

use serde::de::IgnoredAny;

use super::entry::{Hash, Mark, Parsed, Torn};
use super::head::Head;

/// More than this after the head is nothing that a writer left.
pub(super) const MOST: u64 = 64 << 20;

/// The chain as it can be continued.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled {
    /// After the last good entry; its `bytes` are those of everything there is.
    pub(super) head: Head,
    /// Entries that the head did not know.
    pub(super) adopted: u64,
    pub(super) torn: Option<Torn>,
    /// Something of that was not left by a writer.
    pub(super) is_foreign: bool,
    /// What is there does not end a line.
    pub(super) is_open: bool,
}

/// `tail` lies after what `head` knows.
pub(super) fn settle(head: Head, tail: &[u8]) -> Settled {
    let mut good = head;
    let mut adopted = 0;
    let mut is_foreign = false;
    // What follows the last good entry begins there.
    let mut rest = 0;
    let mut offset = 0;
    for raw in tail.split_inclusive(|byte| *byte == b'\n') {
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        let between = torn(tail.get(rest..offset).unwrap_or_default());
        offset += raw.len();
        // An entry after unfinished lines is one that names them.
        let continues = Parsed::of(line).is_some_and(|entry| {
            entry.n == good.entries + 1 && entry.prev == good.sha256 && (between.is_none() || entry.torn == between)
        });
        if continues {
            good.entries += 1;
            good.sha256 = Hash::of(line);
            adopted += 1;
            rest = offset;
            is_foreign = false;
        } else {
            is_foreign |= !Fragment::of(raw).may_be_left(good.mark());
        }
    }
    good.bytes = head.bytes + tail.len() as u64;
    Settled {
        head: good,
        adopted,
        torn: torn(tail.get(rest..).unwrap_or_default()),
        is_foreign,
        is_open: tail.last().is_some_and(|byte| *byte != b'\n'),
    }
}

/// A line that does not continue the chain, as far as it tells whether a writer left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fragment {
    begin: Vec<u8>,
    /// Of JSON.
    extent: Extent,
    /// No newline ends it, and it is not longer than what the next writer would close.
    is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
    None,
}

impl Fragment {
    /// `raw`: with the newline, if there is one.
    pub(super) fn of(raw: &[u8]) -> Self {
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        let extent = match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => Extent::Whole,
            Err(error) if error.is_eof() && !line.is_empty() => Extent::Part,
            Err(_) => Extent::None,
        };
        let begin = line.get(..128).unwrap_or(line).to_vec();
        let is_open = line.len() == raw.len() && raw.len() as u64 <= MOST;
        Self { begin, extent, is_open }
    }

    /// Could a writer have left it that was killed? `end` is the last entry before it.
    ///
    /// A writer ends an unfinished line before it names it, and may be killed in between. So a line with an end is a part of
    /// the one entry that could have come here.
    pub(super) fn may_be_left(&self, end: Mark) -> bool {
        let entry = format!("{{\"n\":{},\"prev\":\"{}\",\"at\":\"", end.entry + 1, end.sha256);
        let begins = entry.as_bytes().starts_with(&self.begin) || self.begin.starts_with(entry.as_bytes());
        match self.extent {
            Extent::Whole => false,
            Extent::Part => self.is_open || begins,
            Extent::None => self.is_open,
        }
    }
}

/// Bytes that are no entries, without the newline that ends them.
pub(super) fn torn(bytes: &[u8]) -> Option<Torn> {
    if bytes.is_empty() {
        return None;
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    Some(Torn {
        lines: bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1,
        bytes: bytes.len() as u64,
        sha256: Hash::of(bytes),
    })
}

/// The chain in a file whose head cannot be believed: it goes on from the last line that can be read.
///
/// `entries`: the number that the head gave last, 0 if it is not known.
pub(super) fn resume(file: u64, content: &[u8], entries: u64) -> Settled {
    let mut good = Head { file, ..Head::FIRST };
    let mut after = 0;
    let mut offset = 0;
    for raw in content.split_inclusive(|byte| *byte == b'\n') {
        offset += raw.len();
        // An entry without its newline is whole.
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        if let Some(entry) = Parsed::of(line) {
            good.entries = entry.n;
            good.sha256 = Hash::of(line);
            after = offset;
        }
    }
    good.entries = good.entries.max(entries);
    good.bytes = content.len() as u64;
    Settled {
        head: good,
        adopted: 0,
        torn: torn(content.get(after..).unwrap_or_default()),
        is_foreign: false,
        is_open: content.last().is_some_and(|byte| *byte != b'\n'),
    }
}
