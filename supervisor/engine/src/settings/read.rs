//! The text of a configuration to values, as strictly as a policy.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use glee_policy::error::{place, render, shown};
use glee_policy::node::At;
use glee_policy::suggest::nearest;
use glee_policy::yaml::{self, Node, Value};
use glee_policy::{Origin, PolicyError, Source};

use super::key::{Key, Setting};
use crate::definitions::Cli;

/// The part that is a policy.
pub(super) const PERMISSIONS: &str = "security.subagent_permissions";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error(transparent)]
    Yaml(#[from] Box<PolicyError>),
    #[error("unknown key `{}`", shown(key))]
    UnknownKey {
        at: Origin,
        key: String,
        nearest: Option<&'static str>,
        known: Vec<&'static str>,
    },
}

impl From<PolicyError> for SettingsError {
    fn from(error: PolicyError) -> Self {
        Self::Yaml(Box::new(error))
    }
}

impl SettingsError {
    #[must_use]
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Yaml(error) => error.origin(),
            Self::UnknownKey { at, .. } => at,
        }
    }

    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Yaml(error) => error.help(),
            Self::UnknownKey {
                nearest: Some(nearest), ..
            } => format!("did you mean `{nearest}`?"),
            Self::UnknownKey { known, .. } => {
                let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                format!("known keys: {}", known.join(", "))
            }
        }
    }

    /// As people read it: the place, the line with a caret, the hint.
    #[must_use]
    pub fn render(&self, text: Option<&str>) -> String {
        render(self.origin(), &self.to_string(), &self.help(), text)
    }
}

/// What a configuration says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    written: BTreeMap<Key, (Setting, Option<Origin>)>,
}

impl Settings {
    /// The value that holds: what is written, else the default.
    #[must_use]
    pub fn value(&self, key: Key) -> Setting {
        self.written
            .get(&key)
            .map_or_else(|| key.default(), |(value, _)| value.clone())
    }

    /// Is anything written?
    #[must_use]
    pub fn is_written(&self, key: Key) -> bool {
        self.written.contains_key(&key)
    }

    /// A bound; `None` is no bound. A key that is no bound has none.
    #[must_use]
    pub fn number(&self, key: Key) -> Option<u64> {
        match self.value(key) {
            Setting::Number(value) => value,
            Setting::Switch(_) | Setting::Agent(_) => None,
        }
    }

    #[must_use]
    pub fn is_on(&self, key: Key) -> bool {
        self.value(key) == Setting::Switch(true)
    }

    #[must_use]
    pub fn default_agent(&self) -> Option<Cli> {
        match self.value(Key::DefaultAgent) {
            Setting::Agent(cli) => cli,
            Setting::Number(_) | Setting::Switch(_) => None,
        }
    }

    /// The keys whose values lie above their defaults, with where that is written.
    #[must_use]
    pub fn beyond(&self) -> Vec<(Key, Setting, Option<Origin>)> {
        let above = |key: &Key, value: &Setting| match (value, key.default()) {
            (Setting::Number(Some(value)), Setting::Number(Some(default))) => *value > default,
            (Setting::Number(None), Setting::Number(Some(_))) => true,
            // Without a default bound every bound is lower; asking more often is never more.
            (Setting::Number(_) | Setting::Switch(_) | Setting::Agent(_), _) => false,
        };
        self.written
            .iter()
            .filter(|(key, (value, _))| above(key, value))
            .map(|(key, (value, origin))| (*key, value.clone(), origin.clone()))
            .collect()
    }

    /// The approvals that it requires.
    #[must_use]
    pub fn approvals(&self) -> BTreeSet<String> {
        let on = Key::APPROVALS.into_iter().filter(|key| self.is_on(*key));
        on.map(|key| key.path().to_owned()).collect()
    }

    /// The approvals that are required, by their paths.
    pub fn required(&self) -> impl Iterator<Item = String> {
        let required = Key::APPROVALS.into_iter().filter(|key| self.is_on(*key));
        required.map(|key| key.path().to_owned())
    }

    /// With the approvals that were required before.
    #[must_use]
    pub fn requiring(mut self, required: &BTreeSet<String>) -> Self {
        for key in Key::APPROVALS {
            if required.contains(key.path()) && !self.is_on(key) {
                self.written.insert(key, (Setting::Switch(true), None));
            }
        }
        self
    }

    /// What counts of it if nobody has trusted it: nothing above a default.
    #[must_use]
    pub fn narrowed(mut self) -> Self {
        for (key, _, _) in self.beyond() {
            self.written.remove(&key);
        }
        self
    }
}

/// Reads a configuration. The policy in it is looked at by whoever needs it.
pub fn read(source: &Source, bytes: &[u8]) -> Result<Settings, SettingsError> {
    let root = yaml::read(source, yaml::text_of(source, bytes)?)?;
    let mut settings = Settings::default();
    match &root.value {
        Value::Null => {}
        Value::Map(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            walk(source, &root, "", &mut settings)?;
        }
    }
    Ok(settings)
}

/// Goes down to the keys that have values.
fn walk(source: &Source, node: &Node, above: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let at = At {
        source,
        key: if above.is_empty() { "the configuration" } else { above },
    };
    let Value::Map(entries) = &node.value else {
        return Err(at.wrong(node, "a mapping").into());
    };
    for (key, node) in entries {
        let path = if above.is_empty() {
            key.name.clone()
        } else {
            format!("{above}.{}", key.name)
        };
        if path == PERMISSIONS {
            continue;
        }
        if let Some(known) = Key::ALL.into_iter().find(|known| known.path() == path) {
            let at = At { source, key: &path };
            let value = known.read(&at, node)?;
            settings.written.insert(known, (value, Some(at.at(node))));
        } else if Key::ALL.iter().any(|known| is_above(&path, known.path())) {
            walk(source, node, &path, settings)?;
        } else {
            return Err(unknown(place(source, key.line, key.column), &key.name, above));
        }
    }
    Ok(())
}

fn is_above(path: &str, key: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

fn unknown(at: Origin, key: &str, above: &str) -> SettingsError {
    let paths = Key::ALL.iter().map(|key| key.path()).chain([PERMISSIONS]);
    let here = paths.filter_map(|path| match above {
        "" => Some(path),
        above => path.strip_prefix(above)?.strip_prefix('.'),
    });
    let known: BTreeSet<&'static str> = here.filter_map(|rest| rest.split('.').next()).collect();
    SettingsError::UnknownKey {
        at,
        key: if above.is_empty() {
            key.to_owned()
        } else {
            format!("{above}.{key}")
        },
        nearest: nearest(key, known.iter().copied()),
        known: known.into_iter().collect(),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
