//! A checked plan as a tree of steps with one number for each, and what each can see.
//!
//! Pure. The numbers are those of the machine and of the journal: a workflow before its own steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::machine::{Failure, Node, NodeId, Shape};
use crate::trust::Files;
use crate::workflows::check::{Does, Need, Plan, PlanStep};
use crate::workflows::expr::{EvalProblem, Rendered, Room, Scope};
use crate::workflows::library;
use crate::workflows::{GroupName, OnError, ParallelGroupResult, Step, StepRef, StepResult};

/// One step of the tree.
#[derive(Debug, Clone)]
pub struct Spot {
    /// Such as `run-restaurant[2]/serve-customers[0]`.
    pub path: String,
    /// The workflow that it is a step of.
    pub plan: Arc<Plan>,
    pub index: usize,
    /// The step that is that workflow.
    pub owner: Option<NodeId>,
    /// Those of the same workflow, in their order.
    siblings: Arc<Vec<NodeId>>,
}

impl Spot {
    #[must_use]
    pub fn step(&self) -> Option<&PlanStep> {
        self.plan.steps.get(self.index)
    }

    #[must_use]
    pub fn written(&self) -> Option<&Step> {
        self.plan.workflow.steps.get(self.index)
    }

    /// The workflow that it is, if it is one.
    #[must_use]
    pub fn inner(&self) -> Option<&Arc<Plan>> {
        match self.step().map(|step| &step.does) {
            Some(Does::Workflow(below)) => Some(below),
            Some(Does::Agent(_) | Does::Cli(_)) | None => None,
        }
    }

    /// The agent's or the workflow's name.
    #[must_use]
    pub fn who(&self) -> String {
        self.written()
            .map(|step| step.work.name().to_owned())
            .unwrap_or_default()
    }
}

/// Every step of a plan and of all below it.
#[derive(Debug)]
pub struct Tree {
    pub spots: Vec<Spot>,
    pub shape: Shape,
}

impl Tree {
    #[must_use]
    pub fn new(plan: &Arc<Plan>) -> Self {
        let mut spots = Vec::new();
        let shape = add(plan, None, "", &mut spots);
        Self { spots, shape }
    }

    #[must_use]
    pub fn spot(&self, id: NodeId) -> Option<&Spot> {
        self.spots.get(id.0)
    }

    /// The inputs of the workflow that a step belongs to, by what its own caller gave. `given`: the root's.
    pub fn inputs(
        &self,
        owner: Option<NodeId>,
        given: &BTreeMap<String, String>,
        results: &[Option<StepResult>],
    ) -> Result<BTreeMap<String, Rendered>, EvalProblem> {
        let Some(spot) = owner.and_then(|owner| self.spot(owner)) else {
            return Ok(given
                .iter()
                .map(|(name, value)| (name.clone(), Rendered::text(value.clone())))
                .collect());
        };
        let (Some(below), Some(step), Some(written)) = (spot.inner(), spot.step(), spot.written()) else {
            return Ok(BTreeMap::new());
        };
        let above = self.inputs(spot.owner, given, results)?;
        let (mut found, mut room) = (BTreeMap::new(), Room::default());
        for (name, need) in &below.inputs {
            let value = match (written.inputs.get(name), need) {
                (Some(template), _) => Some(template.render(&self.view(spot, &above, results), &mut room)?),
                (None, _) if step.passes.contains(name) && above.contains_key(name) => above.get(name).cloned(),
                (None, Need::Default(value)) => Some(Rendered::text(value.clone())),
                (None, Need::Required | Need::Optional) => None,
            };
            found.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(found)
    }

    /// The files that have a say in what a step is told: its workflow's, and those of all above it.
    #[must_use]
    pub fn files(&self, spot: &Spot) -> Files {
        let mut files = library::files(&spot.plan.workflow);
        let mut next = spot.owner;
        while let Some(above) = next.and_then(|owner| self.spot(owner)) {
            files.extend(library::files(&above.plan.workflow));
            next = above.owner;
        }
        files
    }

    /// What the expressions of a step can see.
    #[must_use]
    pub fn view<'a>(
        &'a self,
        spot: &'a Spot,
        inputs: &'a BTreeMap<String, Rendered>,
        results: &'a [Option<StepResult>],
    ) -> View<'a> {
        View { spot, inputs, results }
    }
}

/// The scope of one workflow.
#[derive(Debug)]
pub struct View<'a> {
    spot: &'a Spot,
    inputs: &'a BTreeMap<String, Rendered>,
    results: &'a [Option<StepResult>],
}

impl View<'_> {
    fn result(&self, index: usize) -> Option<&StepResult> {
        let id = self.spot.siblings.get(index)?;
        self.results.get(id.0)?.as_ref()
    }
}

impl Scope for View<'_> {
    fn input(&self, name: &str) -> Option<Rendered> {
        self.inputs.get(name).cloned()
    }

    fn step(&self, which: &StepRef) -> Option<&StepResult> {
        self.result(self.spot.plan.workflow.find(which)?)
    }

    fn group(&self, name: &GroupName) -> Option<ParallelGroupResult> {
        let steps = self.spot.plan.workflow.steps.iter().enumerate();
        let members = steps.filter(|(_, step)| step.parallel_group.as_ref() == Some(name));
        let results: Option<Vec<StepResult>> = members.map(|(index, _)| self.result(index).cloned()).collect();
        results.map(ParallelGroupResult::of)
    }
}

fn add(plan: &Arc<Plan>, owner: Option<NodeId>, above: &str, spots: &mut Vec<Spot>) -> Shape {
    let mut own = Vec::new();
    let mut steps = Vec::new();
    for step in &plan.steps {
        let id = NodeId(spots.len());
        own.push(id);
        let path = format!("{above}{}[{}]", plan.workflow.name, step.index);
        spots.push(Spot {
            path: path.clone(),
            plan: plan.clone(),
            index: step.index,
            owner,
            siblings: Arc::default(),
        });
        let inner = match &step.does {
            Does::Workflow(below) => Some(add(below, Some(id), &format!("{path}/"), spots)),
            Does::Agent(_) | Does::Cli(_) => None,
        };
        steps.push(node(plan, step, inner));
    }
    let siblings = Arc::new(own);
    for id in siblings.iter() {
        if let Some(spot) = spots.get_mut(id.0) {
            spot.siblings = siblings.clone();
        }
    }
    Shape {
        mode: plan.workflow.execution,
        steps,
    }
}

fn node(plan: &Plan, step: &PlanStep, inner: Option<Shape>) -> Node {
    // Those of the stage before: they themselves have waited for all before them.
    let before = plan.steps.iter().filter(|other| other.stage + 1 == step.stage);
    let written = plan.written(step).and_then(|written| written.on_error);
    Node {
        after: before.map(|other| other.index).collect(),
        depends: step.depends.iter().copied().collect(),
        on_error: step.on_error,
        failure: match written {
            Some(OnError::Continue) => Failure::Forgiven,
            Some(OnError::Stop | OnError::SkipDependents) | None => Failure::Counts,
        },
        inner,
    }
}
