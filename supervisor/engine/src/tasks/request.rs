//! What is asked for: a prompt for an agent, and what the caller says about how it is to be worked on.
//!
//! Pure. INVARIANT: nothing in a request widens what the agent may do; its `permissions` only take away.

use std::collections::BTreeMap;
use std::time::Duration;

use glee_policy::{Policy, PolicyError, Source};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::definitions::{AgentName, Cli};
use crate::sessions::SessionId;
use crate::store::TaskId;

/// The longest prompt that a caller may give.
pub const MOST_PROMPT: usize = 512 << 10;
/// The longest description: it is a line in lists.
pub const MOST_DESCRIPTION: usize = 200;
/// The longest time that may be asked for: a year. The policy's own bound is lower.
const MOST_TIME: u64 = 365 * 86_400_000;

/// One task, as `glee_task` and a file of tasks write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A few words. Absent: the beginning of the prompt.
    #[serde(default)]
    pub description: String,
    pub prompt: String,
    /// An agent of the project.
    #[serde(default, rename = "agent_name")]
    pub agent: Option<AgentName>,
    /// Passed over if an agent is named.
    #[serde(default, rename = "agent_cli")]
    pub cli: Option<Cli>,
    /// A conversation to go on with.
    #[serde(default, rename = "session_id")]
    pub session: Option<SessionId>,
    /// Values for the agent's inputs.
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
    #[serde(default)]
    pub permissions: Option<Permissions>,
    #[serde(default, rename = "timeout_ms", with = "millis")]
    pub timeout: Option<Duration>,
    /// The task that asks for this one. Never the caller's to say.
    #[serde(skip)]
    pub parent: Option<TaskId>,
    /// Whether somebody waits for it. Never the caller's to say.
    #[serde(skip)]
    pub stay: Stay,
}

/// How long a task is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stay {
    /// Also when nobody waits for it.
    #[default]
    Alone,
    /// As long as the process that asks for it lives: it waits for the task, and nobody else would hear of it.
    WithAsker,
}

impl Request {
    /// A prompt and nothing else.
    #[must_use]
    pub fn new(prompt: &str) -> Self {
        Self {
            description: String::new(),
            prompt: prompt.to_owned(),
            agent: None,
            cli: None,
            session: None,
            inputs: BTreeMap::new(),
            permissions: None,
            timeout: None,
            parent: None,
            stay: Stay::Alone,
        }
    }

    /// What the task is called in lists: one line of bearable length.
    #[must_use]
    pub fn title(&self) -> String {
        let said = self.description.trim();
        let line = if said.is_empty() { self.prompt.trim() } else { said };
        let line = line.lines().next().unwrap_or_default();
        let end = line.floor_char_boundary(MOST_DESCRIPTION);
        line.get(..end).unwrap_or_default().to_owned()
    }
}

/// A part of a policy, as YAML. It narrows the policy of the run, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    text: String,
}

impl Permissions {
    /// Takes a text that is a policy.
    pub fn new(text: &str) -> Result<Self, PolicyError> {
        let this = Self { text: text.to_owned() };
        this.policy().map(|_| this)
    }

    pub fn policy(&self) -> Result<Policy, PolicyError> {
        glee_policy::parse(&Source::Flag("permissions"), &self.text)
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(to)
    }
}

/// From YAML in a string, or from an object, whose JSON is YAML too.
impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(from)? {
            Value::String(text) => text,
            object @ Value::Object(_) => object.to_string(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                return Err(serde::de::Error::custom("`permissions` must be a mapping"));
            }
        };
        Self::new(&text).map_err(|error| serde::de::Error::custom(format!("{error}; {}", error.help())))
    }
}

mod millis {
    use super::{Deserialize, Deserializer, Duration, MOST_TIME, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        let millis = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(MOST_TIME));
        millis.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        match Option::<u64>::deserialize(from)? {
            None => Ok(None),
            Some(millis) if (1..=MOST_TIME).contains(&millis) => Ok(Some(Duration::from_millis(millis))),
            Some(_) => Err(serde::de::Error::custom(
                "`timeout_ms` must be at least 1 and at most a year",
            )),
        }
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
