//! One value of a YAML text replaced, and nothing around it: comments, order and spelling stay.
//!
//! Pure. The text is cut and joined by the places that the reader reports, then read again: INVARIANT: the result says what
//! the old text said, with the one value changed, or there is no result.

use std::ops::Range;

use glee_policy::Source;
use glee_policy::yaml::{self, Key as Name, Node, Value};

/// Why a value cannot be set in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("`{0}` is not a value that can be written on one line")]
    BadValue(String),
    #[error("`{0}` is written in a way that cannot be changed without touching what is around it")]
    CannotReach(String),
}

/// The text with the value at `path` (`a.b.c`) set.
pub fn set(text: &str, path: &str, value: &str) -> Result<String, EditError> {
    let value = value.trim();
    let bad = || EditError::BadValue(value.to_owned());
    if value.is_empty() || value.contains(['\n', '\r', '#']) {
        return Err(bad());
    }
    let wanted = document(value).ok_or_else(bad)?;
    let stuck = || EditError::CannotReach(path.to_owned());
    let root = document(text).ok_or_else(stuck)?;
    let names: Vec<&str> = path.split('.').collect();
    let edited = edit(text, &root, &names, value).ok_or_else(stuck)?;
    let now = document(&edited).ok_or_else(stuck)?;
    let expected = changed(&root, &names, &wanted).ok_or_else(stuck)?;
    if same(&now, &expected) {
        Ok(edited)
    } else {
        Err(stuck())
    }
}

fn document(text: &str) -> Option<Node> {
    yaml::read(&Source::Flag("config"), text).ok()
}

/// The value at a path.
#[must_use]
pub fn find<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    path.split('.').try_fold(root, |node, name| child(node, name))
}

fn child<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Map(entries) => entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => None,
    }
}

/// What the text should say afterwards.
fn changed(root: &Node, names: &[&str], wanted: &Node) -> Option<Node> {
    let Some((first, rest)) = names.split_first() else {
        return Some(wanted.clone());
    };
    let mut entries = match &root.value {
        Value::Map(entries) => entries.clone(),
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => return None,
    };
    match entries.iter_mut().find(|(key, _)| key.name == *first) {
        Some((_, node)) => *node = changed(node, rest, wanted)?,
        None => {
            let name = Name {
                name: (*first).to_owned(),
                line: 0,
                column: 0,
            };
            let nothing = Node {
                value: Value::Null,
                line: 0,
                column: 0,
                span: 0..0,
            };
            entries.push((name, changed(&nothing, rest, wanted)?));
        }
    }
    Some(Node {
        value: Value::Map(entries),
        ..root.clone()
    })
}

/// Do two trees say the same, wherever it stands?
fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.iter().any(|(other, b)| key.name == other.name && same(a, b)))
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (a, b) => a == b,
    }
}

fn edit(text: &str, root: &Node, names: &[&str], value: &str) -> Option<String> {
    let (mut node, mut column, mut line, mut left) = (root, 0, 0, names);
    while let Some((first, rest)) = left.split_first() {
        let Value::Map(entries) = &node.value else { break };
        let Some((key, next)) = entries.iter().find(|(key, _)| key.name == *first) else {
            return insert(text, node, left, value);
        };
        (node, column, line, left) = (next, key.column, key.line, rest);
    }
    match (&node.value, left.is_empty()) {
        (Value::Null, false) if line == 0 => Some(appended(text, &block(left, value, 0))),
        // A key with nothing after it: its first entry goes below.
        (Value::Null, false) => {
            let indent = usize::try_from(column).ok()?.saturating_sub(1) + 2;
            let at = row(text, line)?.end;
            Some(spliced(
                text,
                at,
                at,
                &format!("\n{}", block(left, value, indent).trim_end()),
            ))
        }
        (_, false) => None,
        (_, true) => {
            let (from, to) = (offset(text, node.span.start)?, offset(text, node.span.end)?);
            let old = text.get(from..to)?;
            let bracketed = old.starts_with(['[', '{']) && old.ends_with([']', '}']);
            match &node.value {
                // `key:` and nothing: the value goes after the colon.
                Value::Null if old.is_empty() => {
                    let row = row(text, line)?;
                    let colon = row.start + text.get(row)?.find(':')? + 1;
                    Some(spliced(text, colon, colon, &format!(" {value}")))
                }
                Value::List(_) | Value::Map(_) if !bracketed => None,
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Map(_) => Some(spliced(text, from, to, value)),
            }
        }
    }
}

/// Adds a key that is not there yet to a mapping.
fn insert(text: &str, map: &Node, names: &[&str], value: &str) -> Option<String> {
    let Value::Map(entries) = &map.value else { return None };
    let (from, to) = (offset(text, map.span.start)?, offset(text, map.span.end)?);
    let old = text.get(from..to)?;
    if old.starts_with('{') {
        let inside = old.strip_prefix('{')?.strip_suffix('}')?;
        let comma = if entries.is_empty() { "" } else { ", " };
        let at = from + 1 + inside.trim_end().len();
        return Some(spliced(text, at, at, &format!("{comma}{}", flow(names, value)?)));
    }
    let indent = usize::try_from(entries.first()?.0.column).ok()?.saturating_sub(1);
    let at = row(text, u32::try_from(last_line(text, map)?).ok()?)?.end;
    let added = block(names, value, indent);
    Some(spliced(text, at, at, &format!("\n{}", added.trim_end())))
}

/// The last line on which something of it stands.
fn last_line(text: &str, node: &Node) -> Option<usize> {
    let own = usize::try_from(node.line).ok()?;
    Some(match &node.value {
        Value::Map(entries) if !is_bracketed(text, node) => entries
            .iter()
            .filter_map(|(key, node)| last_line(text, node).max(usize::try_from(key.line).ok()))
            .fold(own, usize::max),
        Value::List(items) if !is_bracketed(text, node) => items
            .iter()
            .filter_map(|node| last_line(text, node))
            .fold(own, usize::max),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => {
            let inside = text.get(offset(text, node.span.start)?..offset(text, node.span.end)?)?;
            own + inside.trim_end().matches('\n').count()
        }
    })
}

fn is_bracketed(text: &str, node: &Node) -> bool {
    let start = offset(text, node.span.start).and_then(|at| text.get(at..));
    start.is_some_and(|rest| rest.starts_with(['[', '{']))
}

/// The new lines, the deepest last.
fn block(names: &[&str], value: &str, indent: usize) -> String {
    let mut out = String::new();
    for (depth, name) in names.iter().enumerate() {
        let end = if depth + 1 == names.len() {
            format!(" {value}")
        } else {
            String::new()
        };
        out.push_str(&format!("{}{name}:{end}\n", " ".repeat(indent + 2 * depth)));
    }
    out
}

fn flow(names: &[&str], value: &str) -> Option<String> {
    let (last, above) = names.split_last()?;
    let inner = format!("{last}: {value}");
    Some(
        above
            .iter()
            .rev()
            .fold(inner, |inner, name| format!("{name}: {{{inner}}}")),
    )
}

fn appended(text: &str, added: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{text}{gap}{added}")
}

fn spliced(text: &str, from: usize, to: usize, with: &str) -> String {
    let (before, after) = (text.get(..from), text.get(to..));
    format!("{}{with}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// The byte at which a character begins.
fn offset(text: &str, character: usize) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(character)
}

/// The bytes of a line (from 1), without its newline.
fn row(text: &str, line: u32) -> Option<Range<usize>> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let start = text.split_inclusive('\n').take(index).map(str::len).sum::<usize>();
    let row = text.split_inclusive('\n').nth(index)?;
    Some(start..start + row.trim_end_matches(['\n', '\r']).len())
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
