//! `tasks list|show|wait|cancel`: the queue, visible.

use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use glee_engine::clock::Moment;
use glee_engine::store::{Cancel, Millis, TaskId, Which};
use glee_engine::tasks::{Desk, Refusal, View, Waited};
use glee_engine::text::{columns, visible};

use crate::args_tasks::TasksCommand;
use crate::print;
use crate::subagent::{desk, failed, refused, show as show_outcome};

/// Returns the exit status.
pub(crate) fn tasks(command: TasksCommand, project: Option<PathBuf>) -> i32 {
    let json = match &command {
        TasksCommand::List { json, .. } | TasksCommand::Show { json, .. } | TasksCommand::Wait { json, .. } => *json,
        TasksCommand::Cancel { .. } => false,
    };
    let done = desk(project.as_deref()).and_then(|desk| {
        // Whoever looks at the queue sees to it that it moves.
        desk.dispatch()?;
        match command {
            TasksCommand::List { all, most, json } => list(&desk, all, most, json),
            TasksCommand::Show { id, json } => show(&desk, &id, json),
            TasksCommand::Wait { id, timeout, json } => wait(&desk, &id, timeout, json),
            TasksCommand::Cancel { ids } => cancel(&desk, &ids),
        }
    });
    done.unwrap_or_else(|refusal| failed(&refusal, json))
}

fn list(desk: &Desk, all: bool, most: u32, json: bool) -> Result<i32, Refusal> {
    let views = desk.list(if all { Which::All } else { Which::Open }, most)?;
    if json {
        return Ok(print::json(&views, 0));
    }
    if views.is_empty() {
        print::note(if all {
            "this project has no tasks"
        } else {
            "nothing waits or runs; --all shows what is over"
        });
    }
    let rows: Vec<Vec<String>> = views.iter().map(row).collect();
    Ok(print::bytes(columns(&rows, "").as_bytes(), 0))
}

fn row(view: &View) -> Vec<String> {
    let agent = view.agent.as_ref().or(view.cli.as_ref());
    vec![
        view.task_id.to_string(),
        view.state.as_str().to_owned(),
        time(view.created_at),
        agent.cloned().unwrap_or_default(),
        visible(&view.description),
        view.doing.as_deref().map(visible).unwrap_or_default(),
    ]
}

fn time(at: Millis) -> String {
    Moment::from(UNIX_EPOCH + Duration::from_millis(at.0)).to_string()
}

fn show(desk: &Desk, id: &TaskId, json: bool) -> Result<i32, Refusal> {
    let view = desk.status(id)?;
    if json {
        return Ok(print::json(&view, 0));
    }
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let outcome = view.outcome.as_ref();
    let rows = [
        ("task", view.task_id.to_string()),
        ("state", view.state.as_str().to_owned()),
        ("description", visible(&view.description)),
        ("agent", text(view.agent.clone())),
        ("cli", text(view.cli.clone())),
        ("session", text(view.session_id.as_ref().map(ToString::to_string))),
        ("asked by", view.caller.clone()),
        ("parent", text(view.parent.as_ref().map(ToString::to_string))),
        ("created", time(view.created_at)),
        ("started", text(view.started_at.map(time))),
        ("finished", text(view.finished_at.map(time))),
        ("doing", text(view.doing.as_deref().map(visible))),
        ("error", text(outcome.and_then(|o| o.error.as_deref()).map(visible))),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(key, value)| vec![key.to_owned(), value])
        .collect();
    let mut shown = columns(&rows, "");
    if let Some(output) = outcome.and_then(|outcome| outcome.output.as_ref()) {
        shown.push_str(&format!("\n{}\n", print::visible(output.trim_end_matches('\n'))));
    }
    Ok(print::bytes(shown.as_bytes(), 0))
}

fn wait(desk: &Desk, id: &TaskId, timeout: Option<Duration>, json: bool) -> Result<i32, Refusal> {
    let until = timeout.and_then(|time| Instant::now().checked_add(time));
    match desk.wait(id, until, &|| true, &mut |_| {})? {
        Waited::Over(outcome) => Ok(show_outcome(&outcome, json)),
        Waited::NotYet(view) if json => Ok(print::json(&view, 124)),
        Waited::NotYet(view) => {
            print::note(&format!("the task is {}", view.state.as_str()));
            Ok(124)
        }
    }
}

fn cancel(desk: &Desk, ids: &[TaskId]) -> Result<i32, Refusal> {
    let mut status = 0;
    for id in ids {
        match desk.cancel(id) {
            Ok(Cancel::Cancelled) => print::note(&format!("cancelled `{id}`")),
            Ok(Cancel::Asked) => print::note(&format!("`{id}` is asked to end")),
            Ok(Cancel::Over(state)) => print::note(&format!("`{id}` is {} already", state.as_str())),
            Err(refusal) => status = refused(&refusal),
        }
    }
    Ok(status)
}
