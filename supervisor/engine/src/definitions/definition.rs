//! What a definition says, typed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use glee_policy::Policy;
use serde::{Deserialize, Serialize};

use super::AgentName;
use super::input::{self, CallError, Input};
use super::template::{FillProblem, Template};
use super::tool::Tool;

/// The agent CLIs that a definition can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cli {
    Claude,
    Codex,
    Gemini,
    /// Our own program, which does what its prompt says without a model: for trials and tests. Never chosen, only named.
    Stub,
}

impl Cli {
    /// Those of vendors.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("claude", Self::Claude),
        ("codex", Self::Codex),
        ("gemini", Self::Gemini),
    ];

    /// Everything that can be named to work on a task.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("claude", Self::Claude),
        ("codex", Self::Codex),
        ("gemini", Self::Gemini),
        ("stub", Self::Stub),
    ];

    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == word);
        found.map(|(_, cli)| *cli)
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Stub => "stub",
        }
    }
}

impl fmt::Display for Cli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where an imported agent came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    pub from: Cli,
    /// As written: relative to the project, or absolute.
    pub file: String,
    pub imported_at: String,
}

/// One agent, as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub name: AgentName,
    pub description: String,
    /// Absent: the first that is available.
    pub agent: Option<Cli>,
    pub prompt: Template,
    pub source: Option<Imported>,
    pub timeout: Option<Duration>,
    pub max_output_kb: Option<u64>,
    pub inputs: Vec<Input>,
    /// Absent: whatever the CLI has.
    pub tools: Option<Vec<Tool>>,
    pub permissions: Option<Policy>,
    pub file: PathBuf,
    /// SHA-256 of the bytes it was read from.
    pub digest: String,
}

impl Definition {
    /// The prompt for one call. Nothing in a value is looked at again.
    pub fn fill(&self, given: &BTreeMap<String, String>) -> Result<String, CallError> {
        let agent = self.name.as_str();
        let values = input::values(agent, &self.inputs, given)?;
        self.prompt.fill(&values).map_err(|problem| match problem {
            FillProblem::Missing(name) => input::missing(agent, &name),
            FillProblem::TooLong => CallError::LongPrompt {
                agent: agent.to_owned(),
            },
        })
    }
}
