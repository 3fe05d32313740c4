//! The profiles that are compiled in, from `sandbox-profiles/`.
//!
//! INVARIANT: no file of a user or a project can take the name of one of them (`layer` asks here first).

use crate::origin::Source;
use crate::yaml::{Token, What};

const PROFILES: &[(&str, &str)] = &[
    (RESTRICTED, include_str!("../../sandbox-profiles/restricted.yml")),
    ("workspace", include_str!("../../sandbox-profiles/workspace.yml")),
    (INHERIT, include_str!("../../sandbox-profiles/inherit.yml")),
];

/// Made by `build.rs` from the same files.
const TOKENS: &[(&str, &[Token])] = include!(concat!(env!("OUT_DIR"), "/builtin_tokens.rs"));

/// The base of every policy that names no other.
pub const RESTRICTED: &str = "restricted";
/// The base of a policy with `mode: inherit`.
pub const INHERIT: &str = "inherit";

/// The names, tightest first.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// The YAML text of a profile.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    PROFILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The text without its examples, which stand last: a run has no use for them, and they cost a third of the parsing.
pub(crate) fn rules(name: &str) -> Option<&'static str> {
    text(name).map(|text| text.split("\nexamples:").next().unwrap_or(text))
}

/// The same as the YAML library reads it, if that was plain enough to be read when this crate was built.
pub(crate) fn tokens(name: &str) -> Option<&'static [Token]> {
    TOKENS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, tokens)| *tokens)
}

/// How errors and reports name it.
#[must_use]
pub fn source(name: &str) -> Source {
    Source::Builtin(name.into())
}

/// Is this one of the two profiles that have no base?
pub(crate) fn is_root(source: &Source) -> bool {
    match source {
        Source::Builtin(name) => **name == *RESTRICTED || **name == *INHERIT,
        Source::File(_) | Source::Flag(_) => false,
    }
}

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
