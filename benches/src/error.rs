//! What can stop a measurement.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum BenchError {
    /// The command line of the measurement itself.
    Usage(String),
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Neither `GLEE_BIN` nor a release build was found.
    NoSupervisor,
    NotFound {
        program: String,
    },
    NoSuchUser {
        name: String,
    },
    /// A start that should have succeeded did not: its time means nothing, so the run ends.
    Failed {
        subject: String,
        how: String,
    },
    /// Something outlived what should have ended it.
    Left {
        what: String,
    },
    /// `--check` was given and a goal was not met.
    Missed {
        goal: String,
    },
}

impl BenchError {
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| BenchError::Io { doing, path, source }
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Usage(what) => write!(f, "{what}\n  help: `--help` lists the flags"),
            BenchError::Io { doing, path, source } => write!(f, "cannot {doing} `{}`: {source}", path.display()),
            BenchError::NoSupervisor => write!(
                f,
                "cannot find `glee-supervisor`\n  help: run `cargo build --release`, or set `GLEE_BIN` to the binary"
            ),
            BenchError::NotFound { program } => write!(f, "cannot find `{program}` in PATH"),
            BenchError::NoSuchUser { name } => write!(f, "cannot find the user `{name}` in `/etc/passwd`"),
            BenchError::Failed { subject, how } => write!(f, "a start of `{subject}` failed: {how}"),
            BenchError::Left { what } => write!(f, "left behind: {what}"),
            BenchError::Missed { goal } => write!(f, "goal missed: {goal}"),
        }
    }
}

impl std::error::Error for BenchError {}

/// Prints the error, if any, and turns the result into an exit status.
pub fn conclude(result: Result<(), BenchError>) -> std::process::ExitCode {
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
