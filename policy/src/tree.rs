//! A document as a tree of values that know their line and column.
//!
//! Pure data.

use std::ops::Range;

use crate::error::shown;

#[derive(Debug, Clone)]
pub struct Node {
    pub value: Value,
    pub line: u32,
    pub column: u32,
    /// Where its text lies, in characters from the start of the file. Exact for scalars and for what stands in brackets;
    /// a list or mapping of several lines ends somewhere before the next one. Empty for aliases.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    pub line: u32,
    pub column: u32,
}

/// The extent is no part of what was said: a document put together from its pieces has none.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        (&self.value, self.line, self.column) == (&other.value, other.line, other.column)
    }
}

impl Node {
    /// What the author wrote, in words for an error.
    #[must_use]
    pub fn found(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Bool(b) => format!("`{b}`"),
            Value::Int(i) => format!("the number `{i}`"),
            Value::Float(f) => format!("the number `{f}`"),
            Value::Text(t) => format!("the text `{}`", shown(t)),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }
}
