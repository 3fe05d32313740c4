//! `workflow run` and `resume`: a workflow from its beginning, or from where it was left, to its end.

use std::ffi::OsStr;
use std::io::{BufRead, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use glee_engine::audit::Answer as Said;
use glee_engine::clock::Moment;
use glee_engine::project::Scene;
use glee_engine::store::{FlowState, Millis};
use glee_engine::tasks::{Answer, Desk, Question, Refusal};
use glee_engine::text::visible;
use glee_engine::workflows::Workflow;
use glee_engine::workflows::page::page;
use glee_engine::workflows::run::begin::answered;
use glee_engine::workflows::run::price::Money;
use glee_engine::workflows::run::tree::Tree;
use glee_engine::workflows::run::{self, Event, GoOn, Onlooker, Ready, RunError, RunView, Whom};
use glee_sandbox::sys::{event, process as sys};

use crate::args_workflow_run::{ResumeArgs, RunArgs};
use crate::print;
use crate::subagent::{ENDING, SIGPIPE, ask, desk, parent};
use crate::workflow_dry::dry;
use crate::workflow_lines::Lines;
use crate::workflow_past::cost;

/// Returns the exit status.
pub(crate) fn run(arguments: RunArgs, project: Option<&Path>) -> i32 {
    let json = arguments.json;
    let done = desk(project).map_err(RunError::from).and_then(|desk| {
        let mut ready = run::ready(&arguments.name, arguments.input.into_iter().collect(), desk.scene())?;
        ready.order.parent = parent();
        if arguments.dry {
            return Ok(dry(&ready, json));
        }
        approved(&ready, desk.scene())?;
        if arguments.background {
            let id = run::hand_over(&desk, &ready)?;
            return Ok(match json {
                true => print::json(&serde_json::json!({ "run_id": id }), 0),
                false => print::bytes(format!("{id}\n").as_bytes(), 0),
            });
        }
        let mut here = Here::new()?;
        Ok(show(&run::run(&desk, ready, &mut here)?, json))
    });
    done.unwrap_or_else(|error| failed(&error, json))
}

/// Returns the exit status.
pub(crate) fn resume(arguments: &ResumeArgs, project: Option<&Path>) -> i32 {
    let done = desk(project).map_err(RunError::from).and_then(|desk| {
        let before = run::status(&desk, &arguments.run)?;
        let mut here = Here::new()?;
        let over = before.steps.iter().filter(|step| step.result.is_some()).count();
        let open = before
            .steps
            .iter()
            .filter(|step| step.task_id.is_some() && step.result.is_none());
        here.lines.note(&format!(
            "`{}`: {over} of {} steps have ended, {} had begun",
            visible(&before.workflow),
            before.steps.len(),
            open.count()
        ));
        Ok(show(&run::resume(&desk, &arguments.run, &mut here)?, arguments.json))
    });
    done.unwrap_or_else(|error| failed(&error, arguments.json))
}

/// The driver of a run in the background.
pub(crate) fn drive(project: &Path, run: &OsStr) -> i32 {
    // Who started us may go, and its terminal with it. Only the leader of a group cannot; it has left already.
    let _ = sys::setsid();
    let done = || -> Option<RunView> {
        event::reset_signals(&[SIGPIPE]).ok()?;
        let id = run.to_str()?.parse().ok()?;
        let scene = Scene::find(Some(project)).ok()?;
        let caller = format!("cli-{}", std::process::id()).parse().ok()?;
        let desk = Desk::open(scene, caller).ok()?;
        run::resume(&desk, &id, &mut Nobody).ok()
    };
    i32::from(done().is_none())
}

pub(crate) fn failed(error: &RunError, json: bool) -> i32 {
    if error.has_place() && !json {
        print::say(&format!("{error}\n"));
        return 1;
    }
    print::failure(&error.to_string(), error.help().as_deref(), 1, json)
}

pub(crate) fn moment(at: Millis) -> String {
    Moment::from_seconds(at.0 / 1000).to_string()
}

/// What an agent wrote runs only after somebody has seen it and said yes.
fn approved(ready: &Ready, scene: &Scene) -> Result<(), RunError> {
    for workflow in &ready.unapproved {
        let is_here = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if !is_here {
            return Err(RunError::NotApproved(workflow.name.to_string()));
        }
        print::say(&described(workflow));
        let is_approved = yes("run it? [y/N] ");
        let said = if is_approved { Said::Approved } else { Said::Denied };
        answered(workflow, said, scene);
        if !is_approved {
            return Err(RunError::Denied);
        }
    }
    Ok(())
}

fn described(workflow: &Workflow) -> String {
    format!(
        "the workflow `{}` was written by an agent\nfile         {}\nsha256       {}\n{}",
        workflow.name,
        visible(&workflow.file.to_string_lossy()),
        workflow.digest,
        page(workflow)
    )
}

fn yes(question: &str) -> bool {
    print::say(question);
    let mut answer = String::new();
    // Whoever cannot be heard has not said yes.
    let heard = std::io::stdin().lock().read_line(&mut answer).is_ok();
    heard && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The one who called, perhaps at a terminal.
struct Here {
    lines: Lines,
    signals: OwnedFd,
    left: bool,
}

impl Here {
    fn new() -> Result<Self, RunError> {
        Ok(Self {
            signals: event::signal_fd(&ENDING).map_err(Refusal::Worker)?,
            lines: Lines::new(),
            left: false,
        })
    }
}

impl Onlooker for Here {
    fn tell(&mut self, tree: &Tree, event: Event<'_>) {
        self.lines.tell(tree, &event);
    }

    fn has_left(&mut self) -> bool {
        if !self.left && matches!(event::next_signal(self.signals.as_fd()), Ok(Some(_))) {
            self.lines.note("cancelling");
            self.left = true;
            // A second one ends us at once; `workflow resume` or `cancel` sees to the rest.
            let _ = event::reset_signals(&[SIGPIPE]);
        }
        self.left
    }

    fn whom(&self) -> Whom {
        match std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            true => Whom::Now,
            false => Whom::Nobody,
        }
    }

    fn approve(&mut self, question: &Question) -> Answer {
        self.lines.quiet(|| ask(question))
    }

    fn go_on(&mut self, spent: Money, allowed: Money) -> GoOn {
        let text = format!("the workflow has cost {spent}, and may cost {allowed}");
        if self.whom() != Whom::Now {
            self.lines.note(&format!("{text}: it ends here"));
            return GoOn::Abort;
        }
        self.lines.quiet(|| match yes(&format!("{text}; go on? [y/N] ")) {
            true => GoOn::Continue,
            false => GoOn::Abort,
        })
    }
}

/// Nobody: what needs approval waits in the queue of approvals.
struct Nobody;

impl Onlooker for Nobody {
    fn tell(&mut self, _: &Tree, _: Event<'_>) {}

    fn has_left(&mut self) -> bool {
        false
    }

    fn whom(&self) -> Whom {
        Whom::Later
    }

    fn approve(&mut self, _: &Question) -> Answer {
        Answer::Nobody
    }

    fn go_on(&mut self, _: Money, _: Money) -> GoOn {
        GoOn::Abort
    }
}

/// What the workflow says on standard output, what went wrong on standard error.
fn show(view: &RunView, json: bool) -> i32 {
    let status = i32::from(view.status != FlowState::Success);
    if json {
        return print::json(view, status);
    }
    let mut text = view.output.clone().unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if std::io::stdout().is_terminal() {
        text = print::visible(&text);
    }
    let printed = print::bytes(text.as_bytes(), status);
    let summary = format!(
        "`{}` {}: {} in {}ms, cost {}",
        visible(&view.workflow),
        view.run_id,
        view.status.as_str(),
        view.duration_ms,
        cost(view)
    );
    print::note(&summary);
    if let Some(error) = &view.error {
        print::error(error, None);
    }
    printed
}
