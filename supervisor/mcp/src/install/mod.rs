//! Entering this server in a client's own configuration.
//!
//! What else is in the file stays as it is, to the byte. INVARIANT: a file that is not understood is not written.

mod client;
mod json;
mod place;
mod toml;

use std::io;
use std::path::PathBuf;

use glee_engine::definitions::diff::unified;

pub use client::Client;

/// What the server is called in the client's configuration.
pub const NAME: &str = "glee";
/// How long a call may take before the client gives up: as long as a task may be asked to run.
const CALL_SECONDS: u64 = 3600;
/// What the server reads of the environment, for clients that pass on only what they are told to.
const VARIABLES: &[&str] = &[
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("the home directory is not known")]
    NoHome,
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("`{}` is not understood: {why}", .path.display())]
    NotUnderstood { path: PathBuf, why: String },
    #[error("cannot find this program's own file: {0}")]
    NoProgram(io::Error),
    #[error("the path of this program is not Unicode: `{}`", .0.display())]
    NotUnicode(PathBuf),
}

impl InstallError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoHome => "set HOME",
            Self::Io { .. } => "check its permissions",
            Self::NotUnderstood { .. } => "correct the file, or enter the server by hand: docs/mcp.md shows how",
            Self::NoProgram(_) | Self::NotUnicode(_) => "install the program under a plain path",
        }
    }
}

/// A change to a configuration, not yet made.
#[derive(Debug)]
pub struct Change {
    pub path: PathBuf,
    before: String,
    after: String,
}

impl Change {
    /// What would enter this program in the client's configuration.
    pub fn of(client: Client) -> Result<Self, InstallError> {
        let program = std::env::current_exe().map_err(InstallError::NoProgram)?;
        let program = program
            .into_os_string()
            .into_string()
            .map_err(|path| InstallError::NotUnicode(path.into()))?;
        let path = client.file()?;
        let before = place::read(&path)?;
        let after = client
            .entered(&before, &program)
            .map_err(|why| InstallError::NotUnderstood {
                path: path.clone(),
                why,
            })?;
        Ok(Self { path, before, after })
    }

    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.before != self.after
    }

    #[must_use]
    pub fn diff(&self) -> String {
        let name = self.path.display().to_string();
        unified(&self.before, &self.after, &name, &name)
    }

    /// Whoever reads the file meanwhile sees the old text or the new one.
    pub fn make(&self) -> Result<(), InstallError> {
        place::replace(&self.path, &self.before, &self.after)
    }
}
