//! Reading a DNS message byte by byte.
//!
//! Pure. The bytes come from the sandbox or from a server on the network. INVARIANT (ends): a compression pointer only
//! leads backwards, behind the header, at most `MAX_JUMPS` times per name, and no name is longer than 255 bytes.

use std::fmt;

use crate::host::{Host, HostProblem, Name};

pub(crate) const HEADER: usize = 12;
const MAX_JUMPS: usize = 16;
/// With the final zero.
const MAX_NAME: usize = 255;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireProblem {
    #[error("message ends too early")]
    Short,
    #[error("name has a label of an unknown kind")]
    Label,
    #[error("name is longer than 255 bytes")]
    NameTooLong,
    #[error("compression pointer does not lead backwards, or there are too many")]
    Pointer,
    #[error("record has data of the wrong length")]
    Data,
    #[error("message has too many records")]
    TooMany,
    #[error("aliases lead in a circle, or are too many")]
    Chain,
}

/// A name as it stands in a message: labels with their lengths, without the final zero. Any byte may be in a label.
#[derive(Clone, PartialEq, Eq)]
pub struct WireName(Vec<u8>);

impl WireName {
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Lengths are below 64, so folding the case of the whole leaves them alone.
    #[must_use]
    pub fn is(&self, other: &WireName) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first()?;
            let (label, after) = after.split_at_checked(usize::from(*length))?;
            rest = after;
            Some(label)
        })
    }

    /// A dot within a label is no separator; such a name is no host.
    pub fn to_host(&self) -> Result<Host, HostProblem> {
        if self.labels().any(|label| label.contains(&b'.')) {
            return Err(HostProblem::Syntax);
        }
        Host::parse(&self.labels().collect::<Vec<_>>().join(&b'.'))
    }
}

impl From<&Name> for WireName {
    fn from(name: &Name) -> Self {
        let mut bytes = Vec::with_capacity(name.as_str().len() + 1);
        for label in name.as_str().split('.') {
            // A `Name` has labels of at most 63.
            bytes.push(u8::try_from(label.len()).unwrap_or_default());
            bytes.extend_from_slice(label.as_bytes());
        }
        WireName(bytes)
    }
}

/// Printable: everything but letters, digits, `-` and `_` as `\ddd`.
impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (place, label) in self.labels().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            for byte in label {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => write!(f, "{}", char::from(*byte))?,
                    _ => write!(f, "\\{byte:03}")?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireName({self})")
    }
}

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Reader { message, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireProblem> {
        let end = self.at.checked_add(count).ok_or(WireProblem::Short)?;
        let bytes = self.message.get(self.at..end).ok_or(WireProblem::Short)?;
        self.at = end;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireProblem> {
        self.take(N)?.try_into().map_err(|_| WireProblem::Short)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireProblem> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn name(&mut self) -> Result<WireName, WireProblem> {
        let mut labels = Vec::new();
        let mut after = None;
        let mut part = self.at;
        let mut jumps = 0;
        loop {
            let [length] = self.array()?;
            match length {
                0 => break,
                1..=63 => {
                    labels.push(length);
                    labels.extend_from_slice(self.take(length.into())?);
                    if labels.len() >= MAX_NAME {
                        return Err(WireProblem::NameTooLong);
                    }
                }
                64..=191 => return Err(WireProblem::Label),
                192..=255 => {
                    let [low] = self.array()?;
                    let target = usize::from(u16::from_be_bytes([length & 0x3f, low]));
                    jumps += 1;
                    if target < HEADER || target >= part || jumps > MAX_JUMPS {
                        return Err(WireProblem::Pointer);
                    }
                    after.get_or_insert(self.at);
                    part = target;
                    self.at = target;
                }
            }
        }
        self.at = after.unwrap_or(self.at);
        Ok(WireName(labels))
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
