//! A policy after its layers were merged and its paths made absolute: what the sandbox enforces.
//!
//! Pure data. Only `resolve` and `narrow` make one; nothing here is relative, templated or optional by accident.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::env::EnvPattern;
use crate::origin::Origin;

/// Absolute and free of `.`, `..` and symlinks when it was resolved (a path that does not exist is free of them as far as it exists).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPath(pub(crate) PathBuf);

impl HostPath {
    /// Takes a path that the caller has made canonical; `None` if it is visibly not: relative, or with `.`, `..` or `//`.
    #[must_use]
    pub fn new(path: PathBuf) -> Option<Self> {
        let clean: PathBuf = path.components().collect();
        let plain = path
            .components()
            .all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
        (path.is_absolute() && plain && clean.as_os_str() == path.as_os_str()).then_some(Self(path))
    }

    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

/// What a grant allows below its path. Writing includes reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FsAccess {
    Read,
    ReadWrite,
}

impl FsAccess {
    /// The key that grants it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Read => "fs.read",
            Self::ReadWrite => "fs.write",
        }
    }
}

/// What to do where a clause cannot be honoured on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// Left out, and named in the report.
    Preferred,
    /// The run is refused.
    Required,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub path: HostPath,
    pub access: FsAccess,
    pub need: Need,
    /// Did the path exist when it was resolved?
    pub exists: bool,
    /// The path as its author wrote it (`~/.cargo`, `.`).
    pub written: String,
    /// Symlinks met on the way from the written path to `path`: (where the link lies, what it says). Recreated in the sandbox.
    pub links: Vec<(PathBuf, PathBuf)>,
    pub origin: Origin,
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deny {
    pub target: DenyTarget,
    pub written: String,
    /// The paths (for patterns, the bases) that were asked for, before any symlink was followed: who changes a link on the way of
    /// one changes what the next run denies.
    pub ways: BTreeSet<PathBuf>,
    pub origin: Origin,
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DenyTarget {
    /// Denied whether it exists or not, with everything below it.
    Literal(HostPath),
    /// Every match below `base` (the part of the pattern before its first wildcard, canonical).
    Glob { base: HostPath, pattern: String },
}

/// The network a command gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// A namespace with nothing but loopback.
    Off,
    /// Loopback, and connections to the names allowed.
    Names {
        allow: BTreeSet<String>,
        deny: BTreeSet<String>,
    },
    /// The host's own network namespace.
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    Restricted,
    /// The caller's own rights, with a deadline, no_new_privs and a report.
    Inherit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isolation {
    Namespaces,
    /// Weaker, by name: Landlock and seccomp only.
    Landlock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Backend {
    Auto,
    Native,
    Podman,
    Docker,
}

/// What a container engine starts a container with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Runtime {
    /// The engine's own choice, on this machine's kernel.
    Default,
    /// gVisor: a kernel of its own, without Landlock and without a way to report what was refused.
    Runsc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelAccess {
    None,
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Auth {
    Broker,
    Mount,
}

/// Upper bounds. `None` is "no bound of ours".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub memory_mb: Option<u64>,
    pub pids: Option<u64>,
    /// In thousandths of a CPU.
    pub cpu_millis: Option<u64>,
    pub open_files: Option<u64>,
    pub file_size_mb: Option<u64>,
    pub disk_mb: Option<u64>,
    pub output_kb: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvRules {
    pub allow: BTreeSet<EnvPattern>,
    pub set: BTreeMap<String, String>,
    /// `inherit` passes everything but the injection names.
    pub inherit_all: bool,
    /// Names that do not pass although `allow` or `inherit_all` covers them: two narrowed policies disagreed on their value,
    /// or it is a key that a broker has.
    pub withheld: BTreeSet<String>,
}

impl Limits {
    /// No bound of ours.
    #[must_use]
    pub fn unbounded() -> Self {
        Self {
            memory_mb: None,
            pids: None,
            cpu_millis: None,
            open_files: None,
            file_size_mb: None,
            disk_mb: None,
            output_kb: None,
        }
    }
}

/// A policy that can be lowered into a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPolicy {
    /// `restricted`, or the file's name as the user knows it.
    pub name: String,
    pub mode: Mode,
    pub isolation: Isolation,
    pub backend: Backend,
    /// Sorted by path; a grant implied by one above it is gone. A grant to write does not reach into a `.glee` directory
    /// below it (`grants`), so a grant of `.glee/agent_sessions` stays beside one of the whole project.
    pub grants: Vec<Grant>,
    /// Every path that was granted by its own name, also where a grant above it gives the same: a socket or a pipe of the host
    /// in a granted tree can be reached only so.
    pub named: BTreeSet<PathBuf>,
    pub deny: Vec<Deny>,
    /// Names of built-in read-only islands (`.git/hooks`, `.envrc`, …) the author opted out of.
    pub unprotected: BTreeSet<String>,
    pub network: Network,
    pub env: EnvRules,
    pub max_runtime: Option<Duration>,
    pub limits: Limits,
    pub image: Option<String>,
    pub runtime: Runtime,
    pub model_access: ModelAccess,
    pub model_endpoint: Option<String>,
    /// Run outside, by the caller, to learn the key of the model's API.
    pub key_command: Option<Vec<String>>,
    pub auth: Auth,
    /// Where each clause that is not a path was written, by key (`network`, `limits.memory_mb`, `env.allow.PATH`,
    /// `env.set.CI`, `network.allow.example.org`, …), for `policy show`.
    pub origins: BTreeMap<String, Origin>,
    /// Why, by the same keys, where the author said so.
    pub whys: BTreeMap<String, String>,
    /// Clauses marked `need: preferred` that could not be resolved (`~` without HOME). For the report.
    pub left_out: Vec<LeftOut>,
}

/// A preferred clause that has no meaning on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// `fs.read`, `fs.write` or `fs.deny`.
    pub key: &'static str,
    pub written: String,
    pub origin: Origin,
}

impl ResolvedPolicy {
    /// A policy under which nothing is granted: no path, no name, no variable. Built on by tests and by `resolve`.
    #[must_use]
    pub fn nothing(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            mode: Mode::Restricted,
            isolation: Isolation::Namespaces,
            backend: Backend::Auto,
            grants: Vec::new(),
            named: BTreeSet::new(),
            deny: Vec::new(),
            unprotected: BTreeSet::new(),
            network: Network::Off,
            env: EnvRules::nothing(),
            max_runtime: None,
            limits: Limits::unbounded(),
            image: None,
            runtime: Runtime::Default,
            model_access: ModelAccess::None,
            model_endpoint: None,
            key_command: None,
            auth: Auth::Broker,
            origins: BTreeMap::new(),
            whys: BTreeMap::new(),
            left_out: Vec::new(),
        }
    }
}
