//! The workflows of a project, each with the user's word on it.
//!
//! Links are not followed, neither the directory's nor a file's. A broken file hides no other.
//! INVARIANT: nothing outside `.glee/workflows` is read.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glee_policy::Source;
use glee_policy::error::place;
use glee_policy::suggest::nearest;

use super::model::Workflow;
use super::name::WorkflowName;
use super::problem::Problem;
use super::{parse, problem};
use crate::consent::items::WORKFLOWS;
use crate::definitions::name::GRAMMAR;
use crate::folder::Folder;
use crate::text::visible;
use crate::trust::{self, Files, Standing, TrustError};

/// The largest file that is read.
const MOST: usize = 1 << 20;
/// How many problems of one list are written out.
const SHOWN: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("there is no workflow `{}`", visible(name))]
    NoSuchWorkflow { name: String, nearest: Option<String> },
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl LibraryError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Io { error, .. } => io_help(error),
            Self::NoSuchWorkflow {
                nearest: Some(nearest), ..
            } => format!("did you mean `{nearest}`?"),
            Self::NoSuchWorkflow { nearest: None, .. } => "`glee-supervisor workflow list` shows the workflows".into(),
            Self::Trust(error) => error.help().into(),
        }
    }
}

fn is_no_directory(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotADirectory
}

fn io_help(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        // A link below the directory, or the directory itself.
        Some(libc::EINVAL | libc::ELOOP | libc::ENOTDIR) => {
            format!("put plain files there: links are not followed in `{WORKFLOWS}`")
        }
        Some(libc::EFBIG) => format!("a workflow has at most {MOST} bytes"),
        Some(_) | None => "check the permissions, and that it is a plain file".into(),
    }
}

/// Why a file is no workflow.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// Never empty.
    #[error("{}", .0.iter().map(|problem| problem.what.to_string()).collect::<Vec<_>>().join("; "))]
    Problems(Vec<Problem>),
    #[error("cannot use `{}`: {error}", .path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("`{}` is not read: a workflow's file is called `NAME.yml`, where NAME has {GRAMMAR}", visible(&.path.to_string_lossy()))]
    NotAName { path: PathBuf },
}

impl Broken {
    /// The same as problems with a place.
    #[must_use]
    pub fn problems(&self) -> Vec<problem::Told> {
        let told = |path: &Path, hint: String| problem::Told {
            file: path.to_string_lossy().into_owned(),
            line: 0,
            column: 0,
            message: self.to_string(),
            hint,
        };
        match self {
            Self::Problems(problems) => problems.iter().map(Problem::told).collect(),
            Self::Unreadable { path, error } => vec![told(path, io_help(error))],
            Self::NotAName { path } => vec![told(path, "rename it".into())],
        }
    }
}

/// One file of the directory.
#[derive(Debug)]
pub struct Entry {
    /// The file's name without `.yml`, made visible.
    pub name: String,
    pub file: PathBuf,
    pub found: Result<Arc<Workflow>, Broken>,
    /// How the user's word and the file compare; nothing about what cannot be read.
    pub standing: Option<Standing>,
    text: String,
}

/// The workflows of a project.
#[derive(Debug)]
pub struct Library {
    entries: BTreeMap<String, Entry>,
}

impl Library {
    /// Reads them all. A project without the directory has none.
    pub fn open(project: &Path) -> Result<Self, LibraryError> {
        let dir = project.join(WORKFLOWS);
        let cannot = |error| LibraryError::Io {
            path: dir.clone(),
            error,
        };
        let folder = match Folder::find_beneath(project, Path::new(WORKFLOWS)) {
            // What lies above is no directory. If something is there, it is said: a link would else look like no workflows at all.
            Err(error) if is_no_directory(&error) && dir.symlink_metadata().is_err() => None,
            found => found.map_err(cannot)?,
        };
        let mut entries = BTreeMap::new();
        if let Some(folder) = folder {
            let is_meant = |name: &&OsString| {
                let bytes = name.as_encoded_bytes();
                !bytes.starts_with(b".") && (bytes.ends_with(b".yml") || bytes.ends_with(b".yaml"))
            };
            for name in folder.names().map_err(cannot)?.iter().filter(is_meant) {
                let entry = entry(&folder, name, dir.join(name))?;
                entries.insert(entry.name.clone(), entry);
            }
        }
        Ok(Self { entries })
    }

    /// The same with one workflow more, or another in place of the one of its name: to check what is not written yet.
    #[must_use]
    pub fn with(mut self, workflow: Workflow, text: String) -> Self {
        let name = workflow.name.to_string();
        let entry = Entry {
            name: name.clone(),
            file: workflow.file.clone(),
            found: Ok(Arc::new(workflow)),
            standing: Some(Standing::Untrusted),
            text,
        };
        self.entries.insert(name, entry);
        self
    }

    /// Every file that is meant to be a workflow, sound or not, by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// One by its name, sound or not.
    pub fn entry(&self, name: &str) -> Result<&Entry, LibraryError> {
        self.entries.get(name).ok_or_else(|| LibraryError::NoSuchWorkflow {
            name: name.to_owned(),
            nearest: self.nearest(name),
        })
    }

    /// A sound one.
    #[must_use]
    pub fn get(&self, name: &WorkflowName) -> Option<&Arc<Workflow>> {
        self.entries.get(name.as_str())?.found.as_ref().ok()
    }

    pub(super) fn is_there(&self, name: &WorkflowName) -> bool {
        self.entries.contains_key(name.as_str())
    }

    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        nearest(name, self.entries.keys().map(String::as_str)).map(str::to_owned)
    }

    /// Problems as people read them, each with its line of the file.
    #[must_use]
    pub fn render(&self, problems: &[Problem]) -> String {
        let texts: BTreeMap<String, &str> = self
            .entries()
            .map(|entry| (entry.file.to_string_lossy().into_owned(), entry.text.as_str()))
            .collect();
        let mut out = String::new();
        for problem in problems.iter().take(SHOWN) {
            let text = texts.get(&problem.at.source.to_string()).copied();
            out.push_str(&problem.render(text));
            out.push('\n');
        }
        if problems.len() > SHOWN {
            out.push_str(&format!("and {} more\n", problems.len() - SHOWN));
        }
        out
    }

    /// What is wrong with a file, as people read it.
    #[must_use]
    pub fn render_broken(&self, broken: &Broken) -> String {
        match broken {
            Broken::Problems(problems) => self.render(problems),
            Broken::Unreadable { path, .. } | Broken::NotAName { path } => {
                let at = place(&Source::File(path.to_string_lossy().into()), 0, 0);
                let help = broken.problems().into_iter().map(|told| told.hint).collect::<String>();
                let text = glee_policy::error::render(&at, &broken.to_string(), &help, None);
                format!("{text}\n")
            }
        }
    }
}

/// The files whose trust decides for a workflow.
#[must_use]
pub fn files(workflow: &Workflow) -> Files {
    [(workflow.file.clone(), workflow.digest.clone())].into()
}

fn entry(folder: &Folder, file_name: &OsStr, file: PathBuf) -> Result<Entry, LibraryError> {
    let lossy = file_name.to_string_lossy();
    let stem = lossy.strip_suffix(".yml").unwrap_or(&lossy);
    let (found, text) = if WorkflowName::new(stem).is_some() {
        read(folder, file_name, &file)
    } else {
        (Err(Broken::NotAName { path: file.clone() }), String::new())
    };
    let standing = match &found {
        Ok(workflow) => Some(trust::standing(&files(workflow))?),
        Err(_) => None,
    };
    Ok(Entry {
        name: visible(stem),
        file,
        found,
        standing,
        text,
    })
}

fn read(folder: &Folder, name: &OsStr, file: &Path) -> (Result<Arc<Workflow>, Broken>, String) {
    let unreadable = |error| Broken::Unreadable {
        path: file.to_owned(),
        error,
    };
    match folder.read(name, MOST) {
        Ok(bytes) => {
            let bytes = bytes.unwrap_or_default();
            let found = parse(file, &bytes).map(Arc::new).map_err(Broken::Problems);
            (found, String::from_utf8_lossy(&bytes).into_owned())
        }
        Err(error) => (Err(unreadable(error)), String::new()),
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
