//! What the steps of one workflow have to do with each other.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use glee_policy::suggest::nearest;

use super::step_problem;
use crate::workflows::expr::{Place, Reference, Template};
use crate::workflows::model::{Execution, Step, StepRef, Workflow};
use crate::workflows::name::{GroupName, StepName};
use crate::workflows::problem::{Problem, What};

/// When a step can start.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) stage: usize,
    pub(super) depends: BTreeSet<usize>,
}

/// The expressions of a step.
pub(super) fn templates(step: &Step) -> impl Iterator<Item = &Template> {
    step.inputs.values().chain(&step.prompt)
}

/// One link for each step.
pub(super) fn links(workflow: &Workflow, problems: &mut Vec<Problem>) -> Vec<Link> {
    let known = Known::new(workflow);
    let stages = stages(workflow, problems);
    let mut links: Vec<Link> = Vec::new();
    for (index, (step, stage)) in workflow.steps.iter().zip(stages).enumerate() {
        let mut depends = BTreeSet::new();
        for (which, place) in step.needs.iter().zip(&step.marks.needs) {
            match known.step(index, step, which) {
                Ok(found) => depends.extend([found]),
                Err(what) => problems.push(step_problem(step, *place, what)),
            }
        }
        for one in templates(step).flat_map(Template::uses) {
            match known.all(index, step, &one.reference) {
                Ok(found) => depends.extend(found),
                Err(what) => problems.push(step_problem(step, one.place, what)),
            }
        }
        links.push(Link { stage, depends });
    }
    if let Some((first, chain)) = circle(&links)
        && let Some(step) = workflow.steps.get(first)
    {
        let names = chain.iter().map(|index| known.title(*index)).collect();
        let at = Place {
            line: step.at.line,
            column: step.at.column,
        };
        problems.push(step_problem(step, at, What::StepCycle(names)));
    }
    links
}

/// Sequential: each step for itself. Parallel: neighbours of one group, or of none, together. Dag: all at once.
fn stages(workflow: &Workflow, problems: &mut Vec<Problem>) -> Vec<usize> {
    match workflow.execution {
        Execution::Sequential => {
            for step in workflow.steps.iter().filter(|step| step.parallel_group.is_some()) {
                problems.push(step_problem(step, step.marks.group, What::GroupInSequence));
            }
            (0..workflow.steps.len()).collect()
        }
        Execution::Parallel => {
            let mut closed = BTreeSet::new();
            let (mut stages, mut stage) = (Vec::new(), 0);
            let mut last: Option<&Option<GroupName>> = None;
            for step in &workflow.steps {
                let group = &step.parallel_group;
                if last.is_some_and(|last| last != group) {
                    stage += 1;
                    closed.extend(last.cloned().flatten());
                }
                if let Some(name) = group.as_ref().filter(|name| closed.contains(*name)) {
                    problems.push(step_problem(step, step.marks.group, What::GroupSplit(name.to_string())));
                }
                stages.push(stage);
                last = Some(group);
            }
            stages
        }
        Execution::Dag => vec![0; workflow.steps.len()],
    }
}

/// The names of one workflow.
struct Known<'w> {
    workflow: &'w Workflow,
    names: BTreeMap<&'w StepName, usize>,
    groups: BTreeMap<&'w GroupName, Vec<usize>>,
}

impl<'w> Known<'w> {
    fn new(workflow: &'w Workflow) -> Self {
        let (mut names, mut groups) = (BTreeMap::new(), BTreeMap::new());
        for (index, step) in workflow.steps.iter().enumerate() {
            names.extend(step.name.as_ref().map(|name| (name, index)));
            if let Some(group) = &step.parallel_group {
                groups.entry(group).or_insert_with(Vec::new).push(index);
            }
        }
        Self {
            workflow,
            names,
            groups,
        }
    }

    /// The steps that a reference is about; none if it is about an input.
    fn all(&self, index: usize, step: &Step, reference: &Reference) -> Result<Vec<usize>, What> {
        match reference {
            Reference::Input(_) => Ok(Vec::new()),
            Reference::Step { which, .. } => Ok(vec![self.step(index, step, which)?]),
            Reference::Group { name, .. } => self.group(index, step, name),
        }
    }

    fn step(&self, index: usize, step: &Step, which: &StepRef) -> Result<usize, What> {
        let found = match which {
            StepRef::Index(found) => Some(*found).filter(|found| *found < self.workflow.steps.len()),
            StepRef::Name(name) => self.names.get(name).copied(),
        };
        let Some(found) = found else {
            let near = match which {
                StepRef::Index(_) => None,
                StepRef::Name(name) => nearest(name.as_str(), self.names.keys().map(|known| known.as_str())),
            };
            return Err(What::UnknownStep {
                which: which.clone(),
                steps: self.workflow.steps.len(),
                nearest: near.map(|name| format!("steps.{name}")),
            });
        };
        if found == index {
            return Err(What::Itself(which.clone()));
        }
        match self.workflow.execution {
            Execution::Dag => Ok(found),
            Execution::Sequential | Execution::Parallel if found > index => Err(What::Later(which.clone())),
            Execution::Sequential => Ok(found),
            Execution::Parallel => {
                let other = self
                    .workflow
                    .steps
                    .get(found)
                    .and_then(|step| step.parallel_group.as_ref());
                match &step.parallel_group {
                    Some(group) if other == Some(group) => Err(What::SameGroup {
                        which: which.clone(),
                        group: group.to_string(),
                    }),
                    Some(_) | None => Ok(found),
                }
            }
        }
    }

    fn group(&self, index: usize, step: &Step, name: &GroupName) -> Result<Vec<usize>, What> {
        let Some(members) = self.groups.get(name) else {
            let near = nearest(name.as_str(), self.groups.keys().map(|known| known.as_str()));
            return Err(What::UnknownGroup {
                name: name.to_string(),
                nearest: near.map(str::to_owned),
            });
        };
        if step.parallel_group.as_ref() == Some(name) {
            return Err(What::OwnGroup(name.to_string()));
        }
        match self.workflow.execution {
            Execution::Dag => Ok(members.clone()),
            Execution::Sequential | Execution::Parallel if members.iter().any(|member| *member > index) => {
                Err(What::LaterGroup(name.to_string()))
            }
            Execution::Sequential | Execution::Parallel => Ok(members.clone()),
        }
    }

    /// What a step is called in a message.
    fn title(&self, index: usize) -> String {
        let step = self.workflow.steps.get(index);
        match step.and_then(|step| step.name.as_ref()) {
            Some(name) => StepRef::Name(name.clone()).to_string(),
            None => StepRef::Index(index).to_string(),
        }
    }
}

/// A circle of dependencies, if there is one: the step with the lowest number in it, and the steps from there to there.
fn circle(links: &[Link]) -> Option<(usize, Vec<usize>)> {
    // What depends on nothing that is left can go; what remains in the end goes in circles or waits for one.
    let mut waits: Vec<usize> = links.iter().map(|link| link.depends.len()).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for (index, link) in links.iter().enumerate() {
        for on in &link.depends {
            if let Some(list) = users.get_mut(*on) {
                list.push(index);
            }
        }
    }
    let mut free: Vec<usize> = (0..links.len()).filter(|index| waits.get(*index) == Some(&0)).collect();
    while let Some(index) = free.pop() {
        for user in users.get(index).into_iter().flatten() {
            if let Some(left) = waits.get_mut(*user) {
                *left -= 1;
                if *left == 0 {
                    free.push(*user);
                }
            }
        }
    }
    let is_left = |index: &usize| waits.get(*index).is_some_and(|left| *left > 0);
    // From any that is left, going to what it waits for must come back to where it was.
    let mut at = (0..links.len()).find(is_left)?;
    let mut path = Vec::new();
    let mut position = BTreeMap::new();
    while !position.contains_key(&at) {
        position.insert(at, path.len());
        path.push(at);
        at = links.get(at)?.depends.iter().copied().find(is_left)?;
    }
    let mut round: Vec<usize> = path.split_off(*position.get(&at)?);
    let lowest = round.iter().enumerate().min_by_key(|(_, index)| **index)?.0;
    round.rotate_left(lowest);
    let first = *round.first()?;
    round.push(first);
    Some((first, round))
}
