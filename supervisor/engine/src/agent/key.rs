//! Where the key of a model's API comes from: a file, a command, or the supervisor's own environment.
//!
//! It is read outside and handed to the broker. It has no `Debug` of its content, and is never written anywhere.

use std::env;
use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longer than any key; what is longer is not one.
const LARGEST: usize = 8 * 1024;
/// Of a file or a command's output that much is read.
const MOST: u64 = 16 * 1024;

/// A key. Printed as nothing but that.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// For the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        // It becomes the value of a header.
        let fits = !text.is_empty() && text.len() < LARGEST && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot read the key file `{}`: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("cannot run the key command `{program}`: {error}")]
    Command { program: String, error: io::Error },
    #[error("the key command `{program}` failed: {status}")]
    Failed {
        program: String,
        status: std::process::ExitStatus,
    },
    #[error("the key file `{}` lies in what is granted, and `isolation: landlock` cannot hide it", .path.display())]
    Granted { path: PathBuf },
    #[error("{source_name} holds no key: it is empty, too long, or has characters that no key has")]
    NoKey { source_name: String },
}

impl KeyError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::File { .. } => "the file must hold the key alone, and be readable for you",
            Self::Granted { .. } => "keep it outside the project, or use `isolation: namespaces`",
            Self::Command { .. } | Self::Failed { .. } => {
                "`key_command` is a program and its arguments, without a shell"
            }
            Self::NoKey { .. } => "it must hold the key alone, on one line",
        }
    }
}

/// The caller's file, else the policy's command, else the first of the variables that is set.
pub fn find(file: Option<&Path>, command: Option<&[String]>, variables: &[String]) -> Result<Option<Key>, KeyError> {
    if let Some(path) = file {
        let text = read(path).map_err(|error| KeyError::File {
            path: path.to_owned(),
            error,
        })?;
        return key(&text, || format!("`{}`", path.display())).map(Some);
    }
    if let Some([program, arguments @ ..]) = command {
        return key(&ask(program, arguments)?, || format!("the key command `{program}`")).map(Some);
    }
    let set = variables
        .iter()
        .filter_map(|name| Some((name, env::var(name).ok()?)))
        .find(|(_, value)| !value.trim().is_empty());
    match set {
        Some((name, value)) => key(&value, || format!("`{name}`")).map(Some),
        None => Ok(None),
    }
}

/// Refuses a file that is not there.
pub fn is_there(path: &Path) -> Result<(), KeyError> {
    let found = fs::metadata(path).map_err(|error| KeyError::File {
        path: path.to_owned(),
        error,
    });
    found.map(|_| ())
}

fn key(text: &str, source_name: impl Fn() -> String) -> Result<Key, KeyError> {
    Key::new(text).ok_or_else(|| KeyError::NoKey {
        source_name: source_name(),
    })
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Runs outside, as the caller, who may have to answer it.
fn ask(program: &str, arguments: &[String]) -> Result<String, KeyError> {
    let failed = |error| KeyError::Command {
        program: program.to_owned(),
        error,
    };
    // What is not a person's is the command's: a prompt, perhaps.
    let stdin = if io::stdin().is_terminal() {
        Stdio::inherit()
    } else {
        Stdio::null()
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut text = String::new();
    if let Some(output) = child.stdout.take() {
        output.take(MOST).read_to_string(&mut text).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(KeyError::Failed {
            program: program.to_owned(),
            status,
        });
    }
    Ok(text)
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
