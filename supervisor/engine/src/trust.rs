//! What the user has said may count: the digests of a project's files, kept in the user's configuration directory.
//!
//! A changed file is a new file. INVARIANT: the store is written atomically, readable by its owner only, and never from
//! inside a sandbox, which cannot see it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::library::config_dir;

/// The files a policy is made of, with their digests: the configuration and every project profile it extends.
pub type Files = BTreeMap<PathBuf, String>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Store {
    /// Files whose content was trusted, by their real path, escaped to text.
    trusted: BTreeMap<String, String>,
    /// What such a file required, by its keys: it holds on when the file is another, or gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    required: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("there is no place to remember trust: neither XDG_CONFIG_HOME nor HOME is set")]
    NoPlace,
    #[error("cannot read `{}`: {error}", .path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("cannot write `{}`: {error}", .path.display())]
    Write { path: PathBuf, error: std::io::Error },
    #[error("`{}` is damaged: {error}", .path.display())]
    Damaged { path: PathBuf, error: serde_json::Error },
}

impl TrustError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoPlace => "set HOME",
            Self::Read { .. } | Self::Write { .. } => "check the permissions of the directory",
            Self::Damaged { .. } => "remove the file and trust the projects again",
        }
    }
}

/// How the user's word and the files compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Trusted,
    /// Trusted once, but at least one file has another content now.
    Changed,
    Untrusted,
}

fn store_path() -> Result<PathBuf, TrustError> {
    Ok(config_dir().ok_or(TrustError::NoPlace)?.join("trust.json"))
}

fn key(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().escape_ascii().to_string()
}

fn load(path: &Path) -> Result<Store, TrustError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| TrustError::Damaged {
            path: path.to_owned(),
            error,
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Store::default()),
        Err(error) => Err(TrustError::Read {
            path: path.to_owned(),
            error,
        }),
    }
}

/// Compares the files with what was trusted. Without a store nothing is.
pub fn standing(files: &Files) -> Result<Standing, TrustError> {
    let path = match store_path() {
        Ok(path) => path,
        Err(TrustError::NoPlace) => return Ok(Standing::Untrusted),
        Err(error) => return Err(error),
    };
    let store = load(&path)?;
    let known: Vec<Option<&String>> = files.keys().map(|file| store.trusted.get(&key(file))).collect();
    if !files.is_empty() && known.iter().zip(files.values()).all(|(known, now)| *known == Some(now)) {
        return Ok(Standing::Trusted);
    }
    let other = |(known, now): (&Option<&String>, &String)| known.is_some_and(|known| known != now);
    Ok(if known.iter().zip(files.values()).any(other) {
        Standing::Changed
    } else {
        Standing::Untrusted
    })
}

/// Those of the files that are not as they were trusted.
pub(crate) fn changed(files: &Files) -> Result<Vec<PathBuf>, TrustError> {
    let store = match store_path() {
        Ok(path) => load(&path)?,
        Err(TrustError::NoPlace) => Store::default(),
        Err(error) => return Err(error),
    };
    let other = |(file, now): &(&PathBuf, &String)| store.trusted.get(&key(file)) != Some(*now);
    Ok(files.iter().filter(other).map(|(file, _)| file.clone()).collect())
}

/// Remembers the files as they are now.
pub fn trust(files: &Files) -> Result<(), TrustError> {
    change(|store| {
        for (file, digest) in files {
            store.trusted.insert(key(file), digest.clone());
        }
    })
}

/// Remembers a configuration as it is now, and what it requires from now on, whatever becomes of the file.
pub fn trust_requiring(files: &Files, file: &Path, required: BTreeSet<String>) -> Result<(), TrustError> {
    change(|store| {
        for (file, digest) in files {
            store.trusted.insert(key(file), digest.clone());
        }
        match required.is_empty() {
            true => store.required.remove(&key(file)),
            false => store.required.insert(key(file), required),
        };
    })
}

/// What this file required when it was last trusted.
pub fn required(file: &Path) -> Result<BTreeSet<String>, TrustError> {
    let path = match store_path() {
        Ok(path) => path,
        Err(TrustError::NoPlace) => return Ok(BTreeSet::new()),
        Err(error) => return Err(error),
    };
    Ok(load(&path)?.required.remove(&key(file)).unwrap_or_default())
}

/// Forgets these files, and every file below them. Returns what there was.
pub fn untrust(places: &[PathBuf]) -> Result<Vec<String>, TrustError> {
    let mut forgotten = Vec::new();
    let here = |file: &String| {
        places.iter().any(|place| {
            let rest = file.strip_prefix(&key(place));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    change(|store| {
        forgotten = store.trusted.keys().filter(|file| here(file)).cloned().collect();
        store.trusted.retain(|file, _| !here(file));
        store.required.retain(|file, _| !here(file));
    })?;
    Ok(forgotten)
}

fn change(edit: impl FnOnce(&mut Store)) -> Result<(), TrustError> {
    let path = store_path()?;
    let dir = path.parent().unwrap_or(&path).to_owned();
    let cannot = |error| TrustError::Write {
        path: path.clone(),
        error,
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .map_err(cannot)?;
    let lock_path = dir.join("trust.lock");
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(lock_path)
        .map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    let mut store = load(&path)?;
    edit(&mut store);
    let text = serde_json::to_vec_pretty(&store).map_err(|e| cannot(std::io::Error::other(e)))?;
    let temporary = dir.join(format!("trust.json.tmp.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)
    };
    write().map_err(|error| {
        // What could not be put in place is of no use to anybody.
        let _ = fs::remove_file(&temporary);
        cannot(error)
    })
}
