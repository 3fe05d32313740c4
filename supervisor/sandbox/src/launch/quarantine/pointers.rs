//! Pointers to git directories, and links in their place, that were there before the run.
//!
//! Each was covered all the time, but neither the way it names (`../d/../.git`, until `d` is a link) nor another name of the file.

use std::path::Path;

use super::reach::tree_of;
use super::{Disarmed, disarm};
use crate::plan::SandboxPlan;
use crate::survey::git_dir_of;

/// Sets aside what leads git elsewhere than before the run. What leads out of the trees is not the command's making.
pub(super) fn after(plan: &SandboxPlan, out: &mut Disarmed) {
    for (at, before) in &plan.git.pointers {
        let Some(work) = at.parent() else { continue };
        let now = git_dir_of(work).filter(|now| tree_of(plan, now).is_some());
        // A directory in its place is the host's: the name was covered.
        if now.is_none() || now == *before || now.as_ref() == Some(at) {
            continue;
        }
        if let Some(tree) = tree_of(plan, work) {
            disarm::dot_git(tree, work.strip_prefix(tree).unwrap_or(Path::new("")), out);
        }
    }
}
