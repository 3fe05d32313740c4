//! The names under which the supervisor sets things aside, and what a rule makes of them.
//!
//! What a deny rule hides it hides under such a name too: otherwise the end of one run would lead a denied file past the rules
//! of the next. Pure, on bytes. INVARIANT: whatever `named` makes of a name, `stands_for` leads back to it, however often.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Appended to a name that is set aside.
const MARK: &str = ".set-aside";
/// Before that where the name was too long to be kept whole.
const CUT: &str = ".cut";
/// After that for a reference: git takes no name that ends so for one.
pub const NO_REFERENCE: &str = ".lock";
/// The digits of a number of chance, after a `-`.
const DIGITS: usize = 16;

/// What a name was before it was set aside.
enum Before<'a> {
    Name(&'a [u8]),
    /// Cut off: nobody can tell, so it counts as every name.
    Any,
}

/// The new name: of at most `room` bytes, with a number of chance if the plain one is taken.
#[must_use]
pub fn named(name: &OsStr, chance: Option<u64>, ending: &str, room: usize) -> OsString {
    let number = chance.map(|chance| format!("-{chance:0DIGITS$x}")).unwrap_or_default();
    let end = format!("{MARK}{number}{ending}");
    let bytes = name.as_bytes();
    let mut to = if bytes.len() + end.len() <= room {
        name.to_owned()
    } else {
        let kept = room.saturating_sub(CUT.len() + end.len());
        let mut cut = OsStr::from_bytes(bytes.get(..kept).unwrap_or(bytes)).to_owned();
        cut.push(CUT);
        cut
    };
    to.push(end);
    to
}

/// Is this name one that something was set aside under?
#[must_use]
pub fn is_one(name: &OsStr) -> bool {
    before(name.as_bytes()).is_some()
}

/// Does any name of this path look like it?
#[must_use]
pub fn is_in(path: &Path) -> bool {
    path.components().any(|part| is_one(part.as_os_str()))
}

/// Is this name the other one, or that one set aside, once or more often?
#[must_use]
pub fn stands_for(name: &OsStr, other: &OsStr) -> bool {
    any(name, |known| known == other)
}

/// Does this hold of a name, or of what it was before it was set aside?
pub(crate) fn any(name: &OsStr, holds: impl Fn(&OsStr) -> bool) -> bool {
    let mut name = name;
    loop {
        if holds(name) {
            return true;
        }
        match before(name.as_bytes()) {
            Some(Before::Name(was)) => name = OsStr::from_bytes(was),
            Some(Before::Any) => return true,
            None => return false,
        }
    }
}

/// What of a path lies below another one, of which any name may be set aside.
#[must_use]
pub fn below<'p>(path: &'p Path, top: &Path) -> Option<&'p Path> {
    path.strip_prefix(top).ok().or_else(|| rest(path, top, is_same))
}

/// What is still to go of `way` at a path on it, of which any name may be set aside.
#[must_use]
pub fn left<'w>(way: &'w Path, path: &Path) -> Option<&'w Path> {
    rest(way, path, |named, here| is_same(here, named))
}

fn rest<'p>(path: &'p Path, top: &Path, is_same: impl Fn(Component<'_>, Component<'_>) -> bool) -> Option<&'p Path> {
    let mut parts = path.components();
    for known in top.components() {
        if !is_same(parts.next()?, known) {
            return None;
        }
    }
    Some(parts.as_path())
}

fn is_same(part: Component<'_>, known: Component<'_>) -> bool {
    match (part, known) {
        (Component::Normal(name), Component::Normal(other)) => stands_for(name, other),
        (part, known) => part == known,
    }
}

/// One step back.
fn before(name: &[u8]) -> Option<Before<'_>> {
    let name = name.strip_suffix(NO_REFERENCE.as_bytes()).unwrap_or(name);
    let was = name
        .strip_suffix(MARK.as_bytes())
        .or_else(|| without_number(name)?.strip_suffix(MARK.as_bytes()))?;
    match was.ends_with(CUT.as_bytes()) {
        true => Some(Before::Any),
        false => Some(Before::Name(was)).filter(|_| !was.is_empty()),
    }
}

fn without_number(name: &[u8]) -> Option<&[u8]> {
    let (rest, digits) = name.split_at_checked(name.len().checked_sub(DIGITS)?)?;
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    rest.strip_suffix(b"-").filter(|_| is_number)
}

#[cfg(test)]
#[path = "set_aside_tests.rs"]
mod tests;
