//! What can be wrong with a path in a policy, and what to write instead.

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    #[error("is empty")]
    Empty,
    #[error("contains a NUL byte")]
    Nul,
    #[error("names another user's home")]
    OtherUser,
    #[error("is a pattern, and grants take paths")]
    Pattern,
    #[error("did not resolve to an absolute path")]
    NotAbsolute,
    #[error("leads out of the project through a symbolic link in it")]
    LeadsOut,
    #[error("leads to a hidden name in the project, or to all of it, through a symbolic link in it")]
    LeadsToRules,
    #[error(
        "passes through a symbolic link that a command could replace, since `fs.write` grants the directory it lies in"
    )]
    Replaceable,
}

impl PathProblem {
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Empty => "write `.` for the project itself",
            Self::Nul => "remove the NUL byte",
            Self::OtherUser => {
                "write the absolute path; `~` is only the caller's own home, and `./~` a file of that name"
            }
            Self::Pattern => "a directory is granted with everything below it: write the directory",
            Self::NotAbsolute => "write an absolute path",
            Self::LeadsOut | Self::LeadsToRules => {
                "links in a project are a stranger's word: write the path that is meant"
            }
            Self::Replaceable => "write the path that is meant, without the link",
        }
    }
}
