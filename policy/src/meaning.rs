//! What a policy means, as one comparable value, and its SHA-256.
//!
//! Pure. Two policies that allow the same have the same meaning: places, reasons, spellings, symlinks, names and `need` take no
//! part, and everything is in its one shortest form. The JSON of a meaning is canonical: fixed key order, sorted lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::grants::normalise_denies;
use crate::narrow::{patterns, widest};
use crate::resolved::{
    Auth, Backend, DenyTarget, FsAccess, Grant, Isolation, Limits, Mode, ModelAccess, Network, ResolvedPolicy, Runtime,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Meaning {
    pub mode: &'static str,
    pub isolation: &'static str,
    pub backend: &'static str,
    /// Path to `read` or `write`.
    pub grants: BTreeMap<String, &'static str>,
    /// A path, or a base and a pattern.
    pub deny: BTreeSet<(String, Option<String>)>,
    pub unprotected: BTreeSet<String>,
    pub network: NetworkMeaning,
    pub env_allow: BTreeSet<String>,
    pub env_set: BTreeMap<String, String>,
    pub env_inherit_all: bool,
    pub env_withheld: BTreeSet<String>,
    pub max_runtime_ms: Option<u128>,
    pub limits: BTreeMap<&'static str, u64>,
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<&'static str>,
    pub model_access: &'static str,
    pub model_endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_command: Option<Vec<String>>,
    pub auth: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMeaning {
    Off,
    Names {
        allow: BTreeSet<String>,
        deny: BTreeSet<String>,
    },
    Host,
}

impl ResolvedPolicy {
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        let env = self.env.normalised();
        let model = self.model_access == ModelAccess::Auto;
        Meaning {
            mode: self.mode.word(),
            isolation: self.isolation.word(),
            backend: self.backend.word(),
            grants: grants(self),
            deny: denies(self),
            unprotected: if self.mode == Mode::Inherit {
                BTreeSet::new()
            } else {
                self.unprotected.clone()
            },
            network: network(&self.network),
            env_allow: env.allow.iter().map(ToString::to_string).collect(),
            env_set: env.set,
            env_inherit_all: env.inherit_all,
            env_withheld: env.withheld,
            max_runtime_ms: self.max_runtime.map(|time| time.as_millis()),
            limits: self
                .limits
                .named()
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            image: self.image.clone(),
            runtime: (self.runtime != Runtime::Default).then(|| self.runtime.word()),
            model_access: self.model_access.word(),
            model_endpoint: self.model_endpoint.clone().filter(|_| model),
            key_command: self.key_command.clone(),
            auth: self.auth.word(),
        }
    }

    /// The SHA-256 of the canonical JSON of the meaning, in hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        // Strings, numbers and maps with string keys: serialising them cannot fail.
        let json = serde_json::to_string(&self.meaning()).unwrap_or_default();
        Sha256::digest(json.as_bytes())
            .iter()
            .fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
    }
}

/// The paths at which the access rises.
fn grants(policy: &ResolvedPolicy) -> BTreeMap<String, &'static str> {
    let reach = policy.reach();
    let mut sorted: Vec<&Grant> = policy.grants.iter().collect();
    sorted.sort_by(|a, b| (&a.path, b.access).cmp(&(&b.path, a.access)));
    let mut rises = BTreeMap::new();
    // The grants at or above the current one, outermost first: looking each up from every path takes much longer.
    let mut above: Vec<&Grant> = Vec::new();
    for grant in sorted {
        let path = grant.path.as_path();
        while above.last().is_some_and(|top| !path.starts_with(top.path.as_path())) {
            above.pop();
        }
        let from_above = above.iter().filter_map(|top| reach.access(top, path)).max();
        let access = reach.access(grant, path);
        above.push(grant);
        if let Some(access) = access.filter(|access| Some(*access) > from_above) {
            rises.insert(spelled(path), access.word());
        }
    }
    rises
}

fn denies(policy: &ResolvedPolicy) -> BTreeSet<(String, Option<String>)> {
    let target = |target: &DenyTarget| match target {
        DenyTarget::Literal(path) => (spelled(path.as_path()), None),
        DenyTarget::Glob { base, pattern } => (spelled(base.as_path()), Some(pattern.clone())),
    };
    normalise_denies(policy.deny.clone())
        .iter()
        .map(|deny| target(&deny.target))
        .collect()
}

fn network(network: &Network) -> NetworkMeaning {
    match network {
        Network::Off => NetworkMeaning::Off,
        Network::Host => NetworkMeaning::Host,
        Network::Names { allow, deny } => {
            let allow = widest(&patterns(allow).into_iter().collect());
            if allow.is_empty() {
                NetworkMeaning::Off
            } else {
                NetworkMeaning::Names {
                    allow,
                    deny: deny.clone(),
                }
            }
        }
    }
}

/// A path as text, without loss: bytes that are not UTF-8 become `\xNN`, and a backslash two.
fn spelled(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        out.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

impl Limits {
    /// Each bound by its key.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Option<u64>); 7] {
        [
            ("memory_mb", self.memory_mb),
            ("pids", self.pids),
            ("cpu_millis", self.cpu_millis),
            ("open_files", self.open_files),
            ("file_size_mb", self.file_size_mb),
            ("disk_mb", self.disk_mb),
            ("output_kb", self.output_kb),
        ]
    }
}

macro_rules! words {
    ($($type:ident { $($variant:ident => $word:literal),+ $(,)? })+) => {$(
        impl $type {
            /// As policies and reports spell it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    )+};
}

words! {
    Mode { Restricted => "restricted", Inherit => "inherit" }
    Isolation { Namespaces => "namespaces", Landlock => "landlock" }
    Backend { Auto => "auto", Native => "native", Podman => "podman", Docker => "docker" }
    Runtime { Default => "default", Runsc => "runsc" }
    ModelAccess { None => "none", Auto => "auto" }
    Auth { Broker => "broker", Mount => "mount" }
    FsAccess { Read => "read", ReadWrite => "write" }
}

#[cfg(test)]
#[path = "meaning_tests.rs"]
mod tests;
