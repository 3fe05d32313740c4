//! What the supervisor opens for root's init: the source of every bind, and every pin in a writable one.
//!
//! A pin is a mount of its own. Made by init of what is mounted there, it would be one that the supervisor never held, and
//! could not ask about (`witness`).
//! Pure. INVARIANT: a pin made of the host's tree shows what init's would. So there is none where anything else is
//! mounted at or below it before: then all pins are init's.

use std::borrow::Cow;
use std::collections::BTreeMap;
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
    for (number, step) in mounts.iter().enumerate() {
        let MountStep::Pin { at } = step else { continue };
        let before = mounts.iter().enumerate().take(number);
        let mut mounted = before.filter(|(_, step)| is_mount(step));
        if mounted.clone().any(|(_, step)| step.at().starts_with(at)) {
            return None;
        }
        // What was mounted last above it is what it lies in.
        let Some((below, base)) = mounted.rfind(|(_, step)| at.starts_with(step.at())) else {
            continue;
        };
        let (from, idmap) = match base {
            MountStep::Bind {
                from,
                access: Access::ReadWrite,
                idmap,
                ..
            } => (from.as_path(), *idmap),
            MountStep::Pin { .. } => match found.get(&below) {
                Some(source) => (source.from.as_ref(), source.idmap),
                None => continue,
            },
            // Not the host's, or not writable: nor is the pin.
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
            | MountStep::Hide { .. } => continue,
        };
        let from = Cow::Owned(from.join(at.strip_prefix(base.at()).ok()?));
        let access = Access::ReadWrite;
        found.insert(number, Source { from, access, idmap });
    }
    Some(found)
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
