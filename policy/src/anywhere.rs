//! Patterns without a place of their own: `**/.env` counts in the project, and in whatever else a person grants.
//!
//! Pure. Where a rule or a flag of a person grants a tree outside the project, the pattern counts below it, and for its own
//! name: a file is granted by that. It does not count in what every sandbox shows (`/`, `/usr`), nor in what a built-in
//! profile grants: those trees are large, and each start would search them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::glob::Glob;
use crate::grants::{in_private_place, normalise_denies};
use crate::origin::Source;
use crate::resolved::{Deny, DenyTarget, Grant, HostPath};

/// Shown, or made, in every sandbox.
const SYSTEM: [&str; 10] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sys", "/dev",
];

impl Deny {
    /// Did its author name no place, and every depth?
    pub(crate) fn is_anywhere(&self) -> bool {
        self.written.split('/').next() == Some("**")
    }

    /// Does it name what is granted here, outside the project?
    pub(crate) fn names(&self, granted: &Path, project: &Path) -> bool {
        self.anywhere().is_some_and(|pattern| {
            counts_in(granted, project) && Glob::new(pattern).is_ok_and(|glob| glob.matches(from_root(granted)))
        })
    }

    fn anywhere(&self) -> Option<&str> {
        match &self.target {
            DenyTarget::Glob { pattern, .. } if self.is_anywhere() => Some(pattern),
            DenyTarget::Glob { .. } | DenyTarget::Literal(_) => None,
        }
    }
}

/// The rules, with those that count anywhere in each of these grants as well.
pub(crate) fn spread(denies: Vec<Deny>, grants: &[Grant], project: &Path) -> Vec<Deny> {
    let mut places: Vec<&HostPath> = grants
        .iter()
        .filter(|grant| !matches!(grant.origin.source, Source::Builtin(_)))
        .map(|grant| &grant.path)
        .filter(|path| counts_in(path.as_path(), project))
        .collect();
    places.sort();
    let mut out = Vec::new();
    for deny in denies {
        if let Some(pattern) = deny.anywhere() {
            let mut above: Option<&HostPath> = None;
            for place in places.iter().copied() {
                let target = if deny.names(place.as_path(), project) {
                    DenyTarget::Literal(place.clone())
                } else if above.is_some_and(|above| place.as_path().starts_with(above.as_path())) {
                    continue;
                } else {
                    above = Some(place);
                    DenyTarget::Glob {
                        base: place.clone(),
                        pattern: pattern.to_owned(),
                    }
                };
                out.push(Deny {
                    target,
                    ways: BTreeSet::new(),
                    ..deny.clone()
                });
            }
        }
        out.push(deny);
    }
    normalise_denies(out)
}

fn counts_in(granted: &Path, project: &Path) -> bool {
    let is_system = SYSTEM.iter().any(|dir| granted.starts_with(dir)) && !in_private_place(granted);
    !granted.starts_with(project) && granted != Path::new("/") && !is_system
}

fn from_root(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

#[cfg(test)]
#[path = "anywhere_tests.rs"]
mod tests;
