//! Files that the caller named for the supervisor itself, where a grant reaches them: the report is found where it was asked
//! for, and the key of a model's API is not read inside.
//!
//! Reads links; changes nothing.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode};

use super::shown::Shown;
use super::{Hidden, kind, links};
use crate::plan::{Response, Watch};

/// The clause that hides the key.
pub const KEY_FILE: &str = "--key-file";

/// Directories on the way to the report that the command could rename, to put others in their place. What it puts at the
/// report's own name is replaced at the end.
pub(super) fn pins(report: Option<&Path>, trees: &[PathBuf]) -> Vec<PathBuf> {
    let Some(end) = report.and_then(|path| links::follow(&absolute(path).ok()?).end) else {
        return Vec::new();
    };
    let tops = trees.iter().filter(|tree| end.starts_with(tree));
    let Some(top) = tops.max_by_key(|tree| tree.as_os_str().len()) else {
        return Vec::new();
    };
    let above = end.ancestors().skip(1).take_while(|dir| dir != top);
    let is_there = |dir: &&Path| fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    above.filter(is_there).map(Path::to_owned).collect()
}

/// Links on the way to the report's directory: who replaces one puts another report where this one is looked for.
pub(super) fn links_to(report: Option<&Path>) -> Vec<PathBuf> {
    let dir = report.and_then(|path| absolute(path).ok()?.parent().map(Path::to_owned));
    dir.map(|dir| links::follow(&dir).links).unwrap_or_default()
}

/// The key's file as a denied one, now and if the host replaces it.
pub(super) fn key(file: Option<&Path>, policy: &ResolvedPolicy, shown: &Shown<'_>) -> Option<(Hidden, Watch)> {
    // The engine refuses it where nothing can be hidden.
    if policy.mode == Mode::Inherit || policy.isolation == Isolation::Landlock {
        return None;
    }
    let path = links::follow(&absolute(file?).ok()?).end?;
    shown.access(&path)?;
    let kind = kind(&fs::symlink_metadata(&path).ok()?);
    let hidden = Hidden::Present {
        path: path.clone(),
        kind,
    };
    let watch = Watch {
        path,
        response: Response::Hide,
        clause: KEY_FILE.to_owned(),
    };
    Some((hidden, watch))
}
