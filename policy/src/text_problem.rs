//! What can be wrong with a text that has a form of its own, and what to write instead.

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    #[error("is not the name of a profile")]
    ProfileName,
    #[error("is not a container image")]
    Image,
    #[error("is not a base URL")]
    Url,
    #[error("names nothing that could be protected")]
    Protected,
}

impl TextProblem {
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::ProfileName => "letters, digits, `-`, `_` and `.`; `extends` takes a name, not a path",
            Self::Image => {
                "write `registry/name:tag`, without spaces and not starting with `-`, or `null` for no image"
            }
            Self::Url => {
                "write `https://host[:port][/path]`, without a user, a password, a query or a fragment, or `null`"
            }
            Self::Protected => "write a name such as `.vscode`, or a path from the top such as `.git/hooks`",
        }
    }
}

/// What to write in place of a value of another type.
pub(crate) fn type_help(expected: &str, found: &str) -> String {
    if expected.contains("program") {
        "write `[\"program\", \"argument\"]`, or leave the key out".into()
    } else if expected.contains("list") {
        "write `[\"item\"]`, `[]` for none, or leave the key out".into()
    } else if expected.contains("mapping of names") {
        "write `{NAME: \"value\"}`, or leave the key out".into()
    } else if expected.starts_with("text") {
        match found {
            "nothing" => "write a value here, or leave the key out".into(),
            "a list" | "a mapping" => "write the value itself, without brackets or keys".into(),
            _ => "put the value in quotes".into(),
        }
    } else if expected.contains("number") {
        "write a number without quotes, or `none` for no bound".into()
    } else {
        format!("write {expected}")
    }
}
