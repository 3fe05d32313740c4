//! What a project asks the user for, and the user's answer.
//!
//! The configuration and profiles ask for a wider sandbox; what `items` knows asks to be believed.
//! INVARIANT: what is stored are the digests of the very bytes that were parsed into the question: nothing is read again
//! between the showing and the answer.

pub mod items;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glee_policy::exceeds::Excess;
use glee_policy::{ResolvedPolicy, Source, exceeds};
use serde::Serialize;

use crate::audit::{LogError, record};
use crate::library::{Owner, Profiles, digest, read_own};
use crate::project::Scene;
use crate::select::{self, ProjectPolicy, SelectError};
use crate::trust::{self, Files, Standing, TrustError};

/// What a file is to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Configuration,
    Profile,
    Agent,
    Workflow,
    /// `AGENTS.md`.
    Instructions,
}

/// One file of the project, with what it wants beyond what every file has.
#[derive(Debug)]
pub struct Question {
    pub kind: Kind,
    pub file: PathBuf,
    pub wants: Vec<Want>,
    pub standing: Standing,
    files: Files,
    /// The approvals that a configuration requires.
    requires: BTreeSet<String>,
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
    /// The built-in profile in whose list of readable paths it stands.
    #[serde(skip)]
    pub profile: Option<String>,
}

impl Question {
    fn new(kind: Kind, project: ProjectPolicy, scene: &Scene) -> Result<Self, SelectError> {
        let base = select::restricted(scene)?;
        let wants = exceeds(&project.asked, &base);
        let wants = wants
            .into_iter()
            .map(|excess| Want::new(excess, &project.asked, scene))
            .collect();
        let standing = trust::standing(&project.files)?;
        Ok(Self {
            kind,
            file: project.file,
            wants,
            standing,
            files: project.files,
            requires: BTreeSet::new(),
        })
    }

    /// Would a yes change anything?
    #[must_use]
    pub fn is_needed(&self) -> bool {
        match self.kind {
            Kind::Configuration | Kind::Profile => !self.wants.is_empty(),
            Kind::Agent | Kind::Workflow | Kind::Instructions => true,
        }
    }

    /// The files that a yes covers, with the digests of what was read.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The user said yes: remembers the files as they were read.
    pub fn agree(&self) -> Result<(), TrustError> {
        match self.kind {
            Kind::Configuration => trust::trust_requiring(&self.files, &self.file, self.requires.clone()),
            Kind::Profile | Kind::Agent | Kind::Workflow | Kind::Instructions => trust::trust(&self.files),
        }
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
            profile: excess.read_by_profile().map(str::to_owned),
            clause: excess.clause,
            leads_to: leads_to.map(|grant| grant.path.as_path().to_string_lossy().into_owned()),
            origin: excess.origin.map(|origin| origin.to_string()),
            instead: excess.base,
        }
    }
}

/// The question that the project's own configuration asks; `None` if it asks nothing.
pub fn configuration(scene: &Scene) -> Result<Option<Question>, SelectError> {
    let policy = select::project_policy(scene)?
        .map(|project| Question::new(Kind::Configuration, project, scene))
        .transpose()?;
    let (wants, files, requires) = settings(scene)?;
    match policy {
        Some(mut question) => {
            question.wants.extend(wants);
            question.requires = requires;
            Ok(Some(question))
        }
        None if wants.is_empty() => Ok(None),
        None => Ok(Some(Question {
            kind: Kind::Configuration,
            file: scene.project.join(select::CONFIG),
            wants,
            standing: trust::standing(&files)?,
            files,
            requires,
        })),
    }
}

/// What the settings ask for: more than their defaults, or no approval any more where it was required; and what they require.
fn settings(scene: &Scene) -> Result<(Vec<Want>, Files, BTreeSet<String>), SelectError> {
    let file = scene.project.join(select::CONFIG);
    // What is not there says nothing; what cannot be read was refused before.
    let bytes = read_own(&scene.project, &file).unwrap_or_default();
    let source = Source::File(file.to_string_lossy().into());
    let settings = crate::settings::read(&source, &bytes)?;
    let wants = settings.beyond().into_iter().map(|(key, value, origin)| Want {
        clause: format!("{} {}", key.path(), key.written(&value)),
        leads_to: None,
        origin: origin.map(|origin| origin.to_string()),
        instead: Some(format!("default: {}", key.written(&key.default()))),
        profile: None,
    });
    let requires = settings.approvals();
    let dropped = trust::required(&file)?;
    let dropped = dropped.difference(&requires).map(|key| Want {
        clause: format!("{key} false"),
        leads_to: None,
        origin: None,
        instead: Some("required until now".to_owned()),
        profile: None,
    });
    let wants = wants.chain(dropped).collect();
    Ok((wants, [(file, digest(&bytes))].into(), requires))
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
    let bytes = read_own(&scene.project, &file).map_err(|error| SelectError::Unreadable {
        path: file.clone(),
        error,
    })?;
    let policy = glee_policy::parse_bytes(&Source::File(file.to_string_lossy().into()), &bytes)?;
    Question::new(Kind::Profile, select::from_project(scene, policy, file, &bytes)?, scene)
}

/// How one file of a project stands.
#[derive(Debug, Serialize)]
pub struct Status {
    pub kind: Kind,
    pub file: String,
    /// `trusted`, `changed`, `untrusted`, `not needed` or `broken`.
    pub standing: &'static str,
    pub wants: Vec<Want>,
    pub error: Option<String>,
}

/// The configuration, every profile, agent and workflow of the project, and `AGENTS.md`.
#[must_use]
pub fn status(scene: &Scene) -> Vec<Status> {
    let config = scene.project.join(select::CONFIG);
    let mut list = Vec::new();
    list.extend(entry(Kind::Configuration, &config, configuration(scene)));
    for (name, file, owner) in Profiles::new(&scene.project).list() {
        if owner == Owner::Project {
            list.extend(entry(Kind::Profile, &file, profile(&name, scene)));
        }
    }
    for item in [
        items::agents(scene),
        items::workflows(scene),
        items::instructions(scene),
    ] {
        list.extend(item.into_iter().map(|item| match item {
            Ok(question) => of(question),
            Err(broken) => damaged(broken.kind, &broken.file, broken.error),
        }));
    }
    list
}

fn entry(kind: Kind, file: &Path, question: Result<Option<Question>, SelectError>) -> Option<Status> {
    match question {
        Ok(question) => question.map(of),
        Err(error) => Some(damaged(kind, file, error.to_string())),
    }
}

fn of(question: Question) -> Status {
    let standing = match question.standing {
        Standing::Trusted => "trusted",
        Standing::Changed | Standing::Untrusted if !question.is_needed() => "not needed",
        Standing::Changed => "changed",
        Standing::Untrusted => "untrusted",
    };
    Status {
        kind: question.kind,
        file: question.file.to_string_lossy().into_owned(),
        standing,
        wants: question.wants,
        error: None,
    }
}

fn damaged(kind: Kind, file: &Path, error: String) -> Status {
    Status {
        kind,
        file: file.to_string_lossy().into_owned(),
        standing: "broken",
        wants: Vec::new(),
        error: Some(error),
    }
}

/// Forgets what was trusted of this project. Returns the files.
pub fn withdraw(scene: &Scene) -> Result<Vec<String>, TrustError> {
    // Only what lies in its own `.glee`, and its own instructions: another project may lie inside this one.
    trust::untrust(&[
        scene.project.join(".glee"),
        scene.project.join(crate::context::assemble::AGENTS_MD),
    ])
}
