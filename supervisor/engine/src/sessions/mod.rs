//! Sessions: conversations with subagents, one JSON file each in the project's `.glee/agent_sessions`.
//!
//! Written by the supervisor only; a sandbox has a directory of its own in that place. Formats and guarantees:
//! `docs/sessions.md`.

mod chain;
mod id;
mod record;
mod resume;
mod store;

pub use chain::{Fault, Signer};
pub use id::{ConversationId, NotAConversation, NotAnId, SessionId};
pub use record::{Conversation, Dropped, Message, Role, Session, StateDigest, Status};
pub use resume::{History, Kept, Resume, Told, Why, Window, decide, history, tokens};
pub use store::{Checked, DIRECTORY, Listed, MOST_CONTENT, Said, SessionError, Sessions, Turn};
