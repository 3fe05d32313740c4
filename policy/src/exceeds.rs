//! What a policy asks for beyond a base, in sentences a person can answer.
//!
//! Pure. LAW, property-tested: the list is empty exactly if `narrow(asked, base)` means the same as `asked`.

use std::fmt;
use std::time::Duration;

use crate::env::EnvFate;
use crate::error::shown;
use crate::grants::{Cover, normalise_denies};
use crate::meaning::NetworkMeaning;
use crate::minutes::minutes;
use crate::names::NamePattern;
use crate::narrow::narrow;
use crate::origin::{Origin, Source};
use crate::resolved::{DenyTarget, FsAccess, Mode, ModelAccess, ResolvedPolicy};

/// One thing asked for that the base does not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// ``fs.write `.` ``, `network: true`, `max_runtime_mins 60`.
    pub clause: String,
    pub origin: Option<Origin>,
    /// What the base says instead: `restricted: 10`.
    pub base: Option<String>,
}

impl Excess {
    /// The built-in profile that lists this path of the home for reading: its own word, not the project's.
    #[must_use]
    pub fn read_by_profile(&self) -> Option<&str> {
        match &self.origin.as_ref()?.source {
            Source::Builtin(name) if self.clause.starts_with("fs.read `~/") => Some(name),
            Source::Builtin(_) | Source::File(_) | Source::Flag(_) => None,
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clause)?;
        match (&self.origin, &self.base) {
            (Some(origin), Some(base)) => write!(f, " ({}; {base})", shown(&origin.to_string())),
            (Some(origin), None) => write!(f, " ({})", shown(&origin.to_string())),
            (None, Some(base)) => write!(f, " ({base})"),
            (None, None) => Ok(()),
        }
    }
}

/// What `asked` wants and `base` does not give: what to write and the network first, then the rest in the order of the keys.
#[must_use]
pub fn exceeds(asked: &ResolvedPolicy, base: &ResolvedPolicy) -> Vec<Excess> {
    let mut found = Found {
        asked,
        base,
        list: Vec::new(),
    };
    found.grants(FsAccess::ReadWrite);
    found.network();
    found.grants(FsAccess::Read);
    found.denies();
    found.env();
    found.scalars();
    found.list
}

struct Found<'a> {
    asked: &'a ResolvedPolicy,
    base: &'a ResolvedPolicy,
    list: Vec<Excess>,
}

impl Found<'_> {
    /// A clause whose place is known by its key.
    fn keyed(&mut self, key: &str, clause: String, base: Option<String>) {
        let origin = self.asked.origins.get(key).cloned();
        let base = base.map(|says| format!("{}: {says}", self.base.name));
        self.list.push(Excess { clause, origin, base });
    }

    fn lacks(&mut self, clause: String, origin: Option<&Origin>) {
        let base = Some(match origin {
            Some(origin) => format!("{} has it, {}", self.base.name, shown(&origin.to_string())),
            None => format!("{} has it", self.base.name),
        });
        self.list.push(Excess {
            clause: format!("without {clause}"),
            origin: None,
            base,
        });
    }

    fn grants(&mut self, access: FsAccess) {
        let base = Cover::new(self.base);
        for grant in self.asked.grants.iter().filter(|grant| grant.access == access) {
            if base.access(grant.path.as_path()) < Some(grant.access) {
                let clause = format!("{} `{}`", grant.access.key(), shown(&grant.written));
                self.list.push(Excess {
                    clause,
                    origin: Some(grant.origin.clone()),
                    base: None,
                });
            }
        }
    }

    fn denies(&mut self) {
        let asked = normalise_denies(self.asked.deny.clone());
        for deny in normalise_denies(self.base.deny.clone()) {
            let place = deny.target.place().as_path();
            let hidden = asked.iter().any(|own| match &own.target {
                DenyTarget::Literal(path) => place.starts_with(path.as_path()),
                DenyTarget::Glob { .. } => own.target == deny.target,
            });
            if !hidden {
                self.lacks(format!("fs.deny `{}`", shown(&deny.written)), Some(&deny.origin));
            }
        }
    }

    fn network(&mut self) {
        let (asked, base) = (self.asked.meaning().network, self.base.meaning().network);
        match (asked, base) {
            (NetworkMeaning::Off, _) | (NetworkMeaning::Host, NetworkMeaning::Host) => {}
            (NetworkMeaning::Names { .. }, NetworkMeaning::Host) => {}
            (NetworkMeaning::Host, NetworkMeaning::Off | NetworkMeaning::Names { .. }) => {
                self.keyed("network", "network: true".into(), None);
            }
            (NetworkMeaning::Names { allow, .. }, NetworkMeaning::Off) => {
                for name in allow {
                    self.keyed(
                        &format!("network.allow.{name}"),
                        format!("network.allow `{name}`"),
                        None,
                    );
                }
            }
            (
                NetworkMeaning::Names { allow, deny },
                NetworkMeaning::Names {
                    allow: base_allow,
                    deny: base_deny,
                },
            ) => {
                let given = crate::narrow::patterns(&base_allow);
                for name in allow {
                    let held = |asked: NamePattern| given.iter().any(|given| given.contains(&asked));
                    if !name.parse::<NamePattern>().is_ok_and(|asked| asked.allowed().all(held)) {
                        self.keyed(
                            &format!("network.allow.{name}"),
                            format!("network.allow `{name}`"),
                            None,
                        );
                    }
                }
                for name in base_deny.difference(&deny) {
                    let origin = self.base.origins.get(&format!("network.deny.{name}"));
                    self.lacks(format!("network.deny `{name}`"), origin);
                }
            }
        }
    }

    fn env(&mut self) {
        let (asked, base) = (self.asked.env.normalised(), self.base.env.normalised());
        if asked.inherit_all && !base.inherit_all {
            self.keyed("mode", "env: every variable of the caller".into(), None);
        }
        for pattern in &asked.allow {
            if !base.inherit_all && !base.allow.iter().any(|given| given.contains(pattern)) {
                self.keyed(&format!("env.allow.{pattern}"), format!("env {pattern}"), None);
            }
        }
        for (name, value) in &asked.set {
            if base.fate(name.as_bytes()) != EnvFate::Set(value) {
                self.keyed(&format!("env.set.{name}"), format!("env.set {name}"), None);
            }
        }
        // Passed by the asking policy, covered by a pattern of the base, and yet not passed by the base.
        for name in base.set.keys().chain(&base.withheld) {
            let exact = asked.allow.iter().any(|p| p.to_string() == *name);
            let told = exact && !base.inherit_all && !base.allow.iter().any(|p| p.matches(name.as_bytes()));
            if asked.fate(name.as_bytes()) == EnvFate::Passes && !told {
                self.keyed(
                    &format!("env.allow.{name}"),
                    format!("env {name}"),
                    Some("another value, or none".into()),
                );
            }
        }
    }

    fn scalars(&mut self) {
        let (asked, base) = (self.asked, self.base);
        let both = narrow(asked, base);
        if both.mode != asked.mode {
            self.word("mode", asked.mode.word(), base.mode.word());
        }
        if both.max_runtime != asked.max_runtime {
            let says = Some(runtime(base.max_runtime));
            self.keyed(
                "max_runtime_mins",
                format!("max_runtime_mins {}", runtime(asked.max_runtime)),
                says,
            );
        }
        let limits = asked
            .limits
            .named()
            .into_iter()
            .zip(both.limits.named())
            .zip(base.limits.named());
        for (((name, wants), (_, gets)), (_, gives)) in limits {
            if wants != gets {
                let key = format!("limits.{}", if name == "cpu_millis" { "cpus" } else { name });
                let clause = format!("{key} {}", bound(name, wants));
                self.keyed(&key, clause, Some(bound(name, gives)));
            }
        }
        if both.isolation != asked.isolation {
            self.word("isolation", asked.isolation.word(), base.isolation.word());
        }
        if both.backend != asked.backend {
            self.word("backend", asked.backend.word(), base.backend.word());
        }
        if both.image != asked.image {
            self.word("image", optional(&asked.image), optional(&base.image));
        }
        if both.runtime != asked.runtime {
            self.word("runtime", asked.runtime.word(), base.runtime.word());
        }
        if both.model_access != asked.model_access && base.model_access == ModelAccess::None {
            self.word("model_access", asked.model_access.word(), base.model_access.word());
        } else if both.model_access != asked.model_access {
            self.word(
                "model_endpoint",
                optional(&asked.model_endpoint),
                optional(&base.model_endpoint),
            );
        }
        if both.key_command != asked.key_command {
            let shown = |command: &Option<Vec<String>>| command.as_ref().map_or("null".into(), |argv| argv.join(" "));
            self.word("key_command", &shown(&asked.key_command), &shown(&base.key_command));
        }
        if both.auth != asked.auth {
            self.word("auth", asked.auth.word(), base.auth.word());
        }
        let protecting = asked.mode == Mode::Restricted && base.mode == Mode::Restricted;
        for name in asked.unprotected.difference(&base.unprotected).filter(|_| protecting) {
            self.keyed(
                &format!("unprotect.{name}"),
                format!("unprotect `{}`", shown(name)),
                None,
            );
        }
    }

    fn word(&mut self, key: &str, asked: &str, base: &str) {
        self.keyed(key, format!("{key}: {}", shown(asked)), Some(shown(base)));
    }
}

fn optional(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("null")
}

fn runtime(time: Option<Duration>) -> String {
    time.map_or_else(|| "none".into(), minutes)
}

fn bound(name: &str, value: Option<u64>) -> String {
    match value {
        None => "none".into(),
        Some(millis) if name == "cpu_millis" => format!("{}", millis as f64 / 1000.0),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
#[path = "exceeds_tests.rs"]
mod tests;
