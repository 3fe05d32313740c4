//! What may stand behind 0, 1 and 2 of the command.
//!
//! A directory, or a handle on a path, leads wherever the host's own tree leads: every name below and above it can be
//! looked up, its sockets connected to, its files' modes and times changed. Nothing else that is inherited names a place.

use crate::plan::{Containment, SandboxPlan};
use crate::sys::{fd, path};

use super::outcome::LaunchError;

const NAMES: [&str; 3] = ["standard input", "standard output", "standard error"];

/// Refuses a standard file that would be a way out.
pub(super) fn check(plan: &SandboxPlan) -> Result<(), LaunchError> {
    if plan.containment == Containment::Inherit {
        return Ok(());
    }
    for (number, name) in (0..3).zip(NAMES) {
        let is_dir = path::lstat_at(fd::borrow(number), "".as_ref()).is_ok_and(|stat| stat.is_dir());
        if is_dir || fd::is_path(number) {
            return Err(LaunchError::StandardFile { name });
        }
    }
    Ok(())
}
