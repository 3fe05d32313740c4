//! The protected names of git directories: everything by which one could make the host's git run something.
//!
//! docs/decisions/0009.

use std::fs;
use std::path::{Path, PathBuf};

use super::git;
use super::gitconfig;
use super::islands::{Collect, Island, IslandState};
use super::links;
use crate::launch::placeholders::{self, Found};
use crate::plan::PlaceholderKind::{CommonDir, GitConfig, Socket};

/// The hooks that git runs in a checkout.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "reference-transaction",
    "pre-auto-gc",
    "post-rewrite",
    "post-index-change",
    "sendemail-validate",
    "fsmonitor-watchman",
];

/// More linked worktrees than this are not told apart.
const WORKTREES: usize = 256;

impl Collect<'_> {
    /// The `.git` of a directory, if it has one.
    pub(super) fn dot_git(&mut self, root: &Path) {
        let dot_git = root.join(".git");
        match placeholders::look(&dot_git) {
            Found::Other(meta) if meta.is_dir() => self.git_dir(&dot_git, &[root.to_owned()]),
            Found::Other(_) => {
                // A pointer to a git directory elsewhere: who replaces it chooses the hooks.
                self.add(dot_git, None);
                // Modules and worktrees of a repository are found with that one.
                let apart = |dir: &PathBuf| !dir.ancestors().any(|dir| dir.ends_with(".git"));
                if let Some(dir) = git::git_dir_of(root).filter(apart) {
                    self.git_dir(&dir, &[root.to_owned()]);
                }
            }
            Found::Placeholder(_) | Found::Absent => {}
        }
    }

    /// The git directory that a tree is itself, or lies in.
    pub(super) fn surrounding(&mut self, tree: &Path) {
        for dir in tree.ancestors().filter(|dir| git::looks_like_git(dir)) {
            let beside = dir.file_name().is_some_and(|name| name == ".git");
            let worktree = dir.parent().filter(|_| beside).map(Path::to_owned);
            self.git_dir(dir, worktree.as_slice());
        }
    }

    /// A git directory and the working trees it is known to have.
    pub(super) fn git_dir(&mut self, dir: &Path, worktrees: &[PathBuf]) {
        self.arms(dir);
        self.add(dir.join("modules"), Some(Socket));
        let mut works = worktrees.to_vec();
        let mut configs = vec![dir.join("config"), dir.join("config.worktree")];
        let all = dir.join("worktrees");
        let entries = git::worktrees(dir, WORKTREES + 1);
        let is_link = fs::symlink_metadata(&all).is_ok_and(|meta| !meta.is_dir());
        if is_link || entries.len() > WORKTREES {
            self.add(all, None);
        } else {
            for (entry, work) in entries {
                self.worktree(&entry, work.as_deref());
                works.extend(work);
                configs.push(entry.join("config.worktree"));
            }
        }
        if works.is_empty() {
            works.push(dir.to_owned());
        }
        for module in git::modules(dir) {
            self.found.push(Island {
                path: module.clone(),
                state: IslandState::Present,
                pins: Vec::new(),
                reopened: true,
            });
            self.tops.push(module.clone());
            self.arms(&module);
            let files = [module.join("config"), module.join("config.worktree")];
            self.named(files, git::work_of(&module).as_slice());
        }
        self.named(configs, &works);
    }

    /// What every git directory has, a module's as well.
    fn arms(&mut self, dir: &Path) {
        self.add_dir(dir.join("hooks"), 0);
        for (name, missing) in [
            ("config", Socket),
            // Git writes a new configuration there and renames it: who has a second name for that file keeps it.
            ("config.lock", Socket),
            ("config.worktree.lock", Socket),
            ("config.worktree", GitConfig),
            ("commondir", CommonDir),
        ] {
            self.add(dir.join(name), Some(missing));
        }
    }

    /// A linked worktree's part of a git directory.
    fn worktree(&mut self, entry: &Path, work: Option<&Path>) {
        let ours = work.is_some_and(|dir| self.area.trees.iter().any(|tree| dir.starts_with(tree)));
        if !ours {
            // Another checkout's index and HEAD are none of this command's business.
            return self.add(entry.to_owned(), None);
        }
        for name in ["commondir", "gitdir"] {
            self.add(entry.join(name), None);
        }
        self.add(entry.join("config.worktree"), Some(GitConfig));
    }

    /// Hooks and configuration that lie in a tree because these files, or the caller's own, say so.
    fn named(&mut self, files: impl IntoIterator<Item = PathBuf>, works: &[PathBuf]) {
        let named = gitconfig::read(files, self.area.home);
        let own = self.area.own;
        for file in named.files.iter().chain(&own.files).filter(|file| file.is_absolute()) {
            self.add(file.clone(), Some(GitConfig));
            let mut lock = file.clone().into_os_string();
            lock.push(".lock");
            self.add(lock.into(), Some(Socket));
        }
        for hooks in named.hooks.iter().chain(&own.hooks) {
            for work in works {
                self.hooks(&work.join(hooks));
            }
        }
    }

    /// A directory of hooks that somebody has chosen.
    fn hooks(&mut self, dir: &Path) {
        // Husky's own part of its directory: what that runs lies beside it.
        let own_part = dir.file_name().is_some_and(|name| name == "_");
        let dir = dir.parent().filter(|_| own_part).unwrap_or(dir);
        match links::follow(dir).end {
            // The tree itself, which must stay writable.
            Some(end) if self.area.trees.iter().any(|tree| tree.starts_with(&end)) => {
                for name in HOOKS {
                    self.add(end.join(name), Some(Socket));
                }
            }
            Some(_) | None => self.add_dir(dir.to_owned(), 0),
        }
    }
}
