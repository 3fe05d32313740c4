//! A plan as a picture: for a terminal, for mermaid, and as an SVG that needs nothing else.
//!
//! Pure. INVARIANT: names are tame by their types; every other word of a file (descriptions) is made harmless where it is written.

mod arrange;
mod layout;
mod mermaid;
mod svg;
mod text;

use std::collections::{BTreeMap, BTreeSet};

pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;

use super::check::{Does, Plan, PlanStep};
use super::expr::{Reference, Template};
use super::model::{Execution, StepRef};
use super::name::GroupName;

/// One end of an arrow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Step(usize),
    Group(GroupName),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Arrow {
    /// One uses what the other said, or `needs` it.
    Uses,
    /// One only comes after the other.
    Follows,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: End,
    to: End,
    arrow: Arrow,
}

/// What a step is called: its own name, else that of who does it.
fn title(plan: &Plan, step: &PlanStep) -> String {
    let written = plan.written(step);
    match written.and_then(|written| written.name.as_ref()) {
        Some(name) => name.to_string(),
        None => worker(step).to_owned(),
    }
}

fn worker(step: &PlanStep) -> &str {
    match &step.does {
        Does::Agent(name) => name.as_str(),
        Does::Cli(cli) => cli.word(),
        Does::Workflow(below) => below.workflow.name.as_str(),
    }
}

fn group<'p>(plan: &'p Plan, step: &PlanStep) -> Option<&'p GroupName> {
    plan.written(step).and_then(|written| written.parallel_group.as_ref())
}

/// The steps and groups that a step uses.
fn uses(plan: &Plan, step: &PlanStep) -> BTreeSet<End> {
    let Some(written) = plan.written(step) else {
        return BTreeSet::new();
    };
    let step_end = |which: &StepRef| plan.workflow.find(which).map(End::Step);
    let templates = written.inputs.values().chain(&written.prompt);
    let referred = templates
        .flat_map(Template::references)
        .filter_map(|reference| match reference {
            Reference::Input(_) => None,
            Reference::Step { which, .. } => step_end(which),
            Reference::Group { name, .. } => Some(End::Group(name.clone())),
        });
    referred.chain(written.needs.iter().filter_map(step_end)).collect()
}

/// Every arrow between the steps of one workflow.
fn edges(plan: &Plan) -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    for step in &plan.steps {
        edges.extend(uses(plan, step).into_iter().map(|from| Edge {
            from,
            to: End::Step(step.index),
            arrow: Arrow::Uses,
        }));
    }
    let mut edges = joined(plan, edges);
    let mut follows = Vec::new();
    for (before, after) in stages(plan).iter().zip(stages(plan).iter().skip(1)) {
        for from in lasts(plan, before) {
            for to in firsts(plan, after) {
                let said = Edge {
                    from: from.clone(),
                    to: to.clone(),
                    arrow: Arrow::Uses,
                };
                if !edges.contains(&said) {
                    follows.push(Edge {
                        arrow: Arrow::Follows,
                        ..said
                    });
                }
            }
        }
    }
    edges.extend(follows);
    edges
}

/// What all members of a group use, the group uses.
fn joined(plan: &Plan, edges: BTreeSet<Edge>) -> BTreeSet<Edge> {
    let groups: BTreeMap<usize, &GroupName> = plan
        .steps
        .iter()
        .filter_map(|step| Some((step.index, group(plan, step)?)))
        .collect();
    let of = |edge: &Edge| match &edge.to {
        End::Step(index) => groups.get(index).copied(),
        End::Group(_) => None,
    };
    let mut sizes: BTreeMap<&GroupName, usize> = BTreeMap::new();
    for name in groups.values() {
        *sizes.entry(name).or_default() += 1;
    }
    let mut counts: BTreeMap<(End, &GroupName), usize> = BTreeMap::new();
    for edge in &edges {
        if let Some(name) = of(edge) {
            *counts.entry((edge.from.clone(), name)).or_default() += 1;
        }
    }
    let is_whole = |from: &End, name| counts.get(&(from.clone(), name)) == sizes.get(name);
    edges
        .iter()
        .map(|edge| match of(edge).filter(|name| is_whole(&edge.from, name)) {
            Some(name) => Edge {
                to: End::Group(name.clone()),
                ..edge.clone()
            },
            None => edge.clone(),
        })
        .collect()
}

/// The steps, stage by stage.
fn stages(plan: &Plan) -> Vec<Vec<&PlanStep>> {
    let mut stages: Vec<Vec<&PlanStep>> = Vec::new();
    for step in &plan.steps {
        match stages.last_mut() {
            Some(last) if last.first().is_some_and(|first| first.stage == step.stage) => last.push(step),
            Some(_) | None => stages.push(vec![step]),
        }
    }
    stages
}

/// What the next stage waits for: the group, or the steps that no other of the stage uses.
fn lasts(plan: &Plan, stage: &[&PlanStep]) -> Vec<End> {
    if let Some(name) = stage.first().and_then(|first| group(plan, first)) {
        return vec![End::Group(name.clone())];
    }
    let used: BTreeSet<usize> = stage.iter().flat_map(|step| step.depends.iter().copied()).collect();
    let ends = stage.iter().filter(|step| !used.contains(&step.index));
    ends.map(|step| End::Step(step.index)).collect()
}

/// What waits for the stage before: the group, or the steps that wait for no other of the stage.
fn firsts(plan: &Plan, stage: &[&PlanStep]) -> Vec<End> {
    if let Some(name) = stage.first().and_then(|first| group(plan, first)) {
        return vec![End::Group(name.clone())];
    }
    let here: BTreeSet<usize> = stage.iter().map(|step| step.index).collect();
    let starts = stage.iter().filter(|step| step.depends.is_disjoint(&here));
    starts.map(|step| End::Step(step.index)).collect()
}

/// How deep each step lies: below everything that it waits for.
fn layers(plan: &Plan) -> Vec<usize> {
    let mut layers = vec![0; plan.steps.len()];
    let (mut stage, mut base, mut next) = (0, 0, 0);
    for index in order(plan) {
        let Some(step) = plan.steps.get(index) else { continue };
        if step.stage != stage {
            (stage, base) = (step.stage, next);
        }
        let above = step.depends.iter().filter_map(|on| layers.get(*on));
        let layer = above.map(|layer| layer + 1).max().unwrap_or(0).max(base);
        next = next.max(layer + 1);
        if let Some(place) = layers.get_mut(index) {
            *place = layer;
        }
    }
    layers
}

/// The steps in an order in which each comes after what it depends on.
fn order(plan: &Plan) -> Vec<usize> {
    match plan.workflow.execution {
        Execution::Sequential | Execution::Parallel => (0..plan.steps.len()).collect(),
        Execution::Dag => {
            let mut left: Vec<usize> = plan.steps.iter().map(|step| step.depends.len()).collect();
            let mut users = vec![Vec::new(); plan.steps.len()];
            for step in &plan.steps {
                for on in &step.depends {
                    if let Some(list) = users.get_mut(*on) {
                        list.push(step.index);
                    }
                }
            }
            let mut free: BTreeSet<usize> = (0..left.len()).filter(|index| left.get(*index) == Some(&0)).collect();
            let mut order = Vec::new();
            while let Some(index) = free.pop_first() {
                order.push(index);
                for user in users.get(index).into_iter().flatten() {
                    if let Some(count) = left.get_mut(*user) {
                        *count = count.saturating_sub(1);
                        if *count == 0 {
                            free.insert(*user);
                        }
                    }
                }
            }
            order
        }
    }
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
