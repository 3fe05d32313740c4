//! Grants: which can be given here.
//!
//! Pure. INVARIANT: a grant that passes `check` is mounted, or named among what was left out.

use std::path::Path;

use glee_policy::resolved::{FsAccess, Grant, Need};
use glee_policy::{ResolvedPolicy, Source};

use super::LowerError;
use super::trees::is_kernels;
use crate::plan::Containment;
use crate::survey::{Node, Terrain, is_own};

type Trouble = Option<(&'static str, &'static str)>;

/// Refuses the first grant that cannot be given.
pub(super) fn check(policy: &ResolvedPolicy, terrain: &Terrain, containment: Containment) -> Result<(), LowerError> {
    for grant in &policy.grants {
        let trouble = missing(grant).or_else(|| match containment {
            Containment::Namespaces => whole(grant).or_else(|| of_the_kernel(grant, terrain)),
            Containment::Landlock | Containment::Inherit => None,
        });
        if let Some((reason, help)) = trouble {
            let key = match grant.access {
                FsAccess::Read => "fs.read",
                FsAccess::ReadWrite => "fs.write",
            };
            let clause = format!("{key}: {}", grant.written);
            return Err(LowerError::new(&clause, &grant.origin, reason, help));
        }
    }
    Ok(())
}

/// A required path that is not there and must be.
fn missing(grant: &Grant) -> Trouble {
    let matters = match grant.access {
        FsAccess::Read => matches!(grant.origin.source, Source::Flag(_)),
        FsAccess::ReadWrite => true,
    };
    let help = match grant.origin.source {
        Source::Flag(_) => "create it first, or leave the flag out",
        Source::Builtin(_) | Source::File(_) => "create it first, or write `{path: …, need: preferred}`",
    };
    (!grant.exists && grant.need == Need::Required && matters).then_some(("there is nothing at this path", help))
}

/// The whole machine cannot be written in a sandbox: what protects names in it would have to be made in it.
fn whole(grant: &Grant) -> Trouble {
    (grant.access == FsAccess::ReadWrite && grant.path.as_path() == Path::new("/")).then_some((
        "it is the whole machine, which a sandbox cannot have for writing",
        "name directories, run in one, or use `--policy inherit` for no containment at all",
    ))
}

/// Root's sandbox is another user, whom the kernel's own filesystems cannot take for the owner.
fn of_the_kernel(grant: &Grant, terrain: &Terrain) -> Trouble {
    let path = grant.path.as_path();
    let device = || {
        let place = terrain.places.get(path);
        place.is_some_and(|place| place.node == Node::CharDevice)
    };
    let writes = grant.access == FsAccess::ReadWrite && !terrain.readonly.contains(path);
    (terrain.caller.uid == 0 && writes && grant.exists && is_kernels(path) && !is_own(path) && !device()).then_some((
        "these are the kernel's files, and root's sandbox is another user, who cannot be given them",
        "grant it for reading, or use `--policy inherit` for no containment at all",
    ))
}
