//! `subagents`: the tasks of a file, at the same time as far as the limits allow.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use glee_engine::tasks::{Desk, Indexed, News, Outcome, Progress, Refusal, Request};
use glee_engine::text::visible;
use indicatif::{MultiProgress, ProgressBar};
use serde_json::Value;

use crate::args_tasks::SubagentsArgs;
use crate::print;
use crate::subagent::{desk, failed, parent, said, styled, submit, watch};

/// A file of tasks may have so much.
const MOST: u64 = 64 << 20;

/// Returns the exit status.
pub(crate) fn subagents(arguments: &SubagentsArgs, project: Option<PathBuf>) -> i32 {
    let tasks = match read(&arguments.file) {
        Ok(tasks) => tasks,
        Err(why) => {
            let file = visible(&arguments.file.to_string_lossy());
            let why = format!("cannot read the tasks in `{file}`: {why}");
            let help = "it must hold a list of objects, as in [{\"prompt\": \"Read src/main.py\"}]";
            return print::failure(&why, Some(help), 2, arguments.json);
        }
    };
    let desk = match desk(project.as_deref()) {
        Ok(desk) => desk,
        Err(refusal) => return failed(&refusal, arguments.json),
    };
    if arguments.background {
        return leave(&desk, tasks, arguments.json);
    }
    match all(&desk, tasks) {
        Ok(results) => show(results, arguments.json),
        Err(refusal) => failed(&refusal, arguments.json),
    }
}

fn read(file: &Path) -> Result<Vec<Value>, String> {
    let mut text = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MOST).read_to_end(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MOST).read_to_end(&mut text))
    };
    read.map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

/// Everything is taken, and nothing waited for. A line for each: its id, or why there is none.
fn leave(desk: &Desk, tasks: Vec<Value>, json: bool) -> i32 {
    let (mut list, mut lines, mut status) = (Vec::new(), String::new(), 0);
    for (task_index, task) in tasks.into_iter().enumerate() {
        match take(desk, task, true) {
            Ok((ticket, _)) => {
                lines.push_str(&format!("{}\n", ticket.task_id));
                list.push(indexed(task_index, serde_json::to_value(ticket)));
            }
            Err(outcome) => {
                status = 1;
                print::note(&line(task_index, &outcome));
                list.push(indexed(task_index, serde_json::to_value(outcome)));
            }
        }
    }
    match json {
        true => print::json(&list, status),
        false => print::bytes(lines.as_bytes(), status),
    }
}

fn indexed(index: usize, of: serde_json::Result<Value>) -> Value {
    // Strings and numbers: serialising them cannot fail.
    let mut object = of.unwrap_or_default();
    if let Some(object) = object.as_object_mut() {
        object.insert("task_index".to_owned(), index.into());
    }
    object
}

/// Everything is taken first, then waited for.
fn all(desk: &Desk, tasks: Vec<Value>) -> Result<BTreeMap<usize, Outcome>, Refusal> {
    let mut results = BTreeMap::new();
    let mut taken = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        match take(desk, task, false) {
            Ok((ticket, title)) => taken.push((index, ticket, title)),
            Err(outcome) => {
                results.insert(index, *outcome);
            }
        }
    }
    let mut lines = Lines::new();
    for (index, outcome) in &results {
        lines.over(*index, outcome);
    }
    let ids = taken.iter().map(|(_, ticket, _)| ticket.task_id.clone()).collect();
    watch(desk, ids, &mut |place, news| {
        let Some((index, ticket, title)) = taken.get(place) else {
            return;
        };
        match news {
            News::Progress(progress) => {
                let name = ticket.agent.as_ref().unwrap_or(&ticket.cli);
                lines.progress(*index, name, title, &progress);
            }
            News::Over(outcome) => {
                lines.over(*index, &outcome);
                results.insert(*index, *outcome);
            }
        }
    })?;
    Ok(results)
}

fn take(desk: &Desk, task: Value, background: bool) -> Result<(glee_engine::tasks::Ticket, String), Box<Outcome>> {
    let text = |key| task.get(key).and_then(Value::as_str).map(str::to_owned);
    let named = text("agent_name").or_else(|| text("agent_cli"));
    let wrong = |error: serde_json::Error| Box::new(Outcome::refused(named.clone(), error.to_string(), None));
    let mut request: Request = serde_json::from_value(task.clone()).map_err(wrong)?;
    request.parent = parent();
    let title = request.title();
    let ticket = submit(desk, request, background).map_err(|refusal| Box::new(refusal.outcome(named)))?;
    Ok((ticket, title))
}

/// A line for each task that runs, on a terminal; else a line for each thing that happens.
struct Lines {
    screen: Option<MultiProgress>,
    bars: BTreeMap<usize, ProgressBar>,
}

impl Lines {
    fn new() -> Self {
        Self {
            screen: std::io::stderr().is_terminal().then(MultiProgress::new),
            bars: BTreeMap::new(),
        }
    }

    fn progress(&mut self, index: usize, name: &str, title: &str, progress: &Progress) {
        let Some(screen) = &self.screen else {
            if let Progress::State(state) = progress {
                print::note(&format!("[{index}] [{name}] {}: {}", state.as_str(), visible(title)));
            }
            return;
        };
        let bar = self.bars.entry(index).or_insert_with(|| {
            let bar = screen.add(ProgressBar::new_spinner());
            styled(&bar, &format!("[{index}] {name}"));
            bar
        });
        bar.set_message(said(progress));
    }

    fn over(&mut self, index: usize, outcome: &Outcome) {
        if let Some(bar) = self.bars.remove(&index) {
            bar.finish_and_clear();
        }
        let text = line(index, outcome);
        match &self.screen {
            // Nobody to tell is no reason to stop.
            Some(screen) => drop(screen.println(&text)),
            None => print::note(&text),
        }
    }
}

fn line(index: usize, outcome: &Outcome) -> String {
    let name = visible(outcome.agent.as_deref().unwrap_or("?"));
    match &outcome.error {
        None => format!("[{index}] [{name}] completed in {}ms", outcome.duration_ms),
        Some(error) => format!("[{index}] [{name}] {}", visible(error)),
    }
}

fn show(results: BTreeMap<usize, Outcome>, json: bool) -> i32 {
    let status = i32::from(!results.values().all(Outcome::is_completed));
    if json {
        let list = results
            .into_iter()
            .map(|(task_index, outcome)| Indexed { task_index, outcome });
        return print::json(&list.collect::<Vec<_>>(), status);
    }
    let mut text = String::new();
    for (index, outcome) in &results {
        if let Some(output) = &outcome.output {
            text.push_str(&format!("[{index}]\n{}\n", output.trim_end_matches('\n')));
        }
    }
    if std::io::stdout().is_terminal() {
        text = print::visible(&text);
    }
    print::bytes(text.as_bytes(), status)
}
