//! A path as JSON: text where it is text, else its bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hex::hex;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Hex { hex: String },
}

/// Any path, text or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct PathBytes(PathBuf);

impl PathBytes {
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl<T: AsRef<OsStr>> From<T> for PathBytes {
    fn from(path: T) -> Self {
        Self(PathBuf::from(path.as_ref()))
    }
}

impl From<PathBytes> for Written {
    fn from(path: PathBytes) -> Self {
        match path.0.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Hex {
                hex: hex(path.0.as_os_str().as_bytes()),
            },
        }
    }
}

impl TryFrom<Written> for PathBytes {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let bytes = match written {
            Written::Text(text) => return Ok(Self(text.into())),
            Written::Hex { hex } => hex,
        };
        let digit = |byte: &u8| {
            char::from(*byte)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = bytes.as_bytes().chunks(2).map(pair).collect();
        let bytes = bytes.ok_or("not hexadecimal")?;
        Ok(Self(OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_read_back_as_it_was_written() {
        for bytes in [&b"a/b"[..], b"\xff\x00x", b"{\"hex\":1}", b""] {
            let path = PathBytes::from(OsStr::from_bytes(bytes));
            let text = serde_json::to_string(&path).expect("a path is JSON");
            assert_eq!(
                serde_json::from_str::<PathBytes>(&text).expect("and back"),
                path,
                "{text}"
            );
        }
    }
}
