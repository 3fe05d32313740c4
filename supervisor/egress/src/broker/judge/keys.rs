//! The keys of one object, and the value of its `type`.
//!
//! Pure. A key is kept as a hash only. INVARIANT: no key passes twice; two that hash alike count as one.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::Court;
use super::fault::{Fault, quoted};
use super::shape::Kind;
use super::walk::Walk;

/// The keys of one open object so far.
pub(super) struct Seen<'c> {
    court: &'c Court,
    hashes: HashSet<u64, RandomState>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Excess {
    Twice,
    TooMany,
}

impl<'c> Seen<'c> {
    pub(super) fn new(court: &'c Court) -> Self {
        let hashes = HashSet::with_hasher(court.hasher.clone());
        Self { court, hashes }
    }

    pub(super) fn add(&mut self, key: &str) -> Result<(), Excess> {
        let left = self.court.keys.get().checked_sub(1).ok_or(Excess::TooMany)?;
        match self.hashes.insert(self.court.hasher.hash_one(key)) {
            true => {
                self.court.keys.set(left);
                Ok(())
            }
            false => Err(Excess::Twice),
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.hashes.contains(&self.court.hasher.hash_one(key))
    }
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        let keys = &self.court.keys;
        keys.set(keys.get().saturating_add(self.hashes.len()));
    }
}

/// Reads a key, without a copy where it needs no unescaping.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// Reads a `type`: one of these, and a string.
pub(super) struct Naming<'w> {
    pub(super) kinds: &'static [Kind],
    pub(super) of: Walk<'w>,
}

impl<'de> DeserializeSeed<'de> for Naming<'_> {
    type Value = &'static Kind;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Naming<'_> {
    type Value = &'static Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string as `type`")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        let found = self.kinds.iter().find(|kind| kind.is(word));
        found.ok_or_else(|| {
            self.of.refuse(Fault::Kind {
                at: self.of.at.to_string(),
                kind: quoted(word),
            })
        })
    }
}
