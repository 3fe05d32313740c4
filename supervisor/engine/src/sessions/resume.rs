//! How a session goes on: in the CLI's own conversation, or with its history told again.
//!
//! Pure. INVARIANT: history that is told again is always untrusted text, whoever wrote it; and the CLI's own
//! conversation is only continued if nothing of the record nor of the CLI's files has changed.

use serde::Serialize;

use super::chain::Fault;
use super::id::ConversationId;
use super::record::{Message, Role, Session, StateDigest};
use crate::label::Label;

/// One message costs this many tokens besides its text, for the word that says whose it is.
const OVERHEAD: u64 = 4;
/// Bytes of UTF-8 that count as one token. English prose has between four and five.
const BYTES_PER_TOKEN: u64 = 4;

/// How much of a history is told again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub max_history: usize,
    /// By the estimate of `tokens`.
    pub max_context_tokens: Option<u64>,
}

/// What is there of the CLI's own record of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Nothing,
    Files(StateDigest),
}

/// What the next run does with what was said so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Resume<'a> {
    /// The CLI continues its own conversation.
    Native(&'a ConversationId),
    /// The history goes into the prompt, as untrusted text.
    Replay { why: Why, history: History },
}

/// Why the CLI does not continue its own conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("the session was changed by somebody else: {0}")]
    Changed(Fault),
    #[error("the conversation was held with `{0}`")]
    OtherCli(Label),
    #[error("the CLI has told no id for its conversation")]
    NoConversation,
    #[error("the CLI's own record of the conversation is gone")]
    Gone,
    #[error("the CLI's own record of the conversation has changed since the last run")]
    StateChanged,
}

/// A part of the history, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct History {
    pub messages: Vec<Told>,
    /// Older ones that were not taken.
    pub left_out: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    pub role: Role,
    pub content: String,
}

/// Decides. `fault` is what the signatures say, `kept` what is there of the CLI's files.
#[must_use]
pub fn decide<'a>(session: &'a Session, fault: Option<Fault>, cli: &Label, kept: Kept, window: Window) -> Resume<'a> {
    let native = || -> Result<&ConversationId, Why> {
        if let Some(fault) = fault {
            return Err(Why::Changed(fault));
        }
        if session.agent_cli != *cli {
            return Err(Why::OtherCli(session.agent_cli.clone()));
        }
        let conversation = session.conversation.as_ref().ok_or(Why::NoConversation)?;
        match kept {
            Kept::Nothing => Err(Why::Gone),
            Kept::Files(state) if state != conversation.state => Err(Why::StateChanged),
            Kept::Files(_) => Ok(&conversation.id),
        }
    };
    match native() {
        Ok(id) => Resume::Native(id),
        Err(why) => Resume::Replay {
            why,
            history: history(session, window),
        },
    }
}

/// The newest messages that fit. If not even the last one does, its beginning.
#[must_use]
pub fn history(session: &Session, window: Window) -> History {
    let mut left = window.max_context_tokens.unwrap_or(u64::MAX);
    let mut messages: Vec<Told> = Vec::new();
    for message in session.messages.iter().rev().take(window.max_history) {
        let cost = tokens(&message.content);
        if let Some(rest) = left.checked_sub(cost) {
            left = rest;
            messages.push(tell(message, &message.content));
        } else {
            if messages.is_empty() {
                messages.extend(beginning(message, left));
            }
            break;
        }
    }
    messages.reverse();
    let left_out = session.total() - messages.len() as u64;
    History { messages, left_out }
}

/// An estimate of what a message costs: a token for every four bytes, rounded up, and four for whose it is.
#[must_use]
pub fn tokens(content: &str) -> u64 {
    (content.len() as u64).div_ceil(BYTES_PER_TOKEN) + OVERHEAD
}

fn tell(message: &Message, content: &str) -> Told {
    Told {
        role: message.role,
        content: content.to_owned(),
    }
}

fn beginning(message: &Message, left: u64) -> Option<Told> {
    let room = left.checked_sub(OVERHEAD).filter(|tokens| *tokens > 0)? * BYTES_PER_TOKEN;
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let end = message.content.floor_char_boundary(room);
    message
        .content
        .get(..end)
        .filter(|c| !c.is_empty())
        .map(|content| tell(message, content))
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
