//! What the deny rules match on this host, now.
//!
//! INVARIANT: a directory that cannot be listed, or lies too deep to be, is hidden whole; no match is missed because it
//! could not be seen.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::grants::Cover;
use glee_policy::resolved::{DenyTarget, FsAccess};

use super::{Hidden, SurveyError, kind};
use crate::launch::placeholders;
use crate::plan::{GlobWatch, Kind, Response, Watch};

/// Directories below the pattern's own, and bytes of a path, beyond which nothing is looked for.
const DEEPEST: usize = 100;
const LONGEST: usize = 2048;

/// What is hidden now, and the directories in which more could appear.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) hidden: Vec<Hidden>,
    pub(super) globs: Vec<GlobWatch>,
    pub(super) later: Vec<Watch>,
}

pub(super) fn find(policy: &ResolvedPolicy, cover: &Cover<'_>) -> Result<Found, SurveyError> {
    let mut hidden = Vec::new();
    let mut globs = Vec::new();
    let mut later = Vec::new();
    for deny in &policy.deny {
        let clause = format!("fs.deny: {} ({})", deny.written, deny.origin);
        match &deny.target {
            DenyTarget::Literal(path) => {
                hidden.extend(literal(path.as_path(), cover));
                if cover.access(path.as_path()).is_some() || in_system(path.as_path()) {
                    let path = path.as_path().to_owned();
                    later.push(Watch {
                        path,
                        response: Response::Hide,
                        clause,
                    });
                }
            }
            DenyTarget::Glob { base, pattern } => {
                let invalid = |_| SurveyError {
                    path: base.as_path().join(pattern),
                    error: std::io::Error::from(std::io::ErrorKind::InvalidInput),
                };
                let glob = Glob::new(pattern).map_err(invalid)?;
                let mut dirs = Vec::new();
                for root in roots(base.as_path(), policy, cover) {
                    let relative = root.strip_prefix(base.as_path()).unwrap_or(Path::new(""));
                    if !relative.as_os_str().is_empty() && glob.covers(relative) {
                        hidden.extend(literal(&root, cover));
                    } else {
                        walk(&root, relative, &glob, &mut hidden, &mut dirs);
                    }
                }
                let base = base.as_path().to_owned();
                globs.push(GlobWatch {
                    base,
                    pattern: pattern.clone(),
                    dirs,
                    clause,
                });
            }
        }
    }
    hidden.sort_by_key(path_of);
    hidden.dedup();
    Ok(Found { hidden, globs, later })
}

fn path_of(hidden: &Hidden) -> PathBuf {
    match hidden {
        Hidden::Present { path, .. } => path.clone(),
        Hidden::Absent { dir, name } => dir.join(name),
    }
}

fn literal(path: &Path, cover: &Cover<'_>) -> Option<Hidden> {
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
    (cover.access(dir) == Some(FsAccess::ReadWrite)).then(|| Hidden::Absent {
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
fn roots(base: &Path, policy: &ResolvedPolicy, cover: &Cover<'_>) -> Vec<PathBuf> {
    if cover.access(base).is_some() || in_system(base) {
        return vec![base.to_owned()];
    }
    policy
        .grants
        .iter()
        .map(|g| g.path.as_path())
        .filter(|p| p.starts_with(base))
        .map(Path::to_owned)
        .collect()
}

/// Deeper than anything that people make, and soon deeper than a path can say.
fn is_too_deep(path: &Path, relative: &Path) -> bool {
    relative.components().count() > DEEPEST || path.as_os_str().len() > LONGEST
}

/// Collects the matches below `dir` and the directories that were looked into.
pub(crate) fn walk(dir: &Path, relative: &Path, glob: &Glob, hidden: &mut Vec<Hidden>, seen: &mut Vec<PathBuf>) {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotADirectory | std::io::ErrorKind::NotFound
            ) =>
        {
            return;
        }
        Err(_) => {
            hidden.push(Hidden::Present {
                path: dir.to_owned(),
                kind: Kind::Dir,
            });
            return;
        }
    };
    seen.push(dir.to_owned());
    for entry in entries {
        let Ok(entry) = entry else {
            hidden.push(Hidden::Present {
                path: dir.to_owned(),
                kind: Kind::Dir,
            });
            return;
        };
        let here = relative.join(entry.file_name());
        let is_dir = entry.file_type().is_ok_and(|t| t.is_dir());
        if glob.matches(&here) {
            let kind = if is_dir { Kind::Dir } else { Kind::File };
            hidden.push(Hidden::Present {
                path: entry.path(),
                kind,
            });
        } else if is_dir && glob.can_match_below(&here) && is_too_deep(&entry.path(), &here) {
            hidden.push(Hidden::Present {
                path: entry.path(),
                kind: Kind::Dir,
            });
        } else if is_dir && glob.can_match_below(&here) {
            walk(&entry.path(), &here, glob, hidden, seen);
        }
    }
}
