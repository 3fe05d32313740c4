//! The name of an agent: also the name of its file, so it can be nothing else.
//!
//! Pure. INVARIANT: a name is one path component, cannot be taken for an option, and looks the same everywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a name looks like, for messages.
pub const GRAMMAR: &str = "lower-case letters, digits and single hyphens, starting with a letter, at most 64";

const LONGEST: usize = 64;

/// `security-scanner`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AgentName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a name for an agent: it has {GRAMMAR}", crate::text::visible(.0))]
pub struct NotAName(String);

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        Self::new(&text).ok_or_else(|| NotAName(text.chars().take(LONGEST).collect()))
    }
}

impl AgentName {
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let word = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let starts = text.starts_with(|first: char| first.is_ascii_lowercase());
        (starts && text.len() <= LONGEST && text.split('-').all(word)).then(|| Self(text.to_owned()))
    }

    /// The nearest name to a title: `Security Reviewer` → `security-reviewer`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let mut words = String::new();
        for c in title.chars() {
            match c.to_ascii_lowercase() {
                c if c.is_ascii_lowercase() || c.is_ascii_digit() => words.push(c),
                _ if words.is_empty() || words.ends_with('-') => {}
                _ => words.push('-'),
            }
        }
        Self::new(words.trim_end_matches('-'))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its file in `.glee/agents`.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.yml", self.0)
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_word_in_lower_case() {
        for good in ["a", "a1", "security-scanner", "x-2-y"] {
            assert_eq!(AgentName::new(good).map(|n| n.to_string()).as_deref(), Some(good));
        }
        let long = "a".repeat(65);
        for bad in [
            "", "-a", "a-", "a--b", "A", "1a", "a_b", "a.b", "a/b", "..", "a b", "ä", "a\n", "a\0", "con.yml", &long,
        ] {
            assert_eq!(AgentName::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_title_becomes_a_name() {
        let of = |title| AgentName::from_title(title).map(|name| name.to_string());
        assert_eq!(of("Security Reviewer").as_deref(), Some("security-reviewer"));
        assert_eq!(of("  C++ / Rust: a Helper! ").as_deref(), Some("c-rust-a-helper"));
        assert_eq!(of("../../etc/passwd").as_deref(), Some("etc-passwd"));
        assert_eq!(of("安全"), None);
        assert_eq!(of("99 lives"), None);
    }
}
