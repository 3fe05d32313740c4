//! What a sandbox shows of the host because of the policy: what it grants, and the git directories outside of that which the
//! project cannot do without.
//!
//! Pure.

use std::path::Path;

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::resolved::FsAccess;

use super::git::GitDir;

#[derive(Debug)]
pub(crate) struct Shown<'a> {
    policy: &'a ResolvedPolicy,
    cover: Cover<'a>,
    git: &'a [GitDir],
}

impl<'a> Shown<'a> {
    pub(crate) fn new(policy: &'a ResolvedPolicy, git: &'a [GitDir]) -> Self {
        Self {
            policy,
            cover: Cover::new(policy),
            git,
        }
    }

    /// The access at a path, and the top of the tree that gives it.
    pub(crate) fn at(&self, path: &Path) -> Option<(FsAccess, &'a Path)> {
        let granted = self
            .cover
            .at(path)
            .map(|(access, grant)| (access, grant.path.as_path()));
        // Nothing else covers these, but there may be grants in them.
        let outside = self.outside().find(|dir| path.starts_with(&dir.path));
        let outside = outside.map(|dir| (dir.access, dir.path.as_path()));
        match (granted, outside) {
            (Some(granted), Some(outside)) if outside.0 > granted.0 => Some(outside),
            (granted, outside) => granted.or(outside),
        }
    }

    pub(crate) fn access(&self, path: &Path) -> Option<FsAccess> {
        self.at(path).map(|(access, _)| access)
    }

    /// The tops of all trees.
    pub(crate) fn tops(&self) -> impl Iterator<Item = &'a Path> {
        let granted = self.policy.grants.iter().map(|grant| grant.path.as_path());
        granted.chain(self.outside().map(|dir| dir.path.as_path()))
    }

    fn outside(&self) -> impl Iterator<Item = &'a GitDir> {
        self.git.iter().filter(|dir| dir.outside)
    }
}
