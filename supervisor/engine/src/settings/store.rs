//! The configuration file: read with the user's trust, shown, changed in one place at a time.
//!
//! INVARIANT: what is written has been read and checked as a whole first, and is put in place whole.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use glee_policy::suggest::nearest;
use glee_policy::yaml::{self, Node, Value};
use glee_policy::{PolicyError, Source};
use serde::Serialize;

use super::edit::{self, EditError};
use super::key::Key;
use super::read::{PERMISSIONS, Settings, SettingsError, read};
use crate::folder::Folder;
use crate::library::digest;
use crate::project::Scene;
use crate::select::CONFIG;
use crate::trust::{self, Files, Standing, TrustError};

const DIR: &str = ".glee";
const FILE: &str = "config.yml";
const MOST: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}", .error.render(Some(.text)))]
    Settings { error: SettingsError, text: String },
    #[error("{}", .error.render(Some(.text)))]
    Policy { error: Box<PolicyError>, text: String },
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("the configuration has no key `{key}`")]
    UnknownKey { key: String, nearest: Option<&'static str> },
    #[error("`{0}` is not set")]
    NotSet(String),
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl ConfigError {
    /// What the user can do about it; a fault in the file says so itself.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Settings { .. } | Self::Policy { .. } => None,
            Self::Edit(EditError::BadValue(_)) => {
                Some("write a number, a word, `true`, `false`, or a list such as '[\"a\", \"b\"]'".into())
            }
            Self::Edit(EditError::CannotReach(_)) => Some(format!("edit `{CONFIG}` by hand")),
            Self::UnknownKey {
                nearest: Some(nearest), ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownKey { nearest: None, .. } => Some("`glee-supervisor config list` shows the keys".into()),
            Self::NotSet(_) => Some("`glee-supervisor policy show` shows the policy that holds".into()),
            Self::Io { .. } => Some("it must be a plain file, in a directory that is no link".into()),
            Self::Trust(error) => Some(error.help().into()),
        }
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        matches!(self, Self::Settings { .. } | Self::Policy { .. })
    }
}

/// A configuration with the user's word on it.
#[derive(Debug)]
pub struct Loaded {
    /// What counts: without trust nothing above a default, and every approval that was required when it last was trusted.
    pub settings: Settings,
    /// What is written, whether it counts or not.
    pub asked: Settings,
    pub standing: Standing,
}

/// Reads the project's configuration. One that is not there says nothing.
pub fn load(scene: &Scene) -> Result<Loaded, ConfigError> {
    let (asked, standing) = match bytes(scene)? {
        None => (Settings::default(), Standing::Untrusted),
        Some(bytes) => (parsed(scene, &bytes)?, trust::standing(&files(scene, &bytes))?),
    };
    let settings = match standing {
        Standing::Trusted => asked.clone(),
        // Who trusted a configuration that asks for approval does not lose that with the next change of the file.
        Standing::Changed | Standing::Untrusted => {
            let mut required = trust::required(&scene.project.join(CONFIG))?;
            // Nor by a `.glee` below it, which anybody who can write there can make.
            if let Some(outer) = scene.around().next() {
                required.extend(load(&outer)?.settings.required());
            }
            asked.clone().narrowed().requiring(&required)
        }
    };
    Ok(Loaded {
        settings,
        asked,
        standing,
    })
}

fn bytes(scene: &Scene) -> Result<Option<Vec<u8>>, ConfigError> {
    let cannot = |error| ConfigError::Io {
        path: scene.project.join(CONFIG),
        error,
    };
    let Some(folder) = Folder::find_beneath(&scene.project, Path::new(DIR)).map_err(cannot)? else {
        return Ok(None);
    };
    folder.read(OsStr::new(FILE), MOST).map_err(cannot)
}

fn source(scene: &Scene) -> Source {
    Source::File(scene.project.join(CONFIG).to_string_lossy().into())
}

/// The file whose trust decides, with the digest of these bytes.
#[must_use]
pub fn files(scene: &Scene, bytes: &[u8]) -> Files {
    [(scene.project.join(CONFIG), digest(bytes))].into()
}

/// Reads the settings and the policy of a configuration: both must be sound.
fn parsed(scene: &Scene, bytes: &[u8]) -> Result<Settings, ConfigError> {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    let settings = read(&source(scene), bytes).map_err(|error| ConfigError::Settings { error, text: text() })?;
    glee_policy::parse_project_config(&source(scene), bytes).map_err(|error| ConfigError::Policy {
        error: Box::new(error),
        text: text(),
    })?;
    Ok(settings)
}

/// One line of a list.
#[derive(Debug, Serialize)]
pub struct Entry {
    pub key: String,
    /// The value that holds.
    pub value: String,
    pub default: String,
    /// What is written, if that is not what holds.
    pub withheld: Option<String>,
    pub is_default: bool,
    pub about: &'static str,
}

/// Every key with the value that holds.
pub fn list(scene: &Scene) -> Result<Vec<Entry>, ConfigError> {
    let loaded = load(scene)?;
    Ok(Key::ALL.into_iter().map(|key| entry(key, &loaded)).collect())
}

fn entry(key: Key, loaded: &Loaded) -> Entry {
    let (holds, asked) = (loaded.settings.value(key), loaded.asked.value(key));
    Entry {
        key: key.path().to_owned(),
        value: key.written(&holds),
        default: key.written(&key.default()),
        withheld: (holds != asked).then(|| key.written(&asked)),
        is_default: !loaded.settings.is_written(key),
        about: key.about(),
    }
}

/// One value: of a key of ours the one that holds, of the policy the one that is written.
pub fn get(scene: &Scene, path: &str) -> Result<Entry, ConfigError> {
    let loaded = load(scene)?;
    if let Some(key) = Key::ALL.into_iter().find(|key| key.path() == path) {
        return Ok(entry(key, &loaded));
    }
    settable(path)?;
    let bytes = bytes(scene)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let root = yaml::read(&source(scene), &text).map_err(|error| ConfigError::Settings {
        error: error.into(),
        text: text.clone().into_owned(),
    })?;
    let node = edit::find(&root, path).ok_or_else(|| ConfigError::NotSet(path.to_owned()))?;
    Ok(Entry {
        key: path.to_owned(),
        value: flow(node),
        default: "restricted's".into(),
        withheld: None,
        is_default: false,
        about: "the policy; `policy show` says what counts of it",
    })
}

/// A value on one line.
fn flow(node: &Node) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => serde_json::to_string(text).unwrap_or_default(),
        Value::List(items) => format!("[{}]", list(items.iter().map(flow).collect())),
        Value::Map(entries) => {
            let pairs = entries
                .iter()
                .map(|(key, node)| format!("{}: {}", key.name, flow(node)));
            format!("{{{}}}", list(pairs.collect()))
        }
    }
}

fn settable(path: &str) -> Result<(), ConfigError> {
    let policy = path
        .strip_prefix(PERMISSIONS)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|rest| rest.split('.').all(|name| !name.is_empty()));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if Key::ALL.iter().any(|key| key.path() == path) || (policy && path.chars().all(plain)) {
        return Ok(());
    }
    let known = Key::ALL.iter().map(|key| key.path());
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let by_last = Key::ALL.iter().find(|key| last(key.path()) == path);
    Err(ConfigError::UnknownKey {
        key: path.to_owned(),
        nearest: by_last.map(|key| key.path()).or_else(|| nearest(path, known)),
    })
}

/// What setting a value did.
#[derive(Debug, Serialize)]
pub struct Changed {
    pub file: String,
    /// `false` if it was so already.
    pub changed: bool,
    /// The file was trusted before, and is not as it is now.
    pub trust_lost: bool,
    /// The value is above its default and does not count until the file is trusted.
    pub withheld: bool,
}

/// Sets one value in the file, which is made if it is not there. Everything else in it stays as it is.
pub fn set(scene: &Scene, path: &str, value: &str) -> Result<Changed, ConfigError> {
    settable(path)?;
    let file = scene.project.join(CONFIG);
    let cannot = |error| ConfigError::Io {
        path: file.clone(),
        error,
    };
    let folder = Folder::make_beneath(&scene.project, Path::new(DIR)).map_err(cannot)?;
    let locked = folder.lock().map_err(cannot)?;
    let old = folder.read(OsStr::new(FILE), MOST).map_err(cannot)?;
    let mode = folder.stat(OsStr::new(FILE)).ok().map(|stat| stat.mode & 0o777);
    let bytes = old.unwrap_or_default();
    let trusted = trust::standing(&files(scene, &bytes))? == Standing::Trusted;
    // Refused here rather than after the change, so that the message is about the file and not about the value.
    parsed(scene, &bytes)?;
    let edited = edit::set(&String::from_utf8_lossy(&bytes), path, value)?;
    let asked = parsed(scene, edited.as_bytes())?;
    let changed = edited.as_bytes() != bytes;
    if changed {
        locked.put(OsStr::new(FILE), edited.as_bytes()).map_err(cannot)?;
        if let Some(mode) = mode {
            glee_sandbox::sys::path::chmod_at(folder.fd(), OsStr::new(FILE), mode).map_err(cannot)?;
        }
    }
    let now_trusted = trust::standing(&files(scene, edited.as_bytes()))? == Standing::Trusted;
    Ok(Changed {
        file: file.to_string_lossy().into_owned(),
        changed,
        trust_lost: trusted && !now_trusted,
        withheld: !now_trusted && asked.beyond().iter().any(|(key, _, _)| key.path() == path),
    })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
