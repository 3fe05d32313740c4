//! Where profiles come from: the user's configuration directory, then the project's `.glee/policies`.
//!
//! INVARIANT: what was read from the project is remembered with its digest, for whoever must know whether it is trusted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use glee_policy::{Library, Source};
use sha2::{Digest, Sha256};

/// A file larger than a policy may be is cut here; the parser then says that it is too large.
const MOST: u64 = (1 << 20) + 1;

/// The two places for profiles.
#[derive(Debug)]
pub struct Profiles {
    user: Option<PathBuf>,
    project: PathBuf,
    root: PathBuf,
    /// Project files that were used, and their digests.
    read: RefCell<BTreeMap<PathBuf, String>>,
}

impl Profiles {
    #[must_use]
    pub fn new(project: &Path) -> Self {
        Self {
            user: config_dir().map(|dir| dir.join("policies")),
            project: project.join(".glee/policies"),
            root: project.to_owned(),
            read: RefCell::default(),
        }
    }

    /// The file a name stands for, and whether it is the project's.
    #[must_use]
    pub fn locate(&self, name: &str) -> Option<(PathBuf, Owner)> {
        // A name is one component: nothing in it leads anywhere else.
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return None;
        }
        let file = format!("{name}.yml");
        let user = self.user.iter().map(|dir| (dir.join(&file), Owner::User));
        let places: Vec<_> = user.chain([(self.project.join(&file), Owner::Project)]).collect();
        let regular = places.iter().find(|(path, _)| path.is_file());
        // What is there and cannot be read is an answer, too; so is what cannot be looked for.
        let other = || {
            places.iter().find(|(path, _)| match path.symlink_metadata() {
                Ok(_) => true,
                Err(error) => error.kind() == ErrorKind::PermissionDenied,
            })
        };
        regular.or_else(other).cloned()
    }

    pub(crate) fn read(&self, path: &Path, owner: Owner) -> std::io::Result<Vec<u8>> {
        match owner {
            Owner::User => read_policy(path),
            Owner::Project => read_own(&self.root, path),
        }
    }

    /// Project files that were used so far, with their digests.
    #[must_use]
    pub fn used(&self) -> BTreeMap<PathBuf, String> {
        self.read.borrow().clone()
    }

    /// The directories that are there and cannot be looked through.
    #[must_use]
    pub fn closed(&self) -> Vec<(PathBuf, std::io::Error)> {
        let dirs = self.user.iter().chain([&self.project]);
        let closed = dirs.filter_map(|dir| Some((dir.clone(), fs::read_dir(dir).err()?)));
        closed
            .filter(|(_, error)| error.kind() == ErrorKind::PermissionDenied)
            .collect()
    }

    /// Every profile found, by name: (name, file, owner).
    #[must_use]
    pub fn list(&self) -> Vec<(String, PathBuf, Owner)> {
        let mut found = Vec::new();
        for (dir, owner) in self
            .user
            .iter()
            .map(|d| (d, Owner::User))
            .chain([(&self.project, Owner::Project)])
        {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                if let Some(name) = entry.file_name().to_str().and_then(|n| n.strip_suffix(".yml")) {
                    found.push((name.to_owned(), entry.path(), owner));
                }
            }
        }
        found.sort();
        found
    }
}

/// Whose word a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    User,
    Project,
}

impl Library for Profiles {
    fn profile(&self, name: &str) -> Option<(Source, String)> {
        let (path, owner) = self.locate(name)?;
        let bytes = self.read(&path, owner).ok()?;
        if owner == Owner::Project {
            self.read.borrow_mut().insert(path.clone(), digest(&bytes));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some((Source::File(path.to_string_lossy().into()), text))
    }

    fn unreadable(&self, name: &str) -> Option<(String, String)> {
        let (path, owner) = self.locate(name)?;
        let error = self.read(&path, owner).err()?;
        Some((path.to_string_lossy().into_owned(), error.to_string()))
    }

    fn names(&self) -> Vec<String> {
        let regular = self.list().into_iter().filter(|(_, path, _)| path.is_file());
        regular.map(|(name, _, _)| name).collect()
    }
}

/// Reads at most a little more than a policy may be. A pipe or a device is not a policy.
pub fn read_policy(path: &Path) -> std::io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same for a file of a project, which says what a stranger wrote: what a link leads to outside is not the project's, and
/// nothing of it may be shown.
pub fn read_own(project: &Path, path: &Path) -> std::io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let file = fs::File::open(path)?;
    // Of what was opened, and not of a path that may lead elsewhere by now.
    let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !opened.starts_with(project) {
        return Err(std::io::Error::other(
            "a link in it leads out of the project, and is not followed",
        ));
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    crate::hex::hex(&Sha256::digest(bytes))
}

/// The user's configuration directory, by the XDG rules.
#[must_use]
pub fn config_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(base.join("glee"))
}
