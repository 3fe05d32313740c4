//! What a plan hides, by its path.
//!
//! Pure.

use std::path::Path;

use glee_policy::glob::Glob;
use glee_policy::set_aside;

use super::{GlobWatch, MountStep, Response, SandboxPlan};

impl SandboxPlan {
    /// The clause that hides this name when it comes into being during the run.
    pub(crate) fn hidden_later(&self, at: &Path) -> Option<&str> {
        let mut names = self.watches.iter().filter(|watch| watch.response == Response::Hide);
        let by_name = names
            .find(|watch| set_aside::below(at, &watch.path).is_some())
            .map(|watch| &watch.clause);
        let by_pattern = || {
            let hides = |watch: &&GlobWatch| match Glob::new(&watch.pattern) {
                Ok(glob) => watch.names(at).any(|name| glob.covers(&name)),
                Err(_) => watch.names(at).next().is_some(),
            };
            self.glob_watches.iter().find(hides).map(|watch| &watch.clause)
        };
        by_name.or_else(by_pattern).map(String::as_str)
    }

    /// Is this hidden, from the start or when it comes?
    pub(crate) fn hides(&self, at: &Path) -> bool {
        let covers = |step: &MountStep| matches!(step, MountStep::Hide { at: top, .. } if at.starts_with(top));
        self.mounts.iter().any(covers) || self.hidden_later(at).is_some()
    }
}
