//! What must be granted so that a path can be used by its own name.
//!
//! Reads links; changes nothing.

use std::path::{Path, PathBuf};

use glee_sandbox::survey::private_dirs;

use crate::host::walk;

/// A link of the project that leads out of it cannot be granted: what it lies in can, and then what it leads to.
pub(crate) fn grantable(path: &Path, project: &Path) -> PathBuf {
    // Private as soon as they are granted, and only inside what they lie in.
    if private_dirs(project).iter().any(|dir| path.starts_with(dir)) {
        return project.join(".glee");
    }
    let walked = walk(path);
    let leads_out = path.starts_with(project) && !walked.path.starts_with(project);
    let link = walked.links.iter().find(|(at, _)| leads_out && at.starts_with(project));
    let above = link.and_then(|(at, _)| at.parent());
    above.unwrap_or(path).to_owned()
}
