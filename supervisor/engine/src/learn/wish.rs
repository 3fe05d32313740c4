//! What a run would have needed of the filesystem: denials gathered by path, and directories in place of many files.
//!
//! Pure but for [`Yard`]. INVARIANT: nothing too wide is ever wished for: not the root, a home or where all its programs
//! keep their own, a directory above the project or one of the machine's top directories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glee_policy::hint::Place;
use glee_policy::resolved::FsAccess;

use super::secrets::is_secret;

/// The host's directories, for secrets that a grant would take along.
pub trait Yard {
    fn is_dir(&self, path: &Path) -> bool;
    fn exists(&self, path: &Path) -> bool;
    /// `None`: it cannot be listed.
    fn list(&self, dir: &Path) -> Option<Vec<PathBuf>>;
}

/// Why somebody wanted it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    pub programs: BTreeSet<String>,
    pub count: u64,
    /// Different files that it stands for.
    pub files: usize,
}

impl Wish {
    fn join(&mut self, other: &Self) {
        self.programs.extend(other.programs.iter().cloned());
        self.count = self.count.saturating_add(other.count);
        self.files += other.files;
    }
}

/// So many of one directory are the directory.
const MANY: usize = 3;

/// Directories of a home in which every program keeps what is its own: as wide as the home itself.
const OF_ALL: &[&str] = &[
    ".config",
    ".local",
    ".local/share",
    ".local/state",
    ".cache",
    ".var",
    "snap",
];

/// Directories in which things lie that have nothing to do with each other, below the home.
const MIXED: &[&str] = &[".local/bin", "bin"];

/// Directories of the machine whose children are as wide as a top directory.
const WIDE: &[&str] = &["/usr", "/var", "/home", "/run", "/run/user", "/media", "/System"];

/// Entries that are looked at below one directory.
const ENTRIES: usize = 50_000;

#[derive(Debug, Default)]
pub struct Wishes {
    by_path: BTreeMap<(PathBuf, FsAccess), Wish>,
}

/// Is this more than any learning may grant?
#[must_use]
pub fn is_too_wide(path: &Path, place: Place<'_>, yard: &dyn Yard) -> bool {
    let above = |inner: &Path| inner.starts_with(path);
    let top = path.parent().is_none_or(|parent| parent == Path::new("/")) && yard.is_dir(path);
    let wide = path
        .parent()
        .is_some_and(|parent| WIDE.iter().any(|dir| parent == Path::new(dir)))
        && yard.is_dir(path);
    path == Path::new("/")
        || place.home.is_some_and(above)
        || (above(place.project) && path != place.project)
        || top
        || wide
        || (OF_ALL.iter().any(|name| path.ends_with(name)) && yard.is_dir(path))
}

impl Wishes {
    pub fn add(&mut self, path: PathBuf, access: FsAccess, program: &str, count: u64) {
        let wish = self.by_path.entry((path, access)).or_default();
        if !program.is_empty() {
            wish.programs.insert(program.to_owned());
        }
        wish.count = wish.count.saturating_add(count);
        wish.files = wish.files.max(1);
    }

    /// Directories where that is shorter, and nothing twice. A directory stays one.
    pub fn settle(&mut self, place: Place<'_>, yard: &dyn Yard) -> Vec<(PathBuf, FsAccess, Wish)> {
        for access in [FsAccess::ReadWrite, FsAccess::Read] {
            while let Some(dir) = self.crowded(access, place, yard) {
                self.gather(&dir, access);
            }
        }
        self.without_covered()
    }

    fn crowded(&self, access: FsAccess, place: Place<'_>, yard: &dyn Yard) -> Option<PathBuf> {
        let mut children: BTreeMap<&Path, usize> = BTreeMap::new();
        for ((path, _), _) in self.by_path.iter().filter(|((_, known), _)| *known == access) {
            if let Some(parent) = path.parent() {
                *children.entry(parent).or_default() += 1;
            }
        }
        let fits = |dir: &Path| {
            let mixed = place
                .home
                .is_some_and(|home| MIXED.iter().any(|name| home.join(name) == dir));
            !mixed
                && !is_too_wide(dir, place, yard)
                && secrets_in(dir, place, yard).is_some_and(|found| found.is_empty())
        };
        let mut crowded = children.into_iter().filter(|(_, count)| *count >= MANY);
        crowded.find(|(dir, _)| fits(dir)).map(|(dir, _)| dir.to_owned())
    }

    /// Everything at or below the directory becomes the directory.
    fn gather(&mut self, dir: &Path, access: FsAccess) {
        let mut whole = Wish::default();
        self.by_path.retain(|(path, known), wish| {
            let inside = *known == access && path.starts_with(dir);
            if inside {
                whole.join(wish);
                // The directory itself is none of its files.
                whole.files -= usize::from(path == dir);
            }
            !inside
        });
        self.by_path.insert((dir.to_owned(), access), whole);
    }

    fn without_covered(&self) -> Vec<(PathBuf, FsAccess, Wish)> {
        let known: BTreeSet<(PathBuf, FsAccess)> = self.by_path.keys().cloned().collect();
        let covered = |path: &Path, access: FsAccess| {
            let gives = |above: &Path, given: FsAccess| known.contains(&(above.to_owned(), given));
            let here = access == FsAccess::Read && gives(path, FsAccess::ReadWrite);
            let mut above = path.ancestors().skip(1);
            here || above.any(|dir| gives(dir, FsAccess::ReadWrite) || (access == FsAccess::Read && gives(dir, access)))
        };
        let kept = self
            .by_path
            .iter()
            .filter(|((path, access), _)| !covered(path, *access));
        kept.map(|((path, access), wish)| (path.clone(), *access, wish.clone()))
            .collect()
    }
}

/// The secrets below a directory. `None` if there is too much to look through, or it cannot be looked at.
#[must_use]
pub fn secrets_in(dir: &Path, place: Place<'_>, yard: &dyn Yard) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    let mut seen = 0;
    while let Some(dir) = todo.pop() {
        for path in yard.list(&dir)? {
            seen += 1;
            if seen > ENTRIES {
                return None;
            }
            if is_secret(&path, place.home) {
                found.push(path);
            } else if yard.is_dir(&path) {
                todo.push(path);
            }
        }
    }
    found.sort();
    Some(found)
}
