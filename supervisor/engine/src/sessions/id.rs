//! The names of sessions, and of the conversations that the CLIs keep themselves.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::hex::hex;
use crate::{random, text};

const PREFIX: &str = "task-";
const SUFFIX: &str = ".json";

/// `task-` and 8 to 32 lower-case hexadecimal digits. Nothing in it leads anywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SessionId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the id of a session: it would look like task-a1b2c3d4", text::visible(.0))]
pub struct NotAnId(String);

impl SessionId {
    pub fn fresh() -> io::Result<Self> {
        Ok(Self(format!("{PREFIX}{}", hex(&random::bytes::<4>()?))))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn file(&self) -> OsString {
        format!("{}{SUFFIX}", self.0).into()
    }

    /// The session that a file name stands for.
    pub(super) fn of_file(name: &std::ffi::OsStr) -> Option<Self> {
        name.to_str()?.strip_suffix(SUFFIX)?.parse().ok()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let digits = text.strip_prefix(PREFIX).filter(|d| (8..=32).contains(&d.len()));
        if digits.is_some_and(|d| d.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnId(text.chars().take(60).collect()))
        }
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

/// How a CLI calls a conversation of its own. It came out of a sandbox and becomes an argument: it never looks like a flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ConversationId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a conversation: at most 128 letters, digits, `-` and `_`, the first a letter or digit")]
pub struct NotAConversation;

impl ConversationId {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConversationId {
    type Err = NotAConversation;

    fn from_str(text: &str) -> Result<Self, NotAConversation> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if starts && text.len() <= 128 && text.bytes().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAConversation)
        }
    }
}

impl From<ConversationId> for String {
    fn from(id: ConversationId) -> Self {
        id.0
    }
}

impl TryFrom<String> for ConversationId {
    type Error = NotAConversation;

    fn try_from(text: String) -> Result<Self, NotAConversation> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_documented_form_is_an_id() {
        for right in ["task-a1b2c3d4", "task-00000000000000000000000000000000"] {
            assert_eq!(right.parse::<SessionId>().map(String::from).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "task-",
            "task-a1b2c3d",
            "task-A1B2C3D4",
            "task-a1b2c3d4.json",
            "task-a1b2c3d4/../task-a1b2c3d5",
            "../task-a1b2c3d4",
            "task-a1b2c3d4\0",
            "task-a1b2c3d4\n",
            " task-a1b2c3d4",
            "task-a1b2c3dg",
            "task-\u{ff41}1b2c3d4",
            "task-000000000000000000000000000000000",
            "/etc/passwd",
            "a1b2c3d4",
        ] {
            assert!(wrong.parse::<SessionId>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_fresh_id_is_one() {
        let id = SessionId::fresh().map(String::from).unwrap_or_default();
        assert_eq!(id.parse::<SessionId>().map(String::from), Ok(id));
    }

    #[test]
    fn a_conversation_never_looks_like_a_flag_or_a_path() {
        for right in ["0199a1b2-aaaa-bbbb", "A_1"] {
            assert!(right.parse::<ConversationId>().is_ok());
        }
        for wrong in [
            "",
            "-x",
            "--resume",
            "a/b",
            "..",
            "a b",
            "a\n",
            "a;b",
            "é",
            &"a".repeat(129),
        ] {
            assert!(wrong.parse::<ConversationId>().is_err(), "{wrong:?}");
        }
    }
}
