//! A short look into granted trees for what must not be reached or changed although it lies in them: sockets of the
//! host, and repositories nested in the project.
//!
//! INVARIANT (bounded): at most `DIRS` directories are listed, nearest first, so that a large tree does not delay every
//! start. Whether everything was seen is part of the answer.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use super::git;

const DIRS: usize = 64;
const ENTRIES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Found {
    /// Socket files: who connects reaches a program outside.
    pub(super) sockets: Vec<PathBuf>,
    /// Directories that have a `.git`.
    pub(super) repositories: Vec<PathBuf>,
    /// Directories that are git directories themselves.
    pub(super) bare: Vec<PathBuf>,
    /// There was more than was looked at.
    pub(super) cut: bool,
}

pub(super) fn scan(roots: impl Iterator<Item = PathBuf>) -> Found {
    let mut found = Found::default();
    let mut todo: VecDeque<PathBuf> = roots.collect();
    let (mut dirs, mut entries) = (0, 0);
    while let Some(dir) = todo.pop_front() {
        if dirs == DIRS || entries >= ENTRIES {
            found.cut = true;
            break;
        }
        dirs += 1;
        let mut has_head = false;
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            entries += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_socket() {
                found.sockets.push(entry.path());
            } else if entry.file_name() == ".git" {
                found.repositories.push(dir.clone());
                if kind.is_dir() {
                    // Of a git directory only the top: git's own daemon puts its socket there.
                    let inside = fs::read_dir(entry.path()).into_iter().flatten().flatten();
                    let sockets = inside.filter(|e| e.file_type().is_ok_and(|t| t.is_socket()));
                    found.sockets.extend(sockets.map(|e| e.path()));
                }
            } else if kind.is_dir() {
                todo.push_back(entry.path());
            } else if entry.file_name() == "HEAD" {
                has_head = true;
            }
        }
        if has_head && git::looks_like_git(&dir) {
            found.bare.push(dir);
        }
    }
    found
}
