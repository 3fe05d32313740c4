//! A short look into granted trees for what must not be reached or changed although it lies in them: sockets and pipes of
//! the host, and repositories nested in the project.
//!
//! INVARIANT (bounded): at most `DIRS` directories are listed, nearest first, and `UNLISTED` more are asked for their `.git`, so
//! that a large tree does not delay every start. Whether everything was seen is part of the answer. What is mounted there by itself is
//! found wherever it lies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use glee_policy::resolved::FsAccess;
use glee_policy::{ResolvedPolicy, Source};

use super::Place;
use super::git::{self, GitDir};
use crate::cgroup;
use crate::plan::Kind;
use crate::workspace::below;

const DIRS: usize = 64;
const ENTRIES: usize = 4096;
const UNLISTED: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Found {
    /// Socket files: who connects reaches a program outside.
    pub(super) sockets: Vec<PathBuf>,
    /// Named pipes: a read-only mount does not keep anybody from writing to who reads there.
    pub(super) pipes: Vec<PathBuf>,
    /// Directories that have a `.git`.
    pub(super) repositories: Vec<PathBuf>,
    /// Directories that are git directories themselves.
    pub(super) bare: Vec<PathBuf>,
    /// Directories into which the caller cannot look.
    pub(super) closed: Vec<PathBuf>,
    /// There was more than was looked at.
    pub(super) cut: bool,
}

/// How much of a large tree is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Where the command writes nothing, nobody needs to know of far repositories.
    Listed,
    /// Directories that were not listed are asked for their `.git`, too.
    Unlisted,
}

impl Reach {
    pub(super) fn needed(writable: &[PathBuf], git: &[GitDir]) -> Self {
        let nothing = writable.is_empty() && git.iter().all(|dir| dir.access == FsAccess::Read);
        if nothing { Self::Listed } else { Self::Unlisted }
    }
}

/// Where to look: in the project first, and in every directory that somebody granted beside it.
pub(super) fn roots(
    policy: &ResolvedPolicy,
    places: &BTreeMap<PathBuf, Place>,
    project: &Path,
    home: Option<&Path>,
) -> impl Iterator<Item = PathBuf> {
    let installed = installed(policy, home);
    let dirs = places.iter().filter(|(_, place)| place.kind == Kind::Dir);
    let beside = dirs.map(|(path, _)| path).filter(|path| !path.starts_with(project));
    let beside = beside.filter(|path| !installed.contains(path.as_path())).cloned();
    std::iter::once(project.to_owned()).chain(beside.collect::<Vec<_>>())
}

/// What a built-in profile shows of the toolchains that people have installed: large, and nobody works there. Who grants such a
/// directory themselves, or for writing, has it looked into like any other.
fn installed<'a>(policy: &'a ResolvedPolicy, home: Option<&Path>) -> BTreeSet<&'a Path> {
    let is_hidden = |path: &Path| {
        let below = home.and_then(|home| path.strip_prefix(home).ok());
        below.is_some_and(|below| below.as_os_str().as_encoded_bytes().starts_with(b"."))
    };
    let built_in = policy.grants.iter().filter(|grant| match grant.origin.source {
        Source::Builtin(_) => grant.access == FsAccess::Read,
        Source::File(_) | Source::Flag(_) => false,
    });
    built_in
        .map(|grant| grant.path.as_path())
        .filter(|path| is_hidden(path) || path.starts_with("/nix"))
        .collect()
}

pub(super) fn scan(roots: impl Iterator<Item = PathBuf>, reach: Reach) -> Found {
    let mut found = Found::default();
    let mut todo: VecDeque<PathBuf> = roots.collect();
    let mounted = mounted(&todo);
    let (mut dirs, mut entries) = (0, 0);
    while let Some(dir) = todo.pop_front() {
        if dirs == DIRS || entries >= ENTRIES {
            found.cut = true;
            if reach == Reach::Unlisted {
                // A directory of many clones: each has its own.
                let more = std::iter::once(dir).chain(todo).take(UNLISTED);
                let clones = more.filter(|dir| dir.join(".git").symlink_metadata().is_ok());
                found.repositories.extend(clones);
            }
            break;
        }
        dirs += 1;
        let listed = match fs::read_dir(&dir) {
            Ok(listed) => listed,
            Err(error) => {
                if error.kind() == std::io::ErrorKind::PermissionDenied {
                    found.closed.push(dir);
                }
                continue;
            }
        };
        // Of a git directory, as far as it is one: who takes its HEAD away could bring it back.
        let mut parts = 0;
        for entry in listed.flatten() {
            entries += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_socket() {
                found.sockets.push(entry.path());
            } else if kind.is_fifo() {
                found.pipes.push(entry.path());
            } else if entry.file_name() == ".git" {
                found.repositories.push(dir.clone());
                if kind.is_dir() {
                    // Of a git directory only the top: git's own daemon puts its socket there.
                    let inside = fs::read_dir(entry.path()).into_iter().flatten().flatten();
                    let sockets = inside.filter(|e| e.file_type().is_ok_and(|t| t.is_socket()));
                    found.sockets.extend(sockets.map(|e| e.path()));
                }
            } else if kind.is_dir() {
                let name = entry.file_name();
                parts += usize::from(name == "objects" || name == "refs");
                todo.push_back(entry.path());
            } else if entry.file_name() == "HEAD" || entry.file_name() == "config" {
                parts += 1;
            }
        }
        if parts >= 3 || (parts > 0 && git::looks_like_git(&dir)) {
            found.bare.push(dir);
        }
    }
    for at in mounted {
        let Ok(kind) = at.symlink_metadata().map(|meta| meta.file_type()) else {
            continue;
        };
        if kind.is_socket() && !found.sockets.contains(&at) {
            found.sockets.push(at);
        } else if kind.is_fifo() && !found.pipes.contains(&at) {
            found.pipes.push(at);
        }
    }
    found
}

/// What is mounted in these directories by itself. A directory lists such a name as what lies beneath: a socket as a file.
fn mounted(roots: &VecDeque<PathBuf>) -> BTreeSet<PathBuf> {
    let table = cgroup::read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    roots.iter().flat_map(|root| below::parts(&table, root)).collect()
}
