//! A plan for a terminal: a tree of steps, each with what it waits for.

use super::{End, group, title, uses, worker};
use crate::text::visible;
use crate::workflows::check::{Does, Need, Plan, PlanStep};
use crate::workflows::model::Execution;

/// A line with lines below it.
struct Branch {
    label: String,
    below: Vec<Branch>,
}

/// The whole tree, the workflows below included.
#[must_use]
pub fn text(plan: &Plan) -> String {
    let mut out = format!(
        "{}: {}\n{}\n",
        plan.workflow.name,
        visible(&plan.workflow.description),
        facts(plan)
    );
    draw(&branches(plan), "", &mut out);
    out
}

/// The mode, the inputs and the number of steps, on one line.
pub(super) fn facts(plan: &Plan) -> String {
    let inputs: Vec<String> = plan
        .inputs
        .iter()
        .map(|(name, need)| match need {
            Need::Required => name.clone(),
            Need::Optional | Need::Default(_) => format!("[{name}]"),
        })
        .collect();
    let mut facts = vec![plan.workflow.execution.word().to_owned(), steps(plan.total_steps)];
    if !inputs.is_empty() {
        facts.push(format!("inputs {}", inputs.join(", ")));
    }
    facts.join(" · ")
}

fn steps(count: u64) -> String {
    if count == 1 {
        "1 step".into()
    } else {
        format!("{count} steps")
    }
}

fn branches(plan: &Plan) -> Vec<Branch> {
    let mut list: Vec<Branch> = Vec::new();
    let mut last = None;
    for step in &plan.steps {
        let branch = branch(plan, step);
        let here = group(plan, step).filter(|_| plan.workflow.execution == Execution::Parallel);
        match (here, list.last_mut()) {
            (Some(name), Some(open)) if last == Some(name) => open.below.push(branch),
            (Some(name), _) => list.push(Branch {
                label: format!("group {name}, at once"),
                below: vec![branch],
            }),
            (None, _) => list.push(branch),
        }
        last = here;
    }
    list
}

fn branch(plan: &Plan, step: &PlanStep) -> Branch {
    let name = title(plan, step);
    let mut label = format!("[{}] {name}", step.index);
    let who = match &step.does {
        Does::Agent(agent) if agent.as_str() == name => None,
        Does::Agent(agent) => Some(format!("agent {agent}")),
        Does::Cli(cli) => Some(format!("CLI {cli}")),
        Does::Workflow(below) => Some(format!(
            "workflow {}, {}",
            worker(step),
            below.workflow.execution.word()
        )),
    };
    let mut notes: Vec<String> = who.into_iter().collect();
    if plan.workflow.execution == Execution::Dag
        && let Some(name) = group(plan, step)
    {
        notes.push(format!("in group {name}"));
    }
    let used: Vec<String> = uses(plan, step).iter().map(end).collect();
    if !used.is_empty() {
        notes.push(format!("uses {}", used.join(", ")));
    }
    if step.on_error != plan.workflow.execution.on_error() {
        notes.push(format!("on error: {}", step.on_error.word()));
    }
    if !notes.is_empty() {
        label.push_str(&format!("  ({})", notes.join("; ")));
    }
    let below = match &step.does {
        Does::Workflow(below) => branches(below),
        Does::Agent(_) | Does::Cli(_) => Vec::new(),
    };
    Branch { label, below }
}

fn end(end: &End) -> String {
    match end {
        End::Step(index) => format!("[{index}]"),
        End::Group(name) => format!("group {name}"),
    }
}

fn draw(branches: &[Branch], indent: &str, out: &mut String) {
    for (index, branch) in branches.iter().enumerate() {
        let is_last = index + 1 == branches.len();
        let (fork, rest) = if is_last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        out.push_str(&format!("{indent}{fork}{}\n", branch.label));
        draw(&branch.below, &format!("{indent}{rest}"), out);
    }
}
