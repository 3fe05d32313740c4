//! What a run would have needed of the filesystem: denials gathered by path, and directories in place of many files.
//!
//! Pure but for [`Yard`]. INVARIANT: nothing too wide is ever wished for: not the root, a home or where all its programs
//! keep their own, a directory above the project or one of the machine's top directories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glee_policy::Walk;
use glee_policy::hint::Place;
use glee_policy::resolved::FsAccess;

use super::content;
use super::way::{Objection, beyond, homes, is_secret_at, judge};

/// The host's directories, for what a grant would lead to and take along. Only `walk` follows a link as the last name.
pub trait Yard {
    fn is_dir(&self, path: &Path) -> bool;
    fn exists(&self, path: &Path) -> bool;
    fn walk(&self, path: &Path) -> Walk;
    /// `None`: it cannot be listed.
    fn list(&self, dir: &Path) -> Option<Vec<PathBuf>>;
    /// How a file begins. `None`: it is none, or cannot be read.
    fn head(&self, file: &Path) -> Option<Vec<u8>>;
    /// Is this a file of data that its owner has closed to everybody else?
    fn is_closed(&self, file: &Path) -> bool;
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

/// Files that are read below one directory. The names and modes of the others must do.
const READ: usize = 256;

#[derive(Debug, Default)]
pub struct Wishes {
    by_path: BTreeMap<(PathBuf, FsAccess), Wish>,
    /// Where each path leads.
    ends: BTreeMap<PathBuf, PathBuf>,
}

/// Is this more than any learning may grant?
#[must_use]
pub fn is_too_wide(path: &Path, place: Place<'_>, yard: &dyn Yard) -> bool {
    let above = |inner: &Path| inner.starts_with(path);
    let holds_home = homes(place, yard).iter().any(|home| above(home));
    let top = path.parent().is_none_or(|parent| parent == Path::new("/")) && yard.is_dir(path);
    let wide = path
        .parent()
        .is_some_and(|parent| WIDE.iter().any(|dir| parent == Path::new(dir)))
        && yard.is_dir(path);
    path == Path::new("/")
        || holds_home
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
        self.follow(place, yard);
        for access in [FsAccess::ReadWrite, FsAccess::Read] {
            while let Some(dir) = self.crowded(access, place, yard) {
                self.gather(&dir, access, yard);
            }
        }
        self.without_covered()
    }

    /// Finds out where each path leads now, without links of what the command could write.
    fn follow(&mut self, place: Place<'_>, yard: &dyn Yard) {
        let mut trees = vec![place.project.to_owned()];
        let written = self.by_path.keys().filter(|(_, access)| *access == FsAccess::ReadWrite);
        trees.extend(written.map(|(path, _)| yard.walk(path).path));
        for ((path, access), wish) in std::mem::take(&mut self.by_path) {
            let path = match beyond(&path, &trees, yard) {
                Ok(beyond) => beyond,
                // Whoever settles it lists it.
                Err(_) => path,
            };
            self.by_path.entry((path, access)).or_default().join(&wish);
        }
        let ends = self
            .by_path
            .keys()
            .map(|(path, _)| (path.clone(), yard.walk(path).path));
        self.ends = ends.collect();
    }

    /// Where it leads.
    fn end<'a>(&'a self, path: &'a Path) -> &'a Path {
        self.ends.get(path).map_or(path, PathBuf::as_path)
    }

    fn crowded(&self, access: FsAccess, place: Place<'_>, yard: &dyn Yard) -> Option<PathBuf> {
        let mut children: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for ((path, _), _) in self.by_path.iter().filter(|((_, known), _)| *known == access) {
            if let Some(parent) = path.parent() {
                children.entry(parent).or_default().push(path);
            }
        }
        let fits = |dir: &Path, inside: &[&Path]| {
            let mixed = homes(place, yard)
                .iter()
                .any(|home| MIXED.iter().any(|name| home.join(name) == dir));
            let end = yard.walk(dir).path;
            // A link in it leads where the directory does not.
            let own = inside.iter().filter(|path| self.end(path).parent() == Some(&end));
            own.count() >= MANY
                && !mixed
                && judge(dir, access, place, yard).is_ok()
                && secrets_in(&end, &BTreeSet::new(), place, yard).is_some_and(|found| found.is_empty())
        };
        let mut crowded = children.into_iter().filter(|(_, inside)| inside.len() >= MANY);
        crowded
            .find(|(dir, inside)| fits(dir, inside))
            .map(|(dir, _)| dir.to_owned())
    }

    /// Everything at or below the directory becomes the directory.
    fn gather(&mut self, dir: &Path, access: FsAccess, yard: &dyn Yard) {
        let mut whole = Wish::default();
        let end = yard.walk(dir).path;
        let ends = &self.ends;
        self.by_path.retain(|(path, known), wish| {
            let leads = ends.get(path).unwrap_or(path);
            let inside = *known == access && path.starts_with(dir) && leads.starts_with(&end);
            if inside {
                whole.join(wish);
                // The directory itself is none of its files.
                whole.files -= usize::from(path == dir);
            }
            !inside
        });
        self.by_path.insert((dir.to_owned(), access), whole);
        self.ends.insert(dir.to_owned(), end);
    }

    fn without_covered(&self) -> Vec<(PathBuf, FsAccess, Wish)> {
        let known: BTreeSet<(PathBuf, FsAccess)> = self.by_path.keys().cloned().collect();
        let covered = |path: &Path, access: FsAccess| {
            let gives = |above: &Path, given: FsAccess| {
                known.contains(&(above.to_owned(), given)) && self.end(path).starts_with(self.end(above))
            };
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

/// What may be granted at the end: what was wished for may lead elsewhere by now.
pub(super) fn still(path: &Path, access: FsAccess, place: Place<'_>, yard: &dyn Yard) -> Result<PathBuf, Objection> {
    beyond(path, &[place.project.to_owned()], yard)?;
    judge(path, access, place, yard)?;
    Ok(yard.walk(path).path)
}

/// The secrets below a directory. `None` if there is too much to look through, or it cannot be looked at.
///
/// `known`: directories that were looked through before the command could write there. What came since is its own work: a temporary
/// file is closed to everybody else, and no secret for that.
#[must_use]
pub fn secrets_in(dir: &Path, known: &BTreeSet<PathBuf>, place: Place<'_>, yard: &dyn Yard) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    let mut seen = 0;
    let mut read = 0;
    let homes = homes(place, yard);
    while let Some(dir) = todo.pop() {
        for path in yard.list(&dir)? {
            seen += 1;
            if seen > ENTRIES {
                return None;
            }
            let own = path.ancestors().any(|dir| known.contains(dir));
            if is_secret_at(&path, &homes) || (!own && yard.is_closed(&path)) {
                found.push(path);
            } else if yard.is_dir(&path) {
                todo.push(path);
            } else if !own && read < READ {
                read += 1;
                if content::holds_secret(&path, &homes, yard) {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    Some(found)
}
