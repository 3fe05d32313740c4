//! `context preview`.

use std::io::Read;
use std::path::PathBuf;

use glee_engine::context::preview::{Asked, PreviewError, preview};

use crate::agents::scene;
use crate::args_context::{ContextCommand, PreviewArgs};
use crate::print;

/// Returns the exit status.
pub(crate) fn context(command: ContextCommand, project: Option<PathBuf>) -> i32 {
    match command {
        ContextCommand::Preview(arguments) => show(arguments, project),
    }
}

fn show(arguments: PreviewArgs, project: Option<PathBuf>) -> i32 {
    let mut task = arguments.prompt.unwrap_or_default();
    if task == "-" {
        task.clear();
        if let Err(error) = std::io::stdin().read_to_string(&mut task) {
            print::error(&format!("cannot read the task from standard input: {error}"), None);
            return 1;
        }
    }
    let asked = Asked {
        agent: arguments.agent.as_deref(),
        inputs: arguments.input.into_iter().collect(),
        session: arguments.session.as_deref(),
        told: &[],
        task: &task,
    };
    match scene(project.as_deref()).map(|scene| preview(&asked, &scene)) {
        Ok(Ok(found)) if arguments.json => print::json(&found, 0),
        Ok(Ok(found)) => print::bytes(found.prompt.as_bytes(), 0),
        Ok(Err(error)) => failed(&error),
        Err(status) => status,
    }
}

fn failed(error: &PreviewError) -> i32 {
    if error.has_place() {
        print::note(&error.to_string());
    } else {
        print::error(&error.to_string(), error.help().as_deref());
    }
    1
}
