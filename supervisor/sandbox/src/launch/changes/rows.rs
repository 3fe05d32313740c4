//! What a run changed, as it is handed out: a bounded list, and the number of what is not in it.

use std::path::{Path, PathBuf};

use crate::sys::dir::FileKind;

/// Rows that are kept.
const MOST: usize = 10_000;
/// Bytes of a path beyond which no program opens it by name.
const LONGEST: usize = 4096;
/// Places that are named one by one when they could not be looked at.
const DOUBTS: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    Created,
    Changed,
    Deleted,
}

/// One name that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    pub change: Change,
    /// What it is now; what it was, if it is gone.
    pub kind: FileKind,
    pub size: Option<u64>,
    /// Where a link leads, as it says itself.
    pub target: Option<PathBuf>,
    /// Why the host would run it later.
    pub executes: Option<&'static str>,
}

/// What is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    pub path: &'a Path,
    pub change: Change,
    pub kind: FileKind,
    pub mode: u32,
    pub target: Option<&'a Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Plain,
    /// The host would run it, for this reason.
    Executes(&'static str),
    /// One of many that say nothing by their names: counted only.
    Counted,
}

/// Knows what the names mean to the host. Asked about each change, from more than one thread.
pub trait Judge: Sync {
    fn judge(&self, found: &Found<'_>) -> Verdict;
}

/// Why a place is not, or not surely, accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// It could not be opened, or was moved while it was being looked at.
    Unreadable,
    /// In memory: a write through a mapping leaves no trace there.
    InMemory,
    /// Its times cannot be relied on to tell a change.
    ForeignTimes,
    /// More names than are remembered.
    TooMany,
    /// The host mounted or unmounted something there during the run.
    Mounted,
}

/// Everything that a run changed where it could write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    pub rows: Vec<Changed>,
    pub created: u64,
    pub changed: u64,
    pub deleted: u64,
    /// Of these, only counted by the judge's word.
    pub counted: u64,
    /// Of these, not in `rows` because there were too many.
    pub not_listed: u64,
    pub doubts: Vec<(PathBuf, Doubt)>,
    /// Doubts beyond those listed.
    pub more_doubts: u64,
}

impl Changes {
    /// Takes a change. What the host would run keeps its place, however much else there is.
    pub(super) fn add(&mut self, rows: &mut Pending, found: &Found<'_>, size: Option<u64>, judge: &dyn Judge) {
        match found.change {
            Change::Created => self.created += 1,
            Change::Changed => self.changed += 1,
            Change::Deleted => self.deleted += 1,
        }
        let (executes, to) = match judge.judge(found) {
            Verdict::Counted => {
                self.counted += 1;
                return;
            }
            Verdict::Executes(reason) => (Some(reason), &mut rows.marked),
            Verdict::Plain => (None, &mut rows.plain),
        };
        if to.len() >= MOST || found.path.as_os_str().len() > LONGEST {
            self.not_listed += 1;
            return;
        }
        to.push(Changed {
            path: found.path.to_owned(),
            change: found.change,
            kind: found.kind,
            size,
            target: found.target.map(Path::to_owned),
            executes,
        });
    }

    pub(super) fn doubt(&mut self, path: &Path, why: Doubt) {
        if self.doubts.len() >= DOUBTS || path.as_os_str().len() > LONGEST {
            self.more_doubts += 1;
        } else {
            self.doubts.push((path.to_owned(), why));
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.created += other.created;
        self.changed += other.changed;
        self.deleted += other.deleted;
        self.counted += other.counted;
        self.not_listed += other.not_listed;
        self.more_doubts += other.more_doubts;
        for (path, why) in other.doubts {
            self.doubt(&path, why);
        }
    }

    /// Puts the rows in place: those that the host would run first of all, then as many of the others as fit.
    pub(super) fn settle(&mut self, pending: Pending) {
        let Pending { mut marked, mut plain } = pending;
        let all = marked.len() + plain.len();
        marked.truncate(MOST);
        plain.sort_by(|a, b| a.path.cmp(&b.path));
        plain.truncate(MOST - marked.len());
        let kept = marked.len() + plain.len();
        self.not_listed += u64::try_from(all - kept).unwrap_or(u64::MAX);
        self.rows = marked;
        self.rows.extend(plain);
        self.rows.sort_by(|a, b| a.path.cmp(&b.path));
        self.doubts.sort();
    }
}

/// Rows on their way.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) marked: Vec<Changed>,
    pub(super) plain: Vec<Changed>,
}

impl Pending {
    pub(super) fn merge(&mut self, other: Self) {
        self.marked.extend(other.marked);
        self.plain.extend(other.plain);
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
