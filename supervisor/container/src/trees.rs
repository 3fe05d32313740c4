//! The trees of the host in a sandbox's plan.
//!
//! Pure.

use std::path::Path;

use glee_sandbox::plan::{Kind, MountStep, SandboxPlan};

/// A tree of the host: where it is seen, what it is, and whose owner is mapped.
pub(crate) struct Tree<'a> {
    pub(crate) step: usize,
    pub(crate) at: &'a Path,
    pub(crate) kind: Kind,
    pub(crate) mapped: bool,
}

/// All that the plan grants, in its order.
pub(crate) fn trees(sandbox: &SandboxPlan) -> impl Iterator<Item = Tree<'_>> {
    sandbox.mounts.iter().enumerate().filter_map(|(step, bind)| {
        if let MountStep::Bind { at, kind, idmap, .. } = bind {
            let (kind, mapped) = (*kind, idmap.is_some());
            Some(Tree { step, at, kind, mapped })
        } else {
            None
        }
    })
}
