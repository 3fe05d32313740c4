//! May it? One question, one verdict, and the clause that decided.
//!
//! Pure. Deny wins over every grant. The system's own directories (`/usr`, …) are the sandbox's business, not the policy's.

use std::path::{Component, Path};

use crate::env::EnvFate;
use crate::glob::Glob;
use crate::grants::Cover;
use crate::injection;
use crate::names::NamePattern;
use crate::origin::Origin;
use crate::resolved::{Deny, DenyTarget, FsAccess, HostPath, Network, ResolvedPolicy};
use crate::set_aside;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// An absolute path without symlinks; any other is refused.
    Path { path: &'a Path, access: FsAccess },
    /// A variable of the caller's, or one that the policy sets.
    Env(&'a str),
    /// A connection to a name or an address.
    Net { host: &'a str, port: u16 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    /// In the author's words: ``fs.deny `**/.env` ``, or why nothing grants it.
    pub clause: String,
    pub origin: Option<Origin>,
}

impl Verdict {
    fn new(allowed: bool, clause: String, origin: Option<&Origin>) -> Self {
        Self {
            allowed,
            clause,
            origin: origin.cloned(),
        }
    }
}

impl DenyTarget {
    /// The path denied, or the directory below which the pattern is matched.
    #[must_use]
    pub fn place(&self) -> &HostPath {
        match self {
            Self::Literal(path) => path,
            Self::Glob { base, .. } => base,
        }
    }

    /// Is this path hidden? Everything below a match is, and what was set aside from there.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        match self {
            Self::Literal(denied) => set_aside::below(path, denied.as_path()).is_some(),
            Self::Glob { base, pattern } => match (set_aside::below(path, base.as_path()), Glob::new(pattern)) {
                (Some(rest), Ok(glob)) => glob.covers(rest),
                // A pattern that does not compile hides its whole base.
                (Some(_), Err(_)) => true,
                (None, _) => false,
            },
        }
    }
}

impl ResolvedPolicy {
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Verdict {
        match question {
            Question::Path { path, access } => self.decide_path(path, *access),
            Question::Env(name) => self.decide_env(name),
            Question::Net { host, port } => self.decide_net(host, *port),
        }
    }

    /// The rule that hides a path, if one does.
    #[must_use]
    pub fn denied_by(&self, path: &Path) -> Option<&Deny> {
        self.deny.iter().find(|deny| deny.target.hides(path))
    }

    fn decide_path(&self, path: &Path, access: FsAccess) -> Verdict {
        let plain = path
            .components()
            .all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
        if !path.is_absolute() || !plain {
            return Verdict::new(false, "the path is not absolute, or contains `..`".into(), None);
        }
        if let Some(deny) = self.denied_by(path) {
            return Verdict::new(false, format!("fs.deny `{}`", deny.written), Some(&deny.origin));
        }
        match Cover::new(self).at(path) {
            Some((given, grant)) => {
                let inside = if given < grant.access {
                    ", which only reads inside `.glee`"
                } else {
                    ""
                };
                let clause = format!("{} `{}`{inside}", grant.access.key(), grant.written);
                Verdict::new(given >= access, clause, Some(&grant.origin))
            }
            None => Verdict::new(false, "no grant covers the path".into(), None),
        }
    }

    fn decide_env(&self, name: &str) -> Verdict {
        if injection::is_injection(name.as_bytes()) {
            let reason = injection::reason(name.as_bytes());
            return Verdict::new(false, format!("{reason}, and never passes"), None);
        }
        match self.env.fate(name.as_bytes()) {
            EnvFate::Set(_) => Verdict::new(
                true,
                format!("env.set `{name}`"),
                self.origins.get(&format!("env.set.{name}")),
            ),
            EnvFate::Passes => match self.env.allow.iter().find(|p| p.matches(name.as_bytes())) {
                Some(pattern) => {
                    let origin = self.origins.get(&format!("env.allow.{pattern}"));
                    Verdict::new(true, format!("env.allow `{pattern}`"), origin)
                }
                None => Verdict::new(true, "mode: inherit".into(), self.origins.get("mode")),
            },
            EnvFate::Withheld => Verdict::new(false, "env.allow does not name it".into(), None),
        }
    }

    fn decide_net(&self, host: &str, port: u16) -> Verdict {
        let by_key = |key: &str| self.origins.get(key);
        let (allow, deny) = match &self.network {
            Network::Off => return Verdict::new(false, "network: false".into(), by_key("network")),
            Network::Host => return Verdict::new(true, "network: true".into(), by_key("network")),
            Network::Names { allow, deny } => (allow, deny),
        };
        let read = |text: &String| text.parse::<NamePattern>();
        let forbids = |text: &&String| read(text).is_ok_and(|p| p.matches(host, port));
        let allows = |text: &&String| read(text).is_ok_and(|p| p.allowed().any(|p| p.matches(host, port)));
        if let Some(rule) = deny.iter().find(forbids) {
            return Verdict::new(
                false,
                format!("network.deny `{rule}`"),
                by_key(&format!("network.deny.{rule}")),
            );
        }
        match allow.iter().find(allows) {
            Some(rule) => Verdict::new(
                true,
                format!("network.allow `{rule}`"),
                by_key(&format!("network.allow.{rule}")),
            ),
            None => Verdict::new(false, "network.allow does not name it".into(), by_key("network")),
        }
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
