//! `agents create` and `agents import`.

use std::io::Read;
use std::path::Path;

use glee_engine::definitions::create::{self, Asked as New};
use glee_engine::definitions::import::{self, Action, Asked, From, Imported};
use glee_engine::project::Scene;
use glee_engine::text::visible;
use serde::Serialize;

use crate::agents::{failed, scene};
use crate::args_agents::{CreateArgs, ImportArgs};
use crate::print;

#[derive(Serialize)]
struct Created {
    name: String,
    file: String,
    sha256: String,
}

pub(crate) fn create(arguments: &CreateArgs, project: Option<&Path>) -> i32 {
    let prompt = match prompt(arguments) {
        Ok(prompt) => prompt,
        Err(error) => {
            print::error(&format!("cannot read the prompt: {error}"), None);
            return 1;
        }
    };
    let asked = New {
        name: arguments.name.clone(),
        description: arguments.description.clone(),
        prompt,
        agent: arguments.agent,
        inputs: arguments.input.clone(),
        tools: (!arguments.tool.is_empty()).then(|| arguments.tool.clone()),
        timeout_mins: arguments.timeout_mins,
        max_output_kb: arguments.max_output_kb,
    };
    match scene(project).map(|scene: Scene| create::create(asked, &scene)) {
        Ok(Ok(agent)) => {
            let created = Created {
                name: agent.name.to_string(),
                file: agent.file.to_string_lossy().into_owned(),
                sha256: agent.digest,
            };
            if arguments.json {
                return print::json(&created, 0);
            }
            print::note(&format!("`{}` is written, as untrusted", visible(&created.file)));
            0
        }
        Ok(Err(error)) => failed(error.into()),
        Err(status) => status,
    }
}

fn prompt(arguments: &CreateArgs) -> std::io::Result<String> {
    let mut text = String::new();
    match (&arguments.prompt, &arguments.prompt_file) {
        (Some(prompt), _) => text.clone_from(prompt),
        (None, Some(file)) if file == Path::new("-") => {
            std::io::stdin().read_to_string(&mut text)?;
        }
        (None, Some(file)) => {
            std::fs::File::open(file)?.read_to_string(&mut text)?;
        }
        (None, None) => {}
    }
    Ok(text)
}

pub(crate) fn import(arguments: &ImportArgs, project: Option<&Path>) -> i32 {
    let from = match (&arguments.file, arguments.from) {
        (Some(file), from) => From::File(file.clone(), from),
        (None, Some(from)) => From::Program(from),
        (None, None) => return 2,
    };
    let asked = Asked {
        from,
        update: arguments.update,
        dry: arguments.dry,
    };
    let done = match scene(project).map(|scene| import::import(&asked, &scene)) {
        Ok(Ok(done)) => done,
        Ok(Err(error)) => {
            print::error(&error.to_string(), Some(&error.help()));
            return 1;
        }
        Err(status) => return status,
    };
    let status = i32::from(done.iter().any(|one| one.action == Action::Failed));
    if arguments.json {
        return print::json(&done, status);
    }
    if done.is_empty() {
        print::note("there is nothing to import");
    }
    let mut diffs = String::new();
    for one in &done {
        print::say(&told(one, arguments.dry));
        if arguments.dry {
            diffs.push_str(&print::visible(&one.diff));
        }
    }
    print::bytes(diffs.as_bytes(), status)
}

/// What became of one file, and what did not come along.
fn told(one: &Imported, dry: bool) -> String {
    let what = match (one.action, dry) {
        (Action::Created, false) => "created",
        (Action::Created, true) => "would be created",
        (Action::Updated, false) => "updated",
        (Action::Updated, true) => "would be updated",
        (Action::Unchanged, _) => "unchanged",
        (Action::Kept, _) => "kept",
        (Action::Failed, _) => "failed",
    };
    let mut text = format!(
        "{} → {}: {what}\n",
        one.source,
        one.file.as_deref().unwrap_or("nothing")
    );
    if let Some(error) = &one.error {
        text.push_str(&format!("{error}\n"));
    }
    for dropped in &one.dropped {
        let line = if dropped.line > 0 {
            format!(" (line {})", dropped.line)
        } else {
            String::new()
        };
        let left = if dropped.reason.is_grant() {
            "dropped"
        } else {
            "left out"
        };
        text.push_str(&format!(
            "  {left}: {}{line}: {}\n",
            dropped.what,
            dropped.reason.word()
        ));
    }
    text
}
