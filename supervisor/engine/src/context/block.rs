//! What a prompt is made of.
//!
//! Pure. INVARIANT: memory and conversations are never trusted; only what the user can trust by its digest can be.

use std::fmt;

use serde::Serialize;

use crate::definitions::AgentName;

/// May what a block says be taken as an instruction?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    Trusted,
    Untrusted,
}

impl Trust {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Trusted => "true",
            Self::Untrusted => "false",
        }
    }
}

/// Where a block comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// The prompt of the agent's definition.
    Agent(AgentName),
    AgentsMd,
    Memory,
    /// A recorded conversation, by its id.
    Session(String),
}

impl Label {
    /// A conversation; `None` if the id could be read as more than an id.
    #[must_use]
    pub fn session(id: &str) -> Option<Self> {
        const LONGEST: usize = 128;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (!id.is_empty() && id.len() <= LONGEST && id.bytes().all(plain)).then(|| Self::Session(id.to_owned()))
    }

    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        match written.split_once(':') {
            None if written == "AGENTS.md" => Some(Self::AgentsMd),
            None if written == "memory" => Some(Self::Memory),
            Some(("agent", name)) => AgentName::new(name).map(Self::Agent),
            Some(("session", id)) => Self::session(id),
            None | Some(_) => None,
        }
    }

    /// Can a block from there be trusted at all?
    #[must_use]
    pub fn can_be_trusted(&self) -> bool {
        match self {
            Self::Agent(_) | Self::AgentsMd => true,
            Self::Memory | Self::Session(_) => false,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::AgentsMd => f.write_str("AGENTS.md"),
            Self::Memory => f.write_str("memory"),
            Self::Session(id) => write!(f, "session:{id}"),
        }
    }
}

/// One piece of context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    label: Label,
    trust: Trust,
    text: String,
}

impl Block {
    /// A block. What cannot be trusted is not, whatever is asked for.
    #[must_use]
    pub fn new(label: Label, trust: Trust, text: String) -> Self {
        let trust = if label.can_be_trusted() {
            trust
        } else {
            Trust::Untrusted
        };
        Self { label, trust, text }
    }

    #[must_use]
    pub fn label(&self) -> &Label {
        &self.label
    }

    #[must_use]
    pub fn trust(&self) -> Trust {
        self.trust
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Everything an agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub blocks: Vec<Block>,
    /// What the caller wants.
    pub task: String,
}
