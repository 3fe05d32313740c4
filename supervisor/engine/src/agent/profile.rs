//! What is known of an agent CLI: the built-in profiles that are laid over a run's policy when the command is one of them.
//!
//! Pure data, read from `sandbox-profiles/`. A new CLI is one such file, and its API's habits in the egress room.

use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;

/// One per CLI, in the order of their names.
const BUILTIN: [(&str, &str); 3] = [
    ("claude", include_str!("../../../../sandbox-profiles/claude.yml")),
    ("codex", include_str!("../../../../sandbox-profiles/codex.yml")),
    ("gemini", include_str!("../../../../sandbox-profiles/gemini.yml")),
];

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    pub name: String,
    /// The file names by which it is called.
    pub commands: Vec<String>,
    pub why: String,
    pub api: Api,
    pub env: Vec<Variable>,
    pub files: Vec<File>,
    /// Where it keeps a login, for `auth: mount`.
    pub logins: Vec<String>,
    pub inner_sandbox: InnerSandbox,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    pub style: Style,
    /// The vendor's host.
    pub endpoint: String,
    /// Variables of the caller's that hold a key; the first that is set counts.
    pub keys: Vec<String>,
}

/// Whose habits the API has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    Claude,
    Codex,
    Gemini,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    pub name: String,
    pub value: String,
    pub why: String,
    /// Absent: however the model is reached.
    #[serde(default, rename = "for")]
    pub reach: Option<Reach>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Absolute, or below `~`.
    pub at: String,
    pub text: String,
    pub why: String,
    /// Absent: however the model is reached.
    #[serde(default, rename = "for")]
    pub reach: Option<Reach>,
}

/// How the CLI reaches its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Through the broker on the sandbox's loopback, which is the only one to know the key.
    Broker,
    /// By itself, with a login or a key that the caller gave it.
    Direct,
}

/// What becomes of the CLI's own sandbox, and why.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct InnerSandbox {
    pub state: String,
    pub why: String,
}

/// The profile of the CLI that is called by this file name.
#[must_use]
pub fn called(program: &Path) -> Option<AgentProfile> {
    let name = program.file_name().and_then(OsStr::to_str)?;
    let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
    // Read by a test; a damaged one would mean a command without its profile, which is refused what it needs.
    serde_saphyr::from_str(text).ok()
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
