//! Patterns of `fs.deny`: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of directories.
//!
//! Pure, on bytes. A pattern is matched against a path relative to its base. `*` and `?` never match `/`; hidden files are
//! files like any other; `?` and a class match one character, or one byte where the name is not UTF-8. `\` takes the next
//! character literally. A final `**` is everything below, not the directory itself. A name that something was set aside under
//! matches where that did (`set_aside`).
//! INVARIANT: a match costs at most (components of the pattern) × (length of the path); no pattern backtracks exponentially.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use crate::braces;
pub use crate::glob_problem::GlobProblem;
use crate::set_aside;

/// PATH_MAX. Also bounds the recursion that writes out braces.
const MAX_LENGTH: usize = 4096;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pub(crate) alternatives: Vec<Vec<Part>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// `**`
    AnyDepth,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Many,
    Class {
        negated: bool,
        ranges: Vec<(u8, u8)>,
    },
}

/// Does the text contain a wildcard that is not escaped?
#[must_use]
pub fn is_pattern(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'\\' => {
                bytes.next();
            }
            b'*' | b'?' | b'[' | b'{' => return true,
            _ => {}
        }
    }
    false
}

/// The text without the backslashes that escape.
pub(crate) fn unescape(text: &str) -> Result<String, GlobProblem> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' {
            chars.next().ok_or(GlobProblem::Escape)?
        } else {
            c
        });
    }
    Ok(out)
}

/// Splits a pattern into its leading directories without a wildcard (unescaped) and the rest.
pub(crate) fn split(pattern: &str) -> Result<(String, &str), GlobProblem> {
    let first = pattern.split('/').scan(0, |start, part| {
        let here = *start;
        *start += part.len() + 1;
        Some((here, part))
    });
    for (start, part) in first {
        if is_pattern(part) {
            return match pattern.split_at_checked(start) {
                Some((base, rest)) => Ok((unescape(base)?, rest)),
                None => Err(GlobProblem::Empty),
            };
        }
    }
    Err(GlobProblem::Empty)
}

impl Glob {
    /// Compiles a pattern that is relative to some base.
    pub fn new(pattern: &str) -> Result<Self, GlobProblem> {
        if pattern.len() > MAX_LENGTH {
            return Err(GlobProblem::TooLong);
        }
        let expanded = braces::written_out(pattern.as_bytes())?;
        let alternatives = expanded
            .iter()
            .map(|text| compile(text))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self { alternatives })
    }

    /// Does the pattern match this path, relative to its base?
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        self.walk(path).any(|alive| alive.done)
    }

    /// Does it match this path or a directory above it? What a match hides is hidden whole.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        path.ancestors()
            .filter(|p| !p.as_os_str().is_empty())
            .any(|p| self.matches(p))
    }

    /// Could something below this directory match? Lets a walk leave out the rest of a tree.
    #[must_use]
    pub fn can_match_below(&self, dir: &Path) -> bool {
        self.walk(dir).any(|alive| alive.more)
    }

    /// Could a path whose last name is this one match? Tells most names apart without their path.
    #[must_use]
    pub fn can_end_in(&self, name: &OsStr) -> bool {
        let may_end = |parts: &Vec<Part>| !matches!(parts.last(), Some(Part::Name(last)) if !name_matches(last, name));
        self.alternatives.iter().any(may_end)
    }

    /// How many names at the end of a path decide whether it matches; `None` if those above count as well. What lies below
    /// a match is not asked about.
    #[must_use]
    pub fn tail(&self) -> Option<usize> {
        self.alternatives.iter().try_fold(0, |most, parts| {
            let (names, open) = match parts.as_slice() {
                // `**` at the end was written out.
                [Part::AnyDepth, names @ .., Part::AnyDepth, Part::Name(last)] if *last == [Token::Many] => (names, 1),
                [Part::AnyDepth, names @ ..] => (names, 0),
                [] | [Part::Name(_), ..] => return None,
            };
            (!names.contains(&Part::AnyDepth)).then(|| most.max(names.len() + open))
        })
    }

    fn walk<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = Alive> + 'a {
        self.alternatives.iter().map(|parts| run(parts, path))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Alive {
    done: bool,
    more: bool,
}

impl Alive {
    const NOT: Self = Self {
        done: false,
        more: false,
    };
}

/// Steps through the path with the set of positions in `parts` that are still possible.
fn run(parts: &[Part], path: &Path) -> Alive {
    if let [Part::AnyDepth, names @ ..] = parts
        && !names.contains(&Part::AnyDepth)
    {
        return at_any_depth(names, path);
    }
    let Some(mut states) = reached(parts, path) else {
        return Alive::NOT;
    };
    let done = states.pop().unwrap_or_default();
    Alive {
        done,
        more: states.contains(&true),
    }
}

/// The positions that are possible behind this path. `None`: it is none below the base.
pub(crate) fn reached(parts: &[Part], path: &Path) -> Option<Vec<bool>> {
    let mut states = vec![false; parts.len() + 1];
    let mut next = states.clone();
    enter(parts, &mut states, 0);
    for component in path.components() {
        let name = match component {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        };
        next.fill(false);
        for ((i, part), _) in parts.iter().enumerate().zip(&states).filter(|(_, alive)| **alive) {
            match part {
                Part::AnyDepth => enter(parts, &mut next, i),
                Part::Name(tokens) if name_matches(tokens, name) => enter(parts, &mut next, i + 1),
                Part::Name(_) => {}
            }
        }
        std::mem::swap(&mut states, &mut next);
    }
    Some(states)
}

/// `**/` and names: only the end of the path counts, however deep it lies.
fn at_any_depth(names: &[Part], path: &Path) -> Alive {
    let above = |part: &[u8]| part == b"..";
    if path.is_absolute() || path.as_os_str().as_bytes().split(|b| *b == b'/').any(above) {
        return Alive::NOT;
    }
    let mut last = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::CurDir | Component::Prefix(_) | Component::RootDir | Component::ParentDir => None,
    });
    let done = names.iter().rev().all(|part| match part {
        Part::Name(tokens) => last.next().is_some_and(|name| name_matches(tokens, name)),
        Part::AnyDepth => false,
    });
    Alive { done, more: true }
}

/// Marks a position, and what can be reached from it without consuming a name.
fn enter(parts: &[Part], states: &mut [bool], at: usize) {
    for i in at..states.len() {
        if let Some(state) = states.get_mut(i) {
            *state = true;
        }
        if parts.get(i) != Some(&Part::AnyDepth) {
            break;
        }
    }
}

pub(crate) fn name_matches(tokens: &[Token], name: &OsStr) -> bool {
    set_aside::any(name, |name| fits(tokens, name.as_bytes()))
}

/// The classic two-pointer match: on a mismatch, the last `*` takes one character more.
fn fits(tokens: &[Token], name: &[u8]) -> bool {
    let (mut t, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let rest = name.get(n..).unwrap_or_default();
        match tokens.get(t) {
            None if rest.is_empty() => return true,
            Some(Token::Many) => {
                star = Some((t + 1, n));
                t += 1;
                continue;
            }
            Some(token) => {
                if let Some(taken) = token_takes(token, rest) {
                    t += 1;
                    n += taken;
                    continue;
                }
            }
            None => {}
        }
        match star {
            Some((after, from)) if from < name.len() => {
                let from = from + character_len(name.get(from..).unwrap_or_default());
                star = Some((after, from));
                t = after;
                n = from;
            }
            Some(_) | None => return false,
        }
    }
}

/// How many bytes of `rest` the token takes, if it matches.
fn token_takes(token: &Token, rest: &[u8]) -> Option<usize> {
    let first = *rest.first()?;
    match token {
        Token::Byte(b) => (*b == first).then_some(1),
        Token::One => Some(character_len(rest)),
        Token::Many => None,
        Token::Class { negated, ranges } => {
            let inside = ranges.iter().any(|(low, high)| (*low..=*high).contains(&first));
            (inside != *negated).then(|| character_len(rest))
        }
    }
}

/// The length of the UTF-8 character at the start, or 1.
fn character_len(bytes: &[u8]) -> usize {
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) | None => 1,
    };
    match bytes.get(..length).map(std::str::from_utf8) {
        Some(Ok(_)) => length,
        Some(Err(_)) | None => 1,
    }
}

fn compile(pattern: &[u8]) -> Result<Vec<Part>, GlobProblem> {
    let mut parts = Vec::new();
    for text in pattern.split(|b| *b == b'/') {
        match text {
            b"" | b"." => {}
            b".." => return Err(GlobProblem::Parent),
            // Two in a row mean the same as one.
            b"**" if parts.last() == Some(&Part::AnyDepth) => {}
            b"**" => parts.push(Part::AnyDepth),
            _ => parts.push(Part::Name(tokens(text)?)),
        }
    }
    if parts.last() == Some(&Part::AnyDepth) {
        parts.push(Part::Name(vec![Token::Many]));
    }
    if parts.is_empty() {
        Err(GlobProblem::Empty)
    } else {
        Ok(parts)
    }
}

fn tokens(text: &[u8]) -> Result<Vec<Token>, GlobProblem> {
    let mut out = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(b) = bytes.next() {
        out.push(match b {
            b'\\' => Token::Byte(bytes.next().ok_or(GlobProblem::Escape)?),
            b'?' => Token::One,
            b'*' if out.last() == Some(&Token::Many) => return Err(GlobProblem::DoubleStar),
            b'*' => Token::Many,
            b'[' => class(&mut bytes)?,
            _ => Token::Byte(b),
        });
    }
    Ok(out)
}

/// After `[`: `!` or `^` negates, a `]` that comes first is itself, `a-z` is a range.
fn class(bytes: &mut impl Iterator<Item = u8>) -> Result<Token, GlobProblem> {
    let mut take = || match bytes.next() {
        Some(b'\\') => bytes.next().map(|b| (b, true)).ok_or(GlobProblem::Class),
        Some(b) if b.is_ascii() => Ok((b, false)),
        Some(_) | None => Err(GlobProblem::Class),
    };
    let mut current = take()?;
    let negated = matches!(current, (b'!' | b'^', false));
    if negated {
        current = take()?;
    }
    let mut ranges = Vec::new();
    loop {
        if current == (b']', false) && !ranges.is_empty() {
            return Ok(Token::Class { negated, ranges });
        }
        let low = current.0;
        current = take()?;
        if current != (b'-', false) {
            ranges.push((low, low));
            continue;
        }
        let high = take()?;
        if high == (b']', false) {
            ranges.extend([(low, low), (b'-', b'-')]);
            current = high;
        } else if low > high.0 {
            return Err(GlobProblem::Class);
        } else {
            ranges.push((low, high.0));
            current = take()?;
        }
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
