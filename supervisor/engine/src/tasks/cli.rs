//! The agent CLIs that can work on a task, and how each is called.
//!
//! Pure. INVARIANT: the prompt is never an argument; it goes by standard input, so that neither its length nor a leading `-` matters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentCli {
    Codex,
    Claude,
    Gemini,
}

/// The order in which the first available one is looked for.
pub const ALL: [AgentCli; 3] = [AgentCli::Codex, AgentCli::Claude, AgentCli::Gemini];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no agent CLI that is known here")]
pub struct UnknownCli(pub String);

impl UnknownCli {
    #[must_use]
    pub fn help(&self) -> &'static str {
        "one of codex, claude, gemini"
    }
}

/// A conversation of the CLI's own, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(String);

impl ConversationId {
    /// What a CLI said its conversation is called. Ids that could be taken for a flag or a path are none.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let plain = text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let fits = (1..=128).contains(&text.len()) && !text.starts_with('-');
        (plain && fits).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AgentCli {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }

    /// What follows the program's name: one prompt from standard input, events on standard output.
    #[must_use]
    pub fn arguments(self, resume: Option<&ConversationId>) -> Vec<String> {
        let id = resume.map(ConversationId::as_str);
        let words: Vec<&str> = match (self, id) {
            (Self::Codex, None) => vec!["exec", "--json", "--skip-git-repo-check", "-"],
            (Self::Codex, Some(id)) => vec!["exec", "--json", "--skip-git-repo-check", "resume", id, "-"],
            (Self::Claude, None) => vec!["-p", "--output-format", "stream-json", "--verbose"],
            (Self::Claude, Some(id)) => vec!["-p", "--output-format", "stream-json", "--verbose", "--resume", id],
            // Without a terminal and with a prompt on standard input it does not ask for one.
            (Self::Gemini, None) => vec!["-o", "stream-json"],
            (Self::Gemini, Some(id)) => vec!["-o", "stream-json", "--resume", id],
        };
        words.into_iter().map(str::to_owned).collect()
    }
}

impl fmt::Display for AgentCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AgentCli {
    type Err = UnknownCli;

    fn from_str(text: &str) -> Result<Self, UnknownCli> {
        ALL.into_iter()
            .find(|cli| cli.name() == text)
            .ok_or_else(|| UnknownCli(text.to_owned()))
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
