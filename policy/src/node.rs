//! Reads simple values out of a tree, with errors that name the key and the line.
//!
//! Pure. Shared by `parse`, `value` and the other files that are read as strictly: agents and the configuration.

use crate::error::{PolicyError, place};
use crate::origin::{Origin, Source};
use crate::policy::Clause;
use crate::suggest::nearest;
use crate::yaml::{Node, Value};

pub type Fields = &'static [&'static str];

/// The key that is being read.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub source: &'a Source,
    pub key: &'a str,
}

impl At<'_> {
    pub fn at(&self, node: &Node) -> Origin {
        place(self.source, node.line, node.column)
    }

    pub fn wrong(&self, node: &Node, expected: &'static str) -> PolicyError {
        PolicyError::WrongType {
            at: self.at(node),
            key: self.key.to_owned(),
            expected,
            found: node.found(),
        }
    }

    pub fn clause<T>(&self, node: &Node, value: T) -> Clause<T> {
        Clause {
            value,
            origin: self.at(node),
            why: None,
        }
    }
}

/// One key of a mapping that is known, and its value.
#[derive(Debug)]
pub struct Entry<'a> {
    pub name: &'static str,
    pub node: &'a Node,
}

/// The entries of a mapping; a key that is not `known` is an error.
pub fn fields<'a>(source: &Source, node: &'a Node, inside: &str, known: Fields) -> Result<Vec<Entry<'a>>, PolicyError> {
    let Value::Map(entries) = &node.value else {
        return Err(At { source, key: inside }.wrong(node, "a mapping"));
    };
    let entry = |(key, node): &'a (crate::yaml::Key, Node)| match known.iter().find(|name| **name == key.name) {
        Some(name) => Ok(Entry { name, node }),
        None => Err(PolicyError::UnknownKey {
            at: place(source, key.line, key.column),
            key: key.name.clone(),
            inside: inside.to_owned(),
            nearest: nearest(&key.name, known.iter().copied()).and_then(|n| known.iter().copied().find(|k| *k == n)),
            known,
        }),
    };
    entries.iter().map(entry).collect()
}

pub fn text<'a>(at: &At<'_>, node: &'a Node) -> Result<&'a str, PolicyError> {
    match &node.value {
        Value::Text(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            Err(at.wrong(node, "text"))
        }
    }
}

pub fn optional_text(at: &At<'_>, node: &Node) -> Result<Option<String>, PolicyError> {
    match &node.value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.clone())),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            Err(at.wrong(node, "text or `null`"))
        }
    }
}

/// One of a few words.
pub fn word<T: Copy>(at: &At<'_>, node: &Node, words: &'static [(&'static str, T)]) -> Result<T, PolicyError> {
    let value = text(at, node)?;
    match words.iter().find(|(word, _)| *word == value) {
        Some((_, meaning)) => Ok(*meaning),
        None => Err(PolicyError::UnknownWord {
            at: at.at(node),
            key: at.key.to_owned(),
            value: value.to_owned(),
            known: words.iter().map(|(word, _)| *word).collect(),
        }),
    }
}
