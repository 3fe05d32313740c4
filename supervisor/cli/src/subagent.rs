//! `subagent`: one task, waited for or left in the background.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use glee_engine::definitions::AgentName;
use glee_engine::definitions::Cli;
use glee_engine::definitions::store::Agents;
use glee_engine::project::Scene;
use glee_engine::sessions::SessionId;
use glee_engine::store::TaskId;
use glee_engine::tasks::{
    Answer, Asker, Desk, News, Outcome, Progress, Question, Refusal, Request, Stay, TASK_VARIABLE, Ticket,
};
use glee_engine::text::{columns, quoted, visible};
use glee_sandbox::sys::event;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

use crate::args_tasks::SubagentArgs;
use crate::print;

/// What ends this program, and with it the tasks it waits for.
pub(crate) const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
pub(crate) const SIGPIPE: i32 = 13;

/// Returns the exit status.
pub(crate) fn subagent(arguments: SubagentArgs, project: Option<PathBuf>) -> i32 {
    let json = arguments.json;
    let named = arguments.agent.clone();
    let named = named.or_else(|| arguments.cli.map(|cli| cli.to_string()));
    let done = desk(project.as_deref()).and_then(|desk| {
        let background = arguments.background;
        let request = request(arguments, desk.scene())?;
        let ticket = submit(&desk, request, background)?;
        if background {
            return Ok(taken(&ticket, json));
        }
        let outcome = follow(&desk, &ticket)?;
        Ok(show(&outcome, json))
    });
    match done {
        Ok(status) => status,
        Err(refusal) if json => print::json(&refusal.outcome(named), 1),
        Err(refusal) => refused(&refusal),
    }
}

/// Why nothing came of it: in words, or as the object that `subagent --json` prints.
pub(crate) fn failed(refusal: &Refusal, json: bool) -> i32 {
    match json {
        true => print::json(&refusal.outcome(None), 1),
        false => refused(refusal),
    }
}

/// The desk of the project, for this call.
pub(crate) fn desk(project: Option<&Path>) -> Result<Desk, Refusal> {
    let scene = Scene::find(project)?;
    let caller = format!("cli-{}", std::process::id());
    let caller = caller.parse().map_err(|_| Refusal::NobodyToAsk)?;
    Desk::open(scene, caller)
}

pub(crate) fn refused(refusal: &Refusal) -> i32 {
    if refusal.has_place() {
        print::note(&refusal.to_string());
    } else {
        print::error(&refusal.to_string(), refusal.help().as_deref());
    }
    1
}

fn request(arguments: SubagentArgs, scene: &Scene) -> Result<Request, Refusal> {
    let mut prompt = arguments.prompt;
    if prompt == "-" {
        prompt.clear();
        std::io::stdin().read_to_string(&mut prompt).map_err(Refusal::Files)?;
    }
    let mut request = Request {
        description: arguments.description.unwrap_or_default(),
        cli: arguments.cli,
        session: arguments.session,
        inputs: arguments.input.into_iter().collect(),
        timeout: arguments.timeout,
        parent: parent(),
        ..Request::new(&prompt)
    };
    if let Some(name) = arguments.agent {
        // A definition of that name, else a CLI.
        match (Agents::open(&scene.project)?.get(&name), Cli::named(&name)) {
            (Err(_), Some(cli)) if !defined(scene, &name) => request.cli = Some(cli),
            (Ok(agent), _) => request.agent = Some(agent.name),
            (Err(error), _) => return Err(error.into()),
        }
    }
    Ok(request)
}

/// Is there a file of that name, sound or not?
fn defined(scene: &Scene, name: &str) -> bool {
    let name = AgentName::new(name);
    let agents = Agents::open(&scene.project);
    match (name, agents) {
        (Some(name), Ok(agents)) => !matches!(agents.bytes(&name), Ok(None)),
        (None, _) | (_, Err(_)) => false,
    }
}

/// The task that this command is part of, if it runs without a sandbox; in one it reaches no store.
pub(crate) fn parent() -> Option<TaskId> {
    std::env::var(TASK_VARIABLE).ok()?.parse().ok()
}

/// Asks on the terminal if approval is needed; without one a task in the background waits for it.
pub(crate) fn submit(desk: &Desk, mut request: Request, background: bool) -> Result<Ticket, Refusal> {
    request.stay = if background { Stay::Alone } else { Stay::WithAsker };
    let is_here = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    match (is_here, background) {
        (true, _) => desk.submit(request, Asker::Now(&mut ask)),
        (false, true) => desk.submit(request, Asker::Later),
        (false, false) => desk.submit(request, Asker::Nobody),
    }
}

pub(crate) fn ask(question: &Question) -> Answer {
    print::say(&described(question, Extent::Whole));
    print::say("start it? [y/N] ");
    let mut answer = String::new();
    // Whoever cannot be heard has not said yes.
    let heard = std::io::stdin().lock().read_line(&mut answer).is_ok();
    match (heard, answer.trim().to_ascii_lowercase().as_str()) {
        (true, "y" | "yes") => Answer::Yes,
        (true | false, _) => Answer::No,
    }
}

/// How much of a prompt is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Beginning,
}

/// What somebody must know to say yes. Nothing in it drives the terminal.
pub(crate) fn described(question: &Question, extent: Extent) -> String {
    let agent = question.agent.as_ref().map(|agent| format!("{agent}, "));
    let by_agent = |parent: &TaskId| ("asked by", format!("the agent that works on the task {parent}"));
    let session = |id: &SessionId| ("session", format!("goes on with {id}"));
    let rows = [
        ("task", visible(&question.description)),
        (
            "agent",
            format!("{}{}", visible(&agent.unwrap_or_default()), question.cli),
        ),
        ("command", visible(&question.command.join(" "))),
        (
            "time",
            format!("at most {:?}", Duration::from_millis(question.timeout_ms)),
        ),
        ("policy", visible(&question.policy)),
    ];
    let first = question.parent.as_ref().map(by_agent);
    let rows = first
        .into_iter()
        .chain(question.session_id.as_ref().map(session))
        .chain(rows);
    let rows: Vec<Vec<String>> = rows.map(|(key, value)| vec![key.to_owned(), value]).collect();
    let mut text = columns(&rows, "");
    for clause in &question.clauses {
        text.push_str(&format!("  {}\n", visible(clause)));
    }
    for (name, value) in &question.inputs {
        text.push_str(&format!("input {}\n{}", visible(name), quoted(value, "  ")));
    }
    let prompt = match extent {
        Extent::Whole => &question.prompt,
        Extent::Beginning => &question.prompt_head,
    };
    text.push_str(&format!("prompt\n{}", quoted(prompt, "  ")));
    if question.prompt_bytes > prompt.len() {
        let id = question.task_id.as_ref().map(TaskId::as_str).unwrap_or_default();
        text.push_str(&format!(
            "  [{} bytes in all; `glee-supervisor approvals show {id}` shows them]\n",
            question.prompt_bytes
        ));
    }
    text
}

fn taken(ticket: &Ticket, json: bool) -> i32 {
    if json {
        return print::json(ticket, 0);
    }
    let text = format!("{}\t{}\t{}\n", ticket.task_id, ticket.session_id, ticket.state.as_str());
    print::bytes(text.as_bytes(), 0)
}

/// Waits for one task. Whoever is asked to end ends the task first.
fn follow(desk: &Desk, ticket: &Ticket) -> Result<Outcome, Refusal> {
    // Made when something happens: its thread must not be the one that signals end.
    let mut shown: Option<ProgressBar> = None;
    let mut last = None;
    watch(desk, vec![ticket.task_id.clone()], &mut |_, news| match news {
        News::Progress(progress) => {
            let shown = shown.get_or_insert_with(|| line(&ticket.cli));
            shown.set_message(said(&progress));
        }
        News::Over(outcome) => last = Some(*outcome),
    })?;
    if let Some(shown) = shown {
        shown.finish_and_clear();
    }
    last.ok_or_else(|| glee_engine::store::StoreError::Missing(ticket.task_id.clone()).into())
}

/// Follows tasks until all are over. Ctrl-C cancels them.
pub(crate) fn watch(desk: &Desk, tasks: Vec<TaskId>, tell: &mut dyn FnMut(usize, News)) -> Result<(), Refusal> {
    let signals = event::signal_fd(&ENDING).map_err(Refusal::Worker)?;
    let mut watch = desk.watch(tasks.clone());
    loop {
        watch.turn(tell)?;
        if watch.is_over() {
            return Ok(());
        }
        if event::next_signal(signals.as_fd()).map_err(Refusal::Worker)?.is_some() {
            print::note("cancelling");
            for id in &tasks {
                desk.cancel(id)?;
            }
            // A second one ends us at once; the workers go on to end their tasks.
            event::reset_signals(&[SIGPIPE]).map_err(Refusal::Worker)?;
        }
        watch.rest(None);
    }
}

/// A line that shows what happens, on a terminal only.
pub(crate) fn line(prefix: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    styled(&bar, prefix);
    bar
}

pub(crate) fn styled(bar: &ProgressBar, prefix: &str) {
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {prefix}: {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(visible(prefix));
    bar.enable_steady_tick(Duration::from_millis(120));
}

/// In words, harmless on a terminal.
pub(crate) fn said(progress: &Progress) -> String {
    match progress {
        Progress::State(state) => state.as_str().to_owned(),
        Progress::Doing(what) => visible(what),
    }
}

/// The answer on standard output, what went wrong on standard error.
pub(crate) fn show(outcome: &Outcome, json: bool) -> i32 {
    let status = i32::from(!outcome.is_completed());
    if json {
        return print::json(outcome, status);
    }
    let mut text = outcome.output.clone().unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if std::io::stdout().is_terminal() {
        text = print::visible(&text);
    }
    let printed = print::bytes(text.as_bytes(), status);
    // The answer first, whatever becomes of the rest.
    let _ = std::io::stdout().flush();
    if let Some(error) = &outcome.error {
        print::error(error, outcome.help.as_deref());
    }
    if let Some(id) = &outcome.session_id {
        print::note(&format!("session {id}"));
    }
    printed
}
