//! Git's configuration files, by git's own grammar, and what they name: hooks and further files of configuration.
//!
//! Lenient where git would stop with an error: what is read too much is protected too much. INVARIANT (bounded): at most
//! `FILES` files are read, each up to `LARGEST` bytes, none twice.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sys::path;

const FILES: usize = 64;
const LARGEST: usize = 1 << 20;

/// One key and its value. Sections and keys in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) section: String,
    pub(super) subsection: Option<Vec<u8>>,
    pub(super) key: String,
    pub(super) value: Vec<u8>,
}

/// What the files name, links not followed, `~` replaced.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// `core.hooksPath`, perhaps relative to the working tree.
    pub(super) hooks: Vec<PathBuf>,
    /// `init.templateDir`, of which `git init` and `git clone` copy the hooks.
    pub(super) templates: Vec<PathBuf>,
    /// Included files, whatever the condition, there or not.
    pub(super) files: Vec<PathBuf>,
    /// `core.worktree` of the first file.
    pub(super) worktree: Option<PathBuf>,
}

impl Named {
    /// What a key in its full form (`core.hooksPath`) says. A file by a relative name is included from nowhere.
    pub(super) fn add(&mut self, key: &str, value: &[u8], home: Option<&Path>) {
        let (section, name) = (key.split('.').next(), key.rsplit('.').next());
        let small = |part: Option<&str>| part.unwrap_or_default().to_ascii_lowercase();
        let value = expand(value, home);
        match (small(section).as_str(), small(name).as_str()) {
            ("core", "hookspath") => self.hooks.push(value),
            // Without a value there is no template.
            ("init", "templatedir") if !value.as_os_str().is_empty() => self.templates.push(value),
            ("include" | "includeif", "path") if value.is_absolute() => self.files.push(value),
            _ => {}
        }
    }
}

/// Reads these files and all that they include.
pub(super) fn read(files: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Named {
    let mut named = Named::default();
    each(files, home, |file, number, setting| {
        let value = || expand(&setting.value, home);
        match (setting.section.as_str(), setting.key.as_str()) {
            ("core", "hookspath") => named.hooks.push(value()),
            ("init", "templatedir") if !setting.value.is_empty() => named.templates.push(value()),
            ("core", "worktree") if number == 1 => {
                named.worktree = Some(PathBuf::from(OsStr::from_bytes(&setting.value)));
            }
            ("include" | "includeif", "path") => named.files.push(included(file, value())),
            _ => {}
        }
    });
    named
}

/// Hands out every setting of these files, which are counted, and of what they include.
pub(super) fn each(
    files: impl IntoIterator<Item = PathBuf>,
    home: Option<&Path>,
    mut take: impl FnMut(&Path, usize, &Setting),
) {
    let mut seen = BTreeSet::new();
    let mut todo: Vec<PathBuf> = files.into_iter().collect();
    todo.reverse();
    while let Some(file) = todo.pop() {
        if seen.len() >= FILES || !seen.insert(file.clone()) {
            continue;
        }
        for setting in settings(&file) {
            if let ("include" | "includeif", "path") = (setting.section.as_str(), setting.key.as_str()) {
                todo.push(included(&file, expand(&setting.value, home)));
            }
            take(&file, seen.len(), &setting);
        }
    }
}

fn included(by: &Path, value: PathBuf) -> PathBuf {
    by.parent().unwrap_or(Path::new("/")).join(value)
}

/// The settings of one file; none if it is not there or is no regular file.
pub(super) fn settings(file: &Path) -> Vec<Setting> {
    // Git follows a link here.
    let bytes = fs::canonicalize(file).and_then(|real| path::read_file(&real, LARGEST));
    bytes.map(|bytes| parse(&bytes)).unwrap_or_default()
}

fn expand(value: &[u8], home: Option<&Path>) -> PathBuf {
    let value = value.strip_prefix(b":(optional)").unwrap_or(value);
    match (value.strip_prefix(b"~/"), home) {
        (Some(rest), Some(home)) => home.join(OsStr::from_bytes(rest)),
        _ => PathBuf::from(OsStr::from_bytes(value)),
    }
}

/// Bytes with git's idea of a line's end.
struct Text<'a> {
    rest: &'a [u8],
}

impl Text<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *first == b'\r' && rest.first() == Some(&b'\n') {
            return self.next();
        }
        Some(*first)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|c| c != b'\n') {}
    }
}

pub(super) fn parse(bytes: &[u8]) -> Vec<Setting> {
    let mut text = Text {
        rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
    };
    let mut found = Vec::new();
    let (mut section, mut subsection) = (String::new(), None);
    while let Some(c) = text.next() {
        match c {
            b'#' | b';' => text.skip_line(),
            b'[' => (section, subsection) = header(&mut text),
            c if c.is_ascii_alphabetic() => {
                if let Some((key, value)) = key_and_value(c, &mut text) {
                    found.push(Setting {
                        section: section.clone(),
                        subsection: subsection.clone(),
                        key,
                        value,
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// After `[`: the section's name, and that of the subsection, which follows in quotes or after a dot.
fn header(text: &mut Text<'_>) -> (String, Option<Vec<u8>>) {
    let mut name = String::new();
    let mut quoted = None;
    while let Some(c) = text.next() {
        match c {
            b']' | b'\n' => break,
            b'"' => {
                let quoted = quoted.get_or_insert_with(Vec::new);
                while let Some(c) = text.next().filter(|c| *c != b'"' && *c != b'\n') {
                    match c {
                        b'\\' => quoted.extend(text.next()),
                        c => quoted.push(c),
                    }
                }
            }
            c => name.push(char::from(c.to_ascii_lowercase())),
        }
    }
    let end = name.find(|c: char| c == '.' || c.is_ascii_whitespace());
    let rest = end.and_then(|end| name.get(end + 1..)).unwrap_or_default().trim();
    let dotted = (!rest.is_empty()).then(|| rest.as_bytes().to_owned());
    name.truncate(end.unwrap_or(name.len()));
    (name, quoted.or(dotted))
}

/// A key that begins with `first`. `None` if no value follows.
fn key_and_value(first: u8, text: &mut Text<'_>) -> Option<(String, Vec<u8>)> {
    let mut key = String::from(char::from(first.to_ascii_lowercase()));
    loop {
        match text.next()? {
            b'=' => return Some((key, value(text))),
            b'\n' => return None,
            b' ' | b'\t' | b'\r' => {}
            c if c.is_ascii_alphanumeric() || c == b'-' => key.push(char::from(c.to_ascii_lowercase())),
            _ => {
                text.skip_line();
                return None;
            }
        }
    }
}

/// After `=`: up to the end of the line or a comment, without quotes, escapes and outer blanks.
fn value(text: &mut Text<'_>) -> Vec<u8> {
    let mut value = Vec::new();
    let mut kept = 0;
    let mut quoted = false;
    while let Some(c) = text.next() {
        match c {
            b'\n' => break,
            b'#' | b';' if !quoted => {
                text.skip_line();
                break;
            }
            b'"' => {
                quoted = !quoted;
                kept = value.len();
                continue;
            }
            b'\\' => match text.next() {
                Some(b'\n') | None => continue,
                Some(b't') => value.push(b'\t'),
                Some(b'n') => value.push(b'\n'),
                Some(b'b') => value.push(8),
                Some(c) => value.push(c),
            },
            c if c.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            c => value.push(c),
        }
        kept = value.len();
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
#[path = "gitconfig_tests.rs"]
mod tests;
