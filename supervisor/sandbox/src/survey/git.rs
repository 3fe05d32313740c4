//! Where a project's git directory really is.
//!
//! `.git` may be a file that points elsewhere (linked worktree, submodule). What it says is a stranger's word: it is
//! believed only if the place it names points back to this very project.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use glee_policy::resolved::FsAccess;

use super::gitconfig;
use crate::sys::path;

/// As much as git reads of a pointer. However short the path in it, more may follow that git does not look at.
const LINE: usize = 1 << 20;
/// Modules of one git directory, and directories that are looked into for them.
const MODULES: usize = 256;
const DIRECTORIES: usize = 4096;

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

/// The git directory of a working tree: its `.git`, or what that points to, whoever wrote it there.
pub(crate) fn git_dir_of(tree: &Path) -> Option<PathBuf> {
    let dot_git = tree.join(".git");
    let meta = fs::symlink_metadata(&dot_git).ok()?;
    if meta.is_dir() {
        return Some(dot_git);
    }
    fs::canonicalize(pointer_way(tree)?).ok()
}

/// The directories above one that have a `.git`: git on the host looks from there into what lies below.
pub(super) fn around(dir: &Path) -> impl Iterator<Item = &Path> {
    let above = dir.ancestors().skip(1);
    above.filter(|dir| fs::symlink_metadata(dir.join(".git")).is_ok())
}

/// The directory that a linked worktree's git directory shares with others, if it says one.
pub(crate) fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    fs::canonicalize(common_way(git_dir)?).ok()
}

/// By which path a linked worktree's git directory says so.
pub(crate) fn common_way(git_dir: &Path) -> Option<PathBuf> {
    let text = path::read_file(&git_dir.join("commondir"), LINE).ok()?;
    (!text.is_empty()).then(|| git_dir.join(as_path(&text)))
}

/// By which path the `.git` of a working tree, which is no directory, says where that is.
pub(crate) fn pointer_way(tree: &Path) -> Option<PathBuf> {
    let dot_git = tree.join(".git");
    let end = fs::canonicalize(&dot_git).ok()?;
    match end.is_dir() {
        true => Some(dot_git),
        false => Some(tree.join(pointer(&end)?)),
    }
}

/// The git directory to which a file leads.
pub(super) fn pointer_at(file: &Path) -> Option<PathBuf> {
    fs::canonicalize(file.parent()?.join(pointer(file)?)).ok()
}

/// What a `.git` file says.
fn pointer(dot_git: &Path) -> Option<PathBuf> {
    let text = path::read_file(dot_git, LINE).ok()?;
    let target = as_path(text.strip_prefix(b"gitdir: ")?);
    (!target.as_os_str().is_empty()).then_some(target)
}

/// As git reads the path in a file of its own: a blank at the end is part of it, and a NUL ends it.
fn as_path(text: &[u8]) -> PathBuf {
    let end = text.iter().rposition(|byte| !b"\n\r".contains(byte));
    let line = text.get(..end.map_or(0, |last| last + 1)).unwrap_or_default();
    let path = line.split(|byte| *byte == 0).next().unwrap_or_default();
    PathBuf::from(OsStr::from_bytes(path))
}

/// The common git directory behind a `.git` file, if that one agrees.
fn pointed_to(dot_git: &Path) -> Option<PathBuf> {
    let tree = dot_git.parent()?;
    let git_dir = fs::canonicalize(tree.join(pointer(dot_git)?)).ok()?;
    if let Some(common) = common_way(&git_dir) {
        // A linked worktree: its `gitdir` names the `.git` file it belongs to.
        let back = fs::canonicalize(git_dir.join(back_of(&git_dir)?)).ok()?;
        if back != fs::canonicalize(dot_git).ok()? {
            return None;
        }
        let common = fs::canonicalize(common).ok()?;
        return (git_dir.parent() == Some(&common.join("worktrees")) && is_git(&common)).then_some(common);
    }
    // A submodule: `core.worktree` of its configuration names the directory it belongs to.
    (work_of(&git_dir)? == fs::canonicalize(tree).ok()? && is_git(&git_dir)).then_some(git_dir)
}

/// The working tree that a git directory's own configuration names.
pub(super) fn work_of(git_dir: &Path) -> Option<PathBuf> {
    let worktree = gitconfig::read([git_dir.join("config")], None).worktree?;
    fs::canonicalize(git_dir.join(worktree)).ok()
}

/// A git directory with everything of its own: what a grant may rest on.
fn is_git(dir: &Path) -> bool {
    dir.join("objects").is_dir() && dir.join("refs").is_dir() && dir.join("HEAD").is_file()
}

/// What git takes for a git directory, and what nearly is one: what protection rests on.
pub(crate) fn looks_like_git(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || (dir.join("objects").is_dir() && dir.join("refs").is_dir()))
}

/// The `.git` that a linked worktree's part of a git directory names. Git's own readers do not agree on blanks around it: then it
/// says nothing.
pub(crate) fn back_of(git_dir: &Path) -> Option<PathBuf> {
    let text = path::read_file(&git_dir.join("gitdir"), LINE).ok()?;
    let line = as_path(&text);
    let bytes = line.as_os_str().as_bytes();
    let plain = !bytes.is_empty() && bytes.trim_ascii() == bytes && !text.contains(&0);
    plain.then_some(line)
}

/// The linked worktrees of a git directory: each one's part of it, and its working tree if that is there.
pub(super) fn worktrees(git_dir: &Path, most: usize) -> Vec<(PathBuf, Option<PathBuf>)> {
    let all = git_dir.join("worktrees");
    if !fs::symlink_metadata(&all).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(&all).into_iter().flatten().flatten().take(most);
    let work = |entry: &Path| fs::canonicalize(entry.join(back_of(entry)?.parent()?)).ok();
    entries.map(|entry| (entry.path(), work(&entry.path()))).collect()
}

/// Directories below `.git/modules` that are git directories themselves, however deep their names go.
///
/// No command can make one there: the bounds are for what the host has.
pub(crate) fn modules(git_dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = DIRECTORIES;
    let mut todo = vec![git_dir.join("modules")];
    while let Some(dir) = todo.pop() {
        if left == 0 || !fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        left -= 1;
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|t| t.is_dir()) || found.len() >= MODULES {
                continue;
            }
            let path = entry.path();
            if looks_like_git(&path) {
                todo.push(path.join("modules"));
                found.push(path);
            } else {
                todo.push(path);
            }
        }
    }
    found.sort();
    found
}
