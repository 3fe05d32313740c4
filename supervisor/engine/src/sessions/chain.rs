//! The signatures of a session: each message signs the one before, and the seal signs the end and the rest.
//!
//! Pure. INVARIANT: a session is `Intact` only if every byte of meaning in it was signed with this key, for this project.
//! An older whole state of the same file, put back, is `Intact` too: it is a conversation that did take place.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::record::{Dropped, Message, Session, VERSION};
use crate::keyring::{Key, Mac};

/// What the signatures of a project's sessions are made with.
#[derive(Debug)]
pub struct Signer<'a> {
    pub key: &'a Key,
    /// A session that was copied here from elsewhere does not count.
    pub project: &'a Path,
}

/// What is not as it was written. Messages are counted from 1, with those that were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("its beginning was changed, or it was recorded by another user or for another project")]
    Beginning,
    #[error("message {0} was changed, or one before it was removed or added")]
    Message(u64),
    #[error("messages were moved: another one was message {0}")]
    Moved(u64),
    #[error("messages were left out at one end, or its names, times, status or conversation changed")]
    Frame,
}

impl Signer<'_> {
    /// What the first message follows.
    fn genesis(&self, session: &Session) -> Mac {
        let name = session.agent_name.as_ref().map_or("", |name| name.as_str());
        let created = session.created_at.to_string();
        let parts: &[&[u8]] = &[
            self.project.as_os_str().as_bytes(),
            session.session_id.as_str().as_bytes(),
            created.as_bytes(),
            name.as_bytes(),
            session.agent_cli.as_str().as_bytes(),
        ];
        self.key.sign("session-genesis-1", parts)
    }

    /// Signs a new message and adds it at the end.
    pub(super) fn push(&self, session: &mut Session, mut message: Message) {
        let before = self.last(session);
        message.mac = self.message(&before, session.total(), &message);
        session.messages.push(message);
    }

    /// Leaves out the oldest messages. The rest still follows them.
    pub(super) fn drop_oldest(session: &mut Session, count: usize) {
        let gone: Vec<Message> = session.messages.drain(..count.min(session.messages.len())).collect();
        let before = session.dropped.map_or(0, |dropped| dropped.count);
        if let Some(last) = gone.last() {
            session.dropped = Some(Dropped {
                count: before + gone.len() as u64,
                mac: last.mac,
            });
        }
    }

    pub(super) fn seal(&self, session: &mut Session) {
        session.seal = with_frame(self, session, |parts| self.key.sign(SEAL, parts));
    }

    /// Compares everything with its signatures.
    #[must_use]
    pub fn check(&self, session: &Session) -> Option<Fault> {
        let start = session
            .dropped
            .map_or_else(|| self.genesis(session), |dropped| dropped.mac);
        let first = session.dropped.map_or(0, |dropped| dropped.count);
        let mut before = start;
        for (n, message) in (first..).zip(&session.messages) {
            if !self.follows(&before, n, message) {
                let moved = session.messages.iter().any(|other| self.follows(&before, n, other));
                return Some(match (moved, n == first) {
                    (true, _) => Fault::Moved(n + 1),
                    (false, true) => Fault::Beginning,
                    (false, false) => Fault::Message(n + 1),
                });
            }
            before = message.mac;
        }
        let is_sealed = with_frame(self, session, |parts| self.key.verify(SEAL, parts, &session.seal));
        (!is_sealed || session.version != VERSION).then_some(Fault::Frame)
    }

    fn last(&self, session: &Session) -> Mac {
        let last = session.messages.last().map(|message| message.mac);
        let last = last.or(session.dropped.map(|dropped| dropped.mac));
        last.unwrap_or_else(|| self.genesis(session))
    }

    fn message(&self, before: &Mac, n: u64, message: &Message) -> Mac {
        with_message(before, n, message, |parts| self.key.sign(MESSAGE, parts))
    }

    fn follows(&self, before: &Mac, n: u64, message: &Message) -> bool {
        with_message(before, n, message, |parts| {
            self.key.verify(MESSAGE, parts, &message.mac)
        })
    }
}

const MESSAGE: &str = "session-message-1";
const SEAL: &str = "session-seal-1";

/// Labels and ids are never empty: an empty part means that there is none.
fn with_message<T>(before: &Mac, n: u64, message: &Message, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    then(&[
        before.as_bytes(),
        &n.to_le_bytes(),
        message.role.as_str().as_bytes(),
        message.content.as_bytes(),
        message.at.to_string().as_bytes(),
        message.run.as_ref().map_or("", |run| run.as_str()).as_bytes(),
    ])
}

fn with_frame<T>(signer: &Signer<'_>, session: &Session, then: impl FnOnce(&[&[u8]]) -> T) -> T {
    let dropped = session.dropped.map_or(0, |dropped| dropped.count);
    let conversation = session.conversation.as_ref();
    then(&[
        signer.genesis(session).as_bytes(),
        signer.last(session).as_bytes(),
        &session.total().to_le_bytes(),
        &dropped.to_le_bytes(),
        session.updated_at.to_string().as_bytes(),
        session.status.as_str().as_bytes(),
        conversation.map_or("", |c| c.id.as_str()).as_bytes(),
        conversation.map_or(&[][..], |c| &c.state.0),
        &session.version.to_le_bytes(),
    ])
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
