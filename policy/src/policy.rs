//! What an author wrote: typed, each clause with its place and its reason.
//!
//! Pure data. Nothing is defaulted: an absent key is `None` and takes its value from the base (`layer`).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::env::EnvPattern;
use crate::names::NamePattern;
use crate::origin::{Origin, Source};
use crate::resolved::{Auth, Backend, FsAccess, Isolation, Mode, ModelAccess, Need, Runtime};

/// A value, where it stands, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause<T> {
    pub value: T,
    pub origin: Origin,
    pub why: Option<String>,
}

/// A path as written, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRule {
    pub written: String,
    pub need: Need,
    pub origin: Origin,
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkRule {
    Off,
    Host,
    /// An absent list takes the base's.
    Names {
        allow: Option<Vec<Clause<NamePattern>>>,
        deny: Vec<Clause<NamePattern>>,
    },
}

/// The author's upper bounds. `Some(None)` is the word `none`: no bound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitRules {
    pub memory_mb: Option<Clause<Option<u64>>>,
    pub pids: Option<Clause<Option<u64>>>,
    pub cpu_millis: Option<Clause<Option<u64>>>,
    pub open_files: Option<Clause<Option<u64>>>,
    pub file_size_mb: Option<Clause<Option<u64>>>,
    pub disk_mb: Option<Clause<Option<u64>>>,
    pub output_kb: Option<Clause<Option<u64>>>,
}

/// A question with the answer that the author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub asks: Asked,
    pub allowed: bool,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Path {
        written: String,
        access: FsAccess,
    },
    /// `host:port`; without a port, 443.
    Net {
        host: String,
        port: u16,
    },
    Env(String),
}

/// One file, or one built-in profile. `Default` is not derived: see `Policy::empty`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub source: Source,
    pub extends: Option<Clause<String>>,
    pub why: Option<String>,
    pub mode: Option<Clause<Mode>>,
    pub read: Option<Vec<PathRule>>,
    pub write: Option<Vec<PathRule>>,
    /// Where the lists stand: an empty one has no rule that could say.
    pub read_at: Option<Origin>,
    pub write_at: Option<Origin>,
    pub deny: Vec<PathRule>,
    pub network: Option<Clause<NetworkRule>>,
    pub env_allow: Option<Vec<Clause<EnvPattern>>>,
    pub env_set: BTreeMap<String, Clause<String>>,
    pub max_runtime: Option<Clause<Option<Duration>>>,
    pub limits: LimitRules,
    pub isolation: Option<Clause<Isolation>>,
    pub backend: Option<Clause<Backend>>,
    pub image: Option<Clause<Option<String>>>,
    pub runtime: Option<Clause<Runtime>>,
    /// Program and arguments, no shell.
    pub key_command: Option<Clause<Option<Vec<String>>>>,
    pub model_access: Option<Clause<ModelAccess>>,
    pub model_endpoint: Option<Clause<Option<String>>>,
    pub auth: Option<Clause<Auth>>,
    pub unprotect: Option<Vec<Clause<String>>>,
    pub examples: Vec<Example>,
}

impl Policy {
    /// A file in which no key stands.
    #[must_use]
    pub fn empty(source: Source) -> Self {
        Self {
            source,
            extends: None,
            why: None,
            mode: None,
            read: None,
            write: None,
            read_at: None,
            write_at: None,
            deny: Vec::new(),
            network: None,
            env_allow: None,
            env_set: BTreeMap::new(),
            max_runtime: None,
            limits: LimitRules::default(),
            isolation: None,
            backend: None,
            image: None,
            runtime: None,
            key_command: None,
            model_access: None,
            model_endpoint: None,
            auth: None,
            unprotect: None,
            examples: Vec::new(),
        }
    }
}
