//! Where a clause was written, so that every verdict can name its file and line.
//!
//! Pure data. INVARIANT: an origin never takes part in comparisons of what a policy *means*.

use std::fmt;
use std::sync::Arc;

/// The place in which a clause was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A profile that is compiled in, by name.
    Builtin(Arc<str>),
    /// A file of the user or of the project, as the user knows it.
    File(Arc<str>),
    /// A flag of this invocation, such as `--read`.
    Flag(&'static str),
}

/// A source with a position. Lines and columns count from 1; 0 means "the whole source".
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    pub source: Source,
    pub line: u32,
    pub column: u32,
}

impl Origin {
    /// An origin that names a flag of the command line.
    #[must_use]
    pub fn flag(name: &'static str) -> Self {
        Self {
            source: Source::Flag(name),
            line: 0,
            column: 0,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(name) => write!(f, "built-in {name}.yml"),
            Self::File(path) => f.write_str(path),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        Ok(())
    }
}
