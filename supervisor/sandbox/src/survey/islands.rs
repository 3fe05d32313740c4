//! Names in writable trees that the host will execute or obey later: read-only for the command, whether they exist or not.
//!
//! The list is the product's promise (docs/threat-model.md). A policy opts out by name (`unprotect:`).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use glee_policy::resolved::FsAccess;

use super::git::{self, GitDir};
use crate::launch::placeholders::{self, Found};
use crate::plan::PlaceholderKind;
use crate::sys::path::is_writable;

/// At the top of every writable tree and of every submodule in it.
const NAMES: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".envrc",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
];

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

struct Collect<'a> {
    found: Vec<Island>,
    /// Writable trees.
    trees: &'a [PathBuf],
    unprotected: &'a BTreeSet<String>,
}

/// `nested` are directories with a `.git` that a look into the trees has found.
pub(super) fn find(
    trees: &[PathBuf],
    git: &[GitDir],
    nested: &[PathBuf],
    unprotected: &BTreeSet<String>,
) -> Vec<Island> {
    let mut collect = Collect {
        found: Vec::new(),
        trees,
        unprotected,
    };
    for tree in trees {
        collect.tree(tree, tree, 0);
        for dir in nested.iter().filter(|dir| dir.starts_with(tree) && *dir != tree) {
            collect.dot_git(tree, dir);
        }
    }
    for dir in git
        .iter()
        .filter(|dir| dir.outside && dir.access == FsAccess::ReadWrite)
    {
        collect.git_dir(&dir.path, &dir.path, None);
    }
    collect.found.sort_by(|a, b| a.path.cmp(&b.path));
    collect.found.dedup_by(|a, b| a.path == b.path);
    collect.found
}

impl Collect<'_> {
    /// Protects `path` in the writable tree `top`.
    fn add(&mut self, top: &Path, path: PathBuf, missing: Option<PlaceholderKind>) {
        let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        let last = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if self.unprotected.contains(&name) || self.unprotected.contains(&last) {
            return;
        }
        if self.found.iter().any(|known| known.path == path) {
            return;
        }
        if let Some(target) = link_target(&path).filter(|target| target.starts_with(top) && target != top) {
            // Who can change what a link leads to need not change the link.
            self.add(top, target, Some(PlaceholderKind::Socket));
        }
        let state = match (placeholders::look(&path), missing) {
            // Another run's placeholder will go with that run: this one must hold it too.
            (Found::Placeholder(kind), Some(_)) => IslandState::Missing(kind),
            (Found::Placeholder(_) | Found::Other(_), _) => IslandState::Present,
            (Found::Absent, Some(kind)) => match path.parent().filter(|dir| dir.is_dir()) {
                Some(dir) if is_writable(dir) => IslandState::Missing(kind),
                // The caller cannot make a placeholder there, but the command, with the same owner, could help itself.
                Some(dir) if dir != top => {
                    let dir = dir.to_owned();
                    return self.add(top, dir, None);
                }
                Some(_) | None => return,
            },
            (Found::Absent, None) => return,
        };
        let pins: Vec<PathBuf> = path
            .ancestors()
            .skip(1)
            .take_while(|dir| *dir != top && dir.starts_with(top))
            .map(Path::to_owned)
            .collect();
        let pins = pins.into_iter().rev().collect();
        self.found.push(Island {
            path,
            state,
            pins,
            reopened: false,
        });
    }

    fn tree(&mut self, top: &Path, root: &Path, depth: u32) {
        use PlaceholderKind::Socket;
        for name in NAMES {
            self.add(top, root.join(name), Some(Socket));
        }
        self.add(top, root.join(".glee"), Some(Socket));
        self.dot_git(top, root);
        if depth > 0 {
            // A submodule that is not checked out yet must not get a git directory of the command's making.
            let dot_git = root.join(".git");
            match placeholders::look(&dot_git) {
                Found::Absent | Found::Placeholder(_) => self.add(top, dot_git, Some(Socket)),
                Found::Other(_) => {}
            }
        }
        if depth < 4 {
            for path in git::config_values(&root.join(".gitmodules"), "path") {
                let inside = root.join(path);
                if inside.starts_with(root) && fs::symlink_metadata(&inside).is_ok_and(|m| m.is_dir()) {
                    self.tree(top, &inside, depth + 1);
                }
            }
        }
    }

    /// The `.git` of a directory, if it has one.
    fn dot_git(&mut self, top: &Path, root: &Path) {
        let dot_git = root.join(".git");
        match placeholders::look(&dot_git) {
            Found::Other(meta) if meta.is_dir() => self.git_dir(top, &dot_git, Some(root)),
            // A pointer to a git directory elsewhere: who replaces it chooses the hooks.
            Found::Other(_) => self.add(top, dot_git, None),
            Found::Placeholder(_) | Found::Absent => {}
        }
    }

    /// A linked worktree's part of a git directory.
    fn worktree(&mut self, top: &Path, entry: &Path) {
        let points_to = fs::read(entry.join("gitdir")).unwrap_or_default();
        let working_tree = Path::new(std::ffi::OsStr::from_bytes(points_to.trim_ascii()))
            .parent()
            .map(Path::to_owned);
        let ours = working_tree.is_some_and(|dir| {
            let dir = fs::canonicalize(entry.join(dir)).unwrap_or_default();
            self.trees.iter().any(|tree| dir.starts_with(tree))
        });
        if !ours {
            // Another checkout's index and HEAD are none of this command's business.
            return self.add(top, entry.to_owned(), None);
        }
        for name in ["commondir", "gitdir"] {
            self.add(top, entry.join(name), None);
        }
        self.add(top, entry.join("config.worktree"), Some(PlaceholderKind::GitConfig));
    }

    /// A git directory: everything by which it could make the host run something.
    fn git_dir(&mut self, top: &Path, dir: &Path, worktree: Option<&Path>) {
        use PlaceholderKind::{CommonDir, GitConfig, Socket};
        for (name, missing) in [
            ("hooks", Some(Socket)),
            ("config", Some(Socket)),
            ("config.worktree", Some(GitConfig)),
            ("commondir", Some(CommonDir)),
            ("modules", Some(Socket)),
        ] {
            self.add(top, dir.join(name), missing);
        }
        for entry in fs::read_dir(dir.join("worktrees")).into_iter().flatten().flatten() {
            self.worktree(top, &entry.path());
        }
        for module in git::modules(dir) {
            self.found.push(Island {
                path: module.clone(),
                state: IslandState::Present,
                pins: Vec::new(),
                reopened: true,
            });
            for (name, missing) in [
                ("hooks", Some(Socket)),
                ("config", Some(Socket)),
                ("config.worktree", Some(GitConfig)),
                ("commondir", Some(CommonDir)),
            ] {
                self.add(&module, module.join(name), missing);
            }
        }
        // Hooks and configuration that lie in the working tree because the configuration says so.
        let config = dir.join("config");
        let hooks = git::config_values(&config, "hooksPath")
            .into_iter()
            .map(|p| worktree.unwrap_or(dir).join(p));
        let includes = git::config_values(&config, "path").into_iter().map(|p| dir.join(p));
        let named: Vec<PathBuf> = hooks.chain(includes).filter_map(|p| fs::canonicalize(p).ok()).collect();
        for path in named {
            if path.starts_with(top) && path != top && worktree != Some(path.as_path()) {
                self.add(top, path, None);
            }
        }
    }
}

/// Where a link leads, one step, as a path without `.` and `..`.
fn link_target(path: &Path) -> Option<PathBuf> {
    let target = fs::read_link(path).ok()?;
    let mut full = PathBuf::new();
    for part in path.parent()?.join(target).components() {
        match part {
            Component::ParentDir => drop(full.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => full.push(part),
        }
    }
    Some(full)
}
