//! Protected names as they were before the run, for whoever has not seen all that became of them since.
//!
//! A cover goes with the file that it covers. If the host removes one, the command can put its own in that place, and nobody
//! who only looks at the end can tell it from one of the host's.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::places::Whereabouts;
use super::quarantine;
use crate::plan::{Response, SandboxPlan};

/// What a file is known by. Its number alone may be given to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    begun: Begun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    Born(SystemTime),
    /// Where no birth is noted: any change makes another one of it.
    Changed(Duration),
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        let seconds = u64::try_from(found.ctime()).unwrap_or(0);
        let nanos = u32::try_from(found.ctime_nsec()).unwrap_or(0);
        let changed = Begun::Changed(Duration::new(seconds, nanos));
        Self {
            device: found.dev(),
            inode: found.ino(),
            begun: found.created().map_or(changed, Begun::Born),
        }
    }
}

/// The protected names. `None` for what was not there.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<PathBuf, Option<Identity>>);

impl Names {
    pub(super) fn read(plan: &SandboxPlan) -> Self {
        let protected = plan.watches.iter().filter(|watch| watch.response == Response::Protect);
        let paths = protected
            .map(|watch| &watch.path)
            .filter(|path| !is_gits_own(plan, path));
        Self(paths.map(|path| (path.clone(), look(path))).collect())
    }

    pub(super) fn knows(&self, at: &Path) -> bool {
        self.0.contains_key(at)
    }

    /// Those of them at which something else lies by now, by the path at which it does. Our placeholders are among them.
    pub(super) fn replaced(&self, whereabouts: &Whereabouts, concerns: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let names = self.0.iter().filter(|(at, _)| concerns(at));
        let others = names.filter_map(|(at, before)| {
            let at = whereabouts.now(at)?;
            let now = look(&at)?;
            (*before != Some(now)).then_some(at)
        });
        others.collect()
    }
}

/// An index or a `HEAD`, held for another checkout's sake: the host's git replaces it all the time, and it arms nothing.
fn is_gits_own(plan: &SandboxPlan, path: &Path) -> bool {
    let mut git_dirs = plan.git.repositories.iter().map(|repository| repository.index.parent());
    let plain = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".") && !quarantine::is_arm(name);
    path.file_name().is_some_and(plain) && git_dirs.any(|dir| dir == path.parent())
}

fn look(at: &Path) -> Option<Identity> {
    fs::symlink_metadata(at).ok().map(|found| Identity::of(&found))
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
