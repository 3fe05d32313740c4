//! What a prompt is made of.
//!
//! Pure. INVARIANT: memory, conversations and what steps said are never trusted; only what the user can trust by its digest can be.

use std::fmt;

use serde::Serialize;

use crate::definitions::AgentName;
use crate::definitions::template::is_name;

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
    /// What a workflow says that is to be done.
    Workflow(AgentName),
    /// What another agent asks for.
    Request,
    /// The value of an input that is not the caller's own word: of a workflow's step, or from another agent.
    Input(String),
    /// What steps of a workflow said: `step:0:scanner`, `parallel_group:scanners`.
    Step(String),
}

/// How the label of what steps said begins.
const STEPS: [&str; 2] = ["step", "parallel_group"];

impl Label {
    /// A conversation; `None` if the id could be read as more than an id.
    #[must_use]
    pub fn session(id: &str) -> Option<Self> {
        const LONGEST: usize = 128;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (!id.is_empty() && id.len() <= LONGEST && id.bytes().all(plain)).then(|| Self::Session(id.to_owned()))
    }

    /// What a step said; `None` if the text could be read as more than that.
    #[must_use]
    pub fn step(from: &str) -> Option<Self> {
        const LONGEST: usize = 192;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'#');
        let is_ours = from
            .split_once(':')
            .is_some_and(|(kind, rest)| STEPS.contains(&kind) && !rest.is_empty());
        (is_ours && from.len() <= LONGEST && from.bytes().all(plain)).then(|| Self::Step(from.to_owned()))
    }

    /// The value of an input; `None` if it is no name.
    #[must_use]
    pub fn input(name: &str) -> Option<Self> {
        is_name(name).then(|| Self::Input(name.to_owned()))
    }

    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        match written.split_once(':') {
            None if written == "AGENTS.md" => Some(Self::AgentsMd),
            None if written == "memory" => Some(Self::Memory),
            None if written == "request" => Some(Self::Request),
            Some(("agent", name)) => AgentName::new(name).map(Self::Agent),
            Some(("session", id)) => Self::session(id),
            Some(("workflow", name)) => AgentName::new(name).map(Self::Workflow),
            Some(("input", name)) => Self::input(name),
            Some(("step" | "parallel_group", _)) => Self::step(written),
            None | Some(_) => None,
        }
    }

    /// Can a block from there be trusted at all?
    #[must_use]
    pub fn can_be_trusted(&self) -> bool {
        match self {
            Self::Agent(_) | Self::AgentsMd | Self::Workflow(_) => true,
            Self::Memory | Self::Session(_) | Self::Request | Self::Input(_) | Self::Step(_) => false,
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
            Self::Workflow(name) => write!(f, "workflow:{name}"),
            Self::Request => f.write_str("request"),
            Self::Input(name) => write!(f, "input:{name}"),
            Self::Step(from) => f.write_str(from),
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
