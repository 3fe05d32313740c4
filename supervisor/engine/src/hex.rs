//! Bytes written as lower-case hexadecimal digits: one spelling for each value.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value of fixed length that is written in hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hex<const N: usize>(pub [u8; N]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {0} lower-case hexadecimal digits")]
pub struct NotHex(usize);

impl<const N: usize> FromStr for Hex<N> {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        let digit = |c: &u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes.and_then(|b| b.try_into().ok()).map(Self).ok_or(NotHex(2 * N))
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl<const N: usize> From<Hex<N>> for String {
    fn from(value: Hex<N>) -> Self {
        value.to_string()
    }
}

impl<const N: usize> TryFrom<String> for Hex<N> {
    type Error = NotHex;

    fn try_from(text: String) -> Result<Self, NotHex> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_one_spelling() {
        let value = Hex([0, 0x1f, 0xff]);
        assert_eq!(value.to_string(), "001fff");
        assert_eq!("001fff".parse(), Ok(value));
        for wrong in ["", "001FFF", "001ff", "001fff0", "001fff00", "ééé", "+01fff", " 01fff"] {
            assert_eq!(wrong.parse::<Hex<3>>(), Err(NotHex(6)), "{wrong}");
        }
    }
}
