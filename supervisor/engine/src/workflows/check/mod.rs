//! A workflow and everything it runs, checked as a whole before anything runs.
//!
//! Pure: what it needs to know of the project is given. It finds everything that is wrong, not the first thing, and takes
//! time that grows with the files, not with the tree: a workflow that is used a thousand times is looked at once.

mod crew;
mod inputs;
mod plan;
mod reach;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use glee_policy::error::place;
use glee_policy::{Origin, Source};

pub use crew::Crew;
pub use plan::{Does, Need, Plan, PlanStep, Walked};

use super::expr::Place;
use super::library::{Broken, Library};
use super::model::{Author, Step, Work, Workflow};
use super::name::WorkflowName;
use super::problem::{Problem, What};
use crate::settings::{Key, Settings};
use crate::trust::Files;

/// What the configuration allows, as far as it can be checked beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Workflows inside workflows.
    pub max_depth: u64,
    pub max_steps: u64,
    /// The same for what an agent wrote.
    pub generated_steps: u64,
}

impl Limits {
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let number = |key| settings.number(key).unwrap_or(u64::MAX);
        Self {
            max_depth: number(Key::MaxDepth),
            max_steps: number(Key::BudgetSteps),
            generated_steps: number(Key::GeneratedSteps),
        }
    }
}

/// Everything that follows from the files, or everything that is wrong with them, by place.
pub fn check(root: &WorkflowName, library: &Library, crew: &Crew, limits: Limits) -> Result<Arc<Plan>, Vec<Problem>> {
    let mut problems = absent(root, library);
    let order = reach::order(root, library, limits.max_depth, &mut problems);
    let mut plans: BTreeMap<WorkflowName, Arc<Plan>> = BTreeMap::new();
    for workflow in &order {
        let before = problems.len();
        let plan = plan(workflow, crew, &plans, &mut problems);
        budget(workflow, plan.total_steps, root, limits, &mut problems);
        if problems.len() == before && below_is_sound(workflow, &plans) {
            plans.insert(workflow.name.clone(), Arc::new(plan));
        }
    }
    problems.sort_by(|a, b| a.at.cmp(&b.at));
    problems.dedup();
    match plans.get(root) {
        Some(plan) if problems.is_empty() => Ok(plan.clone()),
        Some(_) | None => {
            // From above, so that no plan takes a long chain of others with it, each from within the last.
            for workflow in order.iter().rev() {
                plans.remove(&workflow.name);
            }
            Err(problems)
        }
    }
}

/// Why there is nothing to begin with, if there is not.
fn absent(root: &WorkflowName, library: &Library) -> Vec<Problem> {
    match library.entry(root.as_str()).map(|entry| (entry, &entry.found)) {
        Ok((_, Ok(_))) => Vec::new(),
        Ok((_, Err(Broken::Problems(problems)))) => problems.clone(),
        Ok((entry, Err(Broken::Unreadable { .. } | Broken::NotAName { .. }))) => vec![Problem {
            at: place(&Source::File(entry.file.to_string_lossy().into()), 0, 0),
            what: What::BrokenWorkflow(root.to_string()),
        }],
        Err(_) => vec![Problem {
            at: Origin::flag("workflow"),
            what: What::UnknownWorkflow {
                name: root.to_string(),
                nearest: library.nearest(root.as_str()),
            },
        }],
    }
}

fn below_is_sound(workflow: &Workflow, plans: &BTreeMap<WorkflowName, Arc<Plan>>) -> bool {
    workflow.steps.iter().all(|step| match &step.work {
        Work::Agent(_) => true,
        Work::Workflow(name) => plans.contains_key(name),
    })
}

/// The plan of one workflow, those below it being there as far as they are sound.
fn plan(
    workflow: &Arc<Workflow>,
    crew: &Crew,
    plans: &BTreeMap<WorkflowName, Arc<Plan>>,
    problems: &mut Vec<Problem>,
) -> Plan {
    let links = steps::links(workflow, problems);
    let mut wanted = inputs::own(workflow, problems);
    let (mut steps, mut agents) = (Vec::new(), Files::new());
    let mut total_steps: u64 = 0;
    for (index, (step, link)) in workflow.steps.iter().zip(links).enumerate() {
        total_steps = total_steps.saturating_add(1);
        let (does, passes) = match &step.work {
            Work::Agent(name) => match crew.find(name, step, problems) {
                Some(does) => {
                    agents.extend(crew.file(name));
                    (does, [].into())
                }
                None => continue,
            },
            Work::Workflow(name) => {
                if workflow.author == Author::Agent {
                    problems.push(step_problem(step, step.marks.work, What::Nests(name.to_string())));
                }
                let Some(below) = plans.get(name) else { continue };
                total_steps = total_steps.saturating_add(below.total_steps);
                let passes = inputs::below(workflow, step, below, &mut wanted, problems);
                (Does::Workflow(below.clone()), passes)
            }
        };
        steps.push(PlanStep {
            index,
            does,
            stage: link.stage,
            depends: link.depends,
            on_error: step.on_error.unwrap_or_else(|| workflow.execution.on_error()),
            passes,
        });
    }
    Plan {
        workflow: workflow.clone(),
        steps,
        agents,
        inputs: wanted,
        total_steps,
    }
}

/// Can the steps be paid for?
fn budget(workflow: &Workflow, steps: u64, root: &WorkflowName, limits: Limits, problems: &mut Vec<Problem>) {
    let (most, key) = match workflow.author {
        Author::Agent => (limits.generated_steps, Key::GeneratedSteps),
        Author::Person if workflow.name == *root => (limits.max_steps, Key::BudgetSteps),
        Author::Person => return,
    };
    if steps > most
        && let Some(first) = workflow.steps.first()
    {
        let key = key.path();
        problems.push(Problem {
            at: first.at.clone(),
            what: What::Budget { steps, most, key },
        });
    }
}

fn at(step: &Step, place_in_file: Place) -> Origin {
    place(&step.at.source, place_in_file.line, place_in_file.column)
}

fn step_problem(step: &Step, place_in_file: Place, what: What) -> Problem {
    Problem {
        at: at(step, place_in_file),
        what,
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
