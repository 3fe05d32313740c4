//! Where a path leads, and whether that may be granted.
//!
//! Pure but for [`Yard`]. INVARIANT: what is judged is what a grant would give: the end of the path, with every link on the way.

use std::path::{Component, Path, PathBuf};

use glee_policy::hint::{self, Place};
use glee_policy::resolved::FsAccess;
use glee_sandbox::survey;

use super::content;
use super::secrets::is_secret;
use super::wish::{Yard, is_too_wide};
use crate::later;

/// Links of one path that are looked at.
const MOST_LINKS: usize = 40;

/// Why a path is not proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objection {
    Secret,
    HoldsSecret,
    Closed,
    RunLater,
    TooWide,
    Nameless,
    Replaceable,
    Nothing,
}

impl Objection {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Secret => "looks like a secret",
            Self::HoldsSecret => "looks like it holds a secret",
            Self::Closed => "its owner has closed it to everybody else",
            Self::RunLater => "programs outside would run or obey it",
            Self::TooWide => "too wide to be granted",
            Self::Nameless => "no policy can name this",
            Self::Replaceable => "passes through a link that the command could replace",
            Self::Nothing => "the link leads to nothing",
        }
    }
}

/// The home as it is known, and where it really is.
pub(super) fn homes(place: Place<'_>, yard: &dyn Yard) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = place.home.map(Path::to_owned).into_iter().collect();
    homes.extend(place.home.map(|home| yard.walk(home).path));
    homes.dedup();
    homes
}

/// A secret by its name, in the home by any of its names.
pub(super) fn is_secret_at(path: &Path, homes: &[PathBuf]) -> bool {
    is_secret(path, None) || homes.iter().any(|home| is_secret(path, Some(home)))
}

/// May this be granted?
pub(super) fn judge(path: &Path, access: FsAccess, place: Place<'_>, yard: &dyn Yard) -> Result<(), Objection> {
    let homes = homes(place, yard);
    let walk = yard.walk(path);
    let links = walk.links.iter().map(|(at, _)| at.as_path());
    if links.chain([path, &walk.path]).any(|at| is_secret_at(at, &homes)) {
        return Err(Objection::Secret);
    }
    if [path, &walk.path].iter().any(|at| is_too_wide(at, place, yard)) {
        return Err(Objection::TooWide);
    }
    if hint::written(path, place).is_none() {
        return Err(Objection::Nameless);
    }
    if content::holds_secret(&walk.path, &homes, yard) {
        return Err(Objection::HoldsSecret);
    }
    // The project is the command's own already.
    let outside = !walk.path.starts_with(place.project);
    if outside && yard.is_closed(&walk.path) {
        return Err(Objection::Closed);
    }
    if outside && access == FsAccess::ReadWrite && [path, &walk.path].iter().any(|at| is_run_later(at, &homes)) {
        return Err(Objection::RunLater);
    }
    Ok(())
}

/// Would the host run what was written here, or obey it? By the names that a report marks, and by those of a home.
fn is_run_later(path: &Path, homes: &[PathBuf]) -> bool {
    let inside = homes.iter().find_map(|home| path.strip_prefix(home).ok());
    later::is_named(path) || inside.is_some_and(survey::is_of_a_home)
}

/// The same path without the links that lie in these trees and lead out of them: the command sees them as they are, and could replace
/// them, so no policy may pass through one.
pub(super) fn beyond(path: &Path, trees: &[PathBuf], yard: &dyn Yard) -> Result<PathBuf, Objection> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let walk = yard.walk(&path);
        let loose = |at: &Path| {
            let mut around = trees.iter().filter(|tree| at.starts_with(tree));
            around.any(|tree| !walk.path.starts_with(tree))
        };
        if !walk.links.iter().any(|(at, _)| loose(at)) {
            return Ok(path);
        }
        let Some((link, target)) = walk.links.first().filter(|(at, _)| loose(at)) else {
            return Err(Objection::Replaceable);
        };
        let Some(next) = followed(&path, link, target) else {
            return Ok(walk.path);
        };
        path = next;
    }
    Err(Objection::Nothing)
}

/// One link followed by its text. `None` where a `..` comes after a name, which may be a link itself.
fn followed(path: &Path, link: &Path, target: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(link).ok()?;
    let mut next = link.parent()?.to_owned();
    let mut named = false;
    for part in target.components() {
        match part {
            Component::RootDir => next = PathBuf::from("/"),
            Component::ParentDir if named => return None,
            Component::ParentDir => drop(next.pop()),
            Component::Normal(name) => {
                named = true;
                next.push(name);
            }
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    // Not `join`, which ends an empty rest with a slash.
    next.extend(rest.components());
    Some(next)
}
