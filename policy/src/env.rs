//! Which environment variables pass.
//!
//! Pure. For each name a policy gives one of three answers: the caller's value, a value of its own, or nothing.
//! INVARIANT: an injection name (`injection`) always gets nothing. LAW: narrowing keeps an answer only where both agree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};

use crate::injection::is_injection;
use crate::resolved::EnvRules;

/// An exact name, or a prefix that ends in `_` (`LC_*` is `Prefix("LC_")`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EnvPattern {
    Exact(String),
    Prefix(String),
}

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvPatternProblem {
    Name,
    Star,
}

impl EnvPattern {
    /// Reads `NAME` or `NAME_*`.
    pub fn parse(text: &str) -> Result<Self, EnvPatternProblem> {
        let (name, star) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        if name.contains('*') || (star && (!name.ends_with('_') || name.bytes().all(|b| b == b'_'))) {
            return Err(EnvPatternProblem::Star);
        }
        if !is_env_name(name) {
            return Err(EnvPatternProblem::Name);
        }
        Ok(if star {
            Self::Prefix(name.to_owned())
        } else {
            Self::Exact(name.to_owned())
        })
    }

    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Exact(exact) => exact.as_bytes() == name,
            Self::Prefix(prefix) => name.starts_with(prefix.as_bytes()) && name.len() > prefix.len(),
        }
    }

    /// Is everything that `other` matches matched by this one?
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a == b,
            (Self::Prefix(_), Self::Exact(b)) => self.matches(b.as_bytes()),
            (Self::Prefix(a), Self::Prefix(b)) => b.starts_with(a.as_str()),
            (Self::Exact(_), Self::Prefix(_)) => false,
        }
    }
}

impl std::fmt::Display for EnvPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact(name) => f.write_str(name),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

/// `[A-Za-z_][A-Za-z0-9_]*`
#[must_use]
pub fn is_env_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// What becomes of one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvFate<'a> {
    /// The caller's value, if there is one.
    Passes,
    /// This value.
    Set(&'a str),
    /// Not there.
    Withheld,
}

impl EnvRules {
    /// Rules under which nothing passes.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            allow: BTreeSet::new(),
            set: BTreeMap::new(),
            inherit_all: false,
            withheld: BTreeSet::new(),
        }
    }

    #[must_use]
    pub fn fate(&self, name: &[u8]) -> EnvFate<'_> {
        let text = std::str::from_utf8(name).ok();
        let withheld = || text.is_some_and(|name| self.withheld.contains(name));
        let fate = match text.and_then(|name| self.set.get(name)) {
            Some(value) => EnvFate::Set(value),
            None if self.inherit_all || self.allow.iter().any(|p| p.matches(name)) => EnvFate::Passes,
            None => return EnvFate::Withheld,
        };
        // Last: there are hundreds of names, and few variables come this far.
        if (fate == EnvFate::Passes && withheld()) || is_injection(name) {
            return EnvFate::Withheld;
        }
        fate
    }

    /// The environment of the command, sorted by name, and the names that were there and do not pass.
    ///
    /// Of a name that occurs twice the first counts, as in `getenv(3)`. A value that looks like an exported shell function
    /// never passes.
    pub fn apply(
        &self,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> (Vec<(OsString, OsString)>, Vec<OsString>) {
        let mut passed: BTreeMap<OsString, OsString> = BTreeMap::new();
        let mut withheld = BTreeSet::new();
        for (name, value) in vars {
            if well_formed(&name, &value) && self.fate(name.as_bytes()) == EnvFate::Passes {
                passed.entry(name).or_insert(value);
            } else if !self.set.contains_key(&*name.to_string_lossy()) {
                withheld.insert(name);
            }
        }
        for (name, value) in &self.set {
            if !is_injection(name.as_bytes()) {
                passed.insert(name.into(), value.into());
            }
        }
        (passed.into_iter().collect(), withheld.into_iter().collect())
    }

    /// The same answers in their one shortest form: no pattern within another, no entry without effect.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let set: BTreeMap<_, _> = self
            .set
            .iter()
            .filter(|(n, _)| !is_injection(n.as_bytes()))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let silent = |name: &str| set.contains_key(name) || self.withheld.contains(name);
        let effective = |p: &EnvPattern| match p {
            EnvPattern::Exact(name) => !silent(name) && !is_injection(name.as_bytes()),
            EnvPattern::Prefix(prefix) => !crate::injection::is_injection_prefix(prefix),
        };
        // Only a prefix contains more than itself.
        let prefixes: Vec<&EnvPattern> = self
            .allow
            .iter()
            .filter(|p| matches!(p, EnvPattern::Prefix(_)))
            .collect();
        let allow: BTreeSet<_> = self
            .allow
            .iter()
            .filter(|p| !self.inherit_all && effective(p))
            .filter(|p| !prefixes.iter().any(|other| other != p && other.contains(p)))
            .cloned()
            .collect();
        let passes = |name: &str| self.inherit_all || allow.iter().any(|p| p.matches(name.as_bytes()));
        let withheld = self
            .withheld
            .iter()
            .filter(|name| !set.contains_key(*name) && !is_injection(name.as_bytes()) && passes(name))
            .cloned()
            .collect();
        Self {
            allow,
            set,
            inherit_all: self.inherit_all,
            withheld,
        }
    }

    /// What both give.
    #[must_use]
    pub fn narrow(&self, other: &Self) -> Self {
        let mut out = Self::nothing();
        out.inherit_all = self.inherit_all && other.inherit_all;
        if self.inherit_all {
            out.allow.extend(other.allow.iter().cloned());
        }
        if other.inherit_all {
            out.allow.extend(self.allow.iter().cloned());
        }
        for a in &self.allow {
            out.allow.extend(other.allow.iter().filter(|b| a.contains(b)).cloned());
            if other.allow.iter().any(|b| b.contains(a)) {
                out.allow.insert(a.clone());
            }
        }
        let special = self
            .set
            .keys()
            .chain(other.set.keys())
            .chain(&self.withheld)
            .chain(&other.withheld);
        for name in special {
            match (self.fate(name.as_bytes()), other.fate(name.as_bytes())) {
                (EnvFate::Set(a), EnvFate::Set(b)) if a == b => {
                    out.set.insert(name.clone(), a.to_owned());
                }
                _ => {
                    out.withheld.insert(name.clone());
                }
            }
        }
        out.normalised()
    }
}

fn well_formed(name: &OsStr, value: &OsStr) -> bool {
    !name.is_empty() && !name.as_bytes().contains(&b'=') && !value.as_bytes().starts_with(b"() {")
}

#[cfg(test)]
#[path = "env_tests.rs"]
mod tests;
