//! What a workflow is given, and what it gives to those below it.
//!
//! Pure. A workflow that lists its `inputs` gets them from its caller, and no other. One that does not has those that its
//! expressions name; what its caller's step does not give it finds among the inputs of the caller, under the same name.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{Need, Plan};
use super::steps::templates;
use super::{at, step_problem};
use crate::definitions::input::{Absent, Input};
use crate::workflows::expr::{Place, Reference, Template};
use crate::workflows::model::{Step, Workflow};
use crate::workflows::problem::{Problem, What};

/// What the workflow's own expressions ask for.
pub(super) fn own(workflow: &Workflow, problems: &mut Vec<Problem>) -> BTreeMap<String, Need> {
    let mut wanted: BTreeMap<String, Need> = workflow
        .inputs
        .iter()
        .flatten()
        .map(|input| (input.name.clone(), need(input)))
        .collect();
    let known = |wanted: &BTreeMap<String, Need>| wanted.keys().cloned().collect();
    for step in &workflow.steps {
        for one in templates(step).flat_map(Template::uses) {
            let Reference::Input(name) = &one.reference else {
                continue;
            };
            if workflow.inputs.is_none() {
                ask(&mut wanted, name, one.has_fallback);
                continue;
            }
            let what = match wanted.get(name) {
                None => What::UnknownInput {
                    name: name.clone(),
                    known: known(&wanted),
                },
                Some(Need::Optional) if !one.has_fallback => What::NoFallback(name.clone()),
                Some(Need::Optional | Need::Required | Need::Default(_)) => continue,
            };
            problems.push(step_problem(step, one.place, what));
        }
    }
    wanted
}

fn need(input: &Input) -> Need {
    match &input.absent {
        Absent::Required => Need::Required,
        Absent::Optional => Need::Optional,
        Absent::Default(value) => Need::Default(value.clone()),
    }
}

/// Required, unless every use of it has something else to fall back on.
fn ask(wanted: &mut BTreeMap<String, Need>, name: &str, has_fallback: bool) {
    let need = if has_fallback { Need::Optional } else { Need::Required };
    match wanted.get_mut(name) {
        Some(known) if need == Need::Required => *known = Need::Required,
        Some(_) => {}
        None => {
            wanted.insert(name.to_owned(), need);
        }
    }
}

/// What a step gives to the workflow it runs; returns the inputs that are passed on by their name.
pub(super) fn below(
    workflow: &Workflow,
    step: &Step,
    below: &Plan,
    wanted: &mut BTreeMap<String, Need>,
    problems: &mut Vec<Problem>,
) -> BTreeSet<String> {
    let of = format!("workflow `{}`", below.workflow.name);
    unknown(
        step,
        &of,
        |name| below.inputs.contains_key(name),
        below.inputs.keys(),
        problems,
    );
    let mut passes = BTreeSet::new();
    for (name, need) in &below.inputs {
        if step.inputs.contains_key(name) {
            continue;
        }
        let is_listed = below.workflow.inputs.is_some();
        let is_required = *need == Need::Required;
        if !is_listed && workflow.inputs.is_none() {
            ask(wanted, name, !is_required);
            passes.insert(name.clone());
        } else if !is_listed
            && wanted
                .get(name)
                .is_some_and(|own| !is_required || *own != Need::Optional)
        {
            passes.insert(name.clone());
        } else if is_required {
            problems.push(missing(step, &of, name));
        }
    }
    if let Some(listed) = &below.workflow.inputs {
        types(step, &of, listed, problems);
    }
    passes
}

/// What a step gives to an agent that lists its inputs.
pub(super) fn of_agent(step: &Step, agent: &crate::definitions::Definition, problems: &mut Vec<Problem>) {
    if agent.inputs.is_empty() {
        return;
    }
    let of = format!("agent `{}`", agent.name);
    let names = || agent.inputs.iter().map(|input| &input.name);
    unknown(step, &of, |name| names().any(|known| known == name), names(), problems);
    let used = agent.prompt.names();
    for input in agent
        .inputs
        .iter()
        .filter(|input| !step.inputs.contains_key(&input.name))
    {
        let is_required = match input.absent {
            Absent::Required => true,
            Absent::Optional => used.contains(input.name.as_str()),
            Absent::Default(_) => false,
        };
        if is_required {
            problems.push(missing(step, &of, &input.name));
        }
    }
    types(step, &of, &agent.inputs, problems);
}

fn missing(step: &Step, of: &str, name: &str) -> Problem {
    let place = Place {
        line: step.at.line,
        column: step.at.column,
    };
    let (of, name) = (of.to_owned(), name.to_owned());
    step_problem(step, place, What::MissingInput { of, name })
}

fn unknown<'n>(
    step: &Step,
    of: &str,
    is_known: impl Fn(&str) -> bool,
    known: impl Iterator<Item = &'n String> + Clone,
    problems: &mut Vec<Problem>,
) {
    for (name, template) in step.inputs.iter().filter(|(name, _)| !is_known(name)) {
        problems.push(Problem {
            at: at(step, template.place()),
            what: What::NotAnInput {
                of: of.to_owned(),
                name: name.clone(),
                known: known.clone().cloned().collect(),
            },
        });
    }
}

/// A value that is written out must be of its type; others are looked at when they are there.
fn types(step: &Step, of: &str, inputs: &[Input], problems: &mut Vec<Problem>) {
    for input in inputs {
        let Some(template) = step.inputs.get(&input.name) else {
            continue;
        };
        if template.literal().is_some_and(|value| !input.kind.accepts(value)) {
            problems.push(Problem {
                at: at(step, template.place()),
                what: What::WrongInput {
                    of: of.to_owned(),
                    name: input.name.clone(),
                    kind: input.kind.word(),
                },
            });
        }
    }
}
