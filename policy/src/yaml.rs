//! Text to a tree of values that know their line and column.
//!
//! The only place that knows the YAML library. Built from parser events on a stack of our own, not by a recursive
//! deserializer: 64 levels of the latter need more stack than a thread has, and a hostile file must not end the process.
//! Strict: duplicate keys, tags, directives, keys that are not text, several documents, deep nesting and expanding aliases
//! are errors. INVARIANT: the tree is at most `MAX_DEPTH` deep, and aliases add at most `MAX_COPIED` to it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_saphyr::granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, options};

use crate::error::{MAX_BYTES, MAX_DEPTH, PolicyError, place, shown};
use crate::origin::{Origin, Source};
use crate::scalar::plain;
pub use crate::tree::{Key, Node, Value};

/// What anchors and aliases may copy: a value counts 1, and 1 for each 16 bytes of its text.
const MAX_COPIED: usize = 100_000;

/// Reads one document. An empty one is `Value::Null`.
pub fn read(source: &Source, text: &str) -> Result<Node, PolicyError> {
    if text.len() > MAX_BYTES {
        return Err(too_large(source, text.as_bytes()));
    }
    let options = options! {
        // Above our own bound, which has the better words.
        block_nesting_limit: MAX_DEPTH + 8,
        flow_nesting_limit: MAX_DEPTH + 8,
        disallow_directives: true,
        emit_comments: false,
    };
    let mut tree = Tree::new(source);
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| in_our_words(source, &error))?;
        tree.take(event, span.start, span.start.index()..span.end.index())?;
    }
    Ok(tree.finish())
}

/// A piece of a plain document, as `build.rs` writes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) what: What,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// A scalar without quotes: its text tells its type.
    Word(&'static str),
    Quoted(&'static str),
    List,
    Map,
    End,
}

/// Puts a document together from its pieces.
pub(crate) fn assemble(source: &Source, tokens: &[Token]) -> Result<Node, PolicyError> {
    let mut tree = Tree::new(source);
    for token in tokens {
        let at = place(source, token.line, token.column);
        match token.what {
            What::Word(text) => tree.scalar(text.into(), ScalarStyle::Plain, 0, &at, 0..0)?,
            What::Quoted(text) => tree.scalar(text.into(), ScalarStyle::DoubleQuoted, 0, &at, 0..0)?,
            What::List => tree.start(Inside::List(Vec::new()), 0, &at, 0)?,
            What::Map => tree.start(Inside::map(), 0, &at, 0)?,
            What::End => tree.end(&at, 0)?,
        }
    }
    Ok(tree.finish())
}

/// Checks that bytes are text, and names the place where they stop being it.
pub fn text_of<'a>(source: &Source, bytes: &'a [u8]) -> Result<&'a str, PolicyError> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large(source, bytes));
    }
    std::str::from_utf8(bytes).map_err(|error| PolicyError::NotUtf8 {
        at: after(source, bytes, error.valid_up_to()),
    })
}

/// Where the part ends that would still be read.
fn too_large(source: &Source, bytes: &[u8]) -> PolicyError {
    PolicyError::TooLarge {
        at: after(source, bytes, MAX_BYTES),
    }
}

/// The place of what follows the first `count` bytes.
fn after(source: &Source, bytes: &[u8], count: usize) -> Origin {
    let good = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default());
    let line = good.matches('\n').count() + 1;
    let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    place(source, small(line), small(column))
}

fn in_our_words(source: &Source, error: &ScanError) -> PolicyError {
    let at = marked(source, *error.marker());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        PolicyError::TooDeep { at }
    } else {
        syntax(at, &error.info())
    }
}

fn marked(source: &Source, mark: Marker) -> Origin {
    place(source, small(mark.line()), small(mark.col().saturating_add(1)))
}

fn syntax(at: Origin, message: &str) -> PolicyError {
    let first = message.lines().next().unwrap_or_default();
    PolicyError::Syntax {
        at,
        message: shown(first.trim_end_matches('.')),
    }
}

fn small(number: usize) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// A list or mapping whose end has not come yet.
struct Open {
    anchor: usize,
    line: u32,
    column: u32,
    begins: usize,
    size: Size,
    inside: Inside,
}

enum Inside {
    List(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        seen: BTreeSet<String>,
        key: Option<Key>,
    },
}

impl Inside {
    fn map() -> Self {
        Self::Map {
            entries: Vec::new(),
            seen: BTreeSet::new(),
            key: None,
        }
    }
}

/// What a value costs to copy.
#[derive(Clone, Copy)]
struct Size {
    weight: usize,
    depth: usize,
}

struct Tree<'s> {
    source: &'s Source,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, (Node, Size)>,
    copied: usize,
}

impl<'s> Tree<'s> {
    fn new(source: &'s Source) -> Self {
        Self {
            source,
            open: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            copied: 0,
        }
    }

    // The library's enum grows; what is not named here carries no value.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn take(&mut self, event: Event<'_>, mark: Marker, span: Range<usize>) -> Result<(), PolicyError> {
        let at = marked(self.source, mark);
        if event.tag().is_some() {
            return Err(syntax(at, "tags (`!…`) are not read"));
        }
        match event {
            Event::Scalar(text, style, anchor, _) => self.scalar(text, style, anchor, &at, span),
            Event::SequenceStart(_, anchor, _) => self.start(Inside::List(Vec::new()), anchor, &at, span.start),
            Event::MappingStart(_, anchor, _) => self.start(Inside::map(), anchor, &at, span.start),
            Event::SequenceEnd | Event::MappingEnd => self.end(&at, span.end),
            Event::Alias(anchor) => self.alias(anchor, &at),
            Event::DocumentStart(..) if self.root.is_some() => Err(PolicyError::MultipleDocuments { at }),
            _ => Ok(()),
        }
    }

    /// What was read. An empty document is `Value::Null`.
    fn finish(self) -> Node {
        self.root.unwrap_or(Node {
            value: Value::Null,
            line: 1,
            column: 1,
            span: 0..0,
        })
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        at: &Origin,
        span: Range<usize>,
    ) -> Result<(), PolicyError> {
        if self.wants_key() {
            return self.key(text.into_owned(), at);
        }
        let size = Size {
            weight: 1 + text.len() / 16,
            depth: 0,
        };
        let value = if style == ScalarStyle::Plain {
            plain(&text)
        } else {
            Value::Text(text.into_owned())
        };
        let (line, column) = (at.line, at.column);
        self.add(
            Node {
                value,
                line,
                column,
                span,
            },
            size,
            anchor,
            at,
        )
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                inside: Inside::Map { key: None, .. },
                ..
            })
        )
    }

    fn key(&mut self, name: String, at: &Origin) -> Result<(), PolicyError> {
        if let Some(Open {
            inside: Inside::Map { seen, key, .. },
            ..
        }) = self.open.last_mut()
        {
            if !seen.insert(name.clone()) {
                return Err(PolicyError::DuplicateKey {
                    at: at.clone(),
                    key: name,
                });
            }
            *key = Some(Key {
                name,
                line: at.line,
                column: at.column,
            });
        }
        Ok(())
    }

    fn start(&mut self, inside: Inside, anchor: usize, at: &Origin, begins: usize) -> Result<(), PolicyError> {
        if self.wants_key() {
            return Err(syntax(at.clone(), "a key must be text"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(PolicyError::TooDeep { at: at.clone() });
        }
        self.open.push(Open {
            anchor,
            line: at.line,
            column: at.column,
            begins,
            size: Size { weight: 1, depth: 1 },
            inside,
        });
        Ok(())
    }

    fn end(&mut self, at: &Origin, ends: usize) -> Result<(), PolicyError> {
        let Some(Open {
            anchor,
            line,
            column,
            begins,
            size,
            inside,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let value = match inside {
            Inside::List(items) => Value::List(items),
            Inside::Map { entries, .. } => Value::Map(entries),
        };
        self.add(
            Node {
                value,
                line,
                column,
                span: begins..ends,
            },
            size,
            anchor,
            at,
        )
    }

    fn alias(&mut self, anchor: usize, at: &Origin) -> Result<(), PolicyError> {
        if self.wants_key() {
            return Err(syntax(at.clone(), "a key must be text"));
        }
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(syntax(at.clone(), "the alias names a value that contains it"));
        };
        if self.open.len() + size.depth > MAX_DEPTH {
            return Err(PolicyError::TooDeep { at: at.clone() });
        }
        let (size, node) = (
            *size,
            self.copied
                .checked_add(size.weight)
                .filter(|sum| *sum <= MAX_COPIED)
                .map(|_| node.clone()),
        );
        self.copied = self.copied.saturating_add(size.weight);
        match node {
            Some(mut node) => {
                node.span = 0..0;
                self.add(node, size, 0, at)
            }
            None => Err(PolicyError::TooManyAliases { at: at.clone() }),
        }
    }

    /// Puts a complete value where it belongs.
    fn add(&mut self, node: Node, size: Size, anchor: usize, at: &Origin) -> Result<(), PolicyError> {
        if anchor > 0 {
            self.copied = self.copied.saturating_add(size.weight);
            if self.copied > MAX_COPIED {
                return Err(PolicyError::TooManyAliases { at: at.clone() });
            }
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.size.weight = parent.size.weight.saturating_add(size.weight);
        parent.size.depth = parent.size.depth.max(size.depth + 1);
        match &mut parent.inside {
            Inside::List(items) => items.push(node),
            Inside::Map { entries, key, .. } => entries.extend(key.take().map(|key| (key, node))),
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
