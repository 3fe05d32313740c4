//! Which directories git would look into as submodules: the gitlinks of an index.
//!
//! The index was written inside, so it is read as a stranger's file: bounded, never indexed past its end. What could be read
//! in two ways, or needs more than this file (other versions, split and sparse indexes, SHA-256, a table of contents
//! that disagrees), is `None`, and the caller looks at the whole tree instead.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use super::window::{ReadAt, Window};
use crate::launch::placeholders::is_placeholder;
use crate::survey::common_dir_of;
use crate::sys::path;

/// Larger indexes are not read.
const LARGEST: usize = 256 << 20;
/// Stat data, object name and flags before an entry's name.
const FIXED: usize = 62;
/// The checksum at the end.
const CHECKSUM: usize = 20;
/// The end of the entries, as git writes it: name and length, a place, and a sum of the names of what follows there.
const END: usize = 32;
/// In the flags: the length of the name, or this if it is longer.
const NAME_MASK: u16 = 0xfff;

/// No path is longer, whatever an index says.
const LONGEST: usize = 1 << 13;

/// So much of names is kept. Names that build on the last one can be far longer than the index.
const NAMES: usize = 4 << 20;

/// Longer configurations were not written by git.
const CONFIG: usize = 1 << 20;

/// Paths of the gitlinks, relative to the working tree. An absent index has none.
pub(crate) fn gitlinks(index: &Path) -> Option<Vec<PathBuf>> {
    match path::open_held(index) {
        Ok(held) => is_sha1(index).then(|| of_held(held.as_fd())).flatten(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
        Err(_) => None,
    }
}

/// Does git read this index with names of twenty bytes? The configuration says so, and nothing in the index itself, of which
/// git checks no sum: one that is made for it can be read both ways.
pub(super) fn is_sha1(index: &Path) -> bool {
    let Some(dir) = index.parent() else { return false };
    let common = match fs::symlink_metadata(dir.join("commondir")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(dir.to_owned()),
        // A placeholder of ours leads to the directory itself.
        Ok(_) | Err(_) => common_dir_of(dir),
    };
    let Some(config) = common.map(|dir| dir.join("config")) else {
        return false;
    };
    // Git follows a link here.
    match fs::canonicalize(&config).and_then(|real| path::read_file(&real, CONFIG)) {
        // In whatever section: a name stands there in one piece, or is none.
        Ok(text) => !text.to_ascii_lowercase().windows(FORMAT.len()).any(|at| at == FORMAT),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => is_placeholder(&config).is_some(),
    }
}

/// The key that says how objects are named.
const FORMAT: &[u8] = b"objectformat";

/// The same of an index that is held, if names are as usual.
pub(super) fn of_held(index: BorrowedFd<'_>) -> Option<Vec<PathBuf>> {
    let file = path::open_regular(index).ok()?;
    let size = usize::try_from(file.metadata().ok()?.len()).ok()?;
    let read_at = |bytes: &mut [u8], at: u64| file.read_at(bytes, at);
    (size <= LARGEST).then(|| read(Window::new(read_at, size))).flatten()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn read<R: ReadAt>(mut index: Window<R>) -> Option<Vec<PathBuf>> {
    let head = index.get(0, 12)?;
    let (version, entries) = (word(head, 4)?, word(head, 8)?);
    if head.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut kept = 0;
    // Where each entry begins, in order.
    let mut begins: Vec<u32> = Vec::new();
    let mut name = Vec::new();
    let mut at = 12;
    for _ in 0..entries {
        begins.push(u32::try_from(at).ok()?);
        let fixed = index.get(at, FIXED)?;
        let mode = word(fixed, 24)?;
        let flags = fixed.get(60..)?.try_into().ok().map(u16::from_be_bytes)?;
        let extended = flags & 0x4000 != 0;
        if extended && version < 3 {
            return None;
        }
        let mut start = at + FIXED + if extended { 2 } else { 0 };
        if version < 4 {
            name.clear();
        } else {
            // So much of the last name's end is replaced.
            let (replaced, length) = varint(index.up_to(start, 4)?)?;
            name.truncate(name.len().checked_sub(replaced)?);
            start += length;
        }
        let declared = usize::from(flags & NAME_MASK);
        let length = if declared < usize::from(NAME_MASK) {
            declared.checked_sub(name.len())?
        } else {
            index.up_to(start, LONGEST)?.iter().position(|b| *b == 0)?
        };
        let next = match version {
            4 => start + length + 1,
            // Entries are padded with one to eight NULs to a multiple of eight.
            _ => at + ((start + length - at + 8) & !7),
        };
        let (rest, padding) = index.get(start, next - start)?.split_at_checked(length)?;
        name.extend(rest);
        let long = name.len() >= usize::from(NAME_MASK);
        if name.is_empty() || name.len() > LONGEST || long != (declared == usize::from(NAME_MASK)) {
            return None;
        }
        if rest.contains(&0) || padding.iter().any(|b| *b != 0) {
            return None;
        }
        match mode & 0o170_000 {
            0o100_000 | 0o120_000 => {}
            0o160_000 => {
                kept += name.len();
                found.push(plain(&name).filter(|_| kept <= NAMES)?);
            }
            // A sparse directory, or nothing that git writes.
            _ => return None,
        }
        at = next;
    }
    // Blocks of entries that git reads apart from each other: names that build on the last one would differ.
    let begins = if version < 4 { begins } else { Vec::new() };
    extensions(index, at, &begins)?;
    Some(found)
}

/// A number as git packs it, and how many bytes it took.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (index, byte) in bytes.iter().take(4).enumerate() {
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
        value += 1;
    }
    None
}

/// A path of names only: git itself writes no other.
fn plain(name: &[u8]) -> Option<PathBuf> {
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(name));
    let names = path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    });
    names.then_some(path)
}

/// What follows the entries says nothing that would change them.
fn extensions<R: ReadAt>(mut index: Window<R>, entries_end: usize, begins: &[u32]) -> Option<()> {
    let end = index.size().checked_sub(CHECKSUM)?;
    // With more than one thread git looks there first, whatever the bytes belong to, and goes on from the place they tell.
    let last = end.checked_sub(END);
    let looks = last
        .and_then(|last| index.get(last, 4))
        .is_some_and(|name| name == b"EOIE");
    let mut came_by = false;
    let mut at = entries_end;
    while at < end {
        let head = index.get(at, 8)?;
        let length = usize::try_from(word(head, 4)?).ok()?;
        let kind: [u8; 4] = head.get(..4)?.try_into().ok()?;
        let body = at + 8;
        match &kind {
            // Where the extensions begin.
            b"EOIE" if Some(at) == last && word(index.get(body, 4)?, 0)? as usize == entries_end => came_by = true,
            // Where blocks of entries begin, and how many each has.
            b"IEOT" if blocks_agree(index.get(body, length)?, begins)? => {}
            b"EOIE" | b"IEOT" => return None,
            // Small letters: nobody may ignore it. A split index, a sparse one.
            [first, ..] if !first.is_ascii_uppercase() => return None,
            _ => {}
        }
        at = body.checked_add(length)?;
    }
    (at == end && looks == came_by).then_some(())
}

fn blocks_agree(table: &[u8], begins: &[u32]) -> Option<bool> {
    let mut before = 0_u32;
    for block in table.get(4..)?.chunks(8) {
        let begin = word(block, 0)?;
        // One past the last is where no block can begin.
        if begins.get(before as usize) != Some(&begin) {
            return Some(false);
        }
        before = before.checked_add(word(block, 4)?)?;
    }
    Some(before as usize == begins.len())
}

#[cfg(test)]
#[path = "gitlinks_tests.rs"]
mod tests;
