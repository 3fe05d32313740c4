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
use crate::sys::{dir, fd, process};

/// More is neither written nor read.
const MOST: usize = 1 << 20;

/// How long the notes were when this run had begun them. None, if another has, or if it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::launch) struct Begun(Option<usize>);

impl Begun {
    /// By somebody else, as far as the caller knows.
    pub(in crate::launch) const UNKNOWN: Self = Self(None);
}

impl DirLock {
    /// Adds names that are not noted yet. They may not have been made yet.
    pub(in crate::launch) fn note(&self, names: &[Name]) -> Begun {
        // What fails is not removed by others, and nothing else depends on it.
        self.add(names).unwrap_or(Begun::UNKNOWN)
    }

    fn add(&self, names: &[Name]) -> io::Result<Begun> {
        let (place, file) = (self.place.fd.as_fd(), self.notes());
        match path::create_append_at(place, Path::new(&file), 0o600) {
            Ok(made) => {
                give(made.as_fd(), self.place.owner)?;
                let lines = lines(names.iter());
                fd::write_all(made.as_fd(), &lines)?;
                return Ok(Begun(Some(lines.len())));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let there = path::read_at(place, &file, MOST)?;
        let known = parse(&there);
        let more = lines(names.iter().filter(|name| !known.contains(name)));
        if more.len() == 1 || there.len() + more.len() > MOST {
            return Ok(Begun::UNKNOWN);
        }
        let notes = path::open_own_at(place, &file, Own::Append)?;
        // As root we write in another user's directory: only to what is that user's and has no other name.
        let of = path::lstat_at(notes.as_fd(), OsStr::new(""))?;
        if of.is_file() && !of.has_other_names() && (of.uid == self.place.owner || process::geteuid() != 0) {
            fd::write_all(notes.as_fd(), &more)?;
        }
        Ok(Begun::UNKNOWN)
    }

    /// What others have noted, and perhaps this run itself. Nothing, if it cannot be read.
    pub(in crate::launch) fn noted(&self, begun: Begun) -> Vec<Name> {
        let (place, file) = (self.place.fd.as_fd(), self.notes());
        let length = || usize::try_from(dir::facts_at(place, &file).ok()?.size).ok();
        if begun.0.is_some() && begun.0 == length() {
            return Vec::new();
        }
        parse(&path::read_at(place, &file, MOST).unwrap_or_default())
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

fn lines<'n>(names: impl Iterator<Item = &'n Name>) -> Vec<u8> {
    // What was cut off before ends here.
    let mut lines = vec![0];
    for (name, kind) in names {
        lines.push(letter(*kind));
        lines.extend(name.as_bytes());
        lines.push(0);
    }
    lines
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
