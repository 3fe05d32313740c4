//! The names of workflows, steps and groups.
//!
//! Pure. INVARIANT: a workflow's name is one path component, as an agent's is; a step's and a group's can stand in an expression
//! as they are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::definitions::AgentName;

/// What the name of a step or a group looks like, for messages.
pub const GRAMMAR: &str = "letters, digits, `-` and `_`, starting with a letter, at most 64";

const LONGEST: usize = 64;

/// `full-review`; also the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkflowName(AgentName);

impl WorkflowName {
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        AgentName::new(text).map(Self)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its file in `.glee/workflows`.
    #[must_use]
    pub fn file(&self) -> String {
        self.0.file()
    }
}

impl fmt::Display for WorkflowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a name: it has {GRAMMAR}", crate::text::visible(.0))]
pub struct NotAName(String);

fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() <= LONGEST && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(plain)
}

macro_rules! word {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

        impl $name {
            #[must_use]
            pub fn new(text: &str) -> Option<Self> {
                is_word(text).then(|| Self(text.to_owned()))
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAName;

            fn try_from(text: String) -> Result<Self, NotAName> {
                Self::new(&text).ok_or_else(|| NotAName(text.chars().take(LONGEST).collect()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

word! {
    /// What a step is called in `${steps.NAME.output}` and in `needs`.
    StepName
}
word! {
    /// `scanners`, as in `parallel_group: scanners`.
    GroupName
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_s_name_can_stand_in_an_expression() {
        for good in ["a", "Scan_1", "security-scan"] {
            assert_eq!(StepName::new(good).map(|n| n.to_string()).as_deref(), Some(good));
        }
        let long = "a".repeat(65);
        for bad in ["", "0", "_a", "__proto__", "-a", "a.b", "a b", "é", "a}", "a\n", &long] {
            assert_eq!(StepName::new(bad), None, "{bad:?}");
            assert_eq!(GroupName::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_workflow_s_name_is_a_file_s() {
        let name = WorkflowName::new("full-review");
        assert_eq!(name.map(|n| n.file()).as_deref(), Some("full-review.yml"));
        for bad in ["", "..", "a/b", "A", "a_b", "räksmörgås"] {
            assert_eq!(WorkflowName::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn only_a_name_is_read_back_as_one() {
        assert!(serde_json::from_str::<WorkflowName>("\"../x\"").is_err());
        assert!(serde_json::from_str::<StepName>("\"a b\"").is_err());
        assert_eq!(serde_json::from_str::<GroupName>("\"g\"").ok(), GroupName::new("g"));
    }
}
