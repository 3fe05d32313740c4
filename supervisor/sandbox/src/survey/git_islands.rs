//! The protected names of git directories: everything by which one could make the host's git run something.
//!
//! docs/decisions/0009.

use std::fs;
use std::os::unix::fs::FileTypeExt;
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

/// What every checkout of a repository needs of its common directory. The rest there is the first checkout's own.
const SHARED: &[&str] = &[
    "objects",
    "refs",
    "logs",
    "worktrees",
    "packed-refs",
    "packed-refs.new",
    "shallow",
    "info",
    "rr-cache",
    "lfs",
    "annex",
    "svn",
    "gc.pid",
    "gc.log",
];

/// The repository that a git directory belongs to: a worktree's and a module's lie in one.
fn whole(dir: PathBuf) -> PathBuf {
    let shared = git::common_dir_of(&dir).unwrap_or(dir);
    let above = shared.ancestors().find(|dir| dir.ends_with(".git")).map(Path::to_owned);
    above.unwrap_or(shared)
}

/// More linked worktrees than this are not told apart.
const WORKTREES: usize = 256;

impl Collect<'_> {
    /// The `.git` of a directory, if it has one.
    pub(super) fn dot_git(&mut self, root: &Path) {
        let dot_git = root.join(".git");
        match placeholders::look(&dot_git) {
            Found::Other(meta) if meta.is_dir() => self.git_dir(&dot_git, &[root.to_owned()]),
            Found::Other(_) => {
                // A pointer to a git directory elsewhere: who replaces it, or a link on the way it names, chooses the hooks. Of a
                // directory that a link leads to the rest stays writable, like that of any other.
                if !dot_git.is_dir() {
                    self.add(dot_git, None);
                }
                if let Some(way) = git::pointer_way(root) {
                    self.add_way(&way);
                }
                // That one may be far beyond the first look.
                let Some(own) = git::git_dir_of(root) else { return };
                let dir = whole(own.clone());
                if self.area.trees.iter().any(|tree| dir.starts_with(tree)) {
                    let beside = dir.parent().filter(|_| dir.ends_with(".git")).unwrap_or(root);
                    self.git_dir(&dir, &[beside.to_owned()]);
                }
                self.told(&own, root);
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

    /// The repositories in whose working trees a tree lies: their hooks and settings may lie in it.
    pub(super) fn above(&mut self, tree: &Path) {
        for dir in git::around(tree) {
            if let Some(own) = git::git_dir_of(dir) {
                self.told(&own, dir);
                self.names(dir);
            }
        }
    }

    /// What a git directory that the command cannot write says of its working tree: where hooks and settings lie.
    fn told(&mut self, own: &Path, work: &Path) {
        let common = git::common_dir_of(own).unwrap_or_else(|| own.to_owned());
        self.add_dir(common.join("hooks"), 0);
        let configs = ["config", "config.worktree"].map(|name| common.join(name));
        let configs = configs.into_iter().chain([own.join("config.worktree")]);
        self.named(configs, &[work.to_owned()]);
        // Its other checkouts may lie in a tree as well, however far.
        if self.heard.insert(common.clone()) {
            let in_trees = |work: &PathBuf| self.area.trees.iter().any(|tree| work.starts_with(tree));
            let all = git::worktrees(&common, WORKTREES).into_iter();
            let works: Vec<_> = all
                .filter_map(|(entry, work)| Some((entry, work.filter(in_trees)?)))
                .collect();
            for (entry, work) in works {
                self.add(work.join(".git"), None);
                self.checkout(&work);
                self.told(&entry, &work);
            }
        }
    }

    /// A git directory and the working trees it is known to have, with all modules in it.
    pub(super) fn git_dir(&mut self, dir: &Path, worktrees: &[PathBuf]) {
        if self.repositories.insert(dir.to_owned()) {
            self.own_part(dir, worktrees);
            self.modules(dir);
        }
    }

    /// The git directory of a project that lies outside of it.
    pub(super) fn outside(&mut self, dir: &Path) {
        let trees = self.area.trees;
        if trees.iter().any(|tree| git::git_dir_of(tree).as_deref() == Some(dir)) {
            return self.git_dir(dir, trees);
        }
        // The project is a linked worktree: index, HEAD, messages and modules of the first checkout are none of this
        // command's business. What is not there cannot be held: git on the host would take it for a merge or a lock.
        self.own_part(dir, trees);
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let passing = name.ends_with(".lock") || entry.file_type().is_ok_and(|kind| kind.is_socket());
            if !passing && !SHARED.contains(&name.as_ref()) {
                self.add(entry.path(), None);
            }
        }
    }

    /// A git directory without what its modules have of their own.
    fn own_part(&mut self, dir: &Path, worktrees: &[PathBuf]) {
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
        self.named(configs, &works);
    }

    /// The modules that there are, modules of modules included: writable, but for what each has of its own.
    fn modules(&mut self, dir: &Path) {
        for module in git::modules(dir) {
            self.push(Island {
                path: module.clone(),
                state: IslandState::Present,
                pins: Vec::new(),
                reopened: true,
            });
            self.tops.push(module.clone());
            self.own_part(&module, git::work_of(&module).as_slice());
        }
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
            // Where git looked for remotes before its configuration had them, and still does.
            ("remotes", Socket),
            ("branches", Socket),
        ] {
            self.add(dir.join(name), Some(missing));
        }
    }

    /// A linked worktree's part of a git directory.
    fn worktree(&mut self, entry: &Path, work: Option<&Path>) {
        let ours = work.filter(|dir| self.area.trees.iter().any(|tree| dir.starts_with(tree)));
        let Some(work) = ours else {
            // Another checkout's index and HEAD are none of this command's business.
            return self.add(entry.to_owned(), None);
        };
        self.add(work.join(".git"), None);
        self.checkout(work);
        for name in ["commondir", "gitdir"] {
            self.add(entry.join(name), None);
        }
        self.add(entry.join("config.worktree"), Some(GitConfig));
        // A linked worktree has modules of its own.
        self.add(entry.join("modules"), Some(Socket));
        self.modules(entry);
    }

    /// Hooks and configuration that lie in a tree because these files, or the caller's own, say so.
    fn named(&mut self, files: impl IntoIterator<Item = PathBuf>, works: &[PathBuf]) {
        let named = gitconfig::read(files, self.area.home);
        let own = self.area.own;
        for file in named.files.iter().filter(|file| file.is_absolute()) {
            self.configuration(file);
        }
        for work in works {
            for hooks in named.hooks.iter().chain(&own.hooks) {
                self.hooks(&work.join(hooks));
            }
            for template in named.templates.iter().chain(&own.templates) {
                self.template(&work.join(template));
            }
        }
    }

    /// What the caller's git reads everywhere, whether there is a repository in the trees or not.
    pub(super) fn own(&mut self) {
        let own = self.area.own;
        for file in own.files.iter().filter(|file| file.is_absolute()) {
            self.configuration(file);
        }
        for hooks in own.hooks.iter().filter(|dir| dir.is_absolute()) {
            self.hooks(hooks);
        }
        for template in own.templates.iter().filter(|dir| dir.is_absolute()) {
            self.template(template);
        }
    }

    /// A file of configuration, and what git writes before it renames that over the file, or over what a link there leads to.
    fn configuration(&mut self, file: &Path) {
        let way = links::follow(file);
        let mut places = way.links.iter().chain(&way.end);
        if !places.any(|place| self.tops.iter().any(|top| place.starts_with(top))) {
            return;
        }
        self.add(file.to_owned(), Some(GitConfig));
        for file in way.end.into_iter().chain([file.to_owned()]) {
            let mut lock = file.into_os_string();
            lock.push(".lock");
            self.add(lock.into(), Some(Socket));
        }
    }

    /// What a new repository begins with: hooks, and settings.
    fn template(&mut self, dir: &Path) {
        self.hooks(&dir.join("hooks"));
        match links::follow(dir).end {
            Some(end) if self.area.trees.iter().any(|tree| tree.starts_with(&end)) => {
                self.add(end.join("config"), Some(Socket));
            }
            Some(_) | None => self.add_dir(dir.to_owned(), 1),
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
