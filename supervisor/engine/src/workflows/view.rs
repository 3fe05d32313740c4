//! Workflows as they are shown: in a list, one with all its steps, and a plan as data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::check::{Does, Need, Plan};
use super::library::{Entry, Library};
use super::model::{Author, Execution, OnError, Step, StepRef, Work, Workflow};
use super::name::{GroupName, StepName, WorkflowName};
use super::problem::Told;
use crate::definitions::view::ShownInput;
use crate::trust::Standing;

/// One line of a list.
#[derive(Debug, Serialize)]
pub struct Line {
    pub name: String,
    pub description: Option<String>,
    pub execution: Option<Execution>,
    pub steps: Option<usize>,
    pub author: Option<Author>,
    pub file: String,
    pub standing: Option<Standing>,
    /// What is wrong with the file by itself; `workflow validate` looks further.
    pub problems: Vec<Told>,
}

/// Every workflow of the project, the broken ones with what is wrong with them.
#[must_use]
pub fn list(library: &Library) -> Vec<Line> {
    library.entries().map(line).collect()
}

fn line(entry: &Entry) -> Line {
    let workflow = entry.found.as_ref().ok();
    Line {
        name: entry.name.clone(),
        description: workflow.map(|found| found.description.clone()),
        execution: workflow.map(|found| found.execution),
        steps: workflow.map(|found| found.steps.len()),
        author: workflow.map(|found| found.author),
        file: entry.file.to_string_lossy().into_owned(),
        standing: entry.standing,
        problems: entry
            .found
            .as_ref()
            .err()
            .map(|broken| broken.problems())
            .unwrap_or_default(),
    }
}

/// One workflow, as its file says.
#[derive(Debug, Serialize)]
pub struct Shown {
    pub name: WorkflowName,
    pub description: String,
    pub execution: Execution,
    pub author: Author,
    pub file: String,
    pub sha256: String,
    pub standing: Option<Standing>,
    /// Absent: those that its expressions name.
    pub inputs: Option<Vec<ShownInput>>,
    pub steps: Vec<ShownStep>,
}

#[derive(Debug, Serialize)]
pub struct ShownStep {
    pub step_index: usize,
    pub name: Option<StepName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowName>,
    pub prompt: Option<String>,
    pub inputs: BTreeMap<String, String>,
    pub parallel_group: Option<GroupName>,
    pub needs: Vec<String>,
    /// What holds, written or not.
    pub on_error: OnError,
}

#[must_use]
pub fn show(workflow: &Workflow, standing: Option<Standing>) -> Shown {
    let inputs = workflow.inputs.as_ref();
    Shown {
        name: workflow.name.clone(),
        description: workflow.description.clone(),
        execution: workflow.execution,
        author: workflow.author,
        file: workflow.file.to_string_lossy().into_owned(),
        sha256: workflow.digest.clone(),
        standing,
        inputs: inputs.map(|inputs| inputs.iter().map(ShownInput::from).collect()),
        steps: workflow
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| shown_step(index, step, workflow.execution))
            .collect(),
    }
}

fn shown_step(step_index: usize, step: &Step, execution: Execution) -> ShownStep {
    let (agent, workflow) = match &step.work {
        Work::Agent(name) => (Some(name.to_string()), None),
        Work::Workflow(name) => (None, Some(name.clone())),
    };
    let inputs = step.inputs.iter();
    ShownStep {
        step_index,
        name: step.name.clone(),
        agent,
        workflow,
        prompt: step.prompt.as_ref().map(|prompt| prompt.written().to_owned()),
        inputs: inputs
            .map(|(name, value)| (name.clone(), value.written().to_owned()))
            .collect(),
        parallel_group: step.parallel_group.clone(),
        needs: step.needs.iter().map(StepRef::to_string).collect(),
        on_error: step.on_error.unwrap_or_else(|| execution.on_error()),
    }
}

/// A plan as data: what `workflow graph --json` prints.
#[derive(Debug, Serialize)]
pub struct PlanView {
    pub name: WorkflowName,
    pub execution: Execution,
    /// Absent values are `null`.
    pub inputs: BTreeMap<String, InputView>,
    pub total_steps: u64,
    pub steps: Vec<PlanStepView>,
}

#[derive(Debug, Serialize)]
pub struct InputView {
    pub required: bool,
    pub default: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct PlanStepView {
    pub path: String,
    pub depth: usize,
    pub step_index: usize,
    pub name: Option<StepName>,
    /// An agent's, a CLI's or a workflow's name.
    pub agent: String,
    pub kind: &'static str,
    pub parallel_group: Option<GroupName>,
    pub stage: usize,
    pub depends: Vec<usize>,
    pub on_error: OnError,
}

#[must_use]
pub fn plan(plan: &Plan) -> PlanView {
    let input = |need: &Need| InputView {
        required: *need == Need::Required,
        default: match need {
            Need::Default(value) => Some(value.clone()),
            Need::Required | Need::Optional => None,
        },
    };
    let steps = plan.walk().into_iter().map(|walked| {
        let written = walked.plan.written(walked.step);
        let (kind, agent) = match &walked.step.does {
            Does::Agent(name) => ("agent", name.to_string()),
            Does::Cli(cli) => ("cli", cli.to_string()),
            Does::Workflow(below) => ("workflow", below.workflow.name.to_string()),
        };
        PlanStepView {
            depth: walked.depth,
            step_index: walked.step.index,
            name: written.and_then(|step| step.name.clone()),
            agent,
            kind,
            parallel_group: written.and_then(|step| step.parallel_group.clone()),
            stage: walked.step.stage,
            depends: walked.step.depends.iter().copied().collect(),
            on_error: walked.step.on_error,
            path: walked.path,
        }
    });
    PlanView {
        name: plan.workflow.name.clone(),
        execution: plan.workflow.execution,
        inputs: plan
            .inputs
            .iter()
            .map(|(name, need)| (name.clone(), input(need)))
            .collect(),
        total_steps: plan.total_steps,
        steps: steps.collect(),
    }
}
