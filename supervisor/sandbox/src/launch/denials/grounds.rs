//! What the plan says about paths: what it covers, grants and holds, and where names can change.
//!
//! Pure.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::plan::{Access, Containment, MountStep, SandboxPlan};

/// Names that are taken while the run lasts, and are not there without it.
pub(super) fn held(plan: &SandboxPlan) -> BTreeSet<PathBuf> {
    plan.placeholders.iter().map(|p| p.dir.join(&p.name)).collect()
}

/// What is covered by something empty.
pub(super) fn covered<'a>(plan: &'a SandboxPlan) -> BTreeSet<&'a Path> {
    let hidden = |step: &'a MountStep| {
        if let MountStep::Hide { at, .. } = step {
            Some(at.as_path())
        } else {
            None
        }
    };
    plan.mounts.iter().filter_map(hidden).collect()
}

/// Tops of trees of the host.
pub(super) fn bound<'a>(plan: &'a SandboxPlan) -> BTreeSet<&'a Path> {
    let bound = |step: &'a MountStep| {
        if let MountStep::Bind { at, .. } = step {
            Some(at.as_path())
        } else {
            None
        }
    };
    plan.mounts.iter().filter_map(bound).collect()
}

/// `Path::starts_with` by bytes, for paths without `//`: asked a dozen times for each call. More than it covers is not granted.
pub(super) fn lies_in(path: &Path, tree: &Path) -> bool {
    let (path, tree) = (path.as_os_str().as_bytes(), tree.as_os_str().as_bytes());
    let rest = path.strip_prefix(tree);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || tree == b"/")
}

/// Where the command can change what names lead to.
pub(super) fn writable(plan: &SandboxPlan) -> Vec<&Path> {
    if plan.containment != Containment::Namespaces {
        return vec![Path::new("/")];
    }
    plan.mounts
        .iter()
        .filter_map(|step| {
            if let MountStep::Bind {
                at,
                access: Access::ReadWrite,
                ..
            }
            | MountStep::Private { at, .. }
            | MountStep::Compose { at, .. }
            | MountStep::Proc { at }
            | MountStep::Devpts { at } = step
            {
                Some(at.as_path())
            } else {
                None
            }
        })
        .collect()
}
