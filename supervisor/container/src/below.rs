//! What is mounted below a tree, as an ordinary user's engine sees it.
//!
//! The kernel lets such an engine bind a tree only with everything that is mounted below it, and the engine sees the mounts of the
//! time when it was first started.
//! INVARIANT: what comes with a tree is covered by a mount of the plan's own, closed to the user or of no use to it; anything else is
//! refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glee_sandbox::sys::process::Pid;

use crate::facts::{mount_points, namespaces};
use crate::plan::{Mount, Source};

/// What an engine sees.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Where something is mounted.
    mounted: BTreeSet<PathBuf>,
    /// Of those, what nobody inside can use.
    harmless: BTreeSet<PathBuf>,
}

impl View {
    pub(crate) fn of(engine: Pid) -> Self {
        let mountinfo = fs::read(format!("/proc/{}/mountinfo", engine.0)).unwrap_or_default();
        Self {
            mounted: mount_points(&mountinfo),
            harmless: namespaces(&mountinfo),
        }
    }
}

/// Nobody with this user's rights gets there.
pub(crate) fn is_closed(path: &Path) -> bool {
    matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::PermissionDenied)
}

/// The places whose trees must be bound with what is mounted below.
pub(crate) fn whole(
    mounts: &BTreeMap<PathBuf, Mount>,
    view: &View,
    is_closed: &dyn Fn(&Path) -> bool,
) -> Result<BTreeSet<PathBuf>, String> {
    let mut places = BTreeSet::new();
    for (at, mount) in mounts {
        let Mount::Bind {
            source: Source::Host(from),
            ..
        } = mount
        else {
            continue;
        };
        for point in &view.mounted {
            let Some(below) = point
                .strip_prefix(from)
                .ok()
                .filter(|rest| !rest.as_os_str().is_empty())
            else {
                continue;
            };
            let place = at.join(below);
            let covers = |known: &PathBuf| known != at && known.starts_with(at) && place.starts_with(known);
            if !mounts.keys().any(covers) && !view.harmless.contains(point) && !is_closed(point) {
                return Err(format!(
                    "Podman still sees something mounted at `{}`, which is no longer there or not to be shown: `podman system \
                     migrate` has it look again",
                    point.display()
                ));
            }
            places.insert(at.clone());
        }
    }
    Ok(places)
}

#[cfg(test)]
#[path = "below_tests.rs"]
mod tests;
