//! Names in writable trees that the host will execute or obey later: read-only for the command, whether they exist or not.
//!
//! The list is the product's promise (docs/threat-model.md). A policy opts out by name (`unprotect:`). A link is as good as
//! what it leads to: both are protected, and what links inside a protected directory lead to. INVARIANT (bounded): no path
//! is looked at twice, and of a directory at most `ENTRIES` entries.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use glee_policy::resolved::FsAccess;

use super::git::GitDir;
use super::gitconfig::{self, Named};
use super::links;
use crate::launch::placeholders::{self, Found};
use crate::plan::PlaceholderKind::{self, CommonDir, GitConfig, Shut, Socket};
use crate::sys::path::is_writable;

/// At the top of every writable tree and of every submodule in it, and on the way to where the caller stands in one.
pub(super) const NAMES: &[&str] = glee_policy::protected::NAMES;

/// What programs read in those of them that are directories, for one that is a link to the whole tree.
const INSIDE: &[&str] = &[
    "settings.json",
    "settings.local.json",
    "tasks.json",
    "launch.json",
    "mcp.json",
    "config.toml",
    "config.yml",
    "workspace.xml",
    "commands",
    "agents",
];

/// Entries of one protected directory, and of what lies in it, that are looked at.
const ENTRIES: usize = 1024;
/// Submodules (those of submodules included) and linked worktrees in all.
const CHECKOUTS: usize = 256;

/// One protected name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Island {
    pub path: PathBuf,
    pub state: IslandState,
    /// Directories between the top of the writable tree and the name, topmost first: not to be renamed away.
    pub pins: Vec<PathBuf>,
    /// Writable again inside a protected directory (a submodule's own git directory).
    pub reopened: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IslandState {
    Present,
    Missing(PlaceholderKind),
}

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area<'a> {
    /// Writable trees.
    pub(super) trees: &'a [PathBuf],
    /// Below them: where the caller stands, the project, and what lies above the two. Shells, editors and agents look there next.
    pub(super) here: &'a [PathBuf],
    pub(super) git: &'a [GitDir],
    /// Directories with a `.git` that a look into the trees has found.
    pub(super) nested: &'a [PathBuf],
    /// Git directories without a working tree, found by the same look.
    pub(super) bare: &'a [PathBuf],
    pub(super) home: Option<&'a Path>,
    /// The caller's own git configuration.
    pub(super) own: &'a Named,
    /// What is protected besides, there or not.
    pub(super) more: &'a [PathBuf],
    /// Links that stay as they are, whatever they lead to, and directories into which nobody could look: an earlier run may have
    /// closed them over what it made.
    pub(super) held: &'a [PathBuf],
    /// This program's own configuration, which may lie elsewhere and be made of links into the trees.
    pub(super) config: Option<&'a Path>,
    /// Of `more`, what no policy opts out of.
    pub(super) state: Option<&'a Path>,
    pub(super) unprotected: &'a BTreeSet<String>,
}

pub(super) struct Collect<'a> {
    pub(super) area: Area<'a>,
    found: Vec<Island>,
    /// Their paths: of many repositories there are thousands.
    known: HashSet<PathBuf>,
    /// Where the command can write: the trees, git directories outside, and modules.
    pub(super) tops: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
    /// `area.state`, and where it leads.
    state: Vec<PathBuf>,
    /// Git directories that have been looked at.
    pub(super) repositories: BTreeSet<PathBuf>,
    /// Those of them that the command cannot write, of whose checkouts some may lie in a tree.
    pub(super) heard: BTreeSet<PathBuf>,
    checkouts: usize,
}

pub(super) fn find(area: Area<'_>) -> Vec<Island> {
    let outside = area.git.iter().filter(|d| d.outside && d.access == FsAccess::ReadWrite);
    let outside: Vec<PathBuf> = outside.map(|dir| dir.path.clone()).collect();
    let mut collect = Collect {
        area,
        found: Vec::new(),
        known: HashSet::new(),
        tops: area.trees.iter().chain(&outside).cloned().collect(),
        seen: BTreeSet::new(),
        state: area
            .state
            .into_iter()
            .flat_map(|dir| [Some(dir.to_owned()), links::follow(dir).end])
            .flatten()
            .collect(),
        repositories: BTreeSet::new(),
        heard: BTreeSet::new(),
        checkouts: 0,
    };
    for tree in area.trees {
        collect.names(tree);
        collect.tree(tree, 0);
        collect.surrounding(tree);
        collect.above(tree);
    }
    for dir in area.here {
        collect.names(dir);
    }
    for dir in area.nested.iter().chain(area.here) {
        collect.dot_git(dir);
    }
    let apart = |dir: &&PathBuf| !outside.iter().any(|known| dir.starts_with(known));
    for dir in area.bare.iter().filter(apart) {
        collect.git_dir(dir, &[]);
    }
    for dir in &outside {
        collect.outside(dir);
    }
    if let Some(config) = area.config.filter(|_| !collect.tops.is_empty()) {
        collect.add_dir(config.to_owned(), 2);
    }
    for path in area.more {
        collect.add(path.clone(), Some(Shut));
    }
    // After the names of a home: what is missing of them is held by something that `git add` does not see.
    collect.own();
    for link in area.held {
        collect.protect(link.clone(), None);
    }
    collect.found.sort_by(|a, b| a.path.cmp(&b.path));
    collect.found.dedup_by(|a, b| a.path == b.path);
    without_covered(collect.found)
}

/// What lies in a protected directory needs no protection of its own. `sorted` by path.
pub(super) fn without_covered(sorted: Vec<Island>) -> Vec<Island> {
    let mut cover: Option<PathBuf> = None;
    let mut kept = Vec::new();
    for island in sorted {
        if island.reopened {
            cover = None;
        } else if cover.as_ref().is_some_and(|dir| island.path.starts_with(dir)) {
            continue;
        } else {
            cover = Some(island.path.clone());
        }
        kept.push(island);
    }
    kept
}

impl Collect<'_> {
    fn top_of(&self, path: &Path) -> Option<&Path> {
        let above = self.tops.iter().filter(|top| path.starts_with(top));
        above.max_by_key(|top| top.as_os_str().len()).map(PathBuf::as_path)
    }

    fn is_unprotected(&self, path: &Path) -> bool {
        if self.state.iter().any(|state| state.starts_with(path)) {
            return false;
        }
        let below = self.top_of(path).and_then(|top| path.strip_prefix(top).ok());
        let last = path.file_name().map(Path::new);
        [below, last]
            .into_iter()
            .flatten()
            .any(|name| self.area.unprotected.contains(name.to_string_lossy().as_ref()))
    }

    /// Protects a name and whatever it leads to. `missing`: what to put there if there is nothing.
    pub(super) fn add(&mut self, path: PathBuf, missing: Option<PlaceholderKind>) {
        if self.is_unprotected(&path) || !self.seen.insert(path.clone()) {
            return;
        }
        let way = links::follow(&path);
        for link in &way.links {
            // Who can replace a link chooses where it leads.
            self.protect(link.clone(), None);
        }
        let Some(end) = way.end else { return };
        let missing = if way.links.is_empty() {
            missing
        } else {
            missing.or(Some(Socket))
        };
        if !way.links.is_empty() && self.area.trees.iter().any(|tree| tree.starts_with(&end)) {
            // A link to the whole tree, which must stay writable.
            let known = path
                .file_name()
                .is_some_and(|name| NAMES.iter().any(|known| name == *known));
            for name in INSIDE.iter().filter(|_| known) {
                self.protect(end.join(name), Some(Socket));
            }
            return;
        }
        self.protect(end, missing);
    }

    /// Protects the links on the way to a name, and nothing that it leads to.
    pub(super) fn add_way(&mut self, path: &Path) {
        if !self.is_unprotected(path) {
            for link in links::follow(path).links {
                self.protect(link, None);
            }
        }
    }

    /// The same, and what links in the directory (and `depth` levels below) lead to.
    pub(super) fn add_dir(&mut self, path: PathBuf, depth: u32) {
        if self.is_unprotected(&path) {
            return;
        }
        self.add(path.clone(), Some(Socket));
        if let Some(end) = links::follow(&path).end
            && !self.area.trees.iter().any(|tree| tree.starts_with(&end))
        {
            self.inside(&end, depth, &mut 0);
        }
    }

    fn inside(&mut self, dir: &Path, depth: u32, entries: &mut usize) {
        if !fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
            return;
        }
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            *entries += 1;
            if *entries > ENTRIES {
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth > 0 {
                self.inside(&entry.path(), depth - 1, entries);
            } else if kind.is_symlink() && self.seen.insert(entry.path()) {
                let way = links::follow(&entry.path());
                for link in way.links.into_iter().filter(|link| !link.starts_with(dir)) {
                    self.protect(link, None);
                }
                let Some(end) = way.end else { continue };
                if self.area.trees.iter().any(|tree| tree.starts_with(&end)) || end.starts_with(dir) {
                    continue;
                }
                self.protect(end.clone(), Some(Socket));
                if depth > 0 {
                    self.inside(&end, depth - 1, entries);
                }
            }
        }
    }

    /// Protects a path that has no link above it.
    fn protect(&mut self, path: PathBuf, missing: Option<PlaceholderKind>) {
        let Some(top) = self.top_of(&path).map(Path::to_owned) else {
            return;
        };
        // A grant of exactly this path is somebody's own word.
        if path == top || self.is_unprotected(&path) || self.known.contains(&path) {
            return;
        }
        let state = match (placeholders::look(&path), missing) {
            // Another run's placeholder will go with that run: this one must hold it too.
            (Found::Placeholder(Socket), Some(kind @ (Socket | Shut))) => {
                IslandState::Missing(self.socket_at(&path, kind))
            }
            (Found::Placeholder(kind), _) => IslandState::Missing(kind),
            (Found::Other(_), _) => IslandState::Present,
            (Found::Absent, None) => return,
            (Found::Absent, Some(kind)) => match path.parent().map(|dir| (dir, fs::symlink_metadata(dir))) {
                Some((dir, Ok(meta))) if meta.is_dir() && is_writable(dir) => {
                    IslandState::Missing(self.socket_at(&path, kind))
                }
                // The caller cannot make a placeholder there, but the command, with the same owner, could help itself. What is no
                // directory may be another run's placeholder, which this one must hold too.
                Some((dir, Ok(meta))) => {
                    let missing = (!meta.is_dir()).then(|| of_directory(kind));
                    return self.protect(dir.to_owned(), missing);
                }
                // The first name on the way that is missing.
                Some((dir, Err(_))) => return self.protect(dir.to_owned(), Some(of_directory(kind))),
                None => return,
            },
        };
        let above = path.ancestors().skip(1);
        let pins: Vec<PathBuf> = above
            .take_while(|dir| *dir != top && dir.starts_with(&top))
            .map(Path::to_owned)
            .collect();
        self.push(Island {
            path,
            state,
            pins: pins.into_iter().rev().collect(),
            reopened: false,
        });
    }

    pub(super) fn push(&mut self, island: Island) {
        self.known.insert(island.path.clone());
        self.found.push(island);
    }

    /// What a socket becomes in the caller's home.
    fn socket_at(&self, path: &Path, kind: PlaceholderKind) -> PlaceholderKind {
        match kind {
            Socket if self.area.home == path.parent() => Shut,
            Socket | Shut | CommonDir | GitConfig => kind,
        }
    }

    pub(super) fn names(&mut self, root: &Path) {
        for name in NAMES {
            self.add_dir(root.join(name), 2);
        }
    }

    /// The top of a working tree below ours. False: there were too many.
    pub(super) fn checkout(&mut self, root: &Path) -> bool {
        self.checkouts += 1;
        if self.checkouts <= CHECKOUTS {
            self.names(root);
        }
        self.checkouts <= CHECKOUTS
    }

    fn tree(&mut self, root: &Path, depth: u32) {
        self.dot_git(root);
        if depth > 0 {
            // A submodule that is not checked out yet must not get a git directory of the command's making.
            let dot_git = root.join(".git");
            match placeholders::look(&dot_git) {
                Found::Absent | Found::Placeholder(_) => self.add(dot_git, Some(Socket)),
                Found::Other(_) => {}
            }
        }
        if depth < 4 {
            for path in submodules(root) {
                if self.checkout(&path) {
                    self.tree(&path, depth + 1);
                }
            }
        }
    }
}

/// What takes the place of a directory in which something of this kind is missing.
fn of_directory(kind: PlaceholderKind) -> PlaceholderKind {
    match kind {
        Shut => Shut,
        Socket | CommonDir | GitConfig => Socket,
    }
}

/// Directories that `.gitmodules` names, if they lie in the tree and no link leads there.
pub(super) fn submodules(root: &Path) -> Vec<PathBuf> {
    let named = |setting: &gitconfig::Setting| setting.section == "submodule" && setting.key == "path";
    let plain = |path: &PathBuf| {
        path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
    };
    gitconfig::settings(&root.join(".gitmodules"))
        .into_iter()
        .filter(named)
        .map(|setting| PathBuf::from(std::ffi::OsStr::from_bytes(&setting.value)))
        .filter(plain)
        .map(|path| root.join(path))
        .filter(|path| links::follow(path).links.is_empty() && path.is_dir())
        .take(CHECKOUTS)
        .collect()
}

#[cfg(test)]
#[path = "islands_tests.rs"]
mod tests;
