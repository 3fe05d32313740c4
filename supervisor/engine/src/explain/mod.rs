//! `policy explain`: would it be allowed, by which clause, enforced by which step, and what would change that.
//!
//! The verdict is the plan's (`glee_sandbox::answer`), the words are the policy's. Reads the host; changes nothing, sends nothing.

mod calls;
mod env;
mod net;
mod paths;

use std::path::PathBuf;

use glee_policy::Origin;
use glee_policy::hint::Place;
use glee_sandbox::answer::Use;
use glee_sandbox::steps::Step;
use serde::Serialize;

use crate::project::Scene;
use crate::run::Prepared;

pub use net::{Target, TargetProblem};

/// One question. The run is the one that was prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Absolute, as the command would write it.
    Path {
        path: PathBuf,
        usage: Use,
    },
    Env(String),
    Net(Target),
    Syscall(String),
}

/// The answer, for readers and as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// `fs.read`, `fs.write`, `fs.exec`, `env`, `network`, `syscall`.
    pub kind: &'static str,
    /// The path, name or host that was asked for.
    pub what: String,
    pub allowed: bool,
    /// Is it there inside? Absent where that makes no sense or cannot be known before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// The clause that decides, or what stands in for one.
    pub clause: String,
    /// The file and line of that clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Why the author wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The step of the plan that enforces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced_by: Option<&'static str>,
    /// Where the path leads inside, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// What else the reader should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The smallest change that would allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Explained {
    fn new(kind: &'static str, what: String, allowed: bool, clause: String) -> Self {
        Self {
            kind,
            what,
            allowed,
            exists: None,
            clause,
            origin: None,
            why: None,
            enforced_by: None,
            leads_to: None,
            note: None,
            hint: None,
        }
    }

    fn from(mut self, origin: Option<&Origin>) -> Self {
        self.origin = origin.map(ToString::to_string);
        self
    }

    fn by(mut self, step: Option<Step>) -> Self {
        self.enforced_by = step.map(Step::name);
        self
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// Answers one question about a prepared run.
#[must_use]
pub fn explain(prepared: &Prepared, scene: &Scene, question: &Question) -> Explained {
    match question {
        Question::Path { path, usage } => paths::explain(prepared, scene, path, *usage),
        Question::Env(name) => env::explain(prepared, name),
        Question::Net(target) => net::explain(prepared, target),
        Question::Syscall(name) => calls::explain(prepared, name),
    }
}

fn place(scene: &Scene) -> Place<'_> {
    Place {
        project: &scene.project,
        home: scene.home.as_deref(),
    }
}
