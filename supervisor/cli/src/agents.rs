//! `agents list` and `show`.

use std::path::{Path, PathBuf};

use glee_engine::definitions::tool::Argument;
use glee_engine::definitions::view::{self, Held, Line, Shown, ViewError};
use glee_engine::project::Scene;
use glee_engine::run::Refusal;
use glee_engine::text::{columns, visible};
use glee_engine::trust::Standing;

use crate::args_agents::AgentsCommand;
use crate::print::{self, Paint};

/// Returns the exit status.
pub(crate) fn agents(command: AgentsCommand, project: Option<PathBuf>) -> i32 {
    match command {
        AgentsCommand::List { json } => list(project.as_deref(), json),
        AgentsCommand::Show { name, json } => show(&name, project.as_deref(), json),
        AgentsCommand::Create(arguments) => crate::agents_new::create(&arguments, project.as_deref()),
        AgentsCommand::Import(arguments) => crate::agents_new::import(&arguments, project.as_deref()),
    }
}

/// The place, or the exit status after saying why there is none.
pub(crate) fn scene(project: Option<&Path>) -> Result<Scene, i32> {
    Scene::find(project).map_err(|error| print::refusal(&Refusal::from(error), 1))
}

pub(crate) fn failed(error: ViewError) -> i32 {
    match error {
        ViewError::Store(error) if error.has_place() => print::note(&error.to_string()),
        ViewError::Store(error) => print::error(&error.to_string(), error.help().as_deref()),
        ViewError::Select(error) => return print::refusal(&Refusal::from(error), 1),
    }
    1
}

fn list(project: Option<&Path>, json: bool) -> i32 {
    let found = match scene(project).map(|scene| view::list(&scene)) {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return failed(error),
        Err(status) => return status,
    };
    if json {
        return print::json(&found, 0);
    }
    if found.is_empty() {
        print::note("the project has no agents; `glee-supervisor agents create` makes one");
        return 0;
    }
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    print::bytes(columns(&rows, "").as_bytes(), 0)
}

fn row(line: &Line) -> Vec<String> {
    let source = match (&line.source, &line.error) {
        (Some(source), _) => format!("(from: {}, {})", source.from, visible(&source.file)),
        (None, None) => "(native glee)".to_owned(),
        (None, Some(_)) => Paint::Bad.out("(broken)"),
    };
    let standing = line.standing.map(|standing| match standing {
        Standing::Trusted => Paint::Good.out("trusted"),
        Standing::Changed => Paint::Doubtful.out("changed since it was trusted"),
        Standing::Untrusted => "not trusted".to_owned(),
    });
    let about = line.error.as_deref().and_then(|error| error.lines().next());
    vec![
        visible(&line.name),
        source,
        standing.unwrap_or_default(),
        visible(about.or(line.description.as_deref()).unwrap_or_default()),
    ]
}

fn show(name: &str, project: Option<&Path>, json: bool) -> i32 {
    let shown = match scene(project).map(|scene| view::show(name, &scene)) {
        Ok(Ok(shown)) => shown,
        Ok(Err(error)) => return failed(error),
        Err(status) => return status,
    };
    if json {
        return print::json(&shown, 0);
    }
    print::bytes(page(&shown).as_bytes(), 0)
}

fn page(shown: &Shown) -> String {
    let mut rows = Vec::new();
    let mut add = |key: &str, value: String| rows.push(vec![key.to_owned(), value]);
    add("name", shown.name.to_string());
    add("description", visible(&shown.description));
    add(
        "agent",
        shown.agent.map_or("the first available".into(), |cli| cli.to_string()),
    );
    add("file", visible(&shown.file));
    add("sha256", shown.sha256.clone());
    let standing = match shown.standing {
        Standing::Trusted => "yes",
        Standing::Changed => "no: it has changed since; `glee-supervisor trust` shows and asks",
        Standing::Untrusted => "no; `glee-supervisor trust` shows and asks",
    };
    add("trusted", standing.into());
    if let Some(source) = &shown.source {
        let when = visible(&source.imported_at);
        add("source", format!("{}, {}, {when}", source.from, visible(&source.file)));
    }
    if let Some(minutes) = shown.timeout_mins {
        add("timeout_mins", minutes.to_string());
    }
    if let Some(output) = shown.max_output_kb {
        add("max_output_kb", output.to_string());
    }
    for input in &shown.inputs {
        let rest = match (&input.default, input.required) {
            (Some(default), _) => format!("default {}", visible(default)),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        let about = visible(input.description.as_deref().unwrap_or_default());
        add("input", format!("{}: {}, {rest}  {about}", input.name, input.kind));
    }
    if let Some(tools) = &shown.tools {
        let words: Vec<&str> = tools.iter().map(|tool| tool.word()).collect();
        add(
            "tools",
            if words.is_empty() {
                "none".into()
            } else {
                words.join(", ")
            },
        );
    }
    for (cli, held) in &shown.held_by {
        add(&format!("  with {cli}"), held_by(held));
    }
    for beyond in &shown.beyond {
        add("not given", visible(beyond));
    }
    let prompt: String = shown
        .prompt
        .lines()
        .map(|line| format!("  {}\n", visible(line)))
        .collect();
    format!("{}prompt\n{prompt}", columns(&rows, ""))
}

fn held_by(held: &Held) -> String {
    match held {
        Held::Arguments(arguments) => arguments
            .iter()
            .map(|argument| match argument {
                Argument::Word(word) if word.is_empty() => "\"\"".to_owned(),
                Argument::Word(word) => word.clone(),
                Argument::File(_) => "FILE".to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" "),
        Held::Refused(why) => format!("refused: {why}"),
    }
}
