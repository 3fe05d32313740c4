//! A resolved policy clause by clause: what it says, what that means here, where it was written, and why.
//!
//! Pure.

use glee_policy::minutes::minutes;
use glee_policy::resolved::{DenyTarget, Network, ResolvedPolicy};
use glee_policy::{Origin, Source};
use serde::Serialize;

/// One clause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clause {
    pub key: String,
    /// As its author wrote it.
    pub value: String,
    /// What it means on this machine, where that is not the same.
    pub here: Option<String>,
    /// Whether a granted path exists; `null` for what is not a granted path.
    pub exists: Option<bool>,
    pub origin: Option<Place>,
    pub why: Option<String>,
}

/// Where a clause stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub source: String,
    pub kind: &'static str,
    pub line: u32,
    pub column: u32,
}

impl From<&Origin> for Place {
    fn from(origin: &Origin) -> Self {
        let kind = match origin.source {
            Source::Builtin(_) => "built-in",
            Source::File(_) => "file",
            Source::Flag(_) => "flag",
        };
        Self {
            source: origin.source.to_string(),
            kind,
            line: origin.line,
            column: origin.column,
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.source),
            line => write!(f, "{}:{line}", self.source),
        }
    }
}

/// Every clause of the policy, in the order of its keys in the contract.
#[must_use]
pub fn clauses(policy: &ResolvedPolicy) -> Vec<Clause> {
    let mut list = List {
        policy,
        clauses: Vec::new(),
    };
    list.keyed("mode", policy.mode.word());
    list.paths();
    list.network();
    list.env();
    list.keyed(
        "max_runtime_mins",
        policy.max_runtime.map_or("none".to_owned(), minutes),
    );
    for (name, value) in policy.limits.named() {
        // The language counts CPUs, the resolved policy thousandths of one.
        let (name, shown) = match (name, value) {
            ("cpu_millis", Some(millis)) => ("cpus", (millis as f64 / 1000.0).to_string()),
            ("cpu_millis", None) => ("cpus", "none".to_owned()),
            (name, value) => (name, value.map_or("none".to_owned(), |value| value.to_string())),
        };
        list.keyed(&format!("limits.{name}"), shown);
    }
    list.keyed("isolation", policy.isolation.word());
    list.keyed("backend", policy.backend.word());
    list.keyed("image", policy.image.as_deref().unwrap_or("null"));
    list.keyed("runtime", policy.runtime.word());
    let key_command = policy.key_command.as_ref().map(|argv| format!("{argv:?}"));
    list.keyed("key_command", key_command.as_deref().unwrap_or("null"));
    list.keyed("model_access", policy.model_access.word());
    list.keyed("model_endpoint", policy.model_endpoint.as_deref().unwrap_or("null"));
    list.keyed("auth", policy.auth.word());
    for name in &policy.unprotected {
        list.named("unprotect", name, name.clone());
    }
    list.clauses
}

struct List<'a> {
    policy: &'a ResolvedPolicy,
    clauses: Vec<Clause>,
}

impl List<'_> {
    /// A clause whose place is known by its own key.
    fn keyed(&mut self, key: &str, value: impl Into<String>) {
        self.add(key, key, value.into());
    }

    /// An item of a list, whose place is known by the list's key and its name.
    fn named(&mut self, key: &str, name: &str, value: String) {
        self.add(key, &format!("{key}.{name}"), value);
    }

    fn add(&mut self, key: &str, lookup: &str, value: String) {
        self.clauses.push(Clause {
            key: key.to_owned(),
            value,
            here: None,
            exists: None,
            origin: self.policy.origins.get(lookup).map(Place::from),
            why: self.policy.whys.get(lookup).cloned(),
        });
    }

    fn paths(&mut self) {
        for grant in &self.policy.grants {
            let here = grant.path.as_path().to_string_lossy().into_owned();
            self.clauses.push(Clause {
                key: grant.access.key().to_owned(),
                value: grant.written.clone(),
                here: (here != grant.written).then_some(here),
                exists: Some(grant.exists),
                origin: Some(Place::from(&grant.origin)),
                why: grant.why.clone(),
            });
        }
        for deny in &self.policy.deny {
            let here = match &deny.target {
                DenyTarget::Literal(path) => path.as_path().to_string_lossy().into_owned(),
                DenyTarget::Glob { base, pattern } => format!("{pattern} below {}", base.as_path().display()),
            };
            self.clauses.push(Clause {
                key: "fs.deny".to_owned(),
                value: deny.written.clone(),
                here: (here != deny.written).then_some(here),
                exists: None,
                origin: Some(Place::from(&deny.origin)),
                why: deny.why.clone(),
            });
        }
        for left in &self.policy.left_out {
            self.clauses.push(Clause {
                key: left.key.to_owned(),
                value: left.written.clone(),
                here: Some("left out: HOME is not set to an absolute path".to_owned()),
                exists: None,
                origin: Some(Place::from(&left.origin)),
                why: None,
            });
        }
    }

    fn network(&mut self) {
        match &self.policy.network {
            Network::Off => self.keyed("network", "false"),
            Network::Host => self.keyed("network", "true"),
            Network::Names { allow, deny } => {
                for name in allow {
                    self.named("network.allow", name, name.clone());
                }
                for name in deny {
                    self.named("network.deny", name, name.clone());
                }
            }
        }
    }

    fn env(&mut self) {
        let env = &self.policy.env;
        if env.inherit_all {
            self.add(
                "env.allow",
                "mode",
                "every variable but those that make programs load or run code".to_owned(),
            );
        }
        for pattern in &env.allow {
            self.named("env.allow", &pattern.to_string(), pattern.to_string());
        }
        for (name, value) in &env.set {
            self.named("env.set", name, format!("{name}={value}"));
        }
        for name in &env.withheld {
            self.keyed("env.withheld", name.clone());
        }
    }
}

#[cfg(test)]
#[path = "clauses_tests.rs"]
mod tests;
