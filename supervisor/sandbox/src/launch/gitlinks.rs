//! Which directories git would look into as submodules: the gitlinks of an index.
//!
//! The index was written inside, so it is read as a stranger's file: bounded, never indexed past its end. What this does
//! not understand (other versions, split indexes, SHA-256) is `None`, and the caller looks at the whole tree instead.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Larger indexes are not read.
const LARGEST: u64 = 256 << 20;
/// Stat data, object name and flags before an entry's name.
const FIXED: usize = 62;

/// Paths of the gitlinks, relative to the working tree. An absent index has none.
pub(super) fn gitlinks(index: &Path) -> Option<Vec<PathBuf>> {
    let file = match fs::symlink_metadata(index) {
        Err(_) => return Some(Vec::new()),
        Ok(meta) if meta.is_file() && meta.len() <= LARGEST => fs::File::open(index).ok()?,
        Ok(_) => return None,
    };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    read(&bytes)
}

fn read(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    if bytes.get(..4)? != b"DIRC" || !(2..=3).contains(&word(4)?) {
        return None;
    }
    let mut found = Vec::new();
    let mut at = 12;
    for _ in 0..word(8)? {
        let mode = word(at + 24)?;
        let flags = bytes
            .get(at + 60..at + FIXED)?
            .try_into()
            .ok()
            .map(u16::from_be_bytes)?;
        let start = at + FIXED + if flags & 0x4000 == 0 { 0 } else { 2 };
        let length = bytes.get(start..)?.iter().position(|b| *b == 0)?;
        if mode & 0o170_000 == 0o160_000 {
            found.push(PathBuf::from(std::ffi::OsStr::from_bytes(
                bytes.get(start..start + length)?,
            )));
        }
        // Entries are padded with one to eight NULs to a multiple of eight.
        at += (start + length - at + 8) & !7;
    }
    // Extensions follow, then the checksum of twenty bytes.
    let end = bytes.len().checked_sub(20)?;
    while at < end {
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(word(at + 4)?).ok()?)?;
    }
    (at == end).then_some(found)
}

#[cfg(test)]
#[path = "gitlinks_tests.rs"]
mod tests;
