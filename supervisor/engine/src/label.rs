//! Names of agents, of CLIs, of categories and of runs, as they are stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const MOST: usize = 64;

/// Lower-case letters, digits and single hyphens between them: harmless in a file name, a log line and an argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Label(String);

impl Label {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name: write at most {MOST} lower-case letters and digits, with hyphens between them")]
pub struct NotALabel(String);

impl FromStr for Label {
    type Err = NotALabel;

    fn from_str(text: &str) -> Result<Self, NotALabel> {
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9'));
        if text.len() <= MOST && text.split('-').all(is_word) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotALabel(text.chars().take(MOST).collect()))
        }
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

impl TryFrom<String> for Label {
    type Error = NotALabel;

    fn try_from(text: String) -> Result<Self, NotALabel> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lower_case_words_joined_by_hyphens() {
        for right in ["codex", "security-scanner", "a", "0", "01jx-2"] {
            assert_eq!(right.parse::<Label>().map(String::from).as_deref(), Ok(right));
        }
        let long = "a".repeat(65);
        for wrong in [
            "", "-", "a-", "-a", "a--b", "A", "a_b", "a/b", "a.b", "ä", "a b", "a\n", &long,
        ] {
            assert!(wrong.parse::<Label>().is_err(), "{wrong}");
        }
    }
}
