//! What a project asks the user for, and the user's answer.
//!
//! INVARIANT: what is stored are the digests of the very bytes that were parsed into the question: nothing is read again
//! between the showing and the answer.

use std::path::{Path, PathBuf};

use glee_policy::exceeds::Excess;
use glee_policy::{ResolvedPolicy, Source, exceeds};
use serde::Serialize;

use crate::audit::{LogError, record};
use crate::library::{Owner, Profiles, read_policy};
use crate::project::Scene;
use crate::select::{self, ProjectPolicy, SelectError};
use crate::trust::{self, Files, Standing, TrustError};

/// One policy of the project, with what it wants beyond `restricted`.
#[derive(Debug)]
pub struct Question {
    pub file: PathBuf,
    pub wants: Vec<Want>,
    pub standing: Standing,
    files: Files,
}

/// One thing that `restricted` does not give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Want {
    pub clause: String,
    /// Where a path leads, if its author wrote it another way.
    pub leads_to: Option<String>,
    pub origin: Option<String>,
    /// What `restricted` says instead.
    pub instead: Option<String>,
}

impl Question {
    fn new(project: ProjectPolicy, scene: &Scene) -> Result<Self, SelectError> {
        let base = select::restricted(scene)?;
        let wants = exceeds(&project.asked, &base);
        let wants = wants
            .into_iter()
            .map(|excess| Want::new(excess, &project.asked, scene))
            .collect();
        let standing = trust::standing(&project.files)?;
        Ok(Self {
            file: project.file,
            wants,
            standing,
            files: project.files,
        })
    }

    /// The files that a yes covers, with the digests of what was read.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The user said yes: remembers the files as they were read.
    pub fn agree(&self) -> Result<(), TrustError> {
        trust::trust(&self.files)
    }

    /// Enters the yes in the audit log.
    pub fn entered(&self, scene: &Scene) -> Result<(), LogError> {
        let files = self
            .files
            .iter()
            .map(|(file, digest)| (file.as_path(), digest.as_str()));
        record::trusted(&scene.project, files)
    }
}

impl Want {
    fn new(excess: Excess, asked: &ResolvedPolicy, scene: &Scene) -> Self {
        let grant = asked
            .grants
            .iter()
            .find(|grant| Some(&grant.origin) == excess.origin.as_ref());
        let leads_to = grant.filter(|grant| {
            // Read as it is written, the path would lead here; a link or a `..` may lead elsewhere.
            let plain = scene.project.join(&grant.written);
            plain.components().ne(grant.path.as_path().components())
        });
        Self {
            clause: excess.clause,
            leads_to: leads_to.map(|grant| grant.path.as_path().to_string_lossy().into_owned()),
            origin: excess.origin.map(|origin| origin.to_string()),
            instead: excess.base,
        }
    }
}

/// The question that the project's own configuration asks; `None` if it asks nothing.
pub fn configuration(scene: &Scene) -> Result<Option<Question>, SelectError> {
    select::project_policy(scene)?
        .map(|project| Question::new(project, scene))
        .transpose()
}

/// The question that a profile of the project asks; `None` if the name is not that of a project's profile.
pub fn profile(name: &str, scene: &Scene) -> Result<Option<Question>, SelectError> {
    let library = Profiles::new(&scene.project);
    let located = library
        .locate(name)
        .filter(|_| glee_policy::builtin::text(name).is_none());
    match located {
        Some((file, Owner::Project)) => from_file(file, scene).map(Some),
        Some((_, Owner::User)) | None => Ok(None),
    }
}

fn from_file(file: PathBuf, scene: &Scene) -> Result<Question, SelectError> {
    let bytes = read_policy(&file).map_err(|error| SelectError::Unreadable {
        path: file.clone(),
        error,
    })?;
    let policy = glee_policy::parse_bytes(&Source::File(file.to_string_lossy().into()), &bytes)?;
    Question::new(select::from_project(scene, policy, file, &bytes)?, scene)
}

/// How one file of a project stands.
#[derive(Debug, Serialize)]
pub struct Status {
    pub file: String,
    /// `trusted`, `changed`, `untrusted`, `not needed` or `broken`.
    pub standing: &'static str,
    pub wants: Vec<Want>,
    pub error: Option<String>,
}

/// The configuration and every profile of the project.
#[must_use]
pub fn status(scene: &Scene) -> Vec<Status> {
    let config = scene.project.join(select::CONFIG);
    let mut list = Vec::new();
    list.extend(entry(&config, configuration(scene)));
    for (name, file, owner) in Profiles::new(&scene.project).list() {
        if owner == Owner::Project {
            list.extend(entry(&file, profile(&name, scene)));
        }
    }
    list
}

fn entry(file: &Path, question: Result<Option<Question>, SelectError>) -> Option<Status> {
    let file = file.to_string_lossy().into_owned();
    Some(match question {
        Ok(None) => return None,
        Ok(Some(question)) => {
            let standing = match question.standing {
                Standing::Trusted => "trusted",
                Standing::Changed | Standing::Untrusted if question.wants.is_empty() => "not needed",
                Standing::Changed => "changed",
                Standing::Untrusted => "untrusted",
            };
            Status {
                file,
                standing,
                wants: question.wants,
                error: None,
            }
        }
        Err(error) => Status {
            file,
            standing: "broken",
            wants: Vec::new(),
            error: Some(error.to_string()),
        },
    })
}

/// Forgets what was trusted of this project. Returns how many files that were.
pub fn withdraw(scene: &Scene) -> Result<usize, TrustError> {
    // Only what lies in its own `.glee`: another project may lie inside this one.
    trust::untrust(&scene.project.join(".glee"))
}
