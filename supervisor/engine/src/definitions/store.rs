//! The files of `.glee/agents`: listed, read, written whole.
//!
//! Links are not followed, neither the directory's nor a file's. INVARIANT: nothing outside `.glee/agents` is touched.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use glee_policy::suggest::nearest;

use super::{AgentName, Definition, DefinitionError, parse};
use crate::folder::Folder;
use crate::text::visible;

/// Where definitions lie in a project.
pub const DIR: &str = ".glee/agents";
/// The largest file that is read.
const MOST: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{}", .error.render(.text.as_deref()))]
    Definition {
        error: DefinitionError,
        text: Option<String>,
    },
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("there is no agent `{}`", visible(name))]
    NoSuchAgent { name: String, nearest: Option<String> },
    #[error("`{}` is not a name for an agent", visible(name))]
    BadName { name: String },
    #[error("there is an agent `{name}` already")]
    Taken { name: AgentName },
    #[error("`{}` is not read: an agent's file is called `NAME.yml`, where NAME has {}", .path.display(), super::name::GRAMMAR)]
    NotAName { path: PathBuf },
}

impl StoreError {
    /// What the user can do about it; a broken definition says so itself.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Definition { .. } => None,
            Self::Io { error, .. } if error.raw_os_error() == Some(libc::ELOOP) => {
                Some(format!("links are not followed in `{DIR}`: put the file itself there"))
            }
            Self::Io { .. } => Some("check the permissions, and that it is a plain file".into()),
            Self::NoSuchAgent {
                nearest: Some(nearest), ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::NoSuchAgent { nearest: None, .. } => Some("`glee-supervisor agents list` shows the agents".into()),
            Self::BadName { .. } => Some(super::name::GRAMMAR.into()),
            Self::Taken { .. } => Some("choose another name, or edit its file".into()),
            Self::NotAName { .. } => Some("rename it".into()),
        }
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        matches!(self, Self::Definition { .. })
    }
}

/// One file of the directory.
#[derive(Debug)]
pub struct Listed {
    /// The file's name without `.yml`, made visible.
    pub name: String,
    pub file: PathBuf,
    pub definition: Result<Definition, StoreError>,
}

/// The definitions of a project.
#[derive(Debug)]
pub struct Agents {
    project: PathBuf,
    folder: Option<Folder>,
}

impl Agents {
    /// Opens the directory. A project without one has no agents.
    pub fn open(project: &Path) -> Result<Self, StoreError> {
        let folder = match Folder::find_beneath(project, Path::new(DIR)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
            found => found.map_err(|error| StoreError::Io {
                path: project.join(DIR),
                error,
            })?,
        };
        Ok(Self {
            project: project.to_owned(),
            folder,
        })
    }

    fn path(&self, name: &OsStr) -> PathBuf {
        self.project.join(DIR).join(name)
    }

    /// Every file that is meant to be an agent, sound or not, by name.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        self.each(|listed| listed)
    }

    /// What is made of every one of them; no more than one is held at a time.
    pub fn each<T>(&self, mut make: impl FnMut(Listed) -> T) -> Result<Vec<T>, StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        let names = folder.names().map_err(|error| StoreError::Io {
            path: self.project.join(DIR),
            error,
        })?;
        let meant = |name: &&std::ffi::OsString| {
            let bytes = name.as_encoded_bytes();
            !bytes.starts_with(b".") && (bytes.ends_with(b".yml") || bytes.ends_with(b".yaml"))
        };
        Ok(names
            .iter()
            .filter(meant)
            .map(|name| make(self.listed(folder, name)))
            .collect())
    }

    fn listed(&self, folder: &Folder, file_name: &OsStr) -> Listed {
        let file = self.path(file_name);
        let lossy = file_name.to_string_lossy();
        let stem = lossy.strip_suffix(".yml").unwrap_or(&lossy);
        let definition = match AgentName::new(stem) {
            Some(name) => self.read(folder, &name).and_then(|found| {
                found.ok_or_else(|| StoreError::NoSuchAgent {
                    name: stem.to_owned(),
                    nearest: None,
                })
            }),
            None => Err(StoreError::NotAName { path: file.clone() }),
        };
        Listed {
            name: visible(stem),
            file,
            definition,
        }
    }

    fn read(&self, folder: &Folder, name: &AgentName) -> Result<Option<Definition>, StoreError> {
        let file = self.path(OsStr::new(&name.file()));
        let bytes = folder
            .read(OsStr::new(&name.file()), MOST)
            .map_err(|error| StoreError::Io {
                path: file.clone(),
                error,
            })?;
        bytes
            .map(|bytes| {
                parse(&file, &bytes).map_err(|error| StoreError::Definition {
                    error,
                    text: Some(String::from_utf8_lossy(&bytes).into_owned()),
                })
            })
            .transpose()
    }

    /// The bytes of an agent's file; `None` if there is none.
    pub fn bytes(&self, name: &AgentName) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        folder
            .read(OsStr::new(&name.file()), MOST)
            .map_err(|error| StoreError::Io {
                path: self.path(OsStr::new(&name.file())),
                error,
            })
    }

    /// One agent by its name.
    pub fn get(&self, name: &str) -> Result<Definition, StoreError> {
        let found = match (AgentName::new(name), &self.folder) {
            (Some(name), Some(folder)) => self.read(folder, &name)?,
            (None, _) | (_, None) => None,
        };
        found.ok_or_else(|| {
            let known = self.list().unwrap_or_default();
            StoreError::NoSuchAgent {
                name: name.to_owned(),
                nearest: nearest(name, known.iter().map(|listed| listed.name.as_str())).map(str::to_owned),
            }
        })
    }

    /// Is this text a definition of that name?
    pub(super) fn check(&self, name: &AgentName, text: &str) -> Result<Definition, StoreError> {
        let file = self.path(OsStr::new(&name.file()));
        parse(&file, text.as_bytes()).map_err(|error| StoreError::Definition {
            error,
            text: Some(text.to_owned()),
        })
    }

    /// Writes the file of an agent. What is written is read first: nothing that would not be understood is kept.
    pub fn write(&mut self, name: &AgentName, text: &str, how: Writing) -> Result<Definition, StoreError> {
        let file = self.path(OsStr::new(&name.file()));
        let definition = self.check(name, text)?;
        let cannot = |error| StoreError::Io {
            path: file.clone(),
            error,
        };
        let folder = Folder::make_beneath(&self.project, Path::new(DIR)).map_err(cannot)?;
        let locked = folder.lock().map_err(cannot)?;
        let there = folder.stat(OsStr::new(&name.file())).is_ok();
        match how {
            Writing::New if there => return Err(StoreError::Taken { name: name.clone() }),
            Writing::New | Writing::Replace => {}
        }
        locked.put(OsStr::new(&name.file()), text.as_bytes()).map_err(cannot)?;
        drop(locked);
        self.folder = Some(folder);
        Ok(definition)
    }
}

/// What happens to a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// It stays, and the writing is refused.
    New,
    Replace,
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
