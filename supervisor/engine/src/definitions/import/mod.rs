//! Agents of other programs, rewritten as definitions. One way: their files are read, never written.
//!
//! `foreign`, `convert` and `tools` are pure. INVARIANT: nothing that would run programs, reach the network or lift a
//! restriction comes along; each such thing is named.

mod convert;
mod foreign;
mod run;
mod tools;

use std::path::PathBuf;

use glee_policy::{Origin, PolicyError};

pub use convert::{Dropped, Reason};
pub use run::{Action, Asked, From, Imported, import};

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Yaml(#[from] Box<PolicyError>),
    #[error("not valid TOML: {message}")]
    Toml { at: Origin, message: String },
    #[error("it has no {0}")]
    Missing(&'static str),
    #[error("`{0}` cannot become the name of an agent")]
    BadName(String),
    #[error("cannot read `{}`: {error}", .path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("`{}` is of no format that is known", .0.display())]
    UnknownFormat(PathBuf),
}

impl ImportError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Yaml(error) => error.help(),
            Self::Toml { .. } => "check the quotes and the brackets here".into(),
            Self::Missing(what) => format!("add the {what} to it"),
            Self::BadName(_) => format!("a name has {}", super::name::GRAMMAR),
            Self::Unreadable { .. } => "it must be a plain file that can be read".into(),
            Self::UnknownFormat(_) => "say which with --from claude, gemini or codex".into(),
        }
    }

    /// Where in the file, if that is known.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Yaml(error) => Some(error.origin()),
            Self::Toml { at, .. } => Some(at),
            Self::Missing(_) | Self::BadName(_) | Self::Unreadable { .. } | Self::UnknownFormat(_) => None,
        }
    }
}

impl std::convert::From<PolicyError> for ImportError {
    fn from(error: PolicyError) -> Self {
        Self::Yaml(Box::new(error))
    }
}
