//! One step of a judgement: a value at its place.
//!
//! Pure. Builds nothing; the stack is the only tree.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Court;
use super::fault::{Fault, Path, quoted};
use super::keys::{Excess, Key, Naming, Seen};
use super::shape::{Kind, Object, Shape, Tag, searches};

#[derive(Clone, Copy)]
pub(super) struct Walk<'w> {
    pub(super) shape: &'static Shape,
    pub(super) at: Path<'w>,
    pub(super) court: &'w Court,
}

/// Keywords of JSON Schema that name another schema.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

impl Walk<'_> {
    /// The fault is kept apart: the reader's own errors hold text only.
    pub(super) fn refuse<E: Error>(self, fault: Fault) -> E {
        self.court.fault.replace(Some(fault));
        E::custom("refused")
    }

    fn form<E: Error>(self) -> E {
        self.refuse(Fault::Form {
            at: self.at.to_string(),
        })
    }

    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        let at = || self.at.to_string();
        let fault = match self.shape {
            Shape::Opaque | Shape::Plain | Shape::Schema | Shape::TextOr(_) => return Ok(()),
            Shape::Data if text.starts_with("data:") => return Ok(()),
            Shape::Reference if text.starts_with('#') => return Ok(()),
            Shape::Model if !searches(text) => return Ok(()),
            Shape::Word(word) if *word == text => return Ok(()),
            Shape::Unset if text.is_empty() => return Ok(()),
            Shape::Data | Shape::Reference => Fault::Address { at: at() },
            Shape::Model => Fault::Searches { at: at() },
            Shape::Word(_) => Fault::Kind {
                at: at(),
                kind: quoted(text),
            },
            Shape::Unset => Fault::Set { at: at() },
            Shape::Many(_) | Shape::Object(_) => Fault::Form { at: at() },
        };
        Err(self.refuse(fault))
    }

    fn plain<E: Error>(self) -> Result<(), E> {
        match self.shape {
            Shape::Opaque | Shape::Plain | Shape::Schema => Ok(()),
            Shape::Unset => Err(self.refuse(Fault::Set {
                at: self.at.to_string(),
            })),
            Shape::Reference
            | Shape::Data
            | Shape::Model
            | Shape::Word(_)
            | Shape::Many(_)
            | Shape::TextOr(_)
            | Shape::Object(_) => Err(self.form()),
        }
    }

    /// What each item of a list here must be.
    fn items(self) -> Result<&'static Shape, Fault> {
        match self.shape {
            Shape::Opaque | Shape::Schema | Shape::Unset => Ok(self.shape),
            Shape::Many(item) | Shape::TextOr(Shape::Many(item)) => Ok(item),
            Shape::Plain
            | Shape::Reference
            | Shape::Data
            | Shape::Model
            | Shape::Word(_)
            | Shape::TextOr(_)
            | Shape::Object(_) => Err(Fault::Form {
                at: self.at.to_string(),
            }),
        }
    }

    /// What the fields of an object here must be.
    fn members(self) -> Result<Members, Fault> {
        let at = || self.at.to_string();
        match self.shape {
            Shape::Opaque => Ok(Members::All(self.shape)),
            // A property may have the name of a keyword; then its value is a schema.
            Shape::Schema | Shape::Reference => Ok(Members::Schema),
            Shape::Object(object) | Shape::TextOr(Shape::Object(object)) => Ok(Members::Of(object)),
            Shape::Unset => Err(Fault::Set { at: at() }),
            Shape::Data => Err(Fault::Address { at: at() }),
            Shape::Plain | Shape::Model | Shape::Word(_) | Shape::Many(_) | Shape::TextOr(_) => {
                Err(Fault::Form { at: at() })
            }
        }
    }
}

enum Members {
    All(&'static Shape),
    Schema,
    Of(&'static Object),
}

impl Members {
    fn shape(&self, key: &str) -> Option<&'static Shape> {
        match self {
            Self::All(shape) => Some(shape),
            Self::Schema if REFERENCES.contains(&key) => Some(&Shape::Reference),
            Self::Schema => Some(&Shape::Schema),
            Self::Of(object) => object.field(key),
        }
    }

    fn kinds(&self) -> Option<&'static [Kind]> {
        match self {
            Self::Of(Object {
                tag: Tag::May(kinds) | Tag::Must(kinds),
                ..
            }) => Some(kinds),
            Self::Of(Object { tag: Tag::None, .. }) | Self::All(_) | Self::Schema => None,
        }
    }

    fn needs_type(&self) -> bool {
        matches!(self, Self::Of(Object { tag: Tag::Must(_), .. }))
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a prompt")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.at {
            Path::Top => Err(self.form()),
            Path::Key(..) | Path::Item(_) => Ok(()),
        }
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match (self.shape, value) {
            (Shape::Unset, false) => Ok(()),
            _ => self.plain(),
        }
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.plain()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.plain()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.plain()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let shape = self.items().map_err(|fault| self.refuse(fault))?;
        let at = Path::Item(&self.at);
        while list.next_element_seed(Walk { shape, at, ..self })?.is_some() {
            if let Shape::Unset = shape {
                return Err(self.refuse(Fault::Set {
                    at: self.at.to_string(),
                }));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let members = self.members().map_err(|fault| self.refuse(fault))?;
        let mut seen = Seen::new(self.court);
        let mut told: Option<&'static Kind> = None;
        while let Some(key) = map.next_key_seed(Key)? {
            let at = Path::Key(&self.at, &key);
            seen.add(&key).map_err(|excess| {
                self.refuse(match excess {
                    Excess::Twice => Fault::Twice(at.to_string()),
                    Excess::TooMany => Fault::TooManyKeys,
                })
            })?;
            match (members.kinds(), members.shape(&key)) {
                (Some(kinds), _) if key == "type" => {
                    told = Some(map.next_value_seed(Naming { kinds, of: self })?);
                }
                (_, Some(shape)) => map.next_value_seed(Walk { shape, at, ..self })?,
                (_, None) => return Err(self.refuse(Fault::Key { at: at.to_string() })),
            }
        }
        let missing = match told {
            Some(Kind { with, .. }) => with.filter(|key| !seen.has(key)),
            None => members.needs_type().then_some("type"),
        };
        match missing {
            None => Ok(()),
            Some(key) => Err(self.refuse(Fault::Untold {
                at: self.at.to_string(),
                key,
            })),
        }
    }
}
