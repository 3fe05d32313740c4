//! Which profiles there are, whose they are, and whether a file is one.
//!
//! Reads policy files; changes nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glee_policy::{Origin, PolicyError, Source, builtin, examples};
use serde::Serialize;

use crate::host::walk;
use crate::library::{Owner, Profiles, read_policy};
use crate::project::Scene;
use crate::select::{CONFIG, SelectError, is_path};
use crate::settings::SettingsError;
use crate::text::visible;

/// One profile that `--policy` knows by name.
#[derive(Debug, Serialize)]
pub struct Listed {
    pub name: String,
    /// `built-in`, `user` or `project`.
    pub from: &'static str,
    pub file: Option<String>,
    pub why: Option<String>,
    /// Why the name does not lead here.
    pub hidden: Option<&'static str>,
    /// The first line of what is wrong with it.
    pub error: Option<String>,
}

/// Every profile: the built-in ones from tight to wide, then the user's, then the project's.
#[must_use]
pub fn list(scene: &Scene) -> Vec<Listed> {
    let mut listed: Vec<Listed> = builtin::names()
        .map(|name| Listed {
            name: name.to_owned(),
            from: "built-in",
            file: None,
            why: builtin::text(name).and_then(|text| glee_policy::parse(&builtin::source(name), text).ok()?.why),
            hidden: None,
            error: None,
        })
        .collect();
    let mut taken = BTreeSet::new();
    let library = Profiles::new(&scene.project);
    let mut files = library.list();
    files.sort_by(|a, b| (a.2, &a.0).cmp(&(b.2, &b.0)));
    for (name, file, owner) in files {
        let hidden = if builtin::text(&name).is_some() {
            Some("the built-in profile has this name")
        } else if name.starts_with('.') || name.is_empty() || is_path(&name) {
            Some("not a name that --policy takes")
        } else if !taken.insert(name.clone()) {
            Some("the user's own profile has this name")
        } else {
            None
        };
        let (why, error) = match library.read(&file, owner) {
            Ok(bytes) => match glee_policy::parse_bytes(&source(&file), &bytes) {
                Ok(policy) => (policy.why, None),
                Err(error) => (None, Some(first_line(&error.render(None)))),
            },
            Err(error) => (None, Some(error.to_string())),
        };
        listed.push(Listed {
            name,
            from: match owner {
                Owner::User => "user",
                Owner::Project => "project",
            },
            file: Some(file.to_string_lossy().into_owned()),
            why,
            hidden,
            error,
        });
    }
    listed
}

/// The directories of profiles that cannot be looked through, and why.
#[must_use]
pub fn closed(scene: &Scene) -> Vec<(PathBuf, std::io::Error)> {
    Profiles::new(&scene.project).closed()
}

fn source(file: &Path) -> Source {
    Source::File(file.to_string_lossy().into())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What is wrong with a file, at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub file: String,
    /// From 1; 0 if the whole file is meant.
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub hint: Option<String>,
    /// As people read it: the place, the line with a caret, the hint.
    #[serde(skip)]
    pub rendered: String,
}

/// A file without faults.
#[derive(Debug, Serialize)]
pub struct Sound {
    pub file: String,
    /// `false` for a configuration that says nothing about permissions.
    pub has_policy: bool,
    pub examples: usize,
}

/// Parses a policy file or a project's configuration, resolves it here, and asks its `examples:`.
pub fn check(file: &Path, scene: &Scene) -> Result<Sound, Vec<Fault>> {
    let name = file.to_string_lossy().into_owned();
    let whole = |message: String, hint: Option<String>| {
        let mut rendered = format!("{}: error: {message}", visible(&name));
        if let Some(hint) = &hint {
            rendered.push_str(&format!("\nhint: {hint}"));
        }
        vec![Fault {
            file: name.clone(),
            line: 0,
            column: 0,
            message,
            hint,
            rendered,
        }]
    };
    let bytes = read_policy(file).map_err(|error| {
        let by_name = !is_path(&name) && error.kind() == std::io::ErrorKind::NotFound;
        let hint = by_name.then(|| {
            format!(
                "`policy check` takes a file; a profile: `policy show {}`",
                visible(&name)
            )
        });
        whole(format!("cannot read it: {error}"), hint)
    })?;
    let fault = |error: PolicyError| vec![Fault::new(&error, &name, &bytes)];
    let config = config_of(file);
    // Relative paths in a configuration count from its own project, wherever the caller stands.
    let scene = match &config {
        Some(project) => &Scene {
            project: project.clone(),
            cwd: project.clone(),
            ..scene.clone()
        },
        None => scene,
    };
    if config.is_some() {
        crate::settings::read(&source(file), &bytes).map_err(|error| vec![Fault::of_settings(&error, &bytes)])?;
    }
    let policy = match config {
        Some(_) => match glee_policy::parse_project_config(&source(file), &bytes).map_err(fault)? {
            Some(policy) => policy,
            None => {
                return Ok(Sound {
                    file: name,
                    has_policy: false,
                    examples: 0,
                });
            }
        },
        None => glee_policy::parse_bytes(&source(file), &bytes).map_err(fault)?,
    };
    let library = Profiles::new(&scene.project);
    let resolved = glee_policy::resolve(&policy, &library, &scene.host()).map_err(fault)?;
    let failures = examples::check(&policy, &resolved, &scene.host());
    if failures.is_empty() {
        return Ok(Sound {
            file: name,
            has_policy: true,
            examples: policy.examples.len(),
        });
    }
    Err(failures
        .iter()
        .map(|failure| Fault::of_example(failure, &bytes))
        .collect())
}

/// The project whose configuration this file is.
pub(crate) fn config_of(file: &Path) -> Option<PathBuf> {
    let absolute = std::env::current_dir().ok()?.join(file);
    // The directory is looked at, not the file: a linked configuration still belongs to the project it lies in.
    let dir = walk(absolute.parent()?).path;
    let project = dir.parent()?;
    (project.join(CONFIG) == dir.join(absolute.file_name()?)).then(|| project.to_owned())
}

impl Fault {
    fn new(error: &PolicyError, file: &str, bytes: &[u8]) -> Self {
        let at = error.origin();
        // An error may lie in a profile that this file extends: its line is then shown from there.
        let rendered = match &at.source {
            Source::File(named) if **named == *file => error.render(Some(&String::from_utf8_lossy(bytes))),
            Source::File(_) | Source::Builtin(_) | Source::Flag(_) => SelectError::from(error.clone()).to_string(),
        };
        Self {
            file: at.source.to_string(),
            line: at.line,
            column: at.column,
            message: error.to_string(),
            hint: Some(error.help()),
            rendered,
        }
    }

    fn of_settings(error: &SettingsError, bytes: &[u8]) -> Self {
        let at = error.origin();
        Self {
            file: at.source.to_string(),
            line: at.line,
            column: at.column,
            message: error.to_string(),
            hint: Some(error.help()),
            rendered: error.render(Some(&String::from_utf8_lossy(bytes))),
        }
    }

    fn of_example(failure: &examples::Failure, bytes: &[u8]) -> Self {
        let Origin { source, line, column } = &failure.origin;
        let verdict = if failure.verdict.allowed { "allowed" } else { "denied" };
        let because = match &failure.verdict.origin {
            Some(origin) => format!("{} ({origin})", failure.verdict.clause),
            None => failure.verdict.clause.clone(),
        };
        let message = format!("this example does not hold: it is {verdict}: {because}");
        let number = usize::try_from(*line).unwrap_or(0);
        let text = String::from_utf8_lossy(bytes);
        let shown = text.lines().nth(number.saturating_sub(1)).unwrap_or_default();
        let hint = "change the policy or the example".to_owned();
        let before: String = shown
            .chars()
            .take(usize::try_from(*column).unwrap_or(1).saturating_sub(1))
            .collect();
        let margin = " ".repeat(line.to_string().len());
        let caret = " ".repeat(visible(&before).chars().count());
        let rendered = format!(
            "{}:{line}:{column}: error: {}\n{line} | {}\n{margin} | {caret}^\nhint: {hint}",
            visible(&source.to_string()),
            visible(&message),
            visible(shown),
        );
        Self {
            file: source.to_string(),
            line: *line,
            column: *column,
            message,
            hint: Some(hint),
            rendered,
        }
    }
}
