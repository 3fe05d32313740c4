//! What can be wrong with a pattern of `fs.deny`, and what to write instead.

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    #[error("has a `[` that is not closed")]
    Class,
    #[error("has a `{{` that is not closed")]
    Brace,
    #[error("ends in a lone `\\`")]
    Escape,
    #[error("has a `**` that is not a whole directory name")]
    DoubleStar,
    #[error("has a `..` after a wildcard")]
    Parent,
    #[error("expands to too many alternatives")]
    TooMany,
    #[error("is longer than 4096 bytes")]
    TooLong,
    #[error("is empty")]
    Empty,
    #[error("begins with a `!`, and nothing that is denied can be granted again")]
    Negated,
}

impl GlobProblem {
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Class | Self::Brace => "close it, or put a `\\` before it if it is part of a name; classes are ASCII",
            Self::Escape => "write `\\\\` for a backslash",
            Self::DoubleStar => "write `**/name` or `dir/**`; within a name a single `*` is enough",
            Self::Parent => "write the pattern without `..`",
            Self::TooMany => "at most 64: write several patterns",
            Self::TooLong => "no path is that long",
            Self::Negated => "deny less: name what should be hidden; `./!name` is a file of that name",
            Self::Empty => "write what should be hidden below it, for example `**/.env`",
        }
    }
}
