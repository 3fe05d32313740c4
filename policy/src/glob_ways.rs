//! What of a pattern lies above its matches: the directories that a path to one goes through.
//!
//! Pure. A link in the place of one of them leads what is written by that name elsewhere.

use std::ffi::OsStr;
use std::path::Path;

use crate::glob::{Glob, Part, Token, name_matches, reached};

impl Glob {
    /// Could a directory of this name bring a path nearer to a match? Where the pattern begins with any depth, so does every other one
    /// as well, and no name is needed for that.
    #[must_use]
    pub fn passes(&self, name: &OsStr) -> bool {
        let passes = |(at, part): (usize, &Part)| match part {
            Part::AnyDepth => at > 0,
            Part::Name(tokens) => name_matches(tokens, name),
        };
        let mut ways = self.alternatives.iter().map(|parts| way(parts));
        ways.any(|way| way.iter().enumerate().any(passes))
    }

    /// The same, by a name that is written out.
    #[must_use]
    pub fn spells(&self, name: &OsStr) -> bool {
        let plain = |token: &Token| matches!(token, Token::Byte(_));
        let spells = |part: &Part| match part {
            Part::AnyDepth => false,
            Part::Name(tokens) => tokens.iter().all(plain) && name_matches(tokens, name),
        };
        self.alternatives.iter().any(|parts| way(parts).iter().any(spells))
    }

    /// Can something below a directory match by this name of it that does not by its other one?
    #[must_use]
    pub fn adds(&self, name: &Path, other: Option<&Path>) -> bool {
        self.alternatives.iter().any(|parts| {
            let other = other.and_then(|other| reached(parts, other));
            let is_known = |at| {
                other
                    .as_ref()
                    .and_then(|known| known.get(at))
                    .is_some_and(|known| *known)
            };
            let reached = reached(parts, name).into_iter().flatten().take(parts.len());
            reached.enumerate().any(|(at, alive)| alive && !is_known(at))
        })
    }
}

/// What of a pattern lies above its matches.
fn way(parts: &[Part]) -> &[Part] {
    match parts {
        // `**` at the end was written out.
        [way @ .., Part::AnyDepth, Part::Name(last)] if *last == [Token::Many] => way,
        [way @ .., _] => way,
        [] => parts,
    }
}
