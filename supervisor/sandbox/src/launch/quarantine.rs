//! A repository that came into being during the run is disarmed before the host's git meets it.
//!
//! `git init` inside must work, so `.git` of a project that had none cannot be forbidden. But hooks and configuration
//! make git run programs, and a prompt that shows the branch is enough to start it. What could do so is renamed (nothing is
//! lost), and reported. INVARIANT: no link is followed, nothing outside the given directory is touched.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::gitlinks::gitlinks;
use super::placeholders::is_placeholder;
use crate::plan::SandboxPlan;
use crate::sys::path;

/// Appended to a name that is set aside.
const ASIDE: &str = ".set-aside";
/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;

/// Disarms what the run has made where the host's git would find it. Returns what was set aside, by its old name.
pub(super) fn after(plan: &SandboxPlan) -> Vec<PathBuf> {
    let mut aside: Vec<PathBuf> = plan.fresh_git.iter().flat_map(|dot_git| disarm(dot_git)).collect();
    let fresh = plan
        .fresh_git
        .iter()
        .filter_map(|git| Some((git.parent()?.to_owned(), git.join("index"))));
    for (tree, index) in &plan.repositories.iter().cloned().chain(fresh).collect::<Vec<_>>() {
        // `git status` looks into every gitlink of the index, with the configuration it finds there.
        let reached: Vec<PathBuf> = match gitlinks(index) {
            Some(links) => links
                .iter()
                .map(|link| tree.join(link))
                .filter(|dir| dir.starts_with(tree))
                .collect(),
            None => every_repository(tree),
        };
        let fresh = reached
            .into_iter()
            .map(|dir| dir.join(".git"))
            .filter(|git| !plan.known_git.contains(git));
        aside.extend(fresh.flat_map(|dot_git| disarm(&dot_git)));
    }
    aside
}

/// Every directory with a `.git`, however deep.
fn every_repository(tree: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![tree.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                found.push(dir.clone());
            } else if entry.file_type().is_ok_and(|t| t.is_dir()) {
                todo.push(entry.path());
            }
        }
    }
    found
}

/// Disarms the `.git` at `dot_git`, if there is one. Returns what was set aside, by its old name.
pub(super) fn disarm(dot_git: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (dot_git.parent(), dot_git.file_name()) else {
        return Vec::new();
    };
    let Ok(dir) = path::open_dir_exact(parent) else {
        return Vec::new();
    };
    let Ok(stat) = path::lstat_at(dir.as_fd(), name) else {
        return Vec::new();
    };
    if !stat.is_dir() {
        // A pointer or a link to a git directory of the command's choosing. Git itself makes neither in a fresh project.
        return set_aside(dir.as_fd(), name)
            .map(|()| dot_git.to_owned())
            .into_iter()
            .collect();
    }
    let Ok(git) = path::open_dir_exact(dot_git) else {
        return Vec::new();
    };
    let git = git.as_fd();
    let mut aside = Vec::new();
    for name in ["commondir", "config.worktree"] {
        let made = path::lstat_at(git, OsStr::new(name)).is_ok() && is_placeholder(&dot_git.join(name)).is_none();
        if made && set_aside(git, OsStr::new(name)).is_ok() {
            aside.push(dot_git.join(name));
        }
    }
    let hooks = dot_git.join("hooks");
    if is_placeholder(&hooks).is_none() && has_hooks(&hooks) && set_aside(git, OsStr::new("hooks")).is_ok() {
        aside.push(dot_git.join("hooks"));
    }
    if disarm_config(git) {
        aside.push(dot_git.join("config"));
    }
    aside
}

/// A protected name that the host removed during the run, and that is there again: host or command, nobody can tell.
pub(super) fn judge(path: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    if parent.file_name() == Some(OsStr::new(".git")) {
        return disarm(parent);
    }
    if name == ".git" {
        return disarm(path);
    }
    let there = path.symlink_metadata().is_ok() && is_placeholder(path).is_none();
    let Some(dir) = there.then(|| path::open_dir_exact(parent).ok()).flatten() else {
        return Vec::new();
    };
    set_aside(dir.as_fd(), name)
        .map(|()| path.to_owned())
        .into_iter()
        .collect()
}

/// Is there anything but git's own samples?
fn has_hooks(hooks: &Path) -> bool {
    match path::open_dir_exact(hooks) {
        Ok(_) => std::fs::read_dir(hooks)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| !entry.file_name().as_encoded_bytes().ends_with(b".sample")),
        // A link, or something that is not a directory.
        Err(_) => hooks.symlink_metadata().is_ok(),
    }
}

/// Replaces a configuration that says more than a fresh one does. True if it did.
fn disarm_config(git: BorrowedFd<'_>) -> bool {
    let name = OsStr::new("config");
    if path::lstat_at(git, name).map_or(true, |stat| stat.is_placeholder_socket()) {
        return false;
    }
    let text = path::read_at(git, name, LARGEST)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let harmless = text.as_deref().map(harmless_part).unwrap_or_default();
    if text.as_deref() == Some(harmless.as_str()) || set_aside(git, name).is_err() {
        return false;
    }
    if let Ok(file) = path::create_at(git, Path::new(name), 0o644) {
        // Without a configuration git still reads the repository, so a failure here is safe.
        let _ = std::fs::File::from(file).write_all(harmless.as_bytes());
    }
    true
}

/// The lines of a configuration that cannot make git run or read anything.
fn harmless_part(text: &str) -> String {
    let mut kept = String::new();
    let mut keys: &[&str] = &[];
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with('[') {
            keys = if is_plain_header(bare) {
                harmless_keys(bare)
            } else {
                &[]
            };
            if !keys.is_empty() {
                kept.push_str(line);
            }
        } else if let Some((key, value)) = bare.split_once('=')
            && keys.contains(&key.trim().to_ascii_lowercase().as_str())
            && !value.contains(['\\', '"', ';', '#'])
            && !value.contains("::")
            && !value.trim().starts_with('-')
        {
            kept.push_str(line);
        } else if bare.is_empty() {
            kept.push_str(line);
        }
    }
    kept
}

/// `[word]` or `[word "words"]`, and nothing else on the line: what follows a header may be a key.
fn is_plain_header(bare: &str) -> bool {
    let Some(inside) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let (word, name) = match inside.split_once(' ') {
        None => (inside, ""),
        Some((word, quoted)) => match quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(name) => (word, name),
            None => return false,
        },
    };
    let plain = |c: char| c.is_alphanumeric() || "-._/ +@".contains(c);
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric()) && name.chars().all(plain)
}

fn harmless_keys(header: &str) -> &'static [&'static str] {
    let word = header
        .trim_matches(['[', ']'])
        .split_whitespace()
        .next()
        .unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "core" => &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
        ],
        "user" => &["name", "email"],
        "remote" => &["url", "fetch"],
        "branch" => &["remote", "merge", "rebase"],
        "extensions" => &["objectformat", "refstorage"],
        _ => &[],
    }
}

fn set_aside(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    for number in 0..1000 {
        let mut to = name.to_owned();
        to.push(ASIDE);
        if number > 0 {
            to.push(number.to_string());
        }
        match path::rename_new_at(dir, name, &to) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
#[path = "quarantine_tests.rs"]
mod tests;
