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

pub use calls::{CallName, CallProblem};
pub use env::{Variable, VariableProblem};
pub use net::{Target, TargetProblem};

/// One question. The run is the one that was prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Absolute, as the command would write it.
    Path {
        path: PathBuf,
        usage: Use,
    },
    Env(Variable),
    Net(Target),
    Syscall(CallName),
}

/// The answer, for readers and as JSON, where every key is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// `fs.read`, `fs.write`, `fs.exec`, `env`, `network`, `syscall`.
    pub kind: &'static str,
    /// The path, name or host that was asked for.
    pub what: String,
    pub allowed: bool,
    /// Is it there inside? `None` where that makes no sense or cannot be known before the run.
    pub exists: Option<bool>,
    /// The clause that decides, or what stands in for one.
    pub clause: String,
    /// The file and line of that clause.
    pub origin: Option<String>,
    /// Why the author wrote it.
    pub why: Option<String>,
    /// The step of the plan that enforces it.
    pub enforced_by: Option<&'static str>,
    /// Where the path leads inside, if that is another one.
    pub leads_to: Option<String>,
    /// What else the reader should know.
    pub note: Option<String>,
    /// The smallest change that would allow it.
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
        Question::Syscall(name) => calls::explain(prepared, *name),
    }
}

fn place(scene: &Scene) -> Place<'_> {
    Place {
        project: &scene.project,
        home: scene.home.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_printed_and_is_documented() {
        let answer = Explained::new("env", "A".into(), true, "c".into());
        let json = serde_json::to_value(answer).expect("it is JSON");
        let printed: BTreeSet<&str> = json
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect();
        let text = include_str!("../../../../docs/explain.md");
        let list = text
            .split("`{kind, ")
            .nth(1)
            .and_then(|rest| rest.split("}`").next())
            .expect("a list");
        let written: BTreeSet<&str> = list.split(", ").chain(["kind"]).collect();
        assert_eq!(printed, written);
    }
}
