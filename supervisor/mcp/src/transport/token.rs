//! The secret that opens the HTTP endpoint: 256 bits in a file that only its user can read.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use glee_engine::audit::place::state_dir;
use glee_engine::folder::Folder;
use glee_engine::hex::hex;
use glee_engine::random;
use glee_sandbox::sys::process::geteuid;

const FILE: &str = "mcp-token";
const BYTES: usize = 32;

/// Never printed: who is to have it reads the file.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "there is no place for the token: XDG_STATE_HOME is not set to an absolute path, and HOME not to a directory that is there"
    )]
    Nowhere,
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("`{}` is not a token of this user's alone", .path.display())]
    NotOurs { path: PathBuf },
}

impl TokenError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Nowhere => "set XDG_STATE_HOME to a directory of your own",
            Self::Io { .. } => "make the directory writable, or set XDG_STATE_HOME to another one",
            Self::NotOurs { .. } => "remove the file, and a new token is made",
        }
    }
}

impl Token {
    /// The user's token, made if there is none, and where it lies.
    pub fn of_user() -> Result<(Self, PathBuf), TokenError> {
        Self::at(&state_dir().ok_or(TokenError::Nowhere)?)
    }

    fn at(dir: &Path) -> Result<(Self, PathBuf), TokenError> {
        let path = dir.join(FILE);
        let cannot = |error| TokenError::Io {
            path: path.clone(),
            error,
        };
        let folder = Folder::of_user(dir).map_err(cannot)?;
        // One at a time, so that two servers that start together agree.
        let locked = folder.lock().map_err(cannot)?;
        let name = OsStr::new(FILE);
        let token = match folder.read(name, 2 * BYTES + 2).map_err(cannot)? {
            Some(bytes) => {
                let facts = folder.stat(name).map_err(cannot)?;
                let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                let is_hex = text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                if facts.mode & 0o077 != 0 || facts.uid != geteuid() || !is_hex {
                    return Err(TokenError::NotOurs { path });
                }
                text
            }
            None => {
                let fresh = hex(&random::bytes::<BYTES>().map_err(cannot)?);
                locked.put(name, format!("{fresh}\n").as_bytes()).map_err(cannot)?;
                fresh
            }
        };
        Ok((Self(token), path))
    }

    /// Is this the value of an `Authorization` header with the token? Takes as long for a near miss as for a wide one.
    #[must_use]
    pub fn opens(&self, header: &[u8]) -> bool {
        let (scheme, given) = header.split_at_checked(SCHEME.len()).unwrap_or_default();
        let ours = self.0.as_bytes();
        let differs = ours.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b));
        scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) && given.len() == ours.len() && differs == 0
    }
}

const SCHEME: &str = "Bearer ";

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
