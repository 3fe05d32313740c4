//! What else was there while the command ran: covers that nothing went past, and other runs that are still at work.

use std::cell::OnceCell;
use std::path::Path;

use super::Ahead;
use crate::launch::locks;
use crate::plan::{MountStep, SandboxPlan};

#[derive(Debug)]
pub(super) struct Company<'a> {
    pub(super) plan: &'a SandboxPlan,
    ahead: &'a Ahead,
    others: OnceCell<bool>,
}

impl<'a> Company<'a> {
    pub(super) fn of(plan: &'a SandboxPlan, ahead: &'a Ahead) -> Self {
        Self {
            plan,
            ahead,
            others: OnceCell::new(),
        }
    }

    /// Is another run at work here? What looks like a work half done may be its own, and is left to the last that ends: to that
    /// one, what changed since the first of them began was not there before.
    pub(super) fn others(&self) -> bool {
        *self.others.get_or_init(|| {
            let git = &self.plan.git;
            let dirs = git
                .repositories
                .iter()
                .filter_map(|repository| repository.index.parent());
            locks::others_hold(dirs.chain(git.trees.iter().map(|tree| tree.as_path())))
        })
    }

    /// Was this very directory read-only as a whole, all the time?
    pub(super) fn was_covered(&self, dir: &Path) -> bool {
        let covers = |step: &MountStep| matches!(step, MountStep::Protect { at } if at == dir);
        self.ahead.had(dir) && self.plan.mounts.iter().any(covers)
    }
}
