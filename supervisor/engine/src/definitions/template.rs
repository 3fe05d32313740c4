//! `${name}` in a prompt: taken apart once, filled in once.
//!
//! Pure. INVARIANT: a value is copied as it is; nothing in it is ever looked at for a `${` of its own. `$${` stands for `${`.

use std::collections::{BTreeMap, BTreeSet};

/// A text with places for values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    written: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Name(String),
}

/// The most that a text may have once every value is in its place.
pub const MOST_FILLED: usize = 8 << 20;

/// Why the places cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillProblem {
    /// The name that has no value.
    Missing(String),
    /// More than `MOST_FILLED`.
    TooLong,
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    #[error("a `${{` has no `}}`")]
    Unclosed,
    #[error("`${{{0}}}` holds no name")]
    NotAName(String),
    #[error("`${{{0}}}` is not one of the inputs")]
    Unknown(String),
}

impl TemplateProblem {
    /// How it stands in the text, as far as that is known.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Unclosed => "${".into(),
            Self::NotAName(inside) | Self::Unknown(inside) => format!("${{{inside}}}"),
        }
    }
}

/// Can it be the name of an input?
#[must_use]
pub fn is_name(text: &str) -> bool {
    const LONGEST: usize = 64;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.len() <= LONGEST && text.starts_with(first) && text.bytes().all(plain)
}

/// A text in which nothing is to be filled in, as a template.
#[must_use]
pub fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateProblem> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("$${") {
                plain.push_str("${");
                rest = after;
            } else if let Some(after) = from.strip_prefix("${") {
                let (inside, after) = after.split_once('}').ok_or(TemplateProblem::Unclosed)?;
                if !is_name(inside) {
                    return Err(TemplateProblem::NotAName(inside.to_owned()));
                }
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Name(inside.to_owned()));
                rest = after;
            } else {
                plain.push('$');
                rest = from.strip_prefix('$').unwrap_or_default();
            }
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Ok(Self {
            written: text.to_owned(),
            pieces,
        })
    }

    /// As its author wrote it.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The names it has places for.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        self.pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Name(name) => Some(name.as_str()),
                Piece::Text(_) => None,
            })
            .collect()
    }

    /// The text with every value in its place. One that would be too long is never made.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, FillProblem> {
        let mut out = String::with_capacity(self.written.len());
        for piece in &self.pieces {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Name(name) => values.get(name).ok_or_else(|| FillProblem::Missing(name.clone()))?,
            };
            if text.len() > MOST_FILLED.saturating_sub(out.len()) {
                return Err(FillProblem::TooLong);
            }
            out.push_str(text);
        }
        Ok(out)
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
