//! `workflow list`, `show`, `validate` and `graph`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glee_engine::project::Scene;
use glee_engine::run::Refusal;
use glee_engine::text::{columns, visible};
use glee_engine::trust::Standing;
use glee_engine::workflows::check::Plan;
use glee_engine::workflows::graph;
use glee_engine::workflows::model::{Author, Execution};
use glee_engine::workflows::problem::{Problem, Told};
use glee_engine::workflows::shelf::{CheckError, Shelf, ShelfError};
use glee_engine::workflows::view::{self, Line, Shown, ShownStep};
use glee_policy::Origin;
use serde::Serialize;

use crate::args_workflow::{GraphArgs, GraphFormat, ValidateArgs, WorkflowCommand};
use crate::print::{self, Paint};
use crate::{workflow_past, workflow_run};

/// Returns the exit status.
pub(crate) fn workflow(command: WorkflowCommand, project: Option<PathBuf>) -> i32 {
    let project = project.as_deref();
    match command {
        WorkflowCommand::List { json } => list(project, json),
        WorkflowCommand::Show { name, json } => show(&name, project, json),
        WorkflowCommand::Validate(arguments) => validate(&arguments, project),
        WorkflowCommand::Graph(arguments) => draw(&arguments, project),
        WorkflowCommand::Run(arguments) => workflow_run::run(arguments, project),
        WorkflowCommand::Resume(arguments) => workflow_run::resume(&arguments, project),
        WorkflowCommand::Status(arguments) => workflow_past::status(&arguments, project),
        WorkflowCommand::History(arguments) => workflow_past::history(&arguments, project),
        WorkflowCommand::Cancel(arguments) => workflow_past::cancel(&arguments, project),
    }
}

/// What the project has, or the exit status after saying why that cannot be known.
pub(crate) fn shelf(project: Option<&Path>, json: bool) -> Result<Shelf, i32> {
    let scene = Scene::find(project).map_err(|error| {
        let refusal = Refusal::from(error);
        print::failure(&refusal.to_string(), refusal.help().as_deref(), 1, json)
    });
    Shelf::open(&scene?).map_err(|error| failed(&error, json))
}

fn failed(error: &ShelfError, json: bool) -> i32 {
    if error.has_place() && !json {
        print::note(&error.to_string());
        return 1;
    }
    print::failure(&error.to_string(), error.help().as_deref(), 1, json)
}

/// Says why there is no plan. Returns the exit status.
pub(crate) fn refused(error: &CheckError<'_>, shelf: &Shelf, json: bool) -> i32 {
    match error {
        CheckError::Absent(error) => print::failure(&error.to_string(), Some(&error.help()), 1, json),
        CheckError::Broken(_) | CheckError::Problems(_) => {
            let rendered = error.render(&shelf.library);
            if json {
                return print::failure(rendered.trim_end(), None, 1, json);
            }
            print::say(&rendered);
            1
        }
    }
}

fn list(project: Option<&Path>, json: bool) -> i32 {
    let shelf = match shelf(project, json) {
        Ok(shelf) => shelf,
        Err(status) => return status,
    };
    let found = view::list(&shelf.library);
    if json {
        return print::json(&found, 0);
    }
    if found.is_empty() {
        print::note("the project has no workflows; they are the files .glee/workflows/NAME.yml");
        return 0;
    }
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    print::bytes(columns(&rows, "").as_bytes(), 0)
}

fn row(line: &Line) -> Vec<String> {
    let steps = match (line.execution, line.steps) {
        (Some(execution), Some(1)) => format!("1 step, {}", execution.word()),
        (Some(execution), Some(steps)) => format!("{steps} steps, {}", execution.word()),
        (_, _) => Paint::Bad.out("broken"),
    };
    let author = match line.author {
        Some(Author::Agent) => Paint::Doubtful.out("by an agent"),
        Some(Author::Person) | None => String::new(),
    };
    let standing = line.standing.map(|standing| match standing {
        Standing::Trusted => Paint::Good.out("trusted"),
        Standing::Changed => Paint::Doubtful.out("changed since it was trusted"),
        Standing::Untrusted => "not trusted".to_owned(),
    });
    let about = match (&line.description, line.problems.as_slice()) {
        (Some(description), _) => description.clone(),
        (None, [only]) => only.message.clone(),
        (None, problems) => format!("{} problems; `workflow validate` shows them", problems.len()),
    };
    vec![
        visible(&line.name),
        steps,
        standing.unwrap_or_default(),
        author,
        visible(&about),
    ]
}

fn show(name: &str, project: Option<&Path>, json: bool) -> i32 {
    let shelf = match shelf(project, json) {
        Ok(shelf) => shelf,
        Err(status) => return status,
    };
    let shown = match shelf.library.entry(name) {
        Ok(entry) => match &entry.found {
            Ok(workflow) => view::show(workflow, entry.standing),
            Err(broken) => return refused(&CheckError::Broken(broken), &shelf, json),
        },
        Err(error) => return refused(&CheckError::Absent(error), &shelf, json),
    };
    if json {
        return print::json(&shown, 0);
    }
    let mut page = page(&shown);
    if let Err(error) = shelf.check(name) {
        let count = error.told().len();
        let words = if count == 1 {
            "1 problem".into()
        } else {
            format!("{count} problems")
        };
        page.push_str(&format!(
            "\n{}: `glee-supervisor workflow validate {name}` shows them\n",
            Paint::Bad.out(&words)
        ));
    }
    print::bytes(page.as_bytes(), 0)
}

fn page(shown: &Shown) -> String {
    let mut rows = Vec::new();
    let mut add = |key: &str, value: String| rows.push(vec![key.to_owned(), value]);
    add("name", shown.name.to_string());
    add("description", visible(&shown.description));
    add("execution", shown.execution.word().into());
    add(
        "author",
        match shown.author {
            Author::Person => "a person".into(),
            Author::Agent => "an agent: may not run other workflows, and has the smaller budgets".into(),
        },
    );
    add("file", visible(&shown.file));
    add("sha256", shown.sha256.clone());
    add(
        "trusted",
        match shown.standing {
            Some(Standing::Trusted) => "yes".into(),
            Some(Standing::Changed) => "no: it has changed since; `glee-supervisor trust` shows and asks".into(),
            Some(Standing::Untrusted) | None => "no; `glee-supervisor trust` shows and asks".into(),
        },
    );
    for input in shown.inputs.iter().flatten() {
        let rest = match (&input.default, input.required) {
            (Some(default), _) => format!("default {}", visible(default)),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        add("input", format!("{}: {}, {rest}", input.name, input.kind));
    }
    let steps: String = shown
        .steps
        .iter()
        .map(|step| step_lines(step, shown.execution))
        .collect();
    format!("{}steps\n{steps}", columns(&rows, ""))
}

fn step_lines(step: &ShownStep, execution: Execution) -> String {
    let work = match (&step.agent, &step.workflow) {
        (Some(agent), _) => format!("agent {agent}"),
        (None, Some(workflow)) => format!("workflow {workflow}"),
        (None, None) => String::new(),
    };
    let name = step.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let mut rows = Vec::new();
    let mut add = |key: String, value: &str| {
        // Several lines stay several lines.
        let value = value.trim_end().lines().map(visible).collect::<Vec<_>>().join("\n");
        rows.push(vec![key, value]);
    };
    if let Some(group) = &step.parallel_group {
        add("group".into(), group.as_str());
    }
    if !step.needs.is_empty() {
        add("needs".into(), &step.needs.join(", "));
    }
    if step.on_error != execution.on_error() {
        add("on_error".into(), step.on_error.word());
    }
    for (name, value) in &step.inputs {
        add(name.clone(), value);
    }
    if let Some(prompt) = &step.prompt {
        add("prompt".into(), prompt);
    }
    format!("  [{}] {name}{work}\n{}", step.step_index, columns(&rows, "      "))
}

/// What is said of one workflow.
#[derive(Debug, Serialize)]
struct Verdict {
    name: String,
    valid: bool,
    problems: Vec<Told>,
}

fn validate(arguments: &ValidateArgs, project: Option<&Path>) -> i32 {
    let shelf = match shelf(project, arguments.json) {
        Ok(shelf) => shelf,
        Err(status) => return status,
    };
    let names: Vec<String> = if arguments.names.is_empty() {
        shelf.library.entries().map(|entry| entry.name.clone()).collect()
    } else {
        arguments.names.clone()
    };
    let mut verdicts = Vec::new();
    let mut told = BTreeSet::new();
    for name in names {
        let found = shelf.check(&name);
        if !arguments.json {
            say(&name, &found, &shelf, &mut told);
        }
        verdicts.push(Verdict {
            valid: found.is_ok(),
            problems: found.err().map(|error| error.told()).unwrap_or_default(),
            name,
        });
    }
    let status = i32::from(verdicts.iter().any(|verdict| !verdict.valid));
    if arguments.json {
        return print::json(&verdicts, status);
    }
    if verdicts.is_empty() {
        print::note("the project has no workflows; they are the files .glee/workflows/NAME.yml");
    }
    status
}

/// Says how one workflow stands. What is wrong below several of them is told once.
fn say(name: &str, found: &Result<Arc<Plan>, CheckError<'_>>, shelf: &Shelf, told: &mut BTreeSet<(Origin, String)>) {
    match found {
        Ok(plan) => {
            let steps = if plan.total_steps == 1 { "step" } else { "steps" };
            let line = format!("{name}: {} ({} {steps})\n", Paint::Good.out("valid"), plan.total_steps);
            print::bytes(line.as_bytes(), 0);
        }
        Err(CheckError::Problems(problems)) => {
            let mut is_new = |problem: &&Problem| told.insert((problem.at.clone(), problem.what.to_string()));
            let new: Vec<Problem> = problems.iter().filter(|problem| is_new(problem)).cloned().collect();
            if new.len() < problems.len() {
                let count = problems.len() - new.len();
                print::note(&format!("`{name}` is not valid: {count} told above"));
            }
            print::say(&shelf.library.render(&new));
        }
        Err(error @ (CheckError::Absent(_) | CheckError::Broken(_))) => {
            refused(error, shelf, false);
        }
    }
}

fn draw(arguments: &GraphArgs, project: Option<&Path>) -> i32 {
    let shelf = match shelf(project, arguments.json) {
        Ok(shelf) => shelf,
        Err(status) => return status,
    };
    let plan = match shelf.check(&arguments.name) {
        Ok(plan) => plan,
        Err(error) => return refused(&error, &shelf, arguments.json),
    };
    if arguments.json {
        return print::json(&view::plan(&plan), 0);
    }
    let text = match arguments.format {
        GraphFormat::Text => graph::text(&plan),
        GraphFormat::Mermaid => graph::mermaid(&plan),
        GraphFormat::Svg => graph::svg(&plan),
    };
    print::bytes(text.as_bytes(), 0)
}
