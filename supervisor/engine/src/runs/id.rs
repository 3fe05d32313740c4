//! What the id of a run says: when it started.
//!
//! Pure.

use std::time::{Duration, SystemTime};

use crate::report::rfc3339;

const LENGTH: usize = 26;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Milliseconds since 1970; `None` if it is not the id of a run.
#[must_use]
pub fn started_ms(id: &str) -> Option<u64> {
    if id.len() != LENGTH {
        return None;
    }
    let digit = |byte: u8| ALPHABET.iter().position(|known| *known == byte);
    let mut value: u128 = 0;
    for byte in id.bytes() {
        // 26 digits are 130 bits: the first two are always zero.
        value = value.checked_mul(32)? | digit(byte)? as u128;
    }
    u64::try_from(value >> 80).ok()
}

/// The directory of a run: `2026-01`.
#[must_use]
pub fn month(id: &str) -> Option<String> {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(started_ms(id)?))?;
    rfc3339(at).get(..7).map(str::to_owned).filter(|month| is_month(month))
}

pub(super) fn is_month(name: &str) -> bool {
    name.len() == 7
        && name.bytes().zip(0..).all(|(byte, at)| match at {
            4 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Could the id of a run begin like this?
pub(super) fn is_prefix(text: &str) -> bool {
    !text.is_empty() && text.len() <= LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}
