//! What was made in a locked directory, noted beside its lock by every run that makes something there.
//!
//! Two runs in one directory need not make the same names: their policies may differ, or what git is told. Only the last to leave
//! may remove any of them, and here it finds those of the others, of killed ones too. No sandbox sees the place.
//! A note only says where to look: what is removed is known by what it is.
//! INVARIANT: whoever adds has a share of the lock, whoever removes has it alone. Without notes (no room for them) a run removes
//! what it has made itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use super::{DirLock, give};
use crate::launch::placeholders::Name;
use crate::plan::PlaceholderKind;
use crate::sys::path::{self, Own};
use crate::sys::{fd, process};

/// More is neither written nor read.
const MOST: usize = 1 << 20;

impl DirLock {
    /// Adds names that are not noted yet. They may not have been made yet.
    pub(in crate::launch) fn note(&self, names: &[Name]) {
        // Less is removed at the end, and nothing else depends on it.
        let _ = self.add(names);
    }

    fn add(&self, names: &[Name]) -> io::Result<()> {
        let (place, file) = (self.place.fd.as_fd(), self.notes());
        let there = match path::create_at(place, Path::new(&file), 0o600) {
            Ok(made) => {
                give(made.as_fd(), self.place.owner)?;
                Vec::new()
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => path::read_at(place, &file, MOST)?,
            Err(error) => return Err(error),
        };
        let known = parse(&there);
        // What was cut off before ends here.
        let mut more = vec![0];
        for (name, kind) in names.iter().filter(|name| !known.contains(name)) {
            more.push(letter(*kind));
            more.extend(name.as_bytes());
            more.push(0);
        }
        if more.len() == 1 || there.len() + more.len() > MOST {
            return Ok(());
        }
        let notes = path::open_own_at(place, &file, Own::Append)?;
        // As root we write in another user's directory: only to what is that user's and has no other name.
        let of = path::lstat_at(notes.as_fd(), OsStr::new(""))?;
        if of.is_file() && !of.has_other_names() && (of.uid == self.place.owner || process::geteuid() != 0) {
            fd::write_all(notes.as_fd(), &more)?;
        }
        Ok(())
    }

    /// What is noted. Nothing, if it cannot be read.
    pub(in crate::launch) fn noted(&self) -> Vec<Name> {
        let read = path::read_at(self.place.fd.as_fd(), &self.notes(), MOST);
        parse(&read.unwrap_or_default())
    }

    /// Removes the notes. Only who is alone may, and only when nothing is left of what they name.
    pub(in crate::launch) fn forget(&self) {
        // What fails leaves names that are not there.
        let _ = path::unlink_at(self.place.fd.as_fd(), &self.notes());
    }

    fn notes(&self) -> OsString {
        let mut file = self.name.clone();
        file.push(".names");
        file
    }
}

fn parse(notes: &[u8]) -> Vec<Name> {
    let lines = notes.split(|byte| *byte == 0);
    lines.filter_map(entry).collect()
}

/// One component, that lies in the directory and nowhere else.
fn entry(line: &[u8]) -> Option<Name> {
    let (letter, name) = line.split_first()?;
    let name = OsStr::from_bytes(name);
    let mut parts = Path::new(name).components();
    let is_plain = matches!(parts.next(), Some(Component::Normal(only)) if only == name) && parts.next().is_none();
    is_plain.then_some((name.to_owned(), kind(*letter)?))
}

fn letter(kind: PlaceholderKind) -> u8 {
    match kind {
        PlaceholderKind::Socket => b's',
        PlaceholderKind::Shut => b'x',
        PlaceholderKind::CommonDir => b'c',
        PlaceholderKind::GitConfig => b'g',
    }
}

fn kind(letter: u8) -> Option<PlaceholderKind> {
    let all = [
        PlaceholderKind::Socket,
        PlaceholderKind::Shut,
        PlaceholderKind::CommonDir,
        PlaceholderKind::GitConfig,
    ];
    all.into_iter().find(|kind| self::letter(*kind) == letter)
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
