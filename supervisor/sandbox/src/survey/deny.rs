//! What the deny rules match on this host, now.
//!
//! A literal path has no links left in it; a pattern is looked for through links as well (`search`). What a rule hides is hidden
//! under the name as well to which the end of a run has moved it (`aside`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::resolved::{DenyTarget, FsAccess};
use glee_policy::set_aside;

use super::aside::Aside;
use super::search::{Looked, Search};
use super::shown::Shown;
use super::{Hidden, SurveyError, kind};
use crate::launch::placeholders;
use crate::plan::{GlobWatch, Kind, Response, Watch};

/// What is hidden now, and the directories in which more could appear.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) hidden: Vec<Hidden>,
    pub(super) globs: Vec<GlobWatch>,
    pub(super) later: Vec<Watch>,
    /// Files that stand where a denied path has a directory: nothing lies below them as long as they are files.
    pub(super) in_the_way: Vec<PathBuf>,
    pub(super) aside: Aside,
}

impl Found {
    /// One path, now and when the host makes or replaces it.
    pub(super) fn hide(&mut self, path: PathBuf, clause: &str) {
        if let Ok(meta) = fs::symlink_metadata(&path) {
            let (path, kind) = (path.clone(), kind(&meta));
            self.hidden.push(Hidden::Present { path, kind });
        }
        self.later.push(Watch {
            path,
            response: Response::Hide,
            clause: clause.to_owned(),
        });
    }

    /// What no rule can be about in a directory that nobody can list, nobody sees.
    pub(super) fn hide_closed(&mut self) {
        for path in std::mem::take(&mut self.aside.closed) {
            self.hidden.push(Hidden::Present { path, kind: Kind::Dir });
        }
    }
}

/// `places`: where the command works, which no link of a pattern hides.
pub(super) fn find(policy: &ResolvedPolicy, shown: &Shown<'_>, places: [&Path; 2]) -> Result<Found, SurveyError> {
    let granted: Vec<PathBuf> = shown.tops().chain(places).map(Path::to_owned).collect();
    let mut found = Found::default();
    for deny in &policy.deny {
        let clause = format!("fs.deny: {} ({})", deny.written, deny.origin);
        match &deny.target {
            DenyTarget::Literal(path) => {
                let path = path.as_path();
                match literal(path, shown) {
                    Some(Hidden::Absent { dir, .. }) if !dir.is_dir() => found.in_the_way.push(dir),
                    now => found.hidden.extend(now),
                }
                if shown.access(path).is_some() || in_system(path) {
                    let path = path.to_owned();
                    found.later.push(Watch {
                        path,
                        response: Response::Hide,
                        clause: clause.clone(),
                    });
                }
                for form in forms(path, shown, &mut found.aside) {
                    for path in [behind(&form, &granted), Some(form)].into_iter().flatten() {
                        found.hide(path, &clause);
                    }
                }
            }
            DenyTarget::Glob { base, pattern } => {
                let base = base.as_path();
                let invalid = |_| SurveyError {
                    path: base.join(pattern),
                    error: std::io::Error::from(std::io::ErrorKind::InvalidInput),
                };
                let glob = Glob::new(pattern).map_err(invalid)?;
                let mut looked = Looked::default();
                let search = Search {
                    glob: &glob,
                    base,
                    granted: &granted,
                };
                for root in roots(base, shown, &mut found.aside) {
                    let relative = set_aside::below(&root, base).unwrap_or(Path::new(""));
                    if !relative.as_os_str().is_empty() && glob.covers(relative) {
                        found.hidden.extend(literal(&root, shown));
                    } else {
                        search.look(&root, relative, &mut looked);
                    }
                }
                found.hidden.append(&mut looked.hidden);
                found.globs.push(GlobWatch {
                    base: base.to_owned(),
                    pattern: pattern.clone(),
                    dirs: looked.dirs,
                    aliases: looked.aliases,
                    granted: granted.clone(),
                    clause,
                });
            }
        }
    }
    found.hidden.sort_by_key(path_of);
    found.hidden.dedup();
    Ok(found)
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

/// What stands for a path in what is shown, and for what lies above that: the top of a tree as well.
fn forms(path: &Path, shown: &Shown<'_>, aside: &mut Aside) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = shown.tops().flat_map(|top| aside.forms(path, top)).collect();
    let within = |top: &&Path| !top.starts_with(path) && set_aside::below(top, path).is_some();
    all.extend(shown.tops().filter(within).map(Path::to_owned));
    all.sort();
    all.dedup();
    all
}

/// What a link leads to that was set aside, if it is in what is granted with nothing in it that must stay.
fn behind(link: &Path, granted: &[PathBuf]) -> Option<PathBuf> {
    fs::read_link(link).ok()?;
    let path = fs::canonicalize(link).ok()?;
    let within = granted.iter().any(|root| path.starts_with(root) && path != *root);
    let holds = granted.iter().any(|root| root.starts_with(&path));
    (within && !holds).then_some(path)
}

/// Where a pattern can match something that the sandbox would see.
fn roots(base: &Path, shown: &Shown<'_>, aside: &mut Aside) -> Vec<PathBuf> {
    let mut roots = forms(base, shown, aside);
    if shown.access(base).is_some() || in_system(base) {
        roots.push(base.to_owned());
    } else {
        roots.extend(shown.tops().filter(|top| top.starts_with(base)).map(Path::to_owned));
    }
    roots
}
