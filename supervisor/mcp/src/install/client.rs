//! The clients: where each keeps its configuration, and how a server stands in it.

use std::env;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{CALL_SECONDS, InstallError, NAME, VARIABLES, json as json_text, toml as toml_text};

/// A main agent that can call this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    Cursor,
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

impl Client {
    /// The user's own configuration of it, whether it is there or not.
    pub(super) fn file(self) -> Result<PathBuf, InstallError> {
        let home = || variable("HOME").ok_or(InstallError::NoHome);
        Ok(match self {
            Self::Claude => match variable("CLAUDE_CONFIG_DIR") {
                Some(dir) => dir.join(".claude.json"),
                None => home()?.join(".claude.json"),
            },
            Self::Codex => match variable("CODEX_HOME") {
                Some(dir) => dir.join("config.toml"),
                None => home()?.join(".codex/config.toml"),
            },
            Self::Gemini => home()?.join(".gemini/settings.json"),
            Self::Cursor => home()?.join(".cursor/mcp.json"),
        })
    }

    /// The configuration with the server in it, or why it is not understood.
    pub(super) fn entered(self, text: &str, program: &str) -> Result<String, String> {
        let mut entry = Map::new();
        entry.insert("command".into(), program.into());
        entry.insert("args".into(), json!(["mcp"]));
        match self {
            Self::Claude => {
                entry.insert("type".into(), "stdio".into());
            }
            Self::Gemini => {
                entry.insert("timeout".into(), (CALL_SECONDS * 1000).into());
                // It takes secrets out of the environment of servers, but for those that are named.
                let named = VARIABLES
                    .iter()
                    .map(|name| ((*name).to_owned(), format!("${name}").into()));
                entry.insert("env".into(), Value::Object(named.collect()));
            }
            Self::Cursor => {}
            Self::Codex => {
                entry.insert("tool_timeout_sec".into(), CALL_SECONDS.into());
                entry.insert("env_vars".into(), json!(VARIABLES));
                return toml_text::with_entry(text, "mcp_servers", NAME, &entry);
            }
        }
        json_text::with_entry(text, "mcpServers", NAME, &entry)
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
