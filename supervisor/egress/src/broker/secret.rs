//! The one value that must not get out.
//!
//! Pure. No `Display`, no serialisation; `Debug` says only that there is one. The memory is cleared on drop, as well as
//! safe code can: copies that a socket's buffer held are not reached.

use std::fmt;
use std::hint::black_box;

/// Shorter than this it is no secret, and hiding it would mutilate ordinary text.
pub(super) const SHORTEST: usize = 8;
const LONGEST: usize = 8192;

/// A key: 8 to 8192 visible ASCII characters.
pub struct Secret(Vec<u8>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretProblem {
    #[error("the key has fewer than {SHORTEST} characters (for an endpoint that needs no key, give none)")]
    TooShort,
    #[error("the key has more than {LONGEST} characters")]
    TooLong,
    #[error("the key has a space, a line break or another character that no header can carry")]
    Unprintable,
}

impl Secret {
    /// Takes the text over, so that no copy of it stays behind.
    pub fn new(text: String) -> Result<Self, SecretProblem> {
        let this = Self(text.into_bytes());
        match this.0.len() {
            0..SHORTEST => Err(SecretProblem::TooShort),
            SHORTEST..=LONGEST if this.0.iter().all(u8::is_ascii_graphic) => Ok(this),
            SHORTEST..=LONGEST => Err(SecretProblem::Unprintable),
            _ => Err(SecretProblem::TooLong),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // The compiler must believe that someone looks at the zeros.
        black_box(&mut self.0);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
