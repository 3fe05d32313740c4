//! Which workflows a workflow runs, and in what order they can be looked at.
//!
//! Pure. Goes down with a stack of its own: a chain of ten thousand files is as good as one of two.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::step_problem;
use crate::workflows::library::Library;
use crate::workflows::model::{Step, Work, Workflow};
use crate::workflows::name::WorkflowName;
use crate::workflows::problem::{Problem, What};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Somewhere above what is looked at now.
    Open,
    Done,
}

/// One that is being looked at, with what it still has to go down to.
struct Open {
    workflow: Arc<Workflow>,
    /// The next step.
    next: usize,
}

/// Every workflow that can be read, each after those that it runs. What cannot be found, what goes in a circle and what lies too
/// deep are problems.
pub(super) fn order(
    root: &WorkflowName,
    library: &Library,
    max_depth: u64,
    problems: &mut Vec<Problem>,
) -> Vec<Arc<Workflow>> {
    let Some(first) = library.get(root) else {
        return Vec::new();
    };
    let mut seen = BTreeMap::from([(root.clone(), Seen::Open)]);
    let mut done: Vec<Arc<Workflow>> = Vec::new();
    let mut is_round = false;
    let mut open = vec![Open {
        workflow: first.clone(),
        next: 0,
    }];
    while let Some(top) = open.last_mut() {
        let workflow = top.workflow.clone();
        let Some(step) = workflow.steps.get(top.next) else {
            seen.insert(workflow.name.clone(), Seen::Done);
            done.push(workflow);
            open.pop();
            continue;
        };
        top.next += 1;
        let Work::Workflow(name) = &step.work else { continue };
        match (seen.get(name), library.get(name)) {
            (Some(Seen::Done), _) => {}
            (Some(Seen::Open), _) => {
                is_round = true;
                let above = open.iter().skip_while(|above| above.workflow.name != *name);
                let chain = above.map(|above| above.workflow.name.to_string());
                let chain = chain.chain([name.to_string()]).collect();
                problems.push(step_problem(step, step.marks.work, What::WorkflowCycle(chain)));
            }
            (None, Some(below)) => {
                seen.insert(name.clone(), Seen::Open);
                open.push(Open {
                    workflow: below.clone(),
                    next: 0,
                });
            }
            (None, None) => problems.push(step_problem(step, step.marks.work, absent(name, library))),
        }
    }
    if !is_round {
        depth(&done, max_depth, problems);
    }
    done
}

fn absent(name: &WorkflowName, library: &Library) -> What {
    if library.is_there(name) {
        What::BrokenWorkflow(name.to_string())
    } else {
        What::UnknownWorkflow {
            name: name.to_string(),
            nearest: library.nearest(name.as_str()),
        }
    }
}

/// Where a workflow lies deepest: below which step of which workflow.
struct Depth<'w> {
    depth: u64,
    above: Option<(&'w Workflow, &'w Step)>,
}

/// The first step that leads deeper than is allowed, if one does. `done` has those below first, and no circle.
fn depth(done: &[Arc<Workflow>], max_depth: u64, problems: &mut Vec<Problem>) {
    let mut deepest: BTreeMap<&WorkflowName, Depth<'_>> = BTreeMap::new();
    for workflow in done.iter().rev() {
        let here = deepest.get(&workflow.name).map_or(0, |found| found.depth);
        for step in &workflow.steps {
            let Work::Workflow(name) = &step.work else { continue };
            let known = deepest.get(name).map_or(0, |found| found.depth);
            if here + 1 > known {
                deepest.insert(
                    name,
                    Depth {
                        depth: here + 1,
                        above: Some((workflow, step)),
                    },
                );
            }
        }
    }
    let too_deep = deepest
        .iter()
        .filter(|(_, found)| found.depth == max_depth.saturating_add(1));
    for (name, found) in too_deep {
        let Some((_, step)) = found.above else { continue };
        let mut chain = vec![name.to_string()];
        let mut at = Some(found);
        while let Some((above, _)) = at.and_then(|found| found.above) {
            chain.push(above.name.to_string());
            at = deepest.get(&above.name);
        }
        chain.reverse();
        let limit = max_depth;
        problems.push(step_problem(step, step.marks.work, What::Depth { limit, chain }));
    }
}
