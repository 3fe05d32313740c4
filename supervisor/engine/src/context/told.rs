//! What the agent of a workflow's step, or one that another agent asked for, is told besides its task. Of a step it is stored until
//! that starts.
//!
//! INVARIANT: what steps and other agents said and what inputs hold becomes an untrusted block of its own, whatever it says; the workflow's own
//! words are trusted only if its files are, by their digests, at the moment the step starts.

use serde::{Deserialize, Serialize};

use super::assemble::{MOST_TOLD, believed};
use super::block::{Block, Label, Trust};
use super::cut::{Keep, cut};
use crate::definitions::AgentName;
use crate::trust::{self, Files, TrustError};

/// One block to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    pub source: Source,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    Workflow {
        name: AgentName,
        /// All of them must be trusted: its own, and those of the workflows that called it.
        files: Files,
    },
    /// What another agent asks for.
    Request,
    Input(String),
    /// As `Label::step` reads it.
    Step(String),
}

impl Told {
    /// The block; `None` if its source is no label.
    pub fn block(&self) -> Result<Option<Block>, TrustError> {
        let text = cut(&self.text, MOST_TOLD, Keep::Start).into_owned();
        let (label, trust) = match &self.source {
            Source::Workflow { name, files } => {
                let trust = believed(trust::standing(files)?);
                (Some(Label::Workflow(name.clone())), trust)
            }
            Source::Request => (Some(Label::Request), Trust::Untrusted),
            Source::Input(name) => (Label::input(name), Trust::Untrusted),
            Source::Step(from) => (Label::step(from), Trust::Untrusted),
        };
        Ok(label.map(|label| Block::new(label, trust, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_steps_are_read_back_and_nothing_else_is_one() {
        for written in [
            "step:0:a-b",
            "step:12:x#2",
            "parallel_group:all_of-them",
            "input:a_b",
            "workflow:w",
            "request",
        ] {
            assert_eq!(
                Label::parse(written).map(|label| label.to_string()).as_deref(),
                Some(written)
            );
        }
        let long = format!("step:{}", "a".repeat(200));
        for wrong in [
            "step:",
            "step",
            "steps:0",
            "step:a b",
            "step:\"",
            "step:<",
            "input:a-b",
            "input:",
            "workflow:A",
            &long,
        ] {
            assert_eq!(Label::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_step_said_or_an_input_holds_is_never_trusted() {
        for source in [
            Source::Step("step:0:a".into()),
            Source::Input("a".into()),
            Source::Request,
        ] {
            let told = Told {
                source,
                text: "x".repeat(MOST_TOLD + 9),
            };
            let block = told.block().unwrap().unwrap();
            assert_eq!(block.trust(), Trust::Untrusted);
            assert!(block.text().len() <= MOST_TOLD && block.text().ends_with("bytes left out]"));
        }
        let odd = Told {
            source: Source::Step("agent:a".into()),
            text: String::new(),
        };
        assert_eq!(odd.block().unwrap(), None);
    }
}
