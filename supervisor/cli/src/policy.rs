//! `policy list`, `show`, `check` and `plan`; `explain` and `learn` have files of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use glee_engine::catalog::{self, Listed};
use glee_engine::clauses::{Clause, clauses};
use glee_engine::plan_view::PlanView;
use glee_engine::project::Scene;
use glee_engine::run::{self, Options, Refusal};
use glee_engine::select::{self, Selected};
use glee_engine::text::{columns, visible};
use glee_policy::Flags;
use serde::Serialize;

use crate::args::Workspace;
use crate::args_more::PolicyCommand;
use crate::print::{self, Paint};
use crate::run::announce_policy;
use crate::{explain, learn};

/// The run id in a printed plan: the same command prints the same plan.
pub(crate) const PLANNED: &str = "plan";

/// Returns the exit status.
pub(crate) fn policy(command: PolicyCommand, project: Option<PathBuf>) -> i32 {
    let done = match command {
        PolicyCommand::List { json } => list(project.as_deref(), json),
        PolicyCommand::Show { policy, json } => show(policy.as_deref(), project.as_deref(), json),
        PolicyCommand::Check { file, json } => check(&file, project.as_deref(), json),
        PolicyCommand::Explain(arguments) => Ok(explain::run(arguments, project)),
        PolicyCommand::Learn(arguments) => Ok(learn::run(arguments, project)),
        PolicyCommand::Plan {
            policy,
            workspace,
            json,
            command,
        } => plan(policy, project, workspace, json, command),
    };
    done.unwrap_or_else(|refusal| print::refusal(&refusal, 1))
}

fn list(project: Option<&Path>, json: bool) -> Result<i32, Refusal> {
    let scene = Scene::find(project)?;
    let listed = catalog::list(&scene);
    for (dir, error) in catalog::closed(&scene) {
        let message = format!("cannot look for profiles in `{}`: {error}", dir.display());
        print::warning(
            &message,
            Some("it must be readable for you; what is in it is not known by name"),
        );
    }
    if json {
        return Ok(print::json(&listed, 0));
    }
    let head = ["name", "from", "why"].map(|title| Paint::Head.out(title)).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(listed.iter().map(row)).collect();
    Ok(print::bytes(columns(&rows, "").as_bytes(), 0))
}

fn row(listed: &Listed) -> Vec<String> {
    let from = match &listed.file {
        Some(file) => format!("{} {file}", listed.from),
        None => listed.from.to_owned(),
    };
    let why = match (listed.hidden, &listed.error) {
        (Some(hidden), _) => Paint::Doubtful.out(&format!("not used: {hidden}")),
        (None, Some(error)) => Paint::Bad.out(&format!("broken: {}", visible(error))),
        (None, None) => visible(listed.why.as_deref().unwrap_or_default()),
    };
    vec![visible(&listed.name), visible(&from), why]
}

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    sha256: String,
    clauses: Vec<Clause>,
    /// What the project asks for and does not get, because it is not trusted.
    withheld: Vec<String>,
}

fn show(policy: Option<&str>, project: Option<&Path>, json: bool) -> Result<i32, Refusal> {
    let selected = select::select(policy, &Scene::find(project)?)?;
    let Selected { policy, withheld, .. } = &selected;
    if json {
        let withheld = withheld.iter().map(ToString::to_string).collect();
        let shown = Shown {
            name: &policy.name,
            sha256: policy.sha256(),
            clauses: clauses(policy),
            withheld,
        };
        return Ok(print::json(&shown, 0));
    }
    announce_policy(&selected);
    let head = ["clause", "value", "from", "why"]
        .map(|title| Paint::Head.out(title))
        .to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(clauses(policy).iter().map(clause_row))
        .collect();
    let title = format!(
        "{}  sha256 {}",
        Paint::Head.out(&visible(&policy.name)),
        policy.sha256()
    );
    Ok(print::bytes(format!("{title}\n\n{}", columns(&rows, "")).as_bytes(), 0))
}

fn clause_row(clause: &Clause) -> Vec<String> {
    let mut value = match &clause.here {
        Some(here) => format!("{} → {}", visible(&clause.value), visible(here)),
        None => visible(&clause.value),
    };
    if clause.exists == Some(false) {
        value.push_str(" (not there)");
    }
    let from = clause.origin.as_ref().map(ToString::to_string).unwrap_or_default();
    vec![
        visible(&clause.key),
        value,
        visible(&from),
        visible(clause.why.as_deref().unwrap_or_default()),
    ]
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    errors: Vec<catalog::Fault>,
    examples: usize,
}

fn check(file: &Path, project: Option<&Path>, json: bool) -> Result<i32, Refusal> {
    let (errors, sound) = match catalog::check(file, &Scene::find(project)?) {
        Ok(sound) => (Vec::new(), Some(sound)),
        Err(errors) => (errors, None),
    };
    let status = i32::from(sound.is_none());
    if json {
        let examples = sound.as_ref().map_or(0, |sound| sound.examples);
        return Ok(print::json(
            &Checked {
                ok: sound.is_some(),
                errors,
                examples,
            },
            status,
        ));
    }
    for error in &errors {
        print::say(&format!("{}\n", error.rendered));
    }
    let Some(sound) = sound else { return Ok(status) };
    let about = match (sound.has_policy, sound.examples) {
        (false, _) => ": it says nothing about permissions, so `restricted` holds".to_owned(),
        (true, 0) => String::new(),
        (true, 1) => ", and its example holds".to_owned(),
        (true, count) => format!(", and its {count} examples hold"),
    };
    Ok(print::bytes(format!("ok{about}\n").as_bytes(), 0))
}

fn plan(
    policy: Option<String>,
    project: Option<PathBuf>,
    workspace: Option<Workspace>,
    json: bool,
    command: Vec<OsString>,
) -> Result<i32, Refusal> {
    let command = if command.is_empty() {
        vec!["/bin/sh".into()]
    } else {
        command
    };
    let flags = Flags::none(std::env::current_dir().unwrap_or_default());
    let mut options = Options::to_look(policy, project, flags, command);
    options.workspace = Workspace::wanted(workspace);
    let prepared = run::prepare(&options, PLANNED)?;
    announce_policy(&prepared.selected);
    let view = PlanView::new(&prepared.selected.policy.name, &prepared.plan);
    Ok(if json {
        print::json(&view, 0)
    } else {
        print::bytes(view.to_string().as_bytes(), 0)
    })
}
