//! What the deny rules match on this host, now.
//!
//! A literal path has no links left in it; a pattern is looked for through links as well (`search`). What a rule hides is hidden
//! under the name as well to which the end of a run has moved it (`aside`).
//! INVARIANT: a link through which something is hidden cannot be replaced by the command, nor a directory above it: the next run
//! hides the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::origin::Source;
use glee_policy::resolved::{DenyTarget, FsAccess};
use glee_policy::set_aside;

use super::aside::Aside;
use super::search::{Looked, Search, parts_of};
use super::shown::Shown;
use super::{Hidden, SurveyError, kind, links};
use crate::launch::placeholders;
use crate::plan::{GlobWatch, Kind, Lead, Response, Watch};

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
    let mut held: BTreeMap<PathBuf, String> = BTreeMap::new();
    for deny in &policy.deny {
        let clause = format!("fs.deny: {} ({})", deny.written, deny.origin);
        // What a built-in profile names no end of a run sets aside: those rules are many, and each start would pay for them.
        let aside = (!matches!(deny.origin.source, Source::Builtin(_))).then_some(&mut found.aside);
        let is_link_free = |way: &&PathBuf| way.as_path() == deny.target.place().as_path();
        let is_writable = |way: &Path| shown.at(way).is_some_and(|(access, _)| access == FsAccess::ReadWrite);
        // Where nothing leads by a link, and no command can change that.
        let may_turn = |way: &&PathBuf| !is_link_free(way) || is_writable(way);
        for way in deny.ways.iter().filter(|way| !is_link_free(way)) {
            held.extend(parts_of(&links::follow(way)).map(|part| (part, clause.clone())));
        }
        match &deny.target {
            DenyTarget::Literal(path) => {
                let path = path.as_path();
                match literal(path, shown) {
                    Some(Hidden::Absent { dir, .. }) if !dir.is_dir() => found.in_the_way.push(dir),
                    now => found.hidden.extend(now),
                }
                let watch = |path: &Path| Watch {
                    path: path.to_owned(),
                    response: Response::Hide,
                    clause: clause.clone(),
                };
                let is_shown = |path: &Path| shown.access(path).is_some() || in_system(path);
                if is_shown(path) {
                    found.later.push(watch(path));
                }
                let ways = deny.ways.iter().filter(may_turn);
                let ways = ways.filter(|way| is_shown(way) || is_shown(path));
                found.ways.extend(ways.map(|way| watch(way)));
                for form in forms(path, shown, aside) {
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
                let search = Search {
                    glob: &glob,
                    base,
                    granted: &granted,
                };
                let roots = roots(base, shown, aside);
                let looked = search_all(&search, roots, shown, &mut found.hidden);
                held.extend(looked.held.into_iter().map(|part| (part, clause.clone())));
                let as_written = deny.ways.iter().filter(may_turn);
                let as_written = as_written.filter(|way| shown.access(way).is_some());
                let as_written = as_written.map(|way| Lead {
                    path: way.clone(),
                    relative: PathBuf::new(),
                });
                found.globs.push(GlobWatch {
                    base: base.to_owned(),
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

fn search_all(search: &Search<'_>, roots: Vec<PathBuf>, shown: &Shown<'_>, hidden: &mut Vec<Hidden>) -> Looked {
    let mut looked = Looked::default();
    for root in roots {
        let relative = set_aside::below(&root, search.base).unwrap_or(Path::new(""));
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
fn forms(path: &Path, shown: &Shown<'_>, aside: Option<&mut Aside>) -> Vec<PathBuf> {
    let Some(aside) = aside else {
        return Vec::new();
    };
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
fn roots(base: &Path, shown: &Shown<'_>, aside: Option<&mut Aside>) -> Vec<PathBuf> {
    let mut roots = forms(base, shown, aside);
    if shown.access(base).is_some() || in_system(base) {
        roots.push(base.to_owned());
    } else {
        roots.extend(shown.tops().filter(|top| top.starts_with(base)).map(Path::to_owned));
    }
    roots
}
