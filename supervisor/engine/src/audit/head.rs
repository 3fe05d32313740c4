//! The head: where the log ends, in a file of its own. It is what tells a log from the beginning of a log.
//!
//! INVARIANT: written in place, in one call, always with the same length: a killed writer leaves the old one or the new one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

use super::entry::{Hash, Mark};

/// The name of the file, which is also what writers lock.
pub(super) const NAME: &str = "head";
const LENGTH: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The number of the file that is being written.
    pub(super) file: u64,
    /// How long it is.
    pub(super) bytes: u64,
    /// How many entries there are, in all files.
    pub(super) entries: u64,
    /// Of the last one.
    pub(super) sha256: Hash,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing was ever written.
    Empty,
    Head(Head),
    Damaged,
}

impl Head {
    pub(super) const FIRST: Self = Self {
        file: 1,
        bytes: 0,
        entries: 0,
        sha256: Hash::NONE,
    };

    pub(super) fn read(file: &File) -> io::Result<Found> {
        let mut bytes = [0; LENGTH + 1];
        let length = file.read_at(&mut bytes, 0)?;
        let text = bytes.get(..length).unwrap_or_default();
        Ok(match serde_json::from_slice(text) {
            Ok(head) => Found::Head(head),
            Err(_) if text.is_empty() => Found::Empty,
            Err(_) => Found::Damaged,
        })
    }

    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        let mut text = serde_json::to_vec(self).map_err(io::Error::other)?;
        text.resize(LENGTH - 1, b' ');
        text.push(b'\n');
        file.write_all_at(&text, 0)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            entry: self.entries,
            sha256: self.sha256,
        }
    }

    /// The same place in the chain, at the beginning of the next file.
    pub(super) fn rotated(self) -> Self {
        Self {
            file: self.file.saturating_add(1),
            bytes: 0,
            ..self
        }
    }
}

/// The name of a file of the log.
pub(super) fn file_name(number: u64) -> String {
    format!("audit-{number:06}.jsonl")
}

/// The number in the name of a file of the log.
pub(super) fn file_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}
