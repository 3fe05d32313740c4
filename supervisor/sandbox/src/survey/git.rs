//! Where a project's git directory really is.
//!
//! `.git` may be a file that points elsewhere (linked worktree, submodule). What it says is a stranger's word: it is
//! believed only if the place it names points back to this very project.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use glee_policy::resolved::FsAccess;

/// A git directory that the project uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDir {
    /// The directory with `objects`, `refs`, `config` and `hooks`.
    pub path: PathBuf,
    /// Outside the project, so it needs a mount of its own.
    pub outside: bool,
    pub access: FsAccess,
}

/// The git directories of `tree`, with the access the tree has.
pub(super) fn find(tree: &Path, access: Option<FsAccess>) -> Vec<GitDir> {
    let Some(access) = access else { return Vec::new() };
    let dot_git = tree.join(".git");
    let Ok(meta) = fs::symlink_metadata(&dot_git) else {
        return Vec::new();
    };
    if meta.is_dir() {
        return vec![GitDir {
            path: dot_git,
            outside: false,
            access,
        }];
    }
    let Some(common) = meta.is_file().then(|| pointed_to(&dot_git)).flatten() else {
        return Vec::new();
    };
    let outside = !common.starts_with(tree);
    vec![GitDir {
        path: common,
        outside,
        access,
    }]
}

/// The index of a working tree that has one.
pub(super) fn index_of(tree: &Path) -> Option<PathBuf> {
    let dot_git = tree.join(".git");
    if fs::symlink_metadata(&dot_git).ok()?.is_dir() {
        return Some(dot_git.join("index"));
    }
    let text = fs::read(&dot_git).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(
        fs::canonicalize(tree.join(std::ffi::OsStr::from_bytes(target)))
            .ok()?
            .join("index"),
    )
}

/// The common git directory behind a `.git` file, if that one agrees.
fn pointed_to(dot_git: &Path) -> Option<PathBuf> {
    let tree = dot_git.parent()?;
    let text = fs::read(dot_git).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let git_dir = fs::canonicalize(tree.join(std::ffi::OsStr::from_bytes(target))).ok()?;
    if let Some(common) = line_of(&git_dir.join("commondir")) {
        // A linked worktree: its `gitdir` names the `.git` file it belongs to.
        let back = line_of(&git_dir.join("gitdir"))?;
        let back = fs::canonicalize(git_dir.join(back)).ok()?;
        if back != fs::canonicalize(dot_git).ok()? {
            return None;
        }
        let common = fs::canonicalize(git_dir.join(common)).ok()?;
        return (git_dir.parent() == Some(&common.join("worktrees")) && looks_like_git(&common)).then_some(common);
    }
    // A submodule: `core.worktree` of its configuration names the directory it belongs to.
    let worktree = config_values(&git_dir.join("config"), "worktree").into_iter().next()?;
    let worktree = fs::canonicalize(git_dir.join(worktree)).ok()?;
    (worktree == fs::canonicalize(tree).ok()? && looks_like_git(&git_dir)).then_some(git_dir)
}

fn looks_like_git(dir: &Path) -> bool {
    dir.join("objects").is_dir() && dir.join("refs").is_dir() && dir.join("HEAD").is_file()
}

fn line_of(file: &Path) -> Option<PathBuf> {
    let text = fs::read(file).ok()?;
    let line = text.trim_ascii();
    (!line.is_empty()).then(|| PathBuf::from(std::ffi::OsStr::from_bytes(line)))
}

/// Every value of `key` in a git configuration file, whatever its section, quotes removed.
pub(super) fn config_values(file: &Path, key: &str) -> Vec<PathBuf> {
    let text = fs::read(file).unwrap_or_default();
    text.split(|b| *b == b'\n')
        .filter_map(|line| {
            let line = line.trim_ascii();
            // A key may follow its section on one line: `[core] hooksPath = x`.
            let line = match line.first() {
                Some(b'[') => line
                    .iter()
                    .position(|b| *b == b']')
                    .and_then(|end| line.get(end + 1..))?
                    .trim_ascii(),
                _ => line,
            };
            let (name, value) = line.split_at_checked(line.iter().position(|b| *b == b'=')?)?;
            name.trim_ascii().eq_ignore_ascii_case(key.as_bytes()).then(|| {
                let value = value.get(1..).unwrap_or_default().trim_ascii();
                let value = value
                    .strip_prefix(b"\"")
                    .and_then(|v| v.strip_suffix(b"\""))
                    .unwrap_or(value);
                PathBuf::from(std::ffi::OsStr::from_bytes(value))
            })
        })
        .collect()
}

/// Directories below `.git/modules` that are git directories themselves, however deep their names go.
pub(super) fn modules(git_dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![(git_dir.join("modules"), 0)];
    while let Some((dir, depth)) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|t| t.is_dir()) || found.len() >= 256 {
                continue;
            }
            let path = entry.path();
            if looks_like_git(&path) {
                todo.push((path.join("modules"), depth + 1));
                found.push(path);
            } else if depth < 6 {
                todo.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}
