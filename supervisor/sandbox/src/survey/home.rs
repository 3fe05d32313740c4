//! What a home directory keeps that the host obeys: protected where it lies in a writable tree or is linked into one
//! (docs/decisions/0008).
//!
//! Reads directories and links. A home that does not lie in a tree can lead into one by links alone, so its fullest
//! directories are listed, once each, and no other name is followed unless a link is on its way.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glee_policy::protected::NAMES as PROTECTED;

use super::home_names::{INNER, NAMES};
use super::{links, secrets};

/// Entries of a home that are listed; in a larger one each name is asked for.
const LISTED: usize = 1 << 14;
/// Entries of one protected directory that are looked at for links.
const ENTRIES: usize = 1024;

/// Why a name is on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// The host reads or runs it: it stays as it is, and is not made.
    Obeyed,
    /// In one of those, for a tree that is that directory.
    Inner,
    /// Hidden if it is there, so it must only not be planted.
    Secret,
    /// The host runs what lies there, and a link in its place would open what it leads to in every later run.
    Toolchain,
}

/// A directory, and the names in it.
#[derive(Debug)]
struct Root {
    dir: PathBuf,
    names: Vec<(&'static str, Sort)>,
}

/// What is protected of these homes, of which one is the caller's `own`, and of where the caller's variables put parts of it.
pub(super) fn names(homes: &BTreeSet<&Path>, own: Option<&Path>, trees: &[PathBuf]) -> Vec<PathBuf> {
    if trees.is_empty() {
        return Vec::new();
    }
    let near = |home: &Path| {
        trees
            .iter()
            .any(|tree| tree.starts_with(home) || home.starts_with(tree))
    };
    let all: Vec<(&str, Sort)> = all().collect();
    let homes = homes.iter().filter(|home| own == Some(**home) || near(home));
    let mut roots: Vec<Root> = homes
        .map(|home| Root {
            dir: home.to_path_buf(),
            names: all.clone(),
        })
        .collect();
    roots.extend(moved(own, &all));
    let mut look = Look {
        trees,
        listed: BTreeMap::new(),
    };
    let mut found: Vec<PathBuf> = roots.iter().flat_map(|root| look.protected(root)).collect();
    // Nothing leads from here into the trees, so single files in the homes' directories will not either.
    if !found.is_empty() {
        found.extend(roots.iter().flat_map(|root| look.linked_inside(root)));
    }
    found
}

/// Is this, below a home, something that the host reads at login or runs by its name, or does it lie in or hold such a thing?
#[must_use]
pub fn is_of_a_home(inside: &Path) -> bool {
    const PROGRAMS: &[&str] = &[".local/bin", ".local/share/applications"];
    let names = [NAMES, INNER, PROTECTED, PROGRAMS].into_iter().flatten();
    let mut names = names.map(Path::new);
    names.any(|name| inside.starts_with(name) || (name.starts_with(inside) && inside != Path::new("")))
}

fn all() -> impl Iterator<Item = (&'static str, Sort)> {
    let sorted = |sort: Sort| move |name: &'static str| (name, sort);
    let obeyed = NAMES.iter().copied().map(sorted(Sort::Obeyed));
    obeyed
        .chain(INNER.iter().copied().map(sorted(Sort::Inner)))
        .chain(secrets::SECRETS.iter().copied().map(sorted(Sort::Secret)))
        .chain(toolchains().map(sorted(Sort::Toolchain)))
}

/// Parts of the caller's home that variables put elsewhere, by the way they are written and by where that leads.
fn moved(own: Option<&Path>, all: &[(&'static str, Sort)]) -> Vec<Root> {
    let parts = [
        ("XDG_CONFIG_HOME", ".config/"),
        ("XDG_DATA_HOME", ".local/share/"),
        ("ZDOTDIR", ""),
    ];
    let mut roots = Vec::new();
    for (variable, part) in parts {
        let dir = env::var_os(variable).map(PathBuf::from);
        let usual = |dir: &PathBuf| own.is_some_and(|home| home.join(part) == *dir);
        let Some(dir) = dir.filter(|dir| dir.is_absolute() && !usual(dir)) else {
            continue;
        };
        let below = all
            .iter()
            .filter_map(|(name, sort)| Some((name.strip_prefix(part)?, *sort)));
        let names: Vec<_> = below
            .filter(|(name, _)| !part.is_empty() || name.starts_with(".z"))
            .collect();
        let end = links::follow(&dir).end.filter(|end| *end != dir);
        roots.extend(end.into_iter().chain([dir]).map(|dir| Root {
            dir,
            names: names.clone(),
        }));
    }
    roots
}

/// What is at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Link,
    Directory,
    /// Anything else, or nobody has looked.
    Other,
    Nothing,
}

type Listing = BTreeMap<OsString, There>;

struct Look<'a> {
    trees: &'a [PathBuf],
    /// `None`: it could not be listed.
    listed: BTreeMap<PathBuf, Option<Listing>>,
}

impl Look<'_> {
    fn protected(&mut self, root: &Root) -> Vec<PathBuf> {
        let path = |name: &str| root.dir.join(name);
        let wanted = root.names.iter().filter(|(name, sort)| {
            self.lies_within(&root.dir, name, *sort)
                || self.is_linked(&root.dir, name) && self.leads_here(&path(name), *sort)
        });
        wanted.map(|(name, _)| path(name)).collect()
    }

    fn is_within(&self, path: &Path) -> bool {
        self.trees.iter().any(|tree| path != tree && path.starts_with(tree))
    }

    /// Is it protected because it lies in a tree, links apart?
    fn lies_within(&self, root: &Path, name: &str, sort: Sort) -> bool {
        let path = root.join(name);
        // A directory is not forbidden for the sake of a file in it; but `.config` is, for `.config/glee`.
        let near = || {
            let mut below = Path::new(name).components();
            let first = below.next().map(|name| root.join(name));
            below.next().is_none() || first.is_some_and(|dir| dir.is_dir())
        };
        self.is_within(&path)
            && match sort {
                Sort::Obeyed => true,
                Sort::Inner => !path.parent().is_some_and(|dir| self.is_within(dir)),
                Sort::Secret => path.symlink_metadata().is_err() && near(),
                Sort::Toolchain => near(),
            }
    }

    /// Does a path with links end in a tree, or pass through one?
    fn leads_here(&self, path: &Path, sort: Sort) -> bool {
        let way = links::follow(path);
        let covered = || {
            let above = path.parent().and_then(|dir| links::follow(dir).end);
            above.is_some_and(|dir| self.is_within(&dir))
        };
        let mut places = way.links.iter().chain(&way.end);
        places.any(|place| self.trees.iter().any(|tree| place.starts_with(tree))) && !(sort == Sort::Inner && covered())
    }

    /// Is there a link on the way from the root to the name, or at the name?
    fn is_linked(&mut self, root: &Path, name: &str) -> bool {
        let mut dir = root.to_owned();
        for part in Path::new(name) {
            match self.there(root, &dir, part) {
                There::Link => return true,
                There::Nothing => return false,
                There::Directory | There::Other => dir.push(part),
            }
        }
        false
    }

    fn there(&mut self, root: &Path, dir: &Path, name: &OsStr) -> There {
        let full = ["", ".config", ".local", ".local/share"]
            .iter()
            .any(|part| root.join(part) == dir);
        let known = if full { self.listing(dir) } else { None };
        if let Some(known) = known {
            return known.get(name).copied().unwrap_or(There::Nothing);
        }
        match fs::read_link(dir.join(name)) {
            Ok(_) => There::Link,
            // Not a link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => There::Other,
            Err(_) => There::Nothing,
        }
    }

    fn listing(&mut self, dir: &Path) -> Option<&Listing> {
        let list = || match list(dir) {
            Ok(listing) => (listing.len() < LISTED).then_some(listing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Listing::new()),
            Err(_) => None,
        };
        self.listed.entry(dir.to_owned()).or_insert_with(list).as_ref()
    }

    /// Links in the directories of a root, and in those below, that lead into a tree.
    fn linked_inside(&self, root: &Root) -> Vec<PathBuf> {
        let is_config = |(name, sort): &&(&str, Sort)| match sort {
            // A program that is linked into a directory of programs is somebody's work.
            Sort::Obeyed => !name.ends_with("bin"),
            Sort::Secret => true,
            Sort::Inner | Sort::Toolchain => false,
        };
        let mut found = Vec::new();
        for (name, _) in root.names.iter().filter(is_config) {
            inside(&root.dir.join(name), 1, &mut 0, &mut found);
        }
        found.retain(|link| self.leads_here(link, Sort::Obeyed));
        found
    }
}

fn list(dir: &Path) -> io::Result<Listing> {
    let entries = fs::read_dir(dir)?.take(LISTED).flatten();
    let kind = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => There::Link,
        Ok(kind) if kind.is_dir() => There::Directory,
        Ok(_) | Err(_) => There::Other,
    };
    Ok(entries.map(|entry| (entry.file_name(), kind(&entry))).collect())
}

fn inside(dir: &Path, depth: u32, entries: &mut usize, found: &mut Vec<PathBuf>) {
    for (name, there) in list(dir).unwrap_or_default() {
        *entries += 1;
        if *entries > ENTRIES {
            return;
        }
        let path = dir.join(name);
        match there {
            There::Link => found.push(path),
            There::Directory if depth > 0 => inside(&path, depth - 1, entries, found),
            There::Directory | There::Other | There::Nothing => {}
        }
    }
}

/// What the built-in `workspace` grants of a home for reading. Its own words: a policy in force may have dropped them as
/// implied by the home.
fn toolchains() -> impl Iterator<Item = &'static str> {
    let text = glee_policy::builtin::text("workspace").unwrap_or_default();
    let reading = text.split_once("\n  write:").map_or(text, |(before, _)| before);
    reading
        .lines()
        .filter_map(|line| line.split_once("path: ~/")?.1.split_once([',', '}']))
        .map(|(path, _)| path.trim())
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;
