//! Lists of path grants and denies in their one shortest form, and the access they give at a path.
//!
//! Pure. The access at a path is the highest of the grants at or above it; denies are looked at by `decide`. A grant to write
//! does not reach into a `.glee` directory below it, where sessions, policies and trust live: it only reads there. Who wants
//! to write there names a path at or below `.glee`, or opts out with `unprotect: [".glee"]`.
//! INVARIANT: a normalised list is sorted by path and no entry follows from those above it, but for a required grant below
//! a preferred one that does not exist (its absence still refuses the run), and one in a private place below a grant of `/`,
//! which does not mean what lies there.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::resolved::{Deny, DenyTarget, FsAccess, Grant, Mode, ResolvedPolicy};

const GLEE: &str = ".glee";
/// A sandbox has its own of these, unless they are granted by name: "everything" does not mean them.
pub const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Does the path lie in a place of which every sandbox has its own?
#[must_use]
pub fn in_private_place(path: &Path) -> bool {
    PRIVATE.iter().any(|place| path.starts_with(place))
}

/// How far a grant to write reaches below its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Everywhere,
    /// Not into a `.glee` directory.
    OutsideGlee,
}

impl Reach {
    pub(crate) fn access(self, grant: &Grant, path: &Path) -> Option<FsAccess> {
        let below = path.strip_prefix(grant.path.as_path()).ok()?;
        let crosses = || below.components().any(|c| c == Component::Normal(GLEE.as_ref()));
        Some(match (self, grant.access) {
            (Self::OutsideGlee, FsAccess::ReadWrite) if crosses() => FsAccess::Read,
            (Self::OutsideGlee | Self::Everywhere, access) => access,
        })
    }
}

impl ResolvedPolicy {
    #[must_use]
    pub fn reach(&self) -> Reach {
        if self.mode == Mode::Inherit || self.unprotected.contains(GLEE) {
            Reach::Everywhere
        } else {
            Reach::OutsideGlee
        }
    }

    /// Was exactly this path granted?
    #[must_use]
    pub fn names(&self, path: &Path) -> bool {
        self.named.contains(path) || self.grants.iter().any(|grant| grant.path.as_path() == path)
    }
}

/// The grants of a policy by path, for questions about many paths.
#[derive(Debug)]
pub struct Cover<'a> {
    by_path: BTreeMap<&'a Path, &'a Grant>,
    reach: Reach,
}

impl<'a> Cover<'a> {
    #[must_use]
    pub fn new(policy: &'a ResolvedPolicy) -> Self {
        let mut by_path: BTreeMap<&Path, &Grant> = BTreeMap::new();
        for grant in &policy.grants {
            let best = by_path.entry(grant.path.as_path()).or_insert(grant);
            if grant.access > best.access {
                *best = grant;
            }
        }
        Self {
            by_path,
            reach: policy.reach(),
        }
    }

    /// The access at `path` and the grant that decides it: the highest; of equals, the nearest.
    #[must_use]
    pub fn at(&self, path: &Path) -> Option<(FsAccess, &'a Grant)> {
        self.highest(path, path.ancestors())
    }

    #[must_use]
    pub fn access(&self, path: &Path) -> Option<FsAccess> {
        self.at(path).map(|(access, _)| access)
    }

    /// The grant written for exactly this path.
    pub(crate) fn exact(&self, path: &Path) -> Option<&'a Grant> {
        self.by_path.get(path).copied()
    }

    fn highest<'p>(&self, path: &Path, above: impl Iterator<Item = &'p Path>) -> Option<(FsAccess, &'a Grant)> {
        let grants = above.filter_map(|p| self.by_path.get(p).copied());
        let reaching = grants.filter_map(|grant| Some((self.reach.access(grant, path)?, grant)));
        reaching.reduce(|best, next| if next.0 > best.0 { next } else { best })
    }
}

/// Sorts, and drops what follows from the grants above. The links of a dropped grant stay with the one that replaces it.
#[must_use]
pub fn normalise(mut grants: Vec<Grant>, reach: Reach) -> Vec<Grant> {
    grants.sort_by(|a, b| (&a.path, b.access, b.need, &a.origin).cmp(&(&b.path, a.access, a.need, &b.origin)));
    let mut kept: Vec<Grant> = Vec::new();
    // Indices into `kept` of the grants at or above the current one, outermost first.
    let mut above: Vec<usize> = Vec::new();
    for grant in grants {
        let path = grant.path.as_path();
        while above
            .last()
            .and_then(|i| kept.get(*i))
            .is_some_and(|top| !path.starts_with(top.path.as_path()))
        {
            above.pop();
        }
        let means = |top: &Grant| top.path.as_path() != Path::new("/") || !in_private_place(path);
        let gives = |i: &usize| {
            kept.get(*i)
                .is_some_and(|top| means(top) && reach.access(top, path) >= Some(grant.access))
        };
        let implied_by = above.iter().rev().copied().find(gives);
        match implied_by.and_then(|i| kept.get_mut(i)) {
            Some(top) if top.path == grant.path || top.exists || grant.need <= top.need => {
                if top.path == grant.path {
                    top.need = top.need.max(grant.need);
                }
                let new: Vec<_> = grant
                    .links
                    .into_iter()
                    .filter(|link| !top.links.contains(link))
                    .collect();
                top.links.extend(new);
            }
            Some(_) | None => {
                above.push(kept.len());
                kept.push(grant);
            }
        }
    }
    kept
}

/// Sorts, and drops what a literal deny above hides already. The links on the way to what is dropped still count.
#[must_use]
pub fn normalise_denies(mut denies: Vec<Deny>) -> Vec<Deny> {
    // Of two that hide the same, one that counts in later grants as well stays.
    let order = |deny: &Deny| !deny.is_anywhere();
    denies.sort_by(|a, b| (&a.target, order(a), &a.origin).cmp(&(&b.target, order(b), &b.origin)));
    // Literals sort before globs, parents before children.
    let mut kept: Vec<Deny> = Vec::new();
    let mut literals: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for deny in denies {
        let place = deny.target.place().as_path();
        let above = place.ancestors().find_map(|p| literals.get(p).copied());
        let same = kept.len().checked_sub(1).filter(|last| {
            let last = kept.get(*last);
            last.is_some_and(|last| last.target == deny.target)
        });
        if let Some(stays) = above.or(same).and_then(|at| kept.get_mut(at)) {
            stays.ways.extend(deny.ways);
            continue;
        }
        if let DenyTarget::Literal(path) = &deny.target {
            literals.insert(path.as_path().to_path_buf(), kept.len());
        }
        kept.push(deny);
    }
    kept
}

#[cfg(test)]
#[path = "grants_tests.rs"]
mod tests;
