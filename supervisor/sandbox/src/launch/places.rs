//! The trees that the command writes, held from before the run: the host may move them meanwhile, or put others in their place.
//!
//! What is done at the end is done in what is held, wherever it lies by then. INVARIANT: nothing that lies at the old path of a
//! tree, and is not that tree, is touched for it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use super::names::Names;
use super::{changes, setids};
use crate::plan::{Containment, GitPlan, MountStep, Remote, Repository, SandboxPlan, Shared};
use crate::sys::path;

/// A tree that is not where it was before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub from: PathBuf,
    /// `None` if it was deleted, or lies where it cannot be seen.
    pub to: Option<PathBuf>,
}

/// What is known of the host before the run, and held.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// None of them lies in another.
    tops: Vec<PathBuf>,
    /// With them trees within trees, single files, and the directories of placeholders.
    held: BTreeMap<PathBuf, OwnedFd>,
    pub(super) names: Names,
}

impl Places {
    /// Nothing of the run may have started.
    pub(super) fn hold(plan: &SandboxPlan) -> Self {
        match plan.containment {
            Containment::Namespaces => {}
            Containment::Landlock | Containment::Inherit => return Self::default(),
        }
        let tops: Vec<PathBuf> = changes::trees(plan).into_iter().map(Path::to_owned).collect();
        let owned = setids::trees(plan).map(|(tree, _)| tree);
        let placeholders = plan.placeholders.iter().map(|placeholder| placeholder.dir.as_path());
        let mut held = BTreeMap::new();
        for at in tops.iter().map(PathBuf::as_path).chain(owned).chain(placeholders) {
            // What cannot be opened is not there for the sandbox either.
            if !held.contains_key(at)
                && let Ok(found) = path::open_exact(at)
            {
                held.insert(at.to_owned(), found);
            }
        }
        let names = Names::read(plan);
        Self { tops, held, names }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = RawFd> {
        self.held.values().map(AsRawFd::as_raw_fd)
    }

    /// What lay there before the run.
    pub(super) fn held(&self, at: &Path) -> Option<BorrowedFd<'_>> {
        self.held.get(at).map(AsFd::as_fd)
    }

    /// The same, as a handle of its own.
    pub(super) fn get(&self, at: &Path) -> io::Result<OwnedFd> {
        let held = self.held(at).ok_or(io::ErrorKind::NotFound)?;
        held.try_clone_to_owned()
    }

    /// The same, a directory open for reading.
    pub(super) fn dir(&self, at: &Path) -> io::Result<OwnedFd> {
        let held = self.held(at).ok_or(io::ErrorKind::NotFound)?;
        path::open_dir_beneath(held, Path::new("."))
    }

    /// Where the trees are by now.
    pub(super) fn look(&self) -> Whereabouts {
        let moved = self.tops.iter().filter_map(|top| {
            let to = match self.held(top) {
                Some(held) if leads_to(top, held) => return None,
                Some(held) => fs::read_link(format!("/proc/self/fd/{}", held.as_raw_fd()))
                    .ok()
                    .filter(|to| leads_to(to, held)),
                None => None,
            };
            let from = top.clone();
            Some(Moved { from, to })
        });
        Whereabouts { moved: moved.collect() }
    }
}

fn leads_to(at: &Path, held: BorrowedFd<'_>) -> bool {
    let found = path::open_exact(at).and_then(|found| path::lstat_at(found.as_fd(), OsStr::new("")));
    let ours = path::lstat_at(held, OsStr::new(""));
    matches!((found, ours), (Ok(found), Ok(ours)) if (found.dev, found.ino) == (ours.dev, ours.ino))
}

/// Which trees are not where they were.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    pub(super) moved: Vec<Moved>,
}

impl Whereabouts {
    /// Where a path of before leads by now. `None` in a tree that is not found.
    pub(super) fn now(&self, at: &Path) -> Option<PathBuf> {
        for Moved { from, to } in &self.moved {
            let Ok(inside) = at.strip_prefix(from) else { continue };
            let to = to.as_ref()?;
            return Some(if inside.as_os_str().is_empty() {
                to.clone()
            } else {
                to.join(inside)
            });
        }
        Some(at.to_owned())
    }

    /// The plan of a run that would begin with the trees where they are now. One that is not found is not in it.
    pub(super) fn plan<'p>(&self, plan: &'p SandboxPlan) -> Cow<'p, SandboxPlan> {
        if self.moved.is_empty() {
            return Cow::Borrowed(plan);
        }
        let mut plan = plan.clone();
        plan.git = self.git(&plan.git);
        plan.mounts.retain_mut(|step| {
            let place = match step {
                MountStep::Bind { from, .. } => from,
                MountStep::Protect { at } => at,
                MountStep::Dir { .. }
                | MountStep::Symlink { .. }
                | MountStep::File { .. }
                | MountStep::Copy { .. }
                | MountStep::Private { .. }
                | MountStep::Compose { .. }
                | MountStep::Proc { .. }
                | MountStep::Devpts { .. }
                | MountStep::Pin { .. }
                | MountStep::Hide { .. } => return true,
            };
            let now = self.now(place);
            now.map(|now| *place = now).is_some()
        });
        Cow::Owned(plan)
    }
}

impl Whereabouts {
    fn git(&self, plan: &GitPlan) -> GitPlan {
        let GitPlan {
            trees,
            fresh,
            not_bare,
            repositories,
            known,
            pointers,
            unlinked,
            own,
            named,
            links,
            shared,
            remotes,
        } = plan;
        let dirs = |dirs: &[PathBuf]| dirs.iter().filter_map(|at| self.now(at)).collect();
        let names = |names: &BTreeSet<PathBuf>| names.iter().filter_map(|at| self.now(at)).collect();
        let repository = |repository: &Repository| {
            Some(Repository {
                work: repository.work.as_ref().and_then(|work| self.now(work)),
                index: self.now(&repository.index)?,
            })
        };
        GitPlan {
            trees: dirs(trees),
            fresh: dirs(fresh),
            not_bare: dirs(not_bare),
            repositories: repositories.iter().filter_map(repository).collect(),
            known: names(known),
            pointers: pointers
                .iter()
                .filter_map(|(at, to)| Some((self.now(at)?, to.as_deref().and_then(|to| self.now(to)))))
                .collect(),
            unlinked: names(unlinked),
            own: names(own),
            named: named
                .iter()
                .filter_map(|(index, of)| Some((self.now(index)?, names(of))))
                .collect(),
            links: links
                .iter()
                .filter_map(|(at, to)| Some((self.now(at)?, to.clone())))
                .collect(),
            shared: shared.as_ref().map(|shared| Shared {
                since: shared.since,
                bare: dirs(&shared.bare),
                young: names(&shared.young),
            }),
            remotes: remotes
                .iter()
                .filter_map(|remote| {
                    Some(Remote {
                        at: self.now(&remote.at)?,
                        end: remote.end.as_deref().and_then(|end| self.now(end)),
                        was: remote.was,
                    })
                })
                .collect(),
        }
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
