//! What the supervisor opens for root's init: the source of every bind, and every pin in a writable one.
//!
//! A pin is a mount of its own. Made by init of what is mounted there, it would be one that the supervisor never held, and
//! could not ask about (`witness`).
//! Pure. INVARIANT: a pin made of the host's tree shows what init's would. So there is none where anything else is
//! mounted at or below it before: then all pins are init's.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use crate::plan::{Access, IdMap, MountStep, SandboxPlan};

/// A tree of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source<'a> {
    pub(crate) from: Cow<'a, Path>,
    pub(crate) access: Access,
    pub(crate) idmap: Option<IdMap>,
}

/// By the number of their step. None for an ordinary user, whose init opens its sources itself.
pub(crate) fn of(plan: &SandboxPlan) -> BTreeMap<usize, Source<'_>> {
    if !plan.identity.from_root {
        return BTreeMap::new();
    }
    let mut sources = pins(&plan.mounts).unwrap_or_default();
    for (number, step) in plan.mounts.iter().enumerate() {
        if let MountStep::Bind {
            from, access, idmap, ..
        } = step
        {
            let source = Source {
                from: Cow::Borrowed(from),
                access: *access,
                idmap: *idmap,
            };
            sources.insert(number, source);
        }
    }
    sources
}

/// Is every mount through which the command can write to the host one of them?
pub(super) fn are_all(plan: &SandboxPlan) -> bool {
    plan.identity.from_root && pins(&plan.mounts).is_some()
}

/// `None`: all of them are init's.
fn pins(mounts: &[MountStep]) -> Option<BTreeMap<usize, Source<'_>>> {
    let mut found: BTreeMap<usize, Source<'_>> = BTreeMap::new();
    if !mounts.iter().any(MountStep::is_written_as_owner) {
        return None;
    }
    let mut mounted = Mounted::default();
    for (number, step) in mounts.iter().enumerate() {
        if let MountStep::Pin { at } = step {
            if mounted.above.contains(at.as_path()) {
                return None;
            }
            if let Some(source) = mounted.source(at, &found) {
                found.insert(number, source);
            }
        }
        if is_mount(step) {
            mounted.above.extend(step.at().ancestors());
            mounted.last.insert(step.at(), (number, step));
        }
    }
    Some(found)
}

/// The mounts so far: around hundreds of repositories there are thousands.
#[derive(Debug, Default)]
struct Mounted<'a> {
    /// By their place, the last there.
    last: HashMap<&'a Path, (usize, &'a MountStep)>,
    /// Their places, and all above those.
    above: HashSet<&'a Path>,
}

impl<'a> Mounted<'a> {
    /// What a pin is made of. `None`: not of the host's, or nothing that can be written.
    fn source(&self, at: &Path, known: &BTreeMap<usize, Source<'a>>) -> Option<Source<'a>> {
        // What was mounted last above it is what it lies in.
        let around = at.ancestors().filter_map(|dir| self.last.get(dir));
        let (below, base) = around.max_by_key(|(number, _)| *number)?;
        let (from, idmap) = match base {
            MountStep::Bind {
                from,
                access: Access::ReadWrite,
                idmap,
                ..
            } => (from.as_path(), *idmap),
            MountStep::Pin { .. } => known.get(below).map(|source| (source.from.as_ref(), source.idmap))?,
            MountStep::Bind { .. }
            | MountStep::Dir { .. }
            | MountStep::Symlink { .. }
            | MountStep::File { .. }
            | MountStep::Copy { .. }
            | MountStep::Private { .. }
            | MountStep::Compose { .. }
            | MountStep::Proc { .. }
            | MountStep::Devpts { .. }
            | MountStep::Protect { .. }
            | MountStep::Hide { .. } => return None,
        };
        Some(Source {
            from: Cow::Owned(from.join(at.strip_prefix(base.at()).ok()?)),
            access: Access::ReadWrite,
            idmap,
        })
    }
}

fn is_mount(step: &MountStep) -> bool {
    match step {
        MountStep::Dir { .. } | MountStep::Symlink { .. } | MountStep::File { .. } | MountStep::Copy { .. } => false,
        MountStep::Bind { .. }
        | MountStep::Private { .. }
        | MountStep::Compose { .. }
        | MountStep::Proc { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. }
        | MountStep::Protect { .. }
        | MountStep::Hide { .. } => true,
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
