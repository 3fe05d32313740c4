//! Lays an agent's profile over a policy: what it may read, what it finds in its home, and how it reaches its model.
//!
//! Reads the filesystem and asks for the key; starts nothing of the run. INVARIANT: the key is in the `Way` and nowhere else.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::env::{EnvFate, EnvPattern};
use glee_policy::grants::{Cover, normalise};
use glee_policy::resolved::{Auth, EnvRules, FsAccess, Grant, HostPath, Isolation, Mode, ModelAccess, Need, Network};
use glee_policy::{Origin, Source};
use glee_sandbox::plan::MadeFile;
use glee_sandbox::survey::FoundCommand;

use super::install;
use super::key::{self, Key, KeyError};
use super::profile::{self, AgentProfile, Reach};
use crate::project::Scene;

/// What the CLI has in place of a key. It opens nothing.
pub const PLACEHOLDER: &str = "sk-glee-placeholder-the-key-stays-outside";

/// The home of an agent whose caller granted the real one, which must not be written to.
const OTHER_HOME: &str = "/run/agent";

/// How the model is reached.
#[derive(Debug)]
pub enum Way {
    /// Through the broker. Without a key where the caller's own endpoint wants none.
    Broker { endpoint: String, key: Option<Key> },
    /// By the login file that `auth: mount` shows to the command.
    Login { file: PathBuf },
    /// By itself, over the host's network.
    Host,
    /// Not at all.
    Closed { why: String },
}

/// What the run gets besides its policy.
#[derive(Debug)]
pub struct Overlay {
    pub profile: AgentProfile,
    pub way: Way,
    pub env: Vec<(OsString, OsString)>,
    pub files: Vec<MadeFile>,
    /// In place of the caller's home.
    pub home: Option<PathBuf>,
    /// Variables with a key that the caller named themselves, although the broker has one.
    pub exposed: Vec<String>,
}

impl Overlay {
    /// What the caller should know before the run starts.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let name = &self.profile.name;
        match &self.way {
            Way::Broker { .. } if !self.exposed.is_empty() => Some(format!(
                "`{}` passes into the sandbox, because it is named: what runs there can use {name}'s key",
                self.exposed.join("`, `")
            )),
            Way::Broker { .. } | Way::Host => None,
            Way::Login { file } => Some(format!(
                "`{}` is readable in the sandbox (`auth: mount`): what runs there can use {name}'s login",
                file.display()
            )),
            Way::Closed { why } => Some(format!("{name} cannot reach its model: {why}")),
        }
    }
}

/// What the agent finds on the loopback of its sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// Where the broker listens.
    pub broker: &'a str,
    /// Its MCP servers, as JSON.
    pub servers: &'a str,
}

/// Adds the profile of the command, if it is an agent's and the policy contains it.
pub fn lay(
    policy: &mut ResolvedPolicy,
    scene: &Scene,
    command: &FoundCommand,
    key_file: Option<&Path>,
    addresses: &Addresses<'_>,
) -> Result<Option<Overlay>, KeyError> {
    let contained = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
    let Some(profile) = profile::called(&command.program).filter(|_| contained) else {
        // Nobody reads it here. Who named one that is not there should know.
        if let Some(path) = key_file {
            key::is_there(path)?;
        }
        return Ok(None);
    };
    let origin = Origin {
        source: Source::Builtin(profile.name.as_str().into()),
        line: 0,
        column: 0,
    };
    for dir in command
        .files
        .first()
        .map(|file| install::directories(file))
        .unwrap_or_default()
    {
        allow_reading(policy, dir, &origin, "the agent's own installation");
    }
    let way = way(policy, scene, &profile, key_file, &origin)?;
    let exposed = match way {
        Way::Broker { .. } => keep_outside(&mut policy.env, &profile.api.keys),
        Way::Login { .. } | Way::Host | Way::Closed { .. } => Vec::new(),
    };
    let reach = match way {
        Way::Broker { .. } | Way::Closed { .. } => Reach::Broker,
        Way::Login { .. } | Way::Host => Reach::Direct,
    };
    let home_is_granted = |home: &PathBuf| Cover::new(policy).at(home).is_some();
    let other = scene.home.as_ref().is_none_or(home_is_granted);
    // A login lies in the caller's own home, and is looked for there.
    let other = other && !matches!(way, Way::Login { .. });
    let home = other.then(|| PathBuf::from(OTHER_HOME));
    let base = home.clone().or_else(|| scene.home.clone()).unwrap_or_default();
    let tail = PLACEHOLDER.get(PLACEHOLDER.len() - 20..).unwrap_or(PLACEHOLDER);
    // As a JSON string, which TOML reads as well.
    let project = serde_json::Value::from(scene.project.to_string_lossy()).to_string();
    let words = [
        ("${endpoint}", addresses.broker),
        ("${mcp_servers}", addresses.servers),
        ("${placeholder}", PLACEHOLDER),
        ("${placeholder_tail}", tail),
        ("${project}", &project),
    ];
    let fill = |text: &str| filled(text, &words);
    let counts = |wanted: Option<Reach>| wanted.is_none_or(|wanted| wanted == reach);
    let env = profile.env.iter().filter(|v| counts(v.reach));
    let mut env: Vec<(OsString, OsString)> = env.map(|v| (v.name.clone().into(), fill(&v.value).into())).collect();
    if let Some(home) = &home {
        env.push(("HOME".into(), home.clone().into()));
    }
    let files = profile.files.iter().filter(|file| counts(file.reach));
    let files = files
        .map(|file| MadeFile {
            at: below(&base, &file.at),
            contents: fill(&file.text).into_bytes(),
        })
        .collect();
    Ok(Some(Overlay {
        way,
        env,
        files,
        home,
        profile,
        exposed,
    }))
}

/// The broker has the key. A pattern (`OPENAI_*`) is not the caller's word that it is to be inside as well; the name itself is.
/// Says which of the names pass.
fn keep_outside(rules: &mut EnvRules, keys: &[String]) -> Vec<String> {
    let mut passing = Vec::new();
    for name in keys {
        if rules.fate(name.as_bytes()) != EnvFate::Passes {
            continue;
        }
        match rules.allow.contains(&EnvPattern::Exact(name.clone())) {
            true if env::var_os(name).is_some() => passing.push(name.clone()),
            true => {}
            false => drop(rules.withheld.insert(name.clone())),
        }
    }
    passing
}

/// Each word once, from left to right: what stands for a word is not looked at again.
fn filled(text: &str, words: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let known = words
            .iter()
            .find_map(|(word, value)| Some((*value, from.strip_prefix(word)?)));
        let (value, after) = known.unwrap_or_else(|| from.split_at("${".len()));
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn below(home: &Path, written: &str) -> PathBuf {
    written
        .strip_prefix("~/")
        .map_or_else(|| PathBuf::from(written), |rest| home.join(rest))
}

fn way(
    policy: &mut ResolvedPolicy,
    scene: &Scene,
    profile: &AgentProfile,
    key_file: Option<&Path>,
    origin: &Origin,
) -> Result<Way, KeyError> {
    if policy.model_access == ModelAccess::None {
        let why = "the policy says `model_access: none`".to_owned();
        return Ok(Way::Closed { why });
    }
    let logins: Vec<PathBuf> = scene
        .home
        .iter()
        .flat_map(|home| profile.logins.iter().map(|login| below(home, login)))
        .filter(|file| file.is_file())
        .collect();
    if policy.auth == Auth::Mount {
        return Ok(match logins.into_iter().next() {
            Some(file) => {
                allow_reading(policy, file.clone(), origin, "`auth: mount` in the policy");
                Way::Login { file }
            }
            None => Way::Closed {
                why: format!("`auth: mount`, but there is no {}", profile.logins.join(" or ")),
            },
        });
    }
    if policy.network == Network::Host {
        return Ok(Way::Host);
    }
    if let Some(path) = key_file.filter(|_| policy.isolation == Isolation::Landlock)
        && let Ok(real) = fs::canonicalize(path)
        && Cover::new(policy).access(&real).is_some()
    {
        let path = path.to_owned();
        return Err(KeyError::Granted { path });
    }
    let key = key::find(key_file, policy.key_command.as_deref(), &profile.api.keys)?;
    match (&policy.model_endpoint, key) {
        (Some(own), key) => Ok(Way::Broker {
            endpoint: own.clone(),
            key,
        }),
        (None, Some(key)) => Ok(Way::Broker {
            endpoint: profile.api.endpoint.clone(),
            key: Some(key),
        }),
        (None, None) => {
            let mut why = format!(
                "no key. Set {}, give `--key-file FILE`, or `key_command` in the policy",
                profile.api.keys.join(" or ")
            );
            if let Some(login) = logins.first() {
                why.push_str(&format!(
                    "; the login in `{}` stays outside unless the policy says `auth: mount`",
                    login.display()
                ));
            }
            Ok(Way::Closed { why })
        }
    }
}

fn allow_reading(policy: &mut ResolvedPolicy, path: PathBuf, origin: &Origin, why: &str) {
    if Cover::new(policy).access(&path).is_some() {
        return;
    }
    let written = path.to_string_lossy().into_owned();
    let Some(path) = HostPath::new(path) else { return };
    let mut grants = std::mem::take(&mut policy.grants);
    grants.push(Grant {
        path,
        access: FsAccess::Read,
        need: Need::Preferred,
        exists: true,
        written,
        links: Vec::new(),
        origin: origin.clone(),
        why: Some(why.to_owned()),
    });
    policy.grants = normalise(grants, policy.reach());
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
