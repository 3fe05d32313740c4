//! What the deny rules match on this host, now.
//!
//! A literal path has no links left in it; a pattern is looked for through links as well (`search`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::resolved::{DenyTarget, FsAccess};

use super::search::{Looked, Search};
use super::shown::Shown;
use super::{Hidden, SurveyError, kind};
use crate::launch::placeholders;
use crate::plan::{GlobWatch, Response, Watch};

/// What is hidden now, and the directories in which more could appear.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) hidden: Vec<Hidden>,
    pub(super) globs: Vec<GlobWatch>,
    pub(super) later: Vec<Watch>,
    /// Files that stand where a denied path has a directory: nothing lies below them as long as they are files.
    pub(super) in_the_way: Vec<PathBuf>,
}

/// `places`: where the command works, which no link of a pattern hides.
pub(super) fn find(policy: &ResolvedPolicy, shown: &Shown<'_>, places: [&Path; 2]) -> Result<Found, SurveyError> {
    let granted: Vec<PathBuf> = shown.tops().chain(places).map(Path::to_owned).collect();
    let mut hidden = Vec::new();
    let mut globs = Vec::new();
    let mut later = Vec::new();
    let mut in_the_way = Vec::new();
    for deny in &policy.deny {
        let clause = format!("fs.deny: {} ({})", deny.written, deny.origin);
        match &deny.target {
            DenyTarget::Literal(path) => {
                match literal(path.as_path(), shown) {
                    Some(Hidden::Absent { dir, .. }) if !dir.is_dir() => in_the_way.push(dir),
                    found => hidden.extend(found),
                }
                if shown.access(path.as_path()).is_some() || in_system(path.as_path()) {
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
                let mut looked = Looked::default();
                let search = Search {
                    glob: &glob,
                    base: base.as_path(),
                    granted: &granted,
                };
                for root in roots(base.as_path(), shown) {
                    let relative = root.strip_prefix(base.as_path()).unwrap_or(Path::new(""));
                    if !relative.as_os_str().is_empty() && glob.covers(relative) {
                        hidden.extend(literal(&root, shown));
                    } else {
                        search.look(&root, relative, &mut looked);
                    }
                }
                hidden.append(&mut looked.hidden);
                globs.push(GlobWatch {
                    base: base.as_path().to_owned(),
                    pattern: pattern.clone(),
                    dirs: looked.dirs,
                    aliases: looked.aliases,
                    granted: granted.clone(),
                    clause,
                });
            }
        }
    }
    hidden.sort_by_key(path_of);
    hidden.dedup();
    Ok(Found {
        hidden,
        globs,
        later,
        in_the_way,
    })
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
    while is_missing(dir) {
        name = dir.file_name()?.to_owned();
        dir = dir.parent()?;
    }
    (shown.access(dir) == Some(FsAccess::ReadWrite)).then(|| Hidden::Absent {
        dir: dir.to_owned(),
        name,
    })
}

/// Another run's placeholder goes with that run: this one must hold it too.
fn is_missing(dir: &Path) -> bool {
    match fs::symlink_metadata(dir) {
        Ok(meta) => !meta.is_dir() && matches!(placeholders::look(dir), placeholders::Found::Placeholder(_)),
        Err(_) => true,
    }
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
