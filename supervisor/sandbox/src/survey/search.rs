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
use super::{Hidden, kind, links};
use crate::plan::{Alias, GlobWatch, Kind};
use crate::sys::path::open_path;

/// Directories below the pattern's own, and bytes of a path, beyond which nothing is looked for.
const DEEPEST: usize = 100;
const LONGEST: usize = 2048;
/// Directories that are listed because a link leads to them, for one pattern.
const BEHIND_LINKS: usize = 4096;

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
}

/// A link that matches, or below which something can.
struct Link {
    path: PathBuf,
    relative: PathBuf,
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
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) alias: Option<Alias>,
    /// A directory in which more can match.
    pub(crate) enter: Option<PathBuf>,
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
        self.list(dir, relative, Way::Straight, looked, &mut links);
        // Afterwards: most links lead to what was seen already.
        let (mut known, mut aside) = (BTreeSet::new(), Aside::default());
        let straight = looked.dirs.len();
        while let Some(link) = links.pop_front() {
            for (end, kind) in self.ends(&link.path, &mut aside) {
                if self.glob.covers(&link.relative) {
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
                    self.list(&end, &link.relative, Way::ByLink, looked, &mut links);
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

    fn list(&self, dir: &Path, relative: &Path, way: Way, looked: &mut Looked, links: &mut VecDeque<Link>) {
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
            Err(_) => return looked.hidden.push(whole(dir.to_owned())),
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
                looked.hidden.push(Hidden::Present { path, kind });
            }
            if found.is_symlink() && (matches || self.glob.can_match_below(&here)) {
                let path = entry.path();
                links.push_back(Link { path, relative: here });
            } else if matches || !found.is_dir() || !self.glob.can_match_below(&here) {
                continue;
            } else if is_too_deep(&entry.path(), &here) {
                looked.hidden.push(whole(entry.path()));
            } else if way == Way::Straight || !self.is_seen_anyway(&entry.path(), &here) {
                self.list(&entry.path(), &here, way, looked, links);
            }
        }
    }

    /// Judges one name, at `path`, as `look` would: `here` is what the pattern calls it.
    pub(crate) fn meet(&self, path: PathBuf, here: PathBuf, found: fs::FileType, known: &[Alias]) -> Met {
        let mut met = Met::default();
        let matches = self.glob.matches(&here);
        let way = match path.strip_prefix(self.base) {
            Ok(own) if own == here => Way::Straight,
            Ok(_) | Err(_) => Way::ByLink,
        };
        if found.is_symlink() && (matches || self.glob.can_match_below(&here)) {
            self.follow(&path, here, known, &mut met);
        } else if matches || !found.is_dir() || !self.glob.can_match_below(&here) {
        } else if is_too_deep(&path, &here) {
            met.hidden.push(path.clone());
        } else if way == Way::Straight || !self.is_seen_anyway(&path, &here) {
            met.enter = Some(path.clone());
        }
        if matches {
            met.hidden.push(path);
        }
        met
    }

    fn follow(&self, link: &Path, here: PathBuf, known: &[Alias], met: &mut Met) {
        let Some((end, kind)) = target(link).filter(|(end, _)| self.may_hide(end)) else {
            return;
        };
        let covers = self.glob.covers(&here);
        if !covers && (kind == Kind::File || self.is_seen_anyway(&end, &here)) {
            return;
        }
        let same = |alias: &Alias| alias.real == end && self.tail(&alias.relative) == self.tail(&here);
        let is_known = known.iter().any(same);
        if covers {
            met.hidden.push(end.clone());
        } else if is_known {
            return;
        } else if known.len() > BEHIND_LINKS || is_too_deep(link, &here) {
            met.hidden.push(link.to_owned());
            return;
        } else {
            met.enter = Some(end.clone());
        }
        met.alias = (!is_known).then_some(Alias {
            real: end,
            relative: here,
        });
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

    /// What a link that matches leads to.
    pub(crate) fn behind(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()?;
        target(path).map(|(end, _)| end).filter(|end| self.may_hide(end))
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
fn is_too_deep(path: &Path, relative: &Path) -> bool {
    relative.components().count() > DEEPEST || path.as_os_str().len() > LONGEST
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
