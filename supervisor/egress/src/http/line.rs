//! One line at the front of some bytes.
//!
//! Pure. INVARIANT (monotone): once a prefix has an answer, every longer input has the same one.

use super::Bad;

/// The line at the front of `window`, without its CRLF, once it is all there.
///
/// # Errors
/// `too_long` when it has more than `limit` bytes, or a bare CR, a bare LF or a control character.
pub fn first(window: &[u8], limit: usize, too_long: Bad) -> Result<Option<&[u8]>, Bad> {
    let mut last = 0;
    for (at, byte) in window.iter().copied().enumerate() {
        check_byte(last, byte)?;
        if byte == b'\n' {
            return Ok(window.get(..at.saturating_sub(1)));
        }
        if at > limit {
            return Err(too_long);
        }
        last = byte;
    }
    Ok(None)
}

/// Judges a byte by the one before it: CR and LF come in pairs, and no other control character but the tab comes.
///
/// # Errors
/// When it breaks the rule.
pub fn check_byte(last: u8, byte: u8) -> Result<(), Bad> {
    match (last, byte) {
        (b'\r', b'\n') => Ok(()),
        (b'\r', _) => Err(Bad::BareCr),
        (_, b'\n') => Err(Bad::BareLf),
        (_, b'\t' | b'\r') => Ok(()),
        (_, control) if control < 0x20 || control == 0x7f => Err(Bad::Control),
        _ => Ok(()),
    }
}

/// A header or trailer field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    pub name: &'a [u8],
    /// Without the blanks around it.
    pub value: &'a [u8],
}

impl<'a> Field<'a> {
    /// Reads a line that `first` or `head::Scan` has passed.
    ///
    /// # Errors
    /// When it continues the line before it, or its name is not a token right before the colon.
    pub fn parse(line: &'a [u8]) -> Result<Self, Bad> {
        if let [b' ' | b'\t', ..] = line {
            return Err(Bad::Folded);
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Bad::Field)?;
        let (name, value) = line.split_at_checked(colon).ok_or(Bad::Field)?;
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        match is_token(name) {
            true => Ok(Self { name, value }),
            false => Err(Bad::Field),
        }
    }

    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// The members of a comma-separated value.
    pub fn members(&self) -> impl Iterator<Item = &'a [u8]> {
        self.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
    }
}

/// RFC 9110's `token`: one or more of `tchar`.
#[must_use]
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().copied().all(is_tchar)
}

#[must_use]
pub fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
