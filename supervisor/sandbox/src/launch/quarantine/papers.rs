//! Files of a git directory by whose word git, or a shell that shows its state, writes or runs something.
//!
//! `ORIG_HEAD` with `ref: commondir` makes the next `git stash` write a pointer to another configuration; a file that is named
//! for a conflict is copied into the git directory, whatever it is; a prompt may expand the number of a rebase's step.
//! What says such things at the end of a run is set aside. INVARIANT (bounded): of each file the beginning is read, and a reference
//! that is as it was before is not read again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::company::Company;
use super::unfinished::{self, ROOMS, STEPS};
use super::{Disarmed, disarm, links, settled};
use crate::launch::changes::Since;
use crate::plan::Repository;
use crate::survey::{back_of, git_dir_of};
use crate::sys::dir::{self, FileKind, Times};
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// More of a reference is not read: git writes less than that.
const BEGINNING: u64 = 4 << 10;
/// The same of a list of steps, of which every line counts.
const LONGEST: usize = 4 << 20;

/// Commands that a rebase held before a run: they are the caller's own.
pub(super) type Orders = BTreeSet<Vec<u8>>;

/// Without what changed since other runs have been at work: it may be theirs.
pub(super) fn orders_before(repositories: &[Repository], others: Option<Duration>) -> Orders {
    let dirs = repositories.iter().filter_map(|repository| repository.index.parent());
    let lists = dirs.flat_map(|dir| STEPS.iter().map(move |list| dir.join(list)));
    let lists = lists.filter(|list| others.is_none_or(|since| !settled::is_since(list, since)));
    let texts = lists.filter_map(|list| path::read_file(&list, LONGEST).ok());
    let mut all = Orders::new();
    for text in texts {
        all.extend(unfinished::orders(&text).map(<[u8]>::to_vec));
    }
    all
}

/// What a run may have changed, and what it may have found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    /// `None`: everything may be the run's.
    pub(super) since: Option<Since>,
    /// Since when other runs have been at work, which may have been killed.
    pub(super) others: Option<Duration>,
    pub(super) orders: &'a Orders,
}

impl Before<'_> {
    /// For a git directory that came during the run.
    const NOTHING: Before<'static> = Before {
        since: None,
        others: None,
        orders: &Orders::new(),
    };

    fn is_new(&self, changed: Duration) -> bool {
        self.since.is_none_or(|since| since.covers(changed)) || self.others.is_some_and(|since| changed >= since)
    }
}

/// Sets aside such files in the git directories that the command could write.
pub(super) fn after(company: &Company<'_>, before: Before<'_>, out: &mut Disarmed) {
    let plan = company.plan;
    let with = Some(company);
    for git in links::places(&plan.git.repositories, &plan.git.trees) {
        let own = plan
            .git
            .repositories
            .iter()
            .find(|known| known.index.parent() == Some(git));
        of_git_dir(git, own.and_then(|known| known.work.clone()), (before, with), out);
    }
}

/// The same in one that came during the run.
pub(super) fn of_fresh(git: &Path, out: &mut Disarmed) {
    of_git_dir(git, git.parent().map(Path::to_owned), (Before::NOTHING, None), out);
}

type Circumstances<'a> = (Before<'a>, Option<&'a Company<'a>>);

fn of_git_dir(git: &Path, work: Option<PathBuf>, (before, company): Circumstances<'_>, out: &mut Disarmed) {
    // What cannot be opened is not the caller's own, or is told by who looks for links there.
    let Ok(root) = Opened::exact(git, Purpose::List) else {
        return;
    };
    let tell = dir::habits_of(root.as_fd()).is_ok_and(|(times, _)| times == Times::Tell);
    let before = Before {
        since: before.since.filter(|_| tell),
        ..before
    };
    let mut look = Look {
        git,
        root: &root,
        before,
        company,
        out,
    };
    look.top(Path::new(""), work);
    // What the command could not write is other people's, who may be in the middle of something.
    let was_covered = |part: &Path| company.is_some_and(|company| company.was_covered(&git.join(part)));
    let all = Path::new("worktrees");
    let Ok(worktrees) = Opened::beneath(root.as_fd(), all, Purpose::List) else {
        return;
    };
    for entry in worktrees.entries().filter(|_| !was_covered(all)) {
        let part = all.join(entry.file_name());
        if was_covered(&part) {
            continue;
        }
        let work = checkout_of(&git.join(&part));
        look.top(&part, work);
    }
}

/// Where a linked worktree lies, if that is so by the word of both.
fn checkout_of(entry: &Path) -> Option<PathBuf> {
    let work = fs::canonicalize(entry.join(back_of(entry)?).parent()?).ok()?;
    (git_dir_of(&work)? == entry).then_some(work)
}

type Rename = fn(&Path, &Path, &OsStr) -> io::Result<()>;

struct Look<'a> {
    git: &'a Path,
    root: &'a Opened,
    before: Before<'a>,
    company: Option<&'a Company<'a>>,
    out: &'a mut Disarmed,
}

impl Look<'_> {
    /// A git directory's own files, or a linked worktree's.
    fn top(&mut self, part: &Path, work: Option<PathBuf>) {
        let reference = disarm::rename_reference_in;
        self.each(part, reference, |look, opened, name| {
            if name == "MERGE_RR" {
                let hides = |path: &Path| look.company.is_some_and(|company| company.plan.hides(path));
                let text = read(opened, name, LONGEST);
                return text.is_none_or(|text| may_be_remembered(&text, work.as_deref(), hides));
            }
            let is_new = || look.is_new(opened, OsStr::new("")) || look.is_new(opened, name);
            is_message(name) || !is_new() || look.is_harmless(opened, name)
        });
        for room in ROOMS {
            self.each(&part.join(room), disarm::rename_in, |look, opened, name| {
                let text = read(opened, name, LONGEST);
                // What is larger was not written by git.
                text.is_some_and(|text| {
                    let others = || unfinished::is_list(room, name) && look.company.is_some_and(Company::others);
                    unfinished::is_harmless(room, name, &text, look.before.orders) || others()
                })
            });
        }
        self.references(part.join("refs"), false);
    }

    /// Those in a directory and in all below it, where they or the way to them have changed.
    fn references(&mut self, top: PathBuf, moved: bool) {
        let mut todo = vec![(top, moved)];
        while let Some((dir, moved)) = todo.pop() {
            let Ok(opened) = Opened::beneath(self.root.as_fd(), &dir, Purpose::List) else {
                continue;
            };
            let is_new = |name: &OsStr| self.is_new(&opened, name);
            // What was moved here is as old as it was.
            let moved = moved || is_new(OsStr::new(""));
            let mut bad = Vec::new();
            for entry in opened.entries() {
                let name = entry.file_name();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => todo.push((dir.join(name), moved)),
                    Ok(kind) if kind.is_file() && (moved || is_new(&name)) && !self.is_harmless(&opened, &name) => {
                        bad.push(name);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
            for name in bad {
                self.aside(&dir, &name, disarm::rename_reference_in);
            }
        }
    }

    /// Every regular file of one directory; what is not `good` is set aside.
    fn each(&mut self, dir: &Path, rename: Rename, good: impl Fn(&Self, &Opened, &OsStr) -> bool) {
        let inside = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        let Ok(opened) = Opened::beneath(self.root.as_fd(), inside, Purpose::List) else {
            return;
        };
        let names = opened
            .entries()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        for name in names {
            if !good(self, &opened, &name) {
                self.aside(dir, &name, rename);
            }
        }
    }

    /// Was this name in a directory, or the directory itself, changed by the run?
    fn is_new(&self, opened: &Opened, name: &OsStr) -> bool {
        dir::facts_at(opened.as_fd(), name).map_or(true, |facts| self.before.is_new(facts.changed))
    }

    /// Is this no symbolic reference, or one that leads to another reference?
    fn is_harmless(&self, opened: &Opened, name: &OsStr) -> bool {
        if name.as_encoded_bytes().ends_with(b".lock") {
            return true;
        }
        let Some(text) = beginning(opened, name) else {
            // Git cannot read it either.
            return true;
        };
        let Some(to) = text.strip_prefix(b"ref:") else {
            return true;
        };
        let to = to.trim_ascii();
        to.starts_with(b"refs/") && !to.windows(2).any(|two| two == b"..")
    }

    fn aside(&mut self, dir: &Path, name: &OsStr, rename: Rename) {
        let done = rename(self.git, dir, name);
        self.out.note(self.git.join(dir).join(name), done);
    }
}

/// The words of a person or of git, which no command takes for a reference.
fn is_message(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b"MSG") || name == "description" || name == "EDIT_DESCRIPTION"
}

/// When the conflict is solved, git copies these files into its directory. Are they the project's own?
fn may_be_remembered(text: &[u8], work: Option<&Path>, hides: impl Fn(&Path) -> bool) -> bool {
    let Some(files) = unfinished::remembered(text) else {
        return false;
    };
    let Some((top, work)) = work.and_then(|top| Some((top, path::open_exact(top).ok()?))) else {
        return files.is_empty();
    };
    files.iter().all(|file| {
        // The copy would be no longer hidden.
        if hides(&top.join(file)) {
            return false;
        }
        let mut so_far = PathBuf::new();
        file.iter().all(|name| {
            so_far.push(name);
            let found = path::open_beneath(work.as_fd(), so_far.parent().unwrap_or(Path::new("")));
            let kind = found.and_then(|above| dir::facts_at(above.as_fd(), name).map(|facts| facts.kind));
            // What is not there is not copied, and whoever puts a link there is asked again.
            !matches!(kind, Ok(FileKind::Symlink))
        })
    })
}

fn beginning(opened: &Opened, name: &OsStr) -> Option<Vec<u8>> {
    let held = path::open_beneath(opened.as_fd(), Path::new(name)).ok()?;
    let mut text = Vec::new();
    let file = path::open_regular(held.as_fd()).ok()?;
    file.take(BEGINNING).read_to_end(&mut text).ok()?;
    Some(text)
}

/// `None`: it is larger, or cannot be read.
fn read(opened: &Opened, name: &OsStr, most: usize) -> Option<Vec<u8>> {
    path::read_at(opened.as_fd(), name, most).ok()
}

#[cfg(test)]
#[path = "papers_tests.rs"]
mod tests;
