//! A session as it is stored: the documented JSON, and what makes a change to it visible.
//!
//! Pure data. INVARIANT: every field but the signatures themselves is covered by one (`chain`).

use serde::{Deserialize, Serialize};

use super::id::{ConversationId, SessionId};
use crate::clock::Moment;
use crate::keyring::Mac;
use crate::label::Label;

/// The form of the file. Another number is another form.
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub session_id: SessionId,
    pub agent_name: Option<Label>,
    pub agent_cli: Label,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub status: Status,
    pub messages: Vec<Message>,
    /// The CLI's own record of the conversation, if it keeps one.
    pub conversation: Option<Conversation>,
    /// The oldest messages, left out when the file grew too large.
    pub dropped: Option<Dropped>,
    pub version: u32,
    /// Over everything that is not a message, and the last message.
    pub seal: Mac,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Running,
    Completed,
    Error,
    Timeout,
    Cancelled,
}

impl Status {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub role: Role,
    pub content: String,
    pub at: Moment,
    /// The run that said or was told it.
    pub run: Option<Label>,
    /// Over this message, its place and the one before.
    pub mac: Mac,
}

/// What the CLI itself has kept, and how to know it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    pub id: ConversationId,
    /// Over the CLI's own files as they were when the run ended.
    pub state: StateDigest,
}

/// A SHA-256 of the files in which a CLI keeps a conversation.
pub type StateDigest = crate::hex::Hex<32>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    pub count: u64,
    /// That of the last message left out.
    pub mac: Mac,
}

impl Session {
    /// How many messages there ever were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.dropped.map_or(0, |dropped| dropped.count) + self.messages.len() as u64
    }
}
