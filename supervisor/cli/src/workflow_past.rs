//! `workflow status`, `history` and `cancel`: runs as they are written down.

use std::path::Path;

use glee_engine::text::{columns, visible};
use glee_engine::workflows::run::conduct::Ended;
use glee_engine::workflows::run::{self, RunError, RunView, StepView};

use crate::args_workflow_run::{CancelArgs, HistoryArgs, StatusArgs};
use crate::print;
use crate::subagent::desk;
use crate::workflow_run::{failed, moment};

pub(crate) fn status(arguments: &StatusArgs, project: Option<&Path>) -> i32 {
    let found = desk(project)
        .map_err(RunError::from)
        .and_then(|desk| run::status(&desk, &arguments.run));
    match found {
        Ok(view) if arguments.json => print::json(&view, 0),
        Ok(view) => print::bytes(shown(&view).as_bytes(), 0),
        Err(error) => failed(&error, arguments.json),
    }
}

pub(crate) fn history(arguments: &HistoryArgs, project: Option<&Path>) -> i32 {
    if let Some(run) = &arguments.run {
        let one = StatusArgs {
            run: run.clone(),
            json: arguments.json,
        };
        return status(&one, project);
    }
    let found = desk(project)
        .map_err(RunError::from)
        .and_then(|desk| run::history(&desk, arguments.most));
    match found {
        Ok(views) if arguments.json => print::json(&views, 0),
        Ok(views) if views.is_empty() => {
            print::note("no workflow has run here");
            0
        }
        Ok(views) => {
            let rows: Vec<Vec<String>> = views.iter().map(row).collect();
            print::bytes(columns(&rows, "").as_bytes(), 0)
        }
        Err(error) => failed(&error, arguments.json),
    }
}

fn row(view: &RunView) -> Vec<String> {
    let over = view.steps.iter().filter(|step| step.result.is_some()).count();
    vec![
        view.run_id.to_string(),
        visible(&view.workflow),
        word(view),
        format!("{over}/{} steps", view.steps.len()),
        format!("{}ms", view.duration_ms),
        moment(view.created_at),
    ]
}

/// Where it is; also that nobody drives it.
fn word(view: &RunView) -> String {
    let word = view.status.as_str();
    match view.status.is_final() || view.driven {
        true => word.to_owned(),
        false => format!("{word}, nobody drives it"),
    }
}

pub(crate) fn shown(view: &RunView) -> String {
    let rows = [
        ("run", view.run_id.to_string()),
        ("workflow", visible(&view.workflow)),
        ("status", word(view)),
        ("created", moment(view.created_at)),
        ("time", format!("{}ms", view.duration_ms)),
        (
            "tokens",
            format!("{} told, {} said", view.input_tokens, view.output_tokens),
        ),
        ("cost", cost(view)),
        ("error", visible(view.error.as_deref().unwrap_or("-"))),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(key, value)| vec![key.to_owned(), value])
        .collect();
    let mut text = columns(&rows, "");
    text.push('\n');
    let steps: Vec<Vec<String>> = view.steps.iter().map(step).collect();
    text.push_str(&columns(&steps, ""));
    if let Some(output) = &view.output {
        text.push_str(&format!("\n{}\n", print::visible(output.trim_end_matches('\n'))));
    }
    text
}

pub(crate) fn cost(view: &RunView) -> String {
    match (view.unpriced_steps, view.cost_usd) {
        (0, cost) => format!("${cost:.6}"),
        (unknown, cost) => {
            format!("${cost:.6}, not known for {unknown} of the steps (`workflows.prices`)")
        }
    }
}

fn step(step: &StepView) -> Vec<String> {
    let result = step.result.as_ref();
    vec![
        visible(&step.path),
        step.state.as_str().to_owned(),
        result
            .map(|result| format!("{}ms", result.duration_ms))
            .unwrap_or_default(),
        step.task_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        visible(result.and_then(|result| result.error.as_deref()).unwrap_or_default()),
    ]
}

pub(crate) fn cancel(arguments: &CancelArgs, project: Option<&Path>) -> i32 {
    let id = &arguments.run;
    let done = desk(project)
        .map_err(RunError::from)
        .and_then(|desk| run::cancel(&desk, id));
    match done {
        Ok(Ended::Now) => print::note(&format!("cancelled `{id}`")),
        Ok(Ended::Asked) => print::note(&format!("`{id}` is asked to end")),
        Ok(Ended::Before(state)) => print::note(&format!("`{id}` is over already: {}", state.as_str())),
        Err(error) => return failed(&error, false),
    }
    0
}
