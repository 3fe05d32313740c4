//! What the ends of earlier runs have set aside, by the names that a deny rule gives it: `hooks.set-aside/pre-push` where it says
//! `hooks/pre-push`.
//!
//! Reads directories. INVARIANT (bounded): only directories on the way of a rule are listed, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_policy::set_aside;

use crate::sys::process::geteuid;

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    listed: BTreeMap<PathBuf, Option<Vec<OsString>>>,
    /// The caller's own directories that the caller cannot list. A command may have closed them over what lies in them.
    pub(crate) closed: BTreeSet<PathBuf>,
}

impl Aside {
    /// What stands for this path at or below `top`, and is there. Not the path itself.
    pub(crate) fn forms(&mut self, path: &Path, top: &Path) -> Vec<PathBuf> {
        let Some(way) = set_aside::left(path, top) else {
            return Vec::new();
        };
        let mut forms = vec![top.to_owned()];
        for part in way {
            let mut next = Vec::new();
            // The path itself has no links left in it.
            for dir in forms {
                let dir = match path.starts_with(&dir) {
                    true => Some(dir),
                    false => self.real(dir),
                };
                let Some(dir) = dir else { continue };
                let Some(names) = self.list(&dir) else { continue };
                let others = names
                    .iter()
                    .filter(|name| *name != part && set_aside::stands_for(name, part));
                next.extend(others.map(|name| dir.join(name)));
                next.push(dir.join(part));
            }
            forms = next;
        }
        forms.retain(|form| form != path && self.is_link(form).is_some());
        forms
    }

    /// The names in a directory that something was set aside under. `None` if it is not there.
    fn list(&mut self, dir: &Path) -> Option<&[OsString]> {
        if !self.listed.contains_key(dir) {
            let names = self.read(dir);
            self.listed.insert(dir.to_owned(), names);
        }
        self.listed.get(dir)?.as_deref()
    }

    fn read(&mut self, dir: &Path) -> Option<Vec<OsString>> {
        let read = || -> io::Result<Vec<OsString>> {
            let names = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.file_name()));
            names
                .filter(|name| name.as_ref().map_or(true, |name| set_aside::is_one(name)))
                .collect()
        };
        match read() {
            Ok(names) => Some(names),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(error) => {
                self.refused(dir, &error);
                Some(Vec::new())
            }
        }
    }

    /// A link may have been set aside as well, and leads where it did.
    fn real(&mut self, dir: PathBuf) -> Option<PathBuf> {
        match self.is_link(&dir)? {
            true => fs::canonicalize(dir).ok(),
            false => Some(dir),
        }
    }

    /// `None` if it is not there, as far as one can see.
    fn is_link(&mut self, path: &Path) -> Option<bool> {
        let meta = fs::symlink_metadata(path);
        let meta = meta.inspect_err(|error| self.refused(path, error));
        Some(meta.ok()?.is_symlink())
    }

    /// What could not be looked at lies in, or is, a directory that is closed.
    fn refused(&mut self, path: &Path, error: &io::Error) {
        if error.kind() == ErrorKind::PermissionDenied {
            let mut above = path.ancestors().map(|dir| (dir, fs::symlink_metadata(dir)));
            let closed = above.find_map(|(dir, meta)| Some((dir, meta.ok()?)));
            let own = closed.filter(|(_, meta)| meta.uid() == geteuid());
            self.closed.extend(own.map(|(dir, _)| dir.to_owned()));
        }
    }
}

#[cfg(test)]
#[path = "aside_tests.rs"]
mod tests;
