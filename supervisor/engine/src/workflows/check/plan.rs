//! What is known of a workflow before anything runs.
//!
//! Pure data; only `check` makes one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::definitions::{AgentName, Cli};
use crate::trust::Files;
use crate::workflows::model::{OnError, Step, Workflow};

/// A workflow and all below it, checked. One that is used twice is there once.
#[derive(Debug)]
pub struct Plan {
    pub workflow: Arc<Workflow>,
    /// In the order of the file, one for each of `workflow.steps`.
    pub steps: Vec<PlanStep>,
    /// The definitions of the agents that its own steps name.
    pub agents: Files,
    /// What its caller can give.
    pub inputs: BTreeMap<String, Need>,
    /// The steps of it and of all below it. A step that runs a workflow counts as one by itself.
    pub total_steps: u64,
}

/// One step with everything that follows from the others.
///
/// It can start when every step of a lower `stage` and every step in `depends` has ended, however it ended.
#[derive(Debug)]
pub struct PlanStep {
    pub index: usize,
    pub does: Does,
    pub stage: usize,
    /// What it refers to and `needs`, itself or as a group: the steps whose failure can skip it.
    pub depends: BTreeSet<usize>,
    pub on_error: OnError,
    /// The inputs of this workflow that the workflow below gets by their name, because its step does not give them.
    pub passes: BTreeSet<String>,
}

#[derive(Debug)]
pub enum Does {
    /// One that the project defines.
    Agent(AgentName),
    /// A CLI by its name, without a definition.
    Cli(Cli),
    Workflow(Arc<Plan>),
}

/// What happens if the caller does not give an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
    Default(String),
}

/// A step of the tree.
#[derive(Debug)]
pub struct Walked<'p> {
    /// Such as `run-restaurant[2]/serve-customers[0]`.
    pub path: String,
    /// How many workflows lie around its own.
    pub depth: usize,
    pub plan: &'p Plan,
    pub step: &'p PlanStep,
}

impl Plan {
    /// What the file says about a step.
    #[must_use]
    pub fn written(&self, step: &PlanStep) -> Option<&Step> {
        self.workflow.steps.get(step.index)
    }

    /// Every step of the tree, each before those of the workflow that it runs.
    #[must_use]
    pub fn walk(&self) -> Vec<Walked<'_>> {
        let mut found = Vec::new();
        let mut open = Vec::new();
        push_steps(&mut open, self, "", 0);
        while let Some(next) = open.pop() {
            if let Does::Workflow(below) = &next.step.does {
                push_steps(&mut open, below, &format!("{}/", next.path), next.depth + 1);
            }
            found.push(next);
        }
        found
    }
}

fn push_steps<'p>(open: &mut Vec<Walked<'p>>, plan: &'p Plan, above: &str, depth: usize) {
    open.extend(plan.steps.iter().rev().map(|step| Walked {
        path: format!("{above}{}[{}]", plan.workflow.name, step.index),
        depth,
        plan,
        step,
    }));
}
