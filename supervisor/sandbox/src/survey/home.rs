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

use super::home_names::{BEGINNINGS, INNER, NAMES};
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
    /// Directories in it, and how names begin there.
    beginnings: Vec<(&'static str, &'static str)>,
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
            beginnings: BEGINNINGS.to_vec(),
        })
        .collect();
    roots.extend(moved(own, &all));
    let look = |root| Look {
        root,
        trees,
        listed: BTreeMap::new(),
    };
    let mut found: Vec<PathBuf> = roots.iter().flat_map(|root| look(root).protected()).collect();
    // Nothing leads from here into the trees, so single files in the homes' directories will not either.
    if !found.is_empty() {
        found.extend(roots.iter().flat_map(|root| look(root).linked_inside()));
    }
    found
}

/// Is this, below a home, something that the host reads at login or runs by its name, or does it lie in or hold such a thing?
#[must_use]
pub fn is_of_a_home(inside: &Path) -> bool {
    const PROGRAMS: &[&str] = &[".local/bin", ".local/share/applications"];
    let names = [NAMES, INNER, PROTECTED, PROGRAMS].into_iter().flatten();
    let mut names = names.flat_map(|group| group.split_ascii_whitespace()).map(Path::new);
    names.any(|name| inside.starts_with(name) || (name.starts_with(inside) && inside != Path::new("")))
}

fn all() -> impl Iterator<Item = (&'static str, Sort)> {
    let sorted = |sort: Sort| move |name: &'static str| (name, sort);
    let obeyed = NAMES.iter().flat_map(|group| group.split_ascii_whitespace());
    let obeyed = obeyed.map(sorted(Sort::Obeyed));
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
        ("XDG_CACHE_HOME", ".cache/"),
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
        let beginnings = BEGINNINGS.iter().filter_map(|(dir, begin)| {
            let below = match dir.strip_prefix(part.trim_end_matches('/'))? {
                rest if part.is_empty() => rest,
                "" => "",
                rest => rest.strip_prefix('/')?,
            };
            Some((below, *begin))
        });
        // Of a directory that is zsh's alone no other names are asked for.
        let beginnings: Vec<_> = beginnings
            .filter(|(dir, _)| !part.is_empty() || dir.is_empty())
            .collect();
        let end = links::follow(&dir).end.filter(|end| *end != dir);
        roots.extend(end.into_iter().chain([dir]).map(|dir| Root {
            dir,
            names: names.clone(),
            beginnings: beginnings.clone(),
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

/// The directories of a home that hold most names.
const FULL: [&str; 4] = ["", ".config", ".local", ".local/share"];

/// One root, as it is looked at.
struct Look<'a> {
    root: &'a Root,
    trees: &'a [PathBuf],
    /// By their names in the root. `None`: it could not be listed.
    listed: BTreeMap<&'static str, Option<Listing>>,
}

impl Look<'_> {
    fn protected(&mut self) -> Vec<PathBuf> {
        let root = self.root;
        let mut found = Vec::new();
        for (name, sort) in &root.names {
            let path = root.dir.join(name);
            if self.lies_within(&path, name, *sort) || self.is_linked(name) && self.leads_here(&path, *sort) {
                found.push(path);
            }
        }
        for (dir, begin) in &root.beginnings {
            found.extend(self.beginning(dir, begin));
        }
        found
    }

    /// What is there whose name begins so, and what could be compiled from it.
    fn beginning(&mut self, dir: &'static str, begin: &str) -> Vec<PathBuf> {
        let at = self.root.dir.join(dir);
        if !self.trees.iter().any(|tree| at.starts_with(tree)) {
            return Vec::new();
        }
        let listing = self.listing(dir).into_iter().flatten();
        let names = listing.filter(|(name, _)| name.as_encoded_bytes().starts_with(begin.as_bytes()));
        let compiled = |name: &OsString| {
            let mut name = name.clone();
            name.push(".zwc");
            name
        };
        names
            .flat_map(|(name, _)| [name.clone(), compiled(name)])
            .map(|name| at.join(name))
            .filter(|path| !path.as_os_str().as_encoded_bytes().ends_with(b".zwc.zwc"))
            .collect()
    }

    fn is_within(&self, path: &Path) -> bool {
        self.trees.iter().any(|tree| path != tree && path.starts_with(tree))
    }

    /// Is it protected because it lies in a tree, links apart?
    fn lies_within(&self, path: &Path, name: &str, sort: Sort) -> bool {
        // A directory is not forbidden for the sake of a file in it; but `.config` is, for `.config/glee`.
        let near = || {
            let first = name.split_once('/').map(|(first, _)| self.root.dir.join(first));
            first.is_none_or(|dir| dir.is_dir())
        };
        self.is_within(path)
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
    fn is_linked(&mut self, name: &'static str) -> bool {
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        let mut dir = "";
        for path in ends.filter_map(|end| name.get(..end)) {
            match self.there(dir, path) {
                There::Link => return true,
                There::Nothing => return false,
                There::Directory | There::Other => dir = path,
            }
        }
        false
    }

    /// What is at a path in the root, which lies in this directory of it.
    fn there(&mut self, dir: &'static str, path: &str) -> There {
        let known = if FULL.contains(&dir) { self.listing(dir) } else { None };
        if let Some(known) = known {
            let name = path.rsplit('/').next().unwrap_or(path);
            return known.get(OsStr::new(name)).copied().unwrap_or(There::Nothing);
        }
        match fs::read_link(self.root.dir.join(path)) {
            Ok(_) => There::Link,
            // Not a link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => There::Other,
            Err(_) => There::Nothing,
        }
    }

    fn listing(&mut self, dir: &'static str) -> Option<&Listing> {
        let list = || match list(&self.root.dir.join(dir)) {
            Ok(listing) => (listing.len() < LISTED).then_some(listing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Listing::new()),
            Err(_) => None,
        };
        self.listed.entry(dir).or_insert_with(list).as_ref()
    }

    /// Links in the directories of a root, and in those below, that lead into a tree.
    fn linked_inside(&self) -> Vec<PathBuf> {
        let is_config = |(name, sort): &&(&str, Sort)| match sort {
            // A program that is linked into a directory of programs is somebody's work.
            Sort::Obeyed => !name.ends_with("bin"),
            Sort::Secret => true,
            Sort::Inner | Sort::Toolchain => false,
        };
        let mut found = Vec::new();
        for (name, _) in self.root.names.iter().filter(is_config) {
            inside(&self.root.dir.join(name), 1, &mut 0, &mut found);
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
