//! Secret keys of this user, by which the supervisor knows again what it has written itself.
//!
//! One file per purpose in the user's state directory, which no sandbox shows. INVARIANT: a key that others
//! could have read or written is not used, and a damaged one is not replaced: what it signed would silently stop counting.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use glee_sandbox::sys::process::geteuid;
use hmac::{Hmac, KeyInit, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::audit::place::state_dir;
use crate::folder::Folder;
use crate::hex::{Hex, NotHex};
use crate::random;

const LENGTH: usize = 32;

/// What a key is for. Each purpose has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyName {
    /// Recorded conversations.
    Sessions,
    /// Blocks of context in prompts.
    Context,
}

impl KeyName {
    fn file(self) -> OsString {
        match self {
            Self::Sessions => "sessions.key".into(),
            Self::Context => "context.key".into(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(
        "there is no place for keys: XDG_STATE_HOME is not set to an absolute path, and HOME not to a directory that is there"
    )]
    NoPlace,
    #[error("cannot use the key `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("the key `{}` is not used: others than this user could have read or written it", .0.display())]
    Exposed(PathBuf),
    #[error("the key `{}` is damaged: it has {length} bytes, a key has {LENGTH}", .path.display())]
    Damaged { path: PathBuf, length: usize },
}

impl KeyError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoPlace => "set HOME to your home directory",
            Self::Io { .. } => "check the permissions of the directory",
            Self::Exposed(_) => {
                "remove it: a new key is made, and what the old one has signed counts as changed by somebody else"
            }
            Self::Damaged { .. } => {
                "put the key back from a backup, or remove it: what it has signed then counts as changed by somebody else"
            }
        }
    }
}

/// A secret. It is never printed.
pub struct Key([u8; LENGTH]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// An HMAC-SHA256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mac(Hex<LENGTH>);

impl Mac {
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Mac {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        text.parse().map(Self)
    }
}

impl Key {
    /// A key for one process only.
    pub fn fresh() -> io::Result<Self> {
        random::bytes().map(Self)
    }

    /// Signs a list of byte strings for one purpose. Lists that are cut differently have different signatures.
    #[must_use]
    pub fn sign(&self, purpose: &str, parts: &[&[u8]]) -> Mac {
        Mac(Hex(self.state(purpose, parts).finalize().into_bytes().into()))
    }

    /// Is this the signature of that list? Takes the same time for every wrong answer.
    #[must_use]
    pub fn verify(&self, purpose: &str, parts: &[&[u8]], mac: &Mac) -> bool {
        self.state(purpose, parts).verify_slice(mac.as_bytes()).is_ok()
    }

    fn state(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        // By reference to the array: a key of this length is neither too long nor too short.
        let mut state = <Hmac<Sha256> as KeyInit>::new(&padded(&self.0).into());
        for part in [purpose.as_bytes()].iter().chain(parts) {
            state.update(&(part.len() as u64).to_le_bytes());
            state.update(part);
        }
        state
    }
}

/// HMAC pads a short key with zeros to the block's length; the type wants it so.
fn padded(key: &[u8; LENGTH]) -> [u8; 64] {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    block
}

/// The user's key for this purpose, made at the first use. Of several that make it at once, all get the same.
pub fn load_or_create(name: KeyName) -> Result<Key, KeyError> {
    let dir = state_dir().ok_or(KeyError::NoPlace)?.join("keys");
    let file = name.file();
    let path = dir.join(&file);
    let cannot = |error| KeyError::Io {
        path: path.clone(),
        error,
    };
    let folder = Folder::of_user(&dir).map_err(cannot)?;
    let read = || -> Result<Option<Key>, KeyError> {
        // One byte more than a key has: enough to see that it is none.
        let Some(bytes) = folder.read(&file, 2 * LENGTH).map_err(cannot)? else {
            return Ok(None);
        };
        let facts = folder.stat(&file).map_err(cannot)?;
        if ![geteuid(), 0].contains(&facts.uid) || facts.mode & 0o077 != 0 {
            return Err(KeyError::Exposed(path.clone()));
        }
        let length = bytes.len();
        let key = bytes.try_into().map_err(|_| KeyError::Damaged {
            path: path.clone(),
            length,
        })?;
        Ok(Some(Key(key)))
    };
    if let Some(key) = read()? {
        return Ok(key);
    }
    let locked = folder.lock().map_err(cannot)?;
    if let Some(key) = read()? {
        return Ok(key);
    }
    let key = Key::fresh().map_err(cannot)?;
    locked.put(&file, &key.0).map_err(cannot)?;
    Ok(key)
}

#[cfg(test)]
#[path = "keyring_tests.rs"]
mod tests;
