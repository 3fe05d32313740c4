//! Reads the files of another program, and writes, or only shows, the definitions they become.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use glee_policy::Source;
use glee_policy::error::{render, shown};
use glee_policy::yaml::text_of;
use serde::Serialize;

use super::convert::{Dropped, convert};
use super::{ImportError, foreign};
use crate::definitions::diff::unified;
use crate::definitions::draft::Draft;
use crate::definitions::store::{Agents, DIR, StoreError, Writing};
use crate::definitions::{Cli, Imported as Origin};
use crate::folder::Folder;
use crate::project::Scene;
use crate::report::rfc3339;

const MOST: usize = 1 << 20;

/// Which files are imported.
#[derive(Debug, Clone)]
pub enum From {
    /// All agents of a program in this project.
    Program(Cli),
    /// One file, and whose it is if its place does not tell.
    File(PathBuf, Option<Cli>),
}

/// What the user asked for.
#[derive(Debug)]
pub struct Asked {
    pub from: From,
    /// Replace what was imported from the same file before.
    pub update: bool,
    /// Write nothing.
    pub dry: bool,
}

/// What became of one file.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// The foreign file, as the definition names it.
    pub source: String,
    pub name: Option<String>,
    /// The definition's file, from the project.
    pub file: Option<String>,
    pub action: Action,
    pub dropped: Vec<Dropped>,
    /// What changes, as a unified diff.
    pub diff: String,
    /// Why nothing was written, as people read it.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Created,
    Updated,
    /// It says the same already.
    Unchanged,
    /// It was imported before, and differs: only `--update` replaces it.
    Kept,
    Failed,
}

/// Where a program keeps its agents in a project, and how their names end.
fn place(cli: Cli) -> (&'static str, &'static [&'static str]) {
    match cli {
        Cli::Claude => (".claude/agents", &["md"]),
        Cli::Gemini => (".gemini/agents", &["md", "toml"]),
        Cli::Codex => (".codex/agents", &["toml"]),
        // It has none of its own.
        Cli::Stub => (".glee/agents", &[]),
    }
}

/// Imports, and says what became of each file.
pub fn import(asked: &Asked, scene: &Scene) -> Result<Vec<Imported>, ImportError> {
    let mut done = Vec::new();
    match &asked.from {
        From::File(file, cli) => {
            let cli = cli
                .or_else(|| owner(file))
                .ok_or_else(|| ImportError::UnknownFormat(file.clone()))?;
            let absolute = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            let real = std::fs::canonicalize(&absolute).unwrap_or(absolute);
            let name = real
                .strip_prefix(&scene.project)
                .unwrap_or(&real)
                .to_string_lossy()
                .into_owned();
            let bytes = read_named(file)?;
            done.push(one(asked, cli, &name, Ok(bytes), scene));
        }
        From::Program(cli) => {
            let (dir, endings) = place(*cli);
            let cannot = |error| ImportError::Unreadable {
                path: scene.project.join(dir),
                error,
            };
            let Some(folder) = Folder::find_beneath(&scene.project, Path::new(dir)).map_err(cannot)? else {
                return Ok(done);
            };
            for name in folder.names().map_err(cannot)? {
                let ending = Path::new(&name).extension().and_then(OsStr::to_str);
                if !ending.is_some_and(|ending| endings.contains(&ending)) {
                    continue;
                }
                let shown = format!("{dir}/{}", name.to_string_lossy());
                let read = folder.read(&name, MOST).map(Option::unwrap_or_default);
                let read = read.map_err(|error| ImportError::Unreadable {
                    path: scene.project.join(&shown),
                    error,
                });
                done.push(one(asked, *cli, &shown, read, scene));
            }
        }
    }
    Ok(done)
}

/// Whose file it is, by where it lies.
fn owner(file: &Path) -> Option<Cli> {
    let within = |dir: &str| file.components().any(|part| part.as_os_str() == dir);
    [
        (".claude", Cli::Claude),
        (".gemini", Cli::Gemini),
        (".codex", Cli::Codex),
    ]
    .into_iter()
    .find(|(dir, _)| within(dir))
    .map(|(_, cli)| cli)
}

/// A file that the caller named: links on the way are the caller's own.
fn read_named(file: &Path) -> Result<Vec<u8>, ImportError> {
    let cannot = |error| ImportError::Unreadable {
        path: file.to_owned(),
        error,
    };
    if !std::fs::metadata(file).map_err(cannot)?.is_file() {
        return Err(cannot(std::io::Error::from(std::io::ErrorKind::InvalidInput)));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MOST).unwrap_or(u64::MAX) + 1;
    let read = File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    read.map_err(cannot)?;
    Ok(bytes)
}

fn one(asked: &Asked, cli: Cli, name: &str, bytes: Result<Vec<u8>, ImportError>, scene: &Scene) -> Imported {
    let mut done = Imported {
        source: name.to_owned(),
        name: None,
        file: None,
        action: Action::Failed,
        dropped: Vec::new(),
        diff: String::new(),
        error: None,
    };
    let text = bytes
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .ok();
    match bytes.and_then(|bytes| converted(cli, name, &bytes)) {
        Ok((draft, dropped)) => {
            done.dropped = dropped;
            done.name = Some(draft.name.to_string());
            done.file = Some(format!("{DIR}/{}", draft.name.file()));
            match put(asked, draft, scene) {
                Ok((action, diff, error)) => (done.action, done.diff, done.error) = (action, diff, error),
                Err(error) => done.error = Some(error.to_string()),
            }
        }
        Err(error) => {
            done.error = Some(match error.origin() {
                Some(at) => render(at, &error.to_string(), &error.help(), text.as_deref()),
                None => format!("{}: {error}; {}", shown(name), error.help()),
            });
        }
    }
    done
}

fn converted(cli: Cli, name: &str, bytes: &[u8]) -> Result<(Draft, Vec<Dropped>), ImportError> {
    let source = Source::File(name.into());
    let text = text_of(&source, bytes)?;
    let path = Path::new(name);
    let foreign = match (cli, path.extension().and_then(OsStr::to_str)) {
        (Cli::Codex, _) | (Cli::Gemini, Some("toml")) => foreign::toml(&source, text)?,
        (Cli::Claude | Cli::Gemini | Cli::Stub, _) => foreign::markdown(&source, text)?,
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (mut draft, dropped) = convert(&source, cli, foreign, &stem)?;
    draft.source = Some(Origin {
        from: cli,
        file: name.to_owned(),
        imported_at: rfc3339(SystemTime::now()),
    });
    Ok((draft, dropped))
}

/// Writes a draft, if that is what should happen to what is there.
fn put(asked: &Asked, mut draft: Draft, scene: &Scene) -> Result<(Action, String, Option<String>), StoreError> {
    let mut agents = Agents::open(&scene.project)?;
    let file = format!("{DIR}/{}", draft.name.file());
    let Some(bytes) = agents.bytes(&draft.name)? else {
        let text = draft.text();
        let diff = unified("", &text, "/dev/null", &file);
        if !asked.dry {
            agents.write(&draft.name, &text, Writing::New)?;
        }
        return Ok((Action::Created, diff, None));
    };
    let old = String::from_utf8_lossy(&bytes).into_owned();
    let there = agents.get(draft.name.as_str()).ok().and_then(|there| there.source);
    let same_source = match (&there, &draft.source) {
        (Some(there), Some(new)) => (there.from, &there.file) == (new.from, &new.file),
        (None, _) | (_, None) => false,
    };
    if let (true, Some(there), Some(source)) = (same_source, &there, &mut draft.source) {
        // Compared without the time: what has not changed is not new.
        let now = std::mem::replace(&mut source.imported_at, there.imported_at.clone());
        if draft.text() == old {
            return Ok((Action::Unchanged, String::new(), None));
        }
        if let Some(source) = &mut draft.source {
            source.imported_at = now;
        }
    }
    let text = draft.text();
    let diff = unified(&old, &text, &file, &file);
    if !same_source {
        let why = format!("`{file}` is there and was not imported from this file: rename one of the two");
        return Ok((Action::Failed, diff, Some(why)));
    }
    if !asked.update {
        let why = format!("`{file}` differs: --update replaces it");
        return Ok((Action::Kept, diff, Some(why)));
    }
    if !asked.dry {
        agents.write(&draft.name, &text, Writing::Replace)?;
    }
    Ok((Action::Updated, diff, None))
}
