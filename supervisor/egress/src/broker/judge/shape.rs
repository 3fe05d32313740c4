//! The words in which each vendor's file says what may stand where in a prompt.
//!
//! Pure data. A key that is not named, and a kind that is not listed, are refused: vendors add both, and what a new one
//! makes them do is not known here.

/// What may stand at one place. `null` may stand anywhere.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Whatever it is, the vendor only shows it to the model or files it.
    Opaque,
    /// A string, a number or a boolean.
    Plain,
    /// A JSON Schema whose references stay in it.
    Schema,
    /// The target of a schema's reference.
    Reference,
    /// Content where an address could stand: a `data:` URL only.
    Data,
    /// A model that does not search by itself.
    Model,
    /// This string.
    Word(&'static str),
    /// Nothing: `null`, `false`, `""` or `[]`.
    Unset,
    /// A list of these.
    Many(&'static Shape),
    /// A string, or this.
    TextOr(&'static Shape),
    Object(Object),
}

#[derive(Debug)]
pub(crate) struct Object {
    pub(super) tag: Tag,
    pub(super) spelling: Spelling,
    pub(super) fields: Fields,
}

pub(super) type Fields = &'static [(&'static str, &'static Shape)];

/// Does `type` say what an object is?
#[derive(Debug)]
pub(super) enum Tag {
    None,
    May(&'static [Kind]),
    Must(&'static [Kind]),
}

/// A value of `type`. `#` at its end stands for a date, as in `bash_20250124`.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) word: &'static str,
    /// The key that must then be there as well.
    pub(super) with: Option<&'static str>,
}

/// How keys are compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spelling {
    Exact,
    /// `inline_data` is `inlineData`, as in every JSON form of a protocol buffer.
    EitherCase,
}

pub(super) const fn object(fields: Fields) -> Shape {
    Shape::Object(Object {
        tag: Tag::None,
        spelling: Spelling::Exact,
        fields,
    })
}

pub(super) const fn message(fields: Fields) -> Shape {
    Shape::Object(Object {
        tag: Tag::None,
        spelling: Spelling::EitherCase,
        fields,
    })
}

pub(super) const fn tagged(tag: Tag, fields: Fields) -> Shape {
    Shape::Object(Object {
        tag,
        spelling: Spelling::Exact,
        fields,
    })
}

pub(super) const fn kind(word: &'static str) -> Kind {
    Kind { word, with: None }
}

impl Kind {
    pub(super) fn is(&self, word: &str) -> bool {
        match self.word.strip_suffix('#') {
            None => self.word == word,
            Some(stem) => word
                .strip_prefix(stem)
                .is_some_and(|date| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())),
        }
    }
}

impl Object {
    pub(super) fn field(&self, key: &str) -> Option<&'static Shape> {
        let same = |name: &str| match self.spelling {
            Spelling::Exact => name == key,
            Spelling::EitherCase => name == key || is_snake_of(key, name),
        };
        self.fields.iter().find(|(name, _)| same(name)).map(|(_, shape)| *shape)
    }
}

/// Is `key` the form with underscores of `name`?
fn is_snake_of(key: &str, name: &str) -> bool {
    let mut key = key.bytes();
    let matched = name.bytes().all(|byte| match byte.is_ascii_uppercase() {
        true => key.next() == Some(b'_') && key.next() == Some(byte.to_ascii_lowercase()),
        false => key.next() == Some(byte),
    });
    matched && key.next().is_none()
}

/// Models that look things up by themselves: OpenAI's `…-search-…` and `…-deep-research`, `:online` of OpenRouter's, and
/// Groq's `compound`.
pub(crate) fn searches(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["search", "online", "compound", "sonar"]
        .iter()
        .any(|word| model.contains(word))
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
