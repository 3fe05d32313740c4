//! The files of other programs as one shape: keys with values, and the text below them.
//!
//! Pure. Markdown with YAML front matter, Markdown with headings (the older style), and TOML.

use glee_policy::Source;
use glee_policy::error::place;
use glee_policy::yaml::{self, Key, Node, Value};
use toml_edit::{Document, Item};

use super::ImportError;

/// A file of another program.
#[derive(Debug)]
pub(super) struct Foreign {
    pub(super) keys: Vec<(Key, Node)>,
    /// What stands below the keys.
    pub(super) body: String,
}

/// The names of keys that headings become.
pub(super) const TITLE: &str = "title";

/// Markdown, with or without front matter.
pub(super) fn markdown(source: &Source, text: &str) -> Result<Foreign, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match front(text) {
        Some((front, body)) => Ok(Foreign {
            keys: keys(source, &front)?,
            body: body.trim().to_owned(),
        }),
        None => Ok(headings(text)),
    }
}

/// The front matter, on the lines it has in the file, and the rest.
fn front(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (front, body) = (rest.get(..at)?, rest.get(at + line.len()..)?);
            return Some((format!("\n{front}"), body));
        }
        at += line.len();
    }
    None
}

fn keys(source: &Source, front: &str) -> Result<Vec<(Key, Node)>, ImportError> {
    let read = match yaml::read(source, front) {
        Ok(read) => read,
        // Descriptions with a colon in them are common, and other programs take them as they stand.
        Err(error) => yaml::read(source, &requoted(front)).map_err(|_| error)?,
    };
    match read.value {
        Value::Map(keys) => Ok(keys),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            Ok(Vec::new())
        }
    }
}

/// The front matter with its description in quotes.
fn requoted(front: &str) -> String {
    let line = |line: &str| match line.strip_prefix("description:") {
        Some(value) => format!("description: '{}'", value.trim().replace('\'', "''")),
        None => line.to_owned(),
    };
    front.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The older style: a title, the prompt, and `## Tools` with a list.
fn headings(text: &str) -> Foreign {
    let (mut title, mut tools, mut body, mut in_tools) = (None, None::<Vec<Node>>, String::new(), false);
    for (number, line) in (1_u32..).zip(text.lines()) {
        if let Some(heading) = line.strip_prefix("# ").filter(|_| title.is_none()) {
            title = Some((number, heading.trim().to_owned()));
            continue;
        }
        if line.starts_with('#') {
            in_tools = line.trim_start_matches('#').trim().eq_ignore_ascii_case("tools");
            if in_tools {
                tools.get_or_insert_default();
                continue;
            }
        }
        match (in_tools, line.trim().strip_prefix(['-', '*'])) {
            (true, Some(tool)) => {
                let name = tool.trim().trim_matches('`').to_owned();
                tools.get_or_insert_default().push(node(Value::Text(name), number, 1));
            }
            (true, None) if line.trim().is_empty() => {}
            (true, None) | (false, _) => {
                body.push_str(line);
                body.push('\n');
            }
        }
    }
    let key = |name: &str, line| Key {
        name: name.to_owned(),
        line,
        column: 1,
    };
    let title = title.map(|(line, title)| (key(TITLE, line), node(Value::Text(title), line, 3)));
    let tools = tools.map(|tools| (key("tools", 0), node(Value::List(tools), 0, 0)));
    Foreign {
        keys: title.into_iter().chain(tools).collect(),
        body: body.trim().to_owned(),
    }
}

fn node(value: Value, line: u32, column: u32) -> Node {
    Node {
        value,
        line,
        column,
        span: 0..0,
    }
}

/// TOML: keys only.
pub(super) fn toml(source: &Source, text: &str) -> Result<Foreign, ImportError> {
    let document = Document::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        ImportError::Toml {
            at: place(source, line, column),
            message: error.message().lines().next().unwrap_or_default().to_owned(),
        }
    })?;
    let keys = document.as_table().iter().map(|(name, item)| entry(text, name, item));
    Ok(Foreign {
        keys: keys.collect(),
        body: String::new(),
    })
}

fn entry(text: &str, name: &str, item: &Item) -> (Key, Node) {
    let (line, column) = position(text, item.span().map_or(0, |span| span.start));
    let key = Key {
        name: name.to_owned(),
        line,
        column,
    };
    (key, node(value(text, item), line, column))
}

fn value(text: &str, item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(found) => plain(text, found),
        Item::Table(table) => Value::Map(table.iter().map(|(name, item)| entry(text, name, item)).collect()),
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().map(|table| {
                let entries = table.iter().map(|(name, item)| entry(text, name, item));
                node(Value::Map(entries.collect()), 0, 0)
            });
            Value::List(tables.collect())
        }
    }
}

fn plain(text: &str, found: &toml_edit::Value) -> Value {
    match found {
        toml_edit::Value::String(string) => Value::Text(string.value().clone()),
        toml_edit::Value::Integer(number) => Value::Int(i128::from(*number.value())),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(value) => Value::Bool(*value.value()),
        toml_edit::Value::Datetime(time) => Value::Text(time.value().to_string()),
        toml_edit::Value::Array(items) => {
            let items = items.iter().map(|item| {
                let (line, column) = position(text, item.span().map_or(0, |span| span.start));
                node(plain(text, item), line, column)
            });
            Value::List(items.collect())
        }
        toml_edit::Value::InlineTable(table) => {
            let entries = table.iter().map(|(name, found)| {
                let (line, column) = position(text, found.span().map_or(0, |span| span.start));
                let key = Key {
                    name: name.to_owned(),
                    line,
                    column,
                };
                (key, node(plain(text, found), line, column))
            });
            Value::Map(entries.collect())
        }
    }
}

/// Line and column of a byte, both from 1.
fn position(text: &str, byte: usize) -> (u32, u32) {
    let before = text.get(..byte).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(0), u32::try_from(column).unwrap_or(0))
}
