//! Looks for what a pattern matches: by its own name, and through links under the name that those have.
//!
//! INVARIANT: a directory that cannot be listed, or lies too deep to be, is hidden whole, and so is a link behind which too
//! much lies; no match is missed because it could not be seen. A link hides nothing outside what is granted, nor what a
//! grant or the command's own directory lies in.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use glee_policy::glob::Glob;
use glee_policy::set_aside;

use super::aside::Aside;
use super::links::{self, Way as Walked};
use super::{Hidden, kind};
use crate::plan::{Alias, GlobWatch, Kind, Lead};
use crate::sys::path::open_path;

/// Directories below the pattern's own, and bytes of a path, beyond which nothing is looked for.
const DEEPEST: usize = 100;
const LONGEST: usize = 2048;
/// Directories that are listed because a link leads to them, for one pattern.
pub(crate) const BEHIND_LINKS: usize = 4096;

/// One pattern, and where its links may lead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) glob: &'a Glob,
    /// What the pattern is relative to.
    pub(crate) base: &'a Path,
    /// What is granted, and what must stay in sight.
    pub(crate) granted: &'a [PathBuf],
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) hidden: Vec<Hidden>,
    /// The directories that were looked into.
    pub(crate) dirs: Vec<PathBuf>,
    /// Those of them that a link led to.
    pub(crate) aliases: Vec<Alias>,
    pub(crate) leads: Vec<Lead>,
    /// Links without which something that is hidden would not be, and directories that they leave by `..`.
    pub(crate) held: BTreeSet<PathBuf>,
}

/// A link that matches, or below which something can.
struct Link {
    path: PathBuf,
    relative: PathBuf,
    /// What of other links it was come to by.
    trail: Vec<PathBuf>,
}

/// How a directory was come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Straight,
    ByLink,
}

/// What one name in a directory means to a pattern.
#[derive(Debug, Default)]
pub(crate) struct Met {
    pub(crate) hidden: Option<PathBuf>,
    /// It is a directory in which more can match.
    pub(crate) enter: bool,
    /// It is a link that matches, or behind which something can.
    pub(crate) leads: bool,
}

/// What a link leads to, to a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// It can be seen by no name that does not match.
    Nothing,
    /// It is hidden by the link's name.
    Hidden,
    /// What lies in it may be.
    Searched,
    /// The same, but it cannot be hidden: what must stay in sight lies there.
    Open,
}

impl GlobWatch {
    /// The names by which the pattern may know this path: its own from the base, and those through links above it. The base, and
    /// what such a link leads to, may be set aside.
    pub(crate) fn names<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let own = set_aside::below(path, &self.base).map(Path::to_owned);
        own.into_iter().chain(self.linked(path))
    }

    fn linked<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        self.aliases.iter().filter_map(|alias| {
            let rest = set_aside::below(path, &alias.real)?;
            Some(alias.relative.components().chain(rest.components()).collect())
        })
    }

    /// Is it hidden because of a link that leads to it, or above it?
    #[must_use]
    pub fn hides_by_link(&self, path: &Path) -> bool {
        Glob::new(&self.pattern).is_ok_and(|glob| self.linked(path).any(|name| glob.covers(&name)))
    }
}

impl Search<'_> {
    /// Everything below `dir`, which is `relative` to the base.
    pub(crate) fn look(&self, dir: &Path, relative: &Path, looked: &mut Looked) {
        let mut links = VecDeque::new();
        self.list(dir, relative, Way::Straight, &[], looked, &mut links);
        // Afterwards: most links lead to what was seen already.
        let (mut known, mut aside) = (BTreeSet::new(), Aside::default());
        let straight = looked.dirs.len();
        while let Some(link) = links.pop_front() {
            let covers = self.glob.covers(&link.relative);
            let walked = links::follow(&link.path);
            let is_spelled = link.path.file_name().is_some_and(|name| self.glob.spells(name));
            let trail: Vec<PathBuf> = link.trail.into_iter().chain(parts_of(&walked)).collect();
            if covers || is_spelled {
                looked.held.extend(trail.iter().cloned());
            }
            if covers || self.may_lead(&link.path, &link.relative) {
                looked.leads.push(Lead {
                    path: link.path.clone(),
                    relative: link.relative.clone(),
                });
            }
            for (end, kind) in self.ends(&link.path, &mut aside) {
                if covers {
                    looked.aliases.push(Alias {
                        real: end.clone(),
                        relative: link.relative.clone(),
                    });
                    looked.hidden.push(Hidden::Present { path: end, kind });
                } else if kind == Kind::File || self.is_seen_anyway(&end, &link.relative) {
                    continue;
                } else if looked.dirs.len() - straight > BEHIND_LINKS || is_too_deep(&link.path, &link.relative) {
                    looked.hidden.push(Hidden::Present {
                        path: link.path.clone(),
                        kind: Kind::File,
                    });
                } else if known.insert((end.clone(), self.tail(&link.relative).to_owned())) {
                    looked.aliases.push(Alias {
                        real: end.clone(),
                        relative: link.relative.clone(),
                    });
                    self.list(&end, &link.relative, Way::ByLink, &trail, looked, &mut links);
                }
            }
        }
        looked.hidden.extend(aside.closed.into_iter().map(whole));
    }

    /// Where a link leads, or what was set aside from there.
    fn ends(&self, link: &Path, aside: &mut Aside) -> Vec<(PathBuf, Kind)> {
        let mut ends: Vec<(PathBuf, Kind)> = target(link).into_iter().collect();
        if ends.is_empty()
            && let Some(gone) = links::follow(link).end
        {
            let tops = self.granted.iter().filter(|top| gone.starts_with(top));
            let forms: Vec<PathBuf> = tops.flat_map(|top| aside.forms(&gone, top)).collect();
            ends.extend(forms.iter().filter_map(|form| target(form)));
        }
        ends.retain(|(end, _)| self.may_hide(end));
        ends
    }

    /// `trail`: the links by which it was come to.
    fn list(
        &self,
        dir: &Path,
        relative: &Path,
        way: Way,
        trail: &[PathBuf],
        looked: &mut Looked,
        links: &mut VecDeque<Link>,
    ) {
        let by_own_name = |path: &Path| {
            let own = path.strip_prefix(self.base);
            own.is_ok_and(|own| self.glob.covers(own))
        };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotADirectory | std::io::ErrorKind::NotFound
                ) =>
            {
                return;
            }
            Err(_) => {
                looked.held.extend(trail.iter().cloned());
                return looked.hidden.push(whole(dir.to_owned()));
            }
        };
        looked.dirs.push(dir.to_owned());
        for entry in entries {
            let Ok(entry) = entry else {
                return looked.hidden.push(whole(dir.to_owned()));
            };
            let here = relative.join(entry.file_name());
            let Ok(found) = entry.file_type() else { continue };
            let matches = self.glob.matches(&here);
            if matches {
                let kind = if found.is_dir() { Kind::Dir } else { Kind::File };
                let path = entry.path();
                if !trail.is_empty() && !by_own_name(&path) {
                    looked.held.extend(trail.iter().cloned());
                }
                looked.hidden.push(Hidden::Present { path, kind });
            }
            if found.is_symlink() && (matches || self.glob.can_match_below(&here)) {
                let path = entry.path();
                let (relative, trail) = (here, trail.to_vec());
                links.push_back(Link { path, relative, trail });
            } else if matches || !found.is_dir() || !self.glob.can_match_below(&here) {
                continue;
            } else if is_too_deep(&entry.path(), &here) {
                looked.hidden.push(whole(entry.path()));
            } else if way == Way::Straight || !self.is_seen_anyway(&entry.path(), &here) {
                self.list(&entry.path(), &here, way, trail, looked, links);
            }
        }
    }

    /// Judges one name, at `path`, as `look` would: `here` is what the pattern calls it.
    pub(crate) fn meet(&self, path: PathBuf, here: &Path, found: fs::FileType) -> Met {
        let mut met = Met::default();
        let matches = self.glob.matches(here);
        let way = match path.strip_prefix(self.base) {
            Ok(own) if own == here => Way::Straight,
            Ok(_) | Err(_) => Way::ByLink,
        };
        if found.is_symlink() {
            met.leads = matches || self.glob.can_match_below(here);
        } else if matches || !found.is_dir() || !self.glob.can_match_below(here) {
        } else if is_too_deep(&path, here) {
            met.hidden = Some(path.clone());
        } else if way == Way::Straight || !self.is_seen_anyway(&path, here) {
            met.enter = true;
        }
        if matches {
            met.hidden = Some(path);
        }
        met
    }

    /// Can a link of this name lead what the host writes by a name that matches to where none does?
    pub(crate) fn may_lead(&self, path: &Path, here: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        self.glob.can_match_below(here) && (self.is_open() || self.glob.passes(name))
    }

    /// Is the base part of a tree? Any link below it can lead out of it, and be read there.
    pub(crate) fn is_open(&self) -> bool {
        !self.granted.iter().any(|root| root == self.base)
    }

    /// What becomes of what a link leads to, there or not.
    pub(crate) fn behind(&self, end: &Path, here: &Path) -> Behind {
        let covers = self.glob.covers(here);
        let adds = || self.glob.adds(here, end.strip_prefix(self.base).ok());
        let in_sight = |root: &PathBuf| end.starts_with(root) || root.starts_with(end);
        if !covers && !adds() {
            Behind::Nothing
        } else if self.may_hide(end) {
            match covers {
                true => Behind::Hidden,
                false => Behind::Searched,
            }
        } else if self.granted.iter().any(in_sight) {
            Behind::Open
        } else {
            Behind::Nothing
        }
    }

    /// Does a directory that was moved from one name to another show the pattern the same as before?
    pub(crate) fn is_same_at(&self, from: &Path, to: &Path) -> bool {
        let base = self.base;
        let (Some(from), Some(to)) = (set_aside::below(from, base), set_aside::below(to, base)) else {
            // Neither in the base nor above it: nothing to the pattern.
            let apart = |path| set_aside::below(path, base).is_none() && set_aside::left(base, path).is_none();
            return apart(from) && apart(to);
        };
        if self.glob.tail().is_some() {
            return self.tail(from) == self.tail(to);
        }
        !self.glob.can_match_below(from) && !self.glob.can_match_below(to)
    }

    /// Is it in what is granted, with nothing in it that must stay?
    fn may_hide(&self, end: &Path) -> bool {
        let within = |root: &PathBuf| end.starts_with(root) && end != root;
        self.granted.iter().any(within) && !self.granted.iter().any(|root| root.starts_with(end))
    }

    /// Under its own name a directory below the base shows the pattern the same.
    fn is_seen_anyway(&self, real: &Path, relative: &Path) -> bool {
        self.glob.tail().is_some()
            && real
                .strip_prefix(self.base)
                .is_ok_and(|own| self.tail(own) == self.tail(relative))
    }

    /// What of a directory's name decides what matches in it.
    fn tail<'p>(&self, relative: &'p Path) -> &'p Path {
        let Some(most) = self.glob.tail() else { return relative };
        let depth = relative.components().count();
        let mut parts = relative.components();
        for _ in 0..depth.saturating_sub(most.saturating_sub(1)) {
            parts.next();
        }
        parts.as_path()
    }
}

fn whole(dir: PathBuf) -> Hidden {
    let (path, kind) = (dir, Kind::Dir);
    Hidden::Present { path, kind }
}

/// Deeper than anything that people make, and soon deeper than a path can say.
pub(crate) fn is_too_deep(path: &Path, relative: &Path) -> bool {
    relative.components().count() > DEEPEST || path.as_os_str().len() > LONGEST
}

/// The links on a way, and what else of it decides where they lead.
pub(crate) fn parts_of(walked: &Walked) -> impl Iterator<Item = PathBuf> {
    walked.links.iter().chain(&walked.turns).cloned()
}

/// Where a link leads, if there is something. One look for the whole way.
fn target(link: &Path) -> Option<(PathBuf, Kind)> {
    let held = open_path(link).ok()?;
    let at = Path::new("/proc/self/fd").join(held.as_raw_fd().to_string());
    let end = fs::read_link(at).ok()?;
    let meta = fs::symlink_metadata(&end).ok()?;
    Some((end, kind(&meta)))
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
