//! What the host's files looked like, so that a change can be told.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything about one path that an attack could change. Not followed if it is a symlink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Snapshot {
    Absent,
    Present {
        look: Look,
        links: u64,
        modified: (i64, i64),
        xattrs: Vec<u8>,
    },
}

/// What a reader of a path sees: also what must be the same again after a clean run.
#[derive(Clone, PartialEq, Eq)]
pub struct Look {
    mode: u32,
    owner: (u32, u32),
    content: Vec<u8>,
}

impl Look {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(path).ok()?;
        let content = if meta.is_symlink() {
            fs::read_link(path)
                .map(|t| t.as_os_str().as_bytes().to_vec())
                .unwrap_or_default()
        } else if meta.is_dir() {
            names(path)
        } else if meta.is_file() {
            fs::read(path).unwrap_or_default()
        } else {
            Vec::new()
        };
        Some(Self {
            mode: meta.mode(),
            owner: (meta.uid(), meta.gid()),
            content,
        })
    }
}

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.content.get(..self.content.len().min(200)).unwrap_or_default();
        write!(
            f,
            "[mode {:o}, owner {:?}, content {:?}]",
            self.mode,
            self.owner,
            String::from_utf8_lossy(start)
        )
    }
}

/// Everything at and below a directory. Links are not followed.
pub fn tree(top: &Path) -> BTreeMap<PathBuf, Look> {
    let mut all = BTreeMap::new();
    let mut todo = vec![top.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Some(look) = Look::of(&path) else { continue };
        if look.mode & libc::S_IFMT == libc::S_IFDIR {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
        }
        all.insert(path, look);
    }
    all
}

impl Snapshot {
    pub fn of(path: &Path) -> Self {
        let (Some(look), Ok(meta)) = (Look::of(path), fs::symlink_metadata(path)) else {
            return Self::Absent;
        };
        let links = if meta.is_dir() { 0 } else { meta.nlink() };
        Self::Present {
            look,
            links,
            modified: (meta.mtime(), meta.mtime_nsec()),
            xattrs: xattrs(path),
        }
    }

    /// How `later` differs, in words; `None` if it does not.
    pub fn changed_to(&self, later: &Self) -> Option<String> {
        match (self, later) {
            (a, b) if a == b => None,
            (Self::Absent, Self::Present { .. }) => Some("was created".into()),
            (Self::Present { .. }, Self::Absent) => Some("was removed".into()),
            (before, after) => Some(format!("changed from {before:?} to {after:?}")),
        }
    }
}

fn names(dir: &Path) -> Vec<u8> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    names.sort();
    names
        .iter()
        .flat_map(|n| n.as_bytes().iter().copied().chain([b'\n']))
        .collect()
}

/// Names and values.
fn xattrs(path: &Path) -> Vec<u8> {
    let out = Command::new(crate::attack_tool()).arg("listxattr").arg(path).output();
    out.map(|o| o.stdout).unwrap_or_default()
}

/// Every file or directory below `top` with a setuid or setgid bit, and every device node. Links are not followed.
pub fn setid_files(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![top.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        let kind = meta.mode() & libc::S_IFMT;
        if meta.mode() & 0o6000 != 0 || kind == libc::S_IFCHR || kind == libc::S_IFBLK {
            found.push(path.clone());
        }
        if meta.is_dir() {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
        }
    }
    found
}
