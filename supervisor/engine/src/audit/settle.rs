//! What a writer finds after the place where the head says the log ends, and what it makes of it.
//!
//! Pure. Entries that were written whole before their writer was killed count; anything else is closed and named in an entry
//! of its own. Nothing is ever removed.

use super::entry::{Hash, Parsed, Torn};
use super::head::Head;

/// The chain as it can be continued.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled {
    /// After the last good entry; its `bytes` are those of everything there is.
    pub(super) head: Head,
    /// Entries that the head did not know.
    pub(super) adopted: u64,
    pub(super) torn: Option<Torn>,
    /// What is there does not end a line.
    pub(super) is_open: bool,
}

/// `tail` lies after what `head` knows.
pub(super) fn settle(head: Head, tail: &[u8]) -> Settled {
    let mut good = head;
    let mut rest = tail;
    let mut adopted = 0;
    while !rest.is_empty() {
        let (line, after) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => (
                rest.get(..end).unwrap_or_default(),
                rest.get(end + 1..).unwrap_or_default(),
            ),
            None => (rest, &[][..]),
        };
        let continues = Parsed::of(line).is_some_and(|entry| entry.n == good.entries + 1 && entry.prev == good.sha256);
        if !continues {
            break;
        }
        good.entries += 1;
        good.sha256 = Hash::of(line);
        adopted += 1;
        rest = after;
    }
    good.bytes = head.bytes + tail.len() as u64;
    Settled {
        head: good,
        adopted,
        torn: torn(rest),
        is_open: tail.last().is_some_and(|byte| *byte != b'\n'),
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
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        offset += line.len();
        if let Some(line) = line.strip_suffix(b"\n")
            && let Some(entry) = Parsed::of(line)
        {
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
        is_open: content.last().is_some_and(|byte| *byte != b'\n'),
    }
}
