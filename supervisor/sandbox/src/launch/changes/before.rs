//! The names in a tree before the command starts: what is deleted can be told from nothing else.
//!
//! INVARIANT: bounded. A tree with more names than `MOST` is not remembered at all, and the report says so.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::walk::{self, Here, Visit};
use crate::sys::dir::{self, FileKind, Listing};

/// Some forty bytes each.
const MOST: usize = 4_000_000;

/// A directory of the tree, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirId(u32);

/// What is known of the inside of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    Known(DirId),
    /// It could not be listed, or lies on another mount.
    Unknown,
    NotADirectory,
}

#[derive(Debug)]
struct Name {
    /// Where the name begins in the text of all names, and its length.
    at: u32,
    length: u8,
    kind: FileKind,
    ino: u64,
    inside: Inside,
}

#[derive(Debug, Clone, Copy)]
struct Dir {
    first: u32,
    count: u32,
    mode: u32,
    ino: u64,
}

/// A name as it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Was<'a> {
    pub(super) name: &'a OsStr,
    pub(super) kind: FileKind,
    pub(super) ino: u64,
    pub(super) inside: Inside,
}

/// All names of a tree. The directory with the number 0 is its top.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    names: Vec<Name>,
    dirs: Vec<Dir>,
    too_many: bool,
}

impl Names {
    /// Lists a tree. `None` if it has too many names.
    pub(super) fn list(top: OwnedFd, path: &Path, skipped: &dyn Fn(&Path) -> bool) -> io::Result<Option<Self>> {
        let mut lister = Lister {
            names: Self::default(),
            skipped,
        };
        walk::walk(top, path, None, &mut lister)?;
        if lister.names.dirs.is_empty() && !lister.names.too_many {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        Ok(Some(lister.names).filter(|names| !names.too_many))
    }

    pub(super) fn top() -> DirId {
        DirId(0)
    }

    /// The permissions and the inode of a directory.
    pub(super) fn own(&self, dir: DirId) -> Option<(u32, u64)> {
        self.dirs.get(dir.0 as usize).map(|dir| (dir.mode, dir.ino))
    }

    /// The names in a directory, in the order in which it listed them.
    pub(super) fn of(&self, dir: DirId) -> impl Iterator<Item = Was<'_>> {
        let range = self
            .dirs
            .get(dir.0 as usize)
            .map_or(0..0, |dir| dir.first as usize..(dir.first + dir.count) as usize);
        self.names
            .get(range)
            .unwrap_or_default()
            .iter()
            .map(|name| self.was(name))
    }

    fn was(&self, name: &Name) -> Was<'_> {
        let from = name.at as usize;
        let text = self.text.get(from..from + usize::from(name.length)).unwrap_or_default();
        Was {
            name: OsStr::from_bytes(text),
            kind: name.kind,
            ino: name.ino,
            inside: name.inside,
        }
    }

    fn add(&mut self, name: &OsStr, kind: FileKind, ino: u64) {
        let (Ok(at), Ok(length)) = (u32::try_from(self.text.len()), u8::try_from(name.len())) else {
            self.too_many = true;
            return;
        };
        if self.names.len() >= MOST {
            self.too_many = true;
            return;
        }
        self.text.extend_from_slice(name.as_bytes());
        let inside = match kind {
            FileKind::Dir => Inside::Unknown,
            FileKind::File
            | FileKind::Symlink
            | FileKind::Fifo
            | FileKind::Socket
            | FileKind::CharDevice
            | FileKind::BlockDevice => Inside::NotADirectory,
        };
        self.names.push(Name {
            at,
            length,
            kind,
            ino,
            inside,
        });
    }
}

struct Lister<'a> {
    names: Names,
    skipped: &'a dyn Fn(&Path) -> bool,
}

impl Visit for Lister<'_> {
    /// The number of the directory's own name.
    type Tag = Option<u32>;

    fn enter(&mut self, here: &Here<'_>, tag: Self::Tag, list: &mut Listing, below: &mut Vec<(OsString, Self::Tag)>) {
        let Self { names, .. } = self;
        if names.too_many {
            return;
        }
        let (Ok(id), Ok(first)) = (u32::try_from(names.dirs.len()), u32::try_from(names.names.len())) else {
            names.too_many = true;
            return;
        };
        let listed = dir::facts_at(here.dir, OsStr::new("")).and_then(|own| {
            list.read(here.dir, &mut |entry| {
                let kind = entry
                    .kind
                    .map_or_else(|| dir::facts_at(here.dir, entry.name).map(|facts| facts.kind), Ok);
                // Gone meanwhile: it was not there when the command started.
                let Ok(kind) = kind else { return };
                let number = u32::try_from(names.names.len()).ok();
                names.add(entry.name, kind, entry.ino);
                if kind == FileKind::Dir && !names.too_many && !(self.skipped)(&here.path.join(entry.name)) {
                    below.push((entry.name.to_owned(), number));
                }
            })?;
            Ok(own)
        });
        let Ok(own) = listed else {
            // What was listed of it is forgotten: half a directory is worse than none.
            names.names.truncate(first as usize);
            below.clear();
            return;
        };
        let count = u32::try_from(names.names.len())
            .unwrap_or(u32::MAX)
            .saturating_sub(first);
        names.dirs.push(Dir {
            first,
            count,
            mode: own.mode,
            ino: own.ino,
        });
        if let Some(name) = tag.and_then(|number| names.names.get_mut(number as usize)) {
            name.inside = Inside::Known(DirId(id));
        }
        if names.too_many {
            below.clear();
        }
    }

    fn refused(&mut self, _: BorrowedFd<'_>, _: &Path, _: Self::Tag, _: &io::Error) {
        // It stays unknown, as it was noted.
    }

    fn mounted(&mut self, _: &Path, _: Self::Tag) {
        // Listed by itself.
    }
}
