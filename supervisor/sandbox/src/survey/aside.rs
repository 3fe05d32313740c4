//! What the ends of earlier runs have set aside, by the names that a deny rule gives it: `hooks.set-aside/pre-push` where it says
//! `hooks/pre-push`.
//!
//! Reads directories. INVARIANT (bounded): only directories on the way of a rule are listed, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_policy::set_aside;

use crate::sys::process::geteuid;

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    listed: BTreeMap<PathBuf, Vec<OsString>>,
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
            for dir in forms.into_iter().filter_map(real) {
                let names = self.list(&dir).iter();
                let others = names.filter(|name| *name != part && set_aside::stands_for(name, part));
                next.extend(others.map(|name| dir.join(name)));
                next.push(dir.join(part));
            }
            forms = next;
        }
        forms.retain(|form| form != path && form.symlink_metadata().is_ok());
        forms
    }

    fn list(&mut self, dir: &Path) -> &[OsString] {
        if !self.listed.contains_key(dir) {
            let names = self.read(dir);
            self.listed.insert(dir.to_owned(), names);
        }
        self.listed.get(dir).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, dir: &Path) -> Vec<OsString> {
        let Ok(meta) = fs::symlink_metadata(dir) else {
            return Vec::new();
        };
        let entries = fs::read_dir(dir).and_then(|entries| {
            let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
            names
                .filter(|name| name.as_ref().map_or(true, |name| set_aside::is_one(name)))
                .collect()
        });
        entries.unwrap_or_else(|error: std::io::Error| {
            if error.kind() == ErrorKind::PermissionDenied && meta.uid() == geteuid() {
                self.closed.insert(dir.to_owned());
            }
            Vec::new()
        })
    }
}

/// A link may have been set aside as well, and leads where it did.
fn real(dir: PathBuf) -> Option<PathBuf> {
    match fs::symlink_metadata(&dir).ok()?.is_symlink() {
        true => fs::canonicalize(dir).ok(),
        false => Some(dir),
    }
}

#[cfg(test)]
#[path = "aside_tests.rs"]
mod tests;
