//! `policy explain`: questions from the command line, answers for the terminal.

use std::path::{Path, PathBuf};

use glee_engine::explain::{Explained, Question, explain};
use glee_engine::project::{Scene, SceneError};
use glee_engine::run::{self, Options, Refusal};
use glee_engine::text::visible;
use glee_policy::Flags;
use glee_sandbox::answer::Use;

use crate::args::Workspace;
use crate::args_policy::ExplainArgs;
use crate::policy::PLANNED;
use crate::print::{self, Paint};
use crate::run::announce_policy;

/// Nothing can be said.
const REFUSED: i32 = 125;
const DENIED: i32 = 1;

/// Returns the exit status.
pub(crate) fn run(arguments: ExplainArgs, project: Option<PathBuf>) -> i32 {
    answer(arguments, project).unwrap_or_else(|refusal| print::refusal(&refusal, REFUSED))
}

fn answer(arguments: ExplainArgs, project: Option<PathBuf>) -> Result<i32, Refusal> {
    let cwd = std::env::current_dir().map_err(SceneError::NoCwd)?;
    let scene = Scene::find(project.as_deref())?;
    let questions = questions(&arguments, &cwd, scene.home.as_deref());
    let ExplainArgs {
        policy,
        json,
        mut command,
        ..
    } = arguments;
    if command.is_empty() {
        command.push("/bin/sh".into());
    }
    let flags = Flags {
        cwd,
        read: arguments.with_read,
        write: arguments.with_write,
        net: arguments.with_net,
        env: arguments.with_env,
        timeout: None,
    };
    let mut options = Options::to_look(policy, project, flags, command);
    options.workspace = Workspace::wanted(arguments.with_workspace);
    let prepared = run::prepare(&options, PLANNED)?;
    let answers: Vec<Explained> = questions
        .iter()
        .map(|asked| explain(&prepared, &scene, asked))
        .collect();
    let status = if answers.iter().all(|answer| answer.allowed) {
        0
    } else {
        DENIED
    };
    if json {
        return Ok(print::json(&answers, status));
    }
    announce_policy(&prepared.selected);
    let text: String = answers.iter().map(text).collect();
    Ok(print::bytes(text.as_bytes(), status))
}

fn questions(arguments: &ExplainArgs, cwd: &Path, home: Option<&Path>) -> Vec<Question> {
    let usage = match (arguments.write, arguments.exec) {
        (true, _) => Use::Write,
        (_, true) => Use::Execute,
        (false, false) => Use::Read,
    };
    let mut asked: Vec<Question> = Vec::new();
    for path in &arguments.path {
        let path = match (path.strip_prefix("~"), home) {
            // A slash at the end says that a directory is meant, and is lost by `strip_prefix`.
            (Ok(below), Some(home)) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => home.join(below).join(""),
            (Ok(below), Some(home)) => home.join(below),
            (Ok(_), None) | (Err(_), _) => cwd.join(path),
        };
        asked.push(Question::Path { path, usage });
    }
    asked.extend(arguments.net.iter().cloned().map(Question::Net));
    asked.extend(arguments.env.iter().cloned().map(Question::Env));
    asked.extend(arguments.syscall.iter().copied().map(Question::Syscall));
    asked
}

fn text(answer: &Explained) -> String {
    let verdict = if answer.allowed {
        Paint::Good.out("allowed")
    } else {
        Paint::Bad.out("denied ")
    };
    let mut text = format!("{verdict}  {} {}\n", answer.kind, visible(&answer.what));
    let mut line = |title: &str, value: Option<&str>| {
        if let Some(value) = value {
            text.push_str(&format!("  {title}{}\n", visible(value)));
        }
    };
    line("leads to ", answer.leads_to.as_deref());
    let clause = match &answer.origin {
        Some(origin) => format!("{} ({origin})", answer.clause),
        None => answer.clause.clone(),
    };
    line("by ", Some(&clause));
    line("why: ", answer.why.as_deref());
    line("enforced by: ", answer.enforced_by);
    line("note: ", answer.note.as_deref());
    line("to allow it: ", answer.hint.as_deref());
    text
}
