//! A tree after the run, against its names from before.
//!
//! A file that was there counts as changed by the time of its inode's last change, which nobody inside can set. With it goes
//! what root's runs owe the host (`setids`): one look at each file serves both.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use super::before::{DirId, Inside, Names, Was};
use super::rows::{Change, Changes, Doubt, Found, Judge, Pending};
use super::since::Since;
use super::walk::{Here, Visit};
use crate::launch::setids::Strip;
use crate::sys::dir::{self, DirNumbers, Entry, Facts, FileKind, Listing, Times};

/// What is known of a directory from before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Known(DirId),
    /// Everything in it is new.
    New,
    /// It could not be listed then.
    Unlisted,
    /// Not looked for: only for privileges.
    NotAsked,
}

/// What there is to compare with.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    pub(super) names: &'a Names,
    pub(super) times: Times,
    pub(super) numbers: DirNumbers,
    pub(super) judge: &'a dyn Judge,
    /// Names of our own.
    pub(super) ours: &'a HashSet<PathBuf>,
    pub(super) skipped: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Mounts of the host's that were there before: each is looked through by itself.
    pub(super) mounts: &'a BTreeSet<PathBuf>,
}

/// Looks through a tree after the run.
pub(super) struct Look<'a> {
    pub(super) since: Since,
    pub(super) memory: Option<Memory<'a>>,
    pub(super) strip: Option<Strip>,
    pub(super) changes: Changes,
    pub(super) pending: Pending,
}

impl<'a> Look<'a> {
    pub(super) fn new(since: Since, memory: Option<Memory<'a>>, strip: Option<Strip>) -> Self {
        Self {
            since,
            memory,
            strip,
            changes: Changes::default(),
            pending: Pending::default(),
        }
    }

    /// Another one for the same tree, with nothing found yet.
    pub(super) fn again(&self) -> Self {
        Self::new(self.since, self.memory, self.strip.as_ref().map(Strip::again))
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.changes.merge(other.changes);
        self.pending.merge(other.pending);
        if let (Some(strip), Some(other)) = (&mut self.strip, other.strip) {
            strip.merge(other);
        }
    }

    fn row(&mut self, path: &Path, change: Change, facts: Row<'_>) {
        let Some(memory) = self.memory else { return };
        let placeholder = facts.kind == FileKind::Socket && facts.mode == 0 && change == Change::Created;
        if placeholder || memory.ours.contains(path) {
            return;
        }
        let found = Found {
            path,
            change,
            kind: facts.kind,
            mode: facts.mode,
            target: facts.target,
        };
        self.changes.add(&mut self.pending, &found, facts.size, memory.judge);
    }

    /// A name and everything that was below it is gone.
    fn gone(&mut self, path: &Path, was: &Was<'_>) {
        self.row(path, Change::Deleted, Row::bare(was.kind));
        self.gone_below(path, was.inside);
    }

    fn gone_below(&mut self, path: &Path, inside: Inside) {
        let Some(memory) = self.memory else { return };
        let mut todo = vec![(path.to_owned(), inside)];
        while let Some((path, inside)) = todo.pop() {
            let id = match inside {
                Inside::Known(id) => id,
                Inside::Unknown => {
                    self.changes.doubt(&path, Doubt::Unreadable);
                    continue;
                }
                Inside::NotADirectory => continue,
            };
            for was in memory.names.of(id) {
                let path = path.join(was.name);
                self.row(&path, Change::Deleted, Row::bare(was.kind));
                if was.inside != Inside::NotADirectory {
                    todo.push((path, was.inside));
                }
            }
        }
    }

    /// A name that is there now, and what it was.
    fn entry(&mut self, here: &Here<'_>, entry: Entry<'_>, was: Option<Was<'_>>) -> Option<Then> {
        let facts = entry.kind.is_none().then(|| dir::facts_at(here.dir, entry.name));
        let kind = match (entry.kind, &facts) {
            (Some(kind), _) => kind,
            (None, Some(Ok(facts))) => facts.kind,
            (None, Some(Err(error))) => {
                self.lost(here, entry, was, error);
                return None;
            }
            (None, None) => return None,
        };
        if kind == FileKind::Dir {
            return self.directory(here, entry, was);
        }
        let facts = match facts.unwrap_or_else(|| dir::facts_at(here.dir, entry.name)) {
            Ok(facts) => facts,
            Err(error) => {
                self.lost(here, entry, was, &error);
                return None;
            }
        };
        if let Some(strip) = &mut self.strip {
            strip.file(here.dir, here.path, entry.name, &facts, self.since);
        }
        let change = match was {
            None => Change::Created,
            Some(was) if was.kind != facts.kind || was.ino != entry.ino => Change::Changed,
            Some(_) if self.since.covers(facts.changed) => Change::Changed,
            Some(_) => return None,
        };
        if self.memory.is_some() {
            self.describe(here, entry.name, change, &facts);
        }
        if let Some(was) = was {
            self.gone_below(&here.path.join(entry.name), was.inside);
        }
        None
    }

    fn describe(&mut self, here: &Here<'_>, name: &OsStr, change: Change, facts: &Facts) {
        let target = (facts.kind == FileKind::Symlink)
            .then(|| dir::read_link_at(here.dir, name).ok())
            .flatten();
        let row = Row {
            kind: facts.kind,
            mode: facts.mode,
            size: (facts.kind == FileKind::File).then_some(facts.size),
            target: target.as_deref().map(Path::new),
        };
        self.row(&here.path.join(name), change, row);
    }

    fn directory(&mut self, here: &Here<'_>, entry: Entry<'_>, was: Option<Was<'_>>) -> Option<Then> {
        let Some(memory) = self.memory else {
            return Some(Then::NotAsked);
        };
        let path = here.path.join(entry.name);
        if (memory.skipped)(&path) {
            return None;
        }
        match was.map(|was| was.inside) {
            Some(Inside::Known(id)) => Some(Then::Known(id)),
            Some(Inside::Unknown) => Some(Then::Unlisted),
            Some(Inside::NotADirectory) => {
                self.row(&path, Change::Changed, Row::bare(FileKind::Dir));
                Some(Then::New)
            }
            None => {
                self.row(&path, Change::Created, Row::bare(FileKind::Dir));
                Some(Then::New)
            }
        }
    }

    /// Listed, and gone when it was looked at.
    fn lost(&mut self, here: &Here<'_>, entry: Entry<'_>, was: Option<Was<'_>>, error: &io::Error) {
        if let Some(was) = was {
            self.gone(&here.path.join(entry.name), &was);
        }
        if let Some(strip) = &mut self.strip {
            strip.refused(error);
        }
    }

    /// What lies in a directory cannot be told.
    pub(super) fn unreadable(&mut self, path: &Path, then: Then, error: &io::Error) {
        if let Some(strip) = &mut self.strip {
            strip.refused(error);
        }
        if self.memory.is_some() && then != Then::NotAsked {
            self.changes.doubt(path, Doubt::Unreadable);
        }
    }

    /// Is a directory the one it was, with the names it had?
    fn is_settled(&self, id: DirId, own: &Facts) -> bool {
        let Some(memory) = self.memory else { return false };
        let same = memory.names.own(id).is_some_and(|(_, ino)| ino == own.ino);
        same && memory.times != Times::Elsewhere && !self.since.covers(own.changed)
    }

    /// Has the directory itself become another one?
    fn own(&mut self, path: &Path, then: Then, now: &io::Result<Facts>) {
        let (Then::Known(id), Some(memory), Ok(now)) = (then, self.memory, now) else {
            return;
        };
        let is_other = |(mode, ino)| match memory.numbers {
            DirNumbers::Kept => (mode, ino) != (now.mode, now.ino),
            DirNumbers::Invented => mode != now.mode,
        };
        if memory.names.own(id).is_some_and(is_other) {
            self.row(path, Change::Changed, Row::bare(FileKind::Dir));
        }
    }
}

#[derive(Clone, Copy)]
struct Row<'a> {
    kind: FileKind,
    mode: u32,
    size: Option<u64>,
    target: Option<&'a Path>,
}

impl Row<'_> {
    fn bare(kind: FileKind) -> Self {
        Self {
            kind,
            mode: 0,
            size: None,
            target: None,
        }
    }
}

impl Visit for Look<'_> {
    type Tag = Then;

    fn enter(&mut self, here: &Here<'_>, then: Then, list: &mut Listing, below: &mut Vec<(OsString, Then)>) {
        let own = dir::facts_at(here.dir, OsStr::new(""));
        self.own(here.path, then, &own);
        let known = match (then, self.memory) {
            (Then::Known(id), Some(memory)) => memory.names.of(id).collect(),
            (Then::Known(_) | Then::New | Then::Unlisted | Then::NotAsked, _) => Vec::new(),
        };
        if let (Then::Known(id), Ok(own)) = (then, &own)
            && self.is_settled(id, own)
        {
            // No name in it came or went: those from before need not be listed again.
            for was in known {
                let (name, ino, kind) = (was.name, was.ino, Some(was.kind));
                if let Some(then) = self.entry(here, Entry { name, ino, kind }, Some(was)) {
                    below.push((name.to_owned(), then));
                }
            }
            return;
        }
        let memory = self.memory;
        match then {
            Then::Known(_) | Then::New => {}
            Then::Unlisted => {
                self.changes.doubt(here.path, Doubt::Unreadable);
                self.memory = None;
            }
            Then::NotAsked => self.memory = None,
        }
        let mut past = Past::new(known);
        let listed = list.read(here.dir, &mut |entry| {
            let was = past.take(entry.name);
            if let Some(then) = self.entry(here, entry, was) {
                below.push((entry.name.to_owned(), then));
            }
        });
        self.memory = memory;
        match listed {
            Ok(()) => past.left().for_each(|was| self.gone(&here.path.join(was.name), &was)),
            Err(error) => self.unreadable(here.path, then, &error),
        }
    }

    fn refused(&mut self, dir: BorrowedFd<'_>, at: &Path, then: Then, error: &io::Error) {
        if let Some(name) = at.file_name() {
            self.own(at, then, &dir::facts_at(dir, name));
        }
        self.unreadable(at, then, error);
    }

    fn mounted(&mut self, at: &Path, then: Then) {
        let is_known = |memory: Memory<'_>| memory.mounts.contains(at);
        if self.memory.is_some_and(|memory| !is_known(memory)) && then != Then::NotAsked {
            // Mounted meanwhile. What the command wrote lies under it.
            self.changes.doubt(at, Doubt::Mounted);
        }
    }
}

/// The names of a directory from before, taken one by one.
struct Past<'a> {
    names: Vec<Was<'a>>,
    taken: Vec<bool>,
    /// An unchanged directory lists its names in the same order.
    next: usize,
    by_name: Option<HashMap<&'a OsStr, usize>>,
}

impl<'a> Past<'a> {
    fn new(names: Vec<Was<'a>>) -> Self {
        Self {
            taken: vec![false; names.len()],
            names,
            next: 0,
            by_name: None,
        }
    }

    fn take(&mut self, name: &OsStr) -> Option<Was<'a>> {
        let number = match self.names.get(self.next) {
            Some(was) if was.name == name => self.next,
            Some(_) | None => {
                let Self { names, by_name, .. } = self;
                let numbered = || {
                    names
                        .iter()
                        .enumerate()
                        .map(|(number, was)| (was.name, number))
                        .collect()
                };
                *by_name.get_or_insert_with(numbered).get(name)?
            }
        };
        self.next = number + 1;
        *self.taken.get_mut(number)? = true;
        self.names.get(number).copied()
    }

    fn left(self) -> impl Iterator<Item = Was<'a>> {
        let Self { names, taken, .. } = self;
        names
            .into_iter()
            .zip(taken)
            .filter(|(_, taken)| !taken)
            .map(|(was, _)| was)
    }
}
