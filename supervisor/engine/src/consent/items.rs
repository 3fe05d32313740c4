//! What else of a project the user can say yes to: agents, workflows and `AGENTS.md`, each for itself.
//!
//! A yes lets their words count as instructions, and an agent have more than the defaults; it widens no sandbox.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Kind, Question, Want};
use crate::context::assemble::{self, AGENTS_MD};
use crate::definitions::store::{Agents, DIR};
use crate::definitions::{AgentName, view};
use crate::folder::Folder;
use crate::library::digest;
use crate::project::Scene;
use crate::settings::bounds;
use crate::trust::{self, Files, TrustError};

/// Where workflows lie in a project.
pub const WORKFLOWS: &str = ".glee/workflows";
const MOST: usize = 1 << 20;

/// A file that cannot be asked about, as it cannot be read.
#[derive(Debug)]
pub struct Broken {
    pub kind: Kind,
    pub file: PathBuf,
    /// As people read it.
    pub error: String,
}

impl Broken {
    fn new(kind: Kind, file: PathBuf, error: &impl ToString) -> Self {
        let error = error.to_string();
        Self { kind, file, error }
    }
}

/// The questions that the files of one kind ask.
pub type Items = Vec<Result<Question, Broken>>;

fn question(kind: Kind, file: PathBuf, digest: String, wants: Vec<Want>) -> Result<Question, Broken> {
    let files: Files = [(file.clone(), digest)].into();
    let standing = trust::standing(&files).map_err(|error: TrustError| Broken::new(kind, file.clone(), &error))?;
    Ok(Question {
        kind,
        file,
        wants,
        standing,
        files,
        requires: BTreeSet::new(),
    })
}

/// One question for each agent of the project.
#[must_use]
pub fn agents(scene: &Scene) -> Items {
    let listed = match Agents::open(&scene.project).and_then(|agents| agents.list()) {
        Ok(listed) => listed,
        Err(error) => return vec![Err(Broken::new(Kind::Agent, scene.project.join(DIR), &error))],
    };
    let item = |(file, found): (PathBuf, Result<_, _>)| match found {
        Ok(agent) => {
            let wants = bounds::beyond(&agent).into_iter().map(|(clause, instead)| Want {
                clause,
                leads_to: None,
                origin: None,
                instead: Some(instead),
                profile: None,
            });
            let digest = view::files(&agent).into_values().next().unwrap_or_default();
            question(Kind::Agent, file, digest, wants.collect())
        }
        Err(error) => Err(Broken::new(Kind::Agent, file, &error)),
    };
    listed
        .into_iter()
        .map(|listed| item((listed.file, listed.definition)))
        .collect()
}

/// One question for each workflow of the project: its bytes, whatever they say.
#[must_use]
pub fn workflows(scene: &Scene) -> Items {
    let dir = scene.project.join(WORKFLOWS);
    let broken = |error: std::io::Error| vec![Err(Broken::new(Kind::Workflow, dir.clone(), &error))];
    let folder = match Folder::find_beneath(&scene.project, Path::new(WORKFLOWS)) {
        Ok(Some(folder)) => folder,
        Ok(None) => return Vec::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Vec::new(),
        Err(error) => return broken(error),
    };
    let names = match folder.names() {
        Ok(names) => names,
        Err(error) => return broken(error),
    };
    let is_workflow = |name: &&std::ffi::OsString| {
        let stem = name.to_str().and_then(|name| name.strip_suffix(".yml"));
        stem.is_some_and(|stem| AgentName::new(stem).is_some())
    };
    names
        .iter()
        .filter(is_workflow)
        .map(|name| workflow(&folder, name, dir.join(name)))
        .collect()
}

fn workflow(folder: &Folder, name: &OsStr, file: PathBuf) -> Result<Question, Broken> {
    match folder.read(name, MOST) {
        Ok(bytes) => question(Kind::Workflow, file, digest(&bytes.unwrap_or_default()), Vec::new()),
        Err(error) => Err(Broken::new(Kind::Workflow, file, &error)),
    }
}

/// The question that `AGENTS.md` asks.
#[must_use]
pub fn instructions(scene: &Scene) -> Items {
    match assemble::instructions(&scene.project) {
        Ok(None) => Vec::new(),
        Ok(Some(found)) => vec![question(Kind::Instructions, found.file, found.digest, Vec::new())],
        Err(error) => {
            let file = scene.project.join(AGENTS_MD);
            let error = format!("{error}; {}", error.help());
            vec![Err(Broken::new(Kind::Instructions, file, &error))]
        }
    }
}
