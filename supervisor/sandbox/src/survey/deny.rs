//! What the deny rules match on this host, now.
//!
//! A literal path has no links left in it; a pattern is looked for through links as well (`search`).
//! INVARIANT: a link through which something is hidden cannot be replaced by the command, nor a directory above it: the next run
//! hides the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::resolved::{DenyTarget, FsAccess};

use super::search::{Looked, Search, parts_of};
use super::shown::Shown;
use super::{Hidden, SurveyError, kind, links};
use crate::launch::placeholders;
use crate::plan::{GlobWatch, Lead, Response, Watch};

/// What is hidden now, and the directories in which more could appear.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) hidden: Vec<Hidden>,
    pub(super) globs: Vec<GlobWatch>,
    pub(super) later: Vec<Watch>,
    /// Denied paths as they were written.
    pub(super) ways: Vec<Watch>,
    /// Files that stand where a denied path has a directory: nothing lies below them as long as they are files.
    pub(super) in_the_way: Vec<PathBuf>,
}

/// `places`: where the command works, which no link of a pattern hides.
pub(super) fn find(policy: &ResolvedPolicy, shown: &Shown<'_>, places: [&Path; 2]) -> Result<Found, SurveyError> {
    let granted: Vec<PathBuf> = shown.tops().chain(places).map(Path::to_owned).collect();
    let mut found = Found::default();
    let mut held: BTreeMap<PathBuf, String> = BTreeMap::new();
    for deny in &policy.deny {
        let clause = format!("fs.deny: {} ({})", deny.written, deny.origin);
        let is_link_free = |way: &&PathBuf| way.as_path() == deny.target.place().as_path();
        for way in deny.ways.iter().filter(|way| !is_link_free(way)) {
            held.extend(parts_of(&links::follow(way)).map(|part| (part, clause.clone())));
        }
        match &deny.target {
            DenyTarget::Literal(path) => {
                match literal(path.as_path(), shown) {
                    Some(Hidden::Absent { dir, .. }) if !dir.is_dir() => found.in_the_way.push(dir),
                    hidden => found.hidden.extend(hidden),
                }
                let watch = |path: &Path| Watch {
                    path: path.to_owned(),
                    response: Response::Hide,
                    clause: clause.clone(),
                };
                let is_shown = |path: &Path| shown.access(path).is_some() || in_system(path);
                if is_shown(path.as_path()) {
                    found.later.push(watch(path.as_path()));
                }
                let ways = deny.ways.iter().filter(|way| is_shown(way) || is_shown(path.as_path()));
                found.ways.extend(ways.map(|way| watch(way)));
            }
            DenyTarget::Glob { base, pattern } => {
                let invalid = |_| SurveyError {
                    path: base.as_path().join(pattern),
                    error: std::io::Error::from(std::io::ErrorKind::InvalidInput),
                };
                let glob = Glob::new(pattern).map_err(invalid)?;
                let search = Search {
                    glob: &glob,
                    base: base.as_path(),
                    granted: &granted,
                };
                let looked = search_all(&search, shown, &mut found.hidden);
                held.extend(looked.held.into_iter().map(|part| (part, clause.clone())));
                let as_written = deny.ways.iter().filter(|way| shown.access(way).is_some());
                let as_written = as_written.map(|way| Lead {
                    path: way.clone(),
                    relative: PathBuf::new(),
                });
                found.globs.push(GlobWatch {
                    base: base.as_path().to_owned(),
                    pattern: pattern.clone(),
                    dirs: looked.dirs,
                    aliases: looked.aliases,
                    leads: as_written.chain(looked.leads).collect(),
                    granted: granted.clone(),
                    clause,
                });
            }
        }
    }
    found.hidden.sort_by_key(path_of);
    found.hidden.dedup();
    hold(held, shown, &mut found);
    Ok(found)
}

fn search_all(search: &Search<'_>, shown: &Shown<'_>, hidden: &mut Vec<Hidden>) -> Looked {
    let mut looked = Looked::default();
    for root in roots(search.base, shown) {
        let relative = root.strip_prefix(search.base).unwrap_or(Path::new(""));
        if !relative.as_os_str().is_empty() && search.glob.covers(relative) {
            hidden.extend(literal(&root, shown));
        } else {
            search.look(&root, relative, &mut looked);
        }
    }
    hidden.append(&mut looked.hidden);
    looked
}

/// What a command could change so that a rule means something else in the next run. What is hidden stays where it is anyway.
fn hold(held: BTreeMap<PathBuf, String>, shown: &Shown<'_>, found: &mut Found) {
    let hidden: BTreeSet<PathBuf> = found.hidden.iter().map(path_of).collect();
    let is_movable = |path: &Path| {
        let at = shown.at(path);
        at.is_some_and(|(access, top)| access == FsAccess::ReadWrite && top != path) && !hidden.contains(path)
    };
    let held = held.into_iter().filter(|(path, _)| is_movable(path));
    let held = held.map(|(path, clause)| Watch {
        path,
        response: Response::Hold,
        clause,
    });
    // What is to be hidden comes last, and counts.
    found.later.splice(0..0, held);
}

fn path_of(hidden: &Hidden) -> PathBuf {
    match hidden {
        Hidden::Present { path, .. } => path.clone(),
        Hidden::Absent { dir, name } => dir.join(name),
    }
}

fn literal(path: &Path, shown: &Shown<'_>) -> Option<Hidden> {
    match placeholders::look(path) {
        placeholders::Found::Placeholder(_) => {
            return Some(Hidden::Absent {
                dir: path.parent()?.to_owned(),
                name: path.file_name()?.to_owned(),
            });
        }
        placeholders::Found::Other(meta) => {
            return Some(Hidden::Present {
                path: path.to_owned(),
                kind: kind(&meta),
            });
        }
        placeholders::Found::Absent => {}
    }
    // Where the command may create names, the first one that is missing must not come into being.
    let mut name: OsString = path.file_name()?.to_owned();
    let mut dir = path.parent()?;
    while fs::symlink_metadata(dir).is_err() {
        name = dir.file_name()?.to_owned();
        dir = dir.parent()?;
    }
    (shown.access(dir) == Some(FsAccess::ReadWrite)).then(|| Hidden::Absent {
        dir: dir.to_owned(),
        name,
    })
}

/// In what every sandbox shows of the host.
fn in_system(path: &Path) -> bool {
    ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
        .iter()
        .any(|dir| path.starts_with(dir))
}

/// Where a pattern can match something that the sandbox would see.
fn roots(base: &Path, shown: &Shown<'_>) -> Vec<PathBuf> {
    if shown.access(base).is_some() || in_system(base) {
        return vec![base.to_owned()];
    }
    let below = shown.tops().filter(|top| top.starts_with(base));
    below.map(Path::to_owned).collect()
}
