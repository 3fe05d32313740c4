//! Which other file the kernel needs to start one: what a script's first line names, and an ELF file's header.
//!
//! Nothing but regular files is opened, without waiting for anybody. INVARIANT (bounded): a kilobyte or two of each is read, and
//! `LEVELS` are looked at.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::sys::look::{self, Last};

/// Scripts whose interpreter is a script, as deep as the kernel follows them.
pub const LEVELS: usize = 5;

/// `BINPRM_BUF_SIZE`: as much as the kernel looks at.
const START: usize = 256;
/// An ELF header of 64 bits, and an entry of its table.
const HEADER: usize = 64;
const ENTRY: usize = 56;
const MOST_ENTRIES: usize = 64;
const PT_INTERP: u32 = 3;
const PATH_MAX: usize = 4096;

/// What is needed besides the file itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needed {
    /// A program that is started in a script's place, and may need something itself.
    Program(PathBuf),
    /// What loads a program's libraries.
    Loader(PathBuf),
}

impl Needed {
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Program(path) | Self::Loader(path) => path,
        }
    }
}

/// The same of a file of the host.
#[must_use]
pub fn needed_by(program: &Path) -> Option<Needed> {
    needed(look::on_host(program, Last::Follow).ok()?.as_fd())
}

/// `None`: nothing, or it cannot be read, or is named by a path that is not absolute.
pub(super) fn needed(program: BorrowedFd<'_>) -> Option<Needed> {
    let facts = look::facts(program).ok()?;
    if facts.mode & libc::S_IFMT != libc::S_IFREG {
        return None;
    }
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(format!("/proc/self/fd/{}", program.as_raw_fd())).ok()?;
    let mut start = [0; START];
    let read = file.read_at(&mut start, 0).ok()?;
    let needed = match start.get(..read)? {
        [b'#', b'!', line @ ..] => Needed::Program(script(line)?),
        header if header.starts_with(b"\x7fELF") => Needed::Loader(elf(&file, header)?),
        _ => return None,
    };
    needed.path().is_absolute().then_some(needed)
}

/// The program that a script's first line names.
fn script(line: &[u8]) -> Option<PathBuf> {
    let is_cut = line.len() == START - 2;
    let is_end = |byte: &u8| matches!(byte, b'\n' | 0);
    let ended = line.iter().any(is_end);
    let line = line.split(is_end).next()?;
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = line.get(blanks..)?;
    let name = rest.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
    // Longer than the kernel reads: it would not start it.
    let whole = !is_cut || ended || name.len() < rest.len();
    (whole && !name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// The loader that an ELF file of 64 bits names.
fn elf(file: &File, header: &[u8]) -> Option<PathBuf> {
    let is_native = header.get(4..6)? == [2, 1];
    if !is_native || header.len() < HEADER {
        return None;
    }
    let (table, size, count) = (long(header, 32)?, short(header, 54)?, short(header, 56)?);
    if size != ENTRY || count > MOST_ENTRIES {
        return None;
    }
    let mut entries = vec![0; ENTRY * count];
    file.read_exact_at(&mut entries, table).ok()?;
    let entry = entries.chunks_exact(ENTRY).find(|entry| {
        entry
            .first_chunk()
            .is_some_and(|kind| u32::from_le_bytes(*kind) == PT_INTERP)
    })?;
    let (at, length) = (long(entry, 8)?, usize::try_from(long(entry, 32)?).ok()?);
    if !(2..=PATH_MAX).contains(&length) {
        return None;
    }
    let mut name = vec![0; length];
    file.read_exact_at(&mut name, at).ok()?;
    let name = name.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes).into())
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
