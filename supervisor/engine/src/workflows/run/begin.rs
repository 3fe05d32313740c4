//! From the name of a workflow to a run that can be driven: checked, approved of, and written down.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::error::RunError;
use super::tree::Tree;
use crate::audit::{Answer as Said, record};
use crate::definitions::input::Input;
use crate::project::Scene;
use crate::settings::Key;
use crate::settings::store as configuration;
use crate::store::TaskId;
use crate::tasks::Refusal;
use crate::trust::{self, Files, Standing};
use crate::workflows::check::{Does, Need, Plan};
use crate::workflows::library;
use crate::workflows::shelf::{CheckError, Shelf};
use crate::workflows::{Author, Workflow, WorkflowName};

/// What it takes to go on with a run, kept with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub workflow: WorkflowName,
    pub inputs: BTreeMap<String, String>,
    pub budget: Budget,
    /// That of a workflow inside which an agent wrote.
    #[serde(default)]
    pub generated: Option<Budget>,
    /// The files that it is made of, with their digests: workflows, and the agents that they name.
    pub files: Files,
    /// The task that asked for it, if one did.
    pub parent: Option<TaskId>,
}

/// A workflow that can be run.
#[derive(Debug)]
pub struct Ready {
    pub order: Order,
    pub plan: Arc<Plan>,
    pub tree: Tree,
    /// Those that an agent wrote and the user has not trusted.
    pub unapproved: Vec<Arc<Workflow>>,
    /// Does each step's task need somebody's yes?
    pub asks: Asks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    EachStep,
    Nothing,
}

/// The plan of a workflow as its files are now.
pub fn plan(name: &str, scene: &Scene) -> Result<Arc<Plan>, RunError> {
    let shelf = Shelf::open(scene)?;
    shelf.check(name).map_err(|error| match error {
        CheckError::Absent(error) => RunError::Shelf(Box::new(error.into())),
        CheckError::Broken(_) | CheckError::Problems(_) => RunError::Invalid {
            rendered: error.render(&shelf.library).trim_end().to_owned(),
        },
    })
}

/// Checks everything that can be known before anything runs.
pub fn ready(name: &str, inputs: BTreeMap<String, String>, scene: &Scene) -> Result<Ready, RunError> {
    let plan = plan(name, scene)?;
    let inputs = given(&plan, inputs)?;
    let settings = configuration::load(scene).map_err(Refusal::from)?.settings;
    let mut workflows = BTreeMap::new();
    gather(&plan, &mut workflows);
    let mut unapproved = Vec::new();
    for workflow in workflows.values() {
        let standing = trust::standing(&library::files(workflow)).map_err(Refusal::from)?;
        if workflow.author == Author::Agent && standing != Standing::Trusted {
            unapproved.push(workflow.clone());
        }
    }
    Ok(Ready {
        order: Order {
            workflow: plan.workflow.name.clone(),
            inputs,
            budget: Budget::of(&settings, plan.workflow.author),
            generated: Some(Budget::of(&settings, Author::Agent)),
            files: files(&plan),
            parent: None,
        },
        tree: Tree::new(&plan),
        plan,
        unapproved,
        asks: if settings.is_on(Key::ApproveSubagents) {
            Asks::EachStep
        } else {
            Asks::Nothing
        },
    })
}

/// Enters in the audit log what somebody answered who was asked about a workflow that an agent wrote.
pub fn answered(workflow: &Workflow, answer: Said, scene: &Scene) {
    let about = format!("workflow {} {}", workflow.name, workflow.digest);
    // A log that cannot be written stops nothing here: the runs themselves say so, and can be made to need it.
    let _ = record::answered(&scene.project, answer, None, "", &about);
}

/// Every workflow of the tree, once.
fn gather(plan: &Arc<Plan>, found: &mut BTreeMap<WorkflowName, Arc<Workflow>>) {
    if found
        .insert(plan.workflow.name.clone(), plan.workflow.clone())
        .is_some()
    {
        return;
    }
    for step in &plan.steps {
        match &step.does {
            Does::Workflow(below) => gather(below, found),
            Does::Agent(_) | Does::Cli(_) => {}
        }
    }
}

/// The files of a plan, with their digests.
#[must_use]
pub fn files(plan: &Arc<Plan>) -> Files {
    let mut files = library::files(&plan.workflow);
    for walked in plan.walk() {
        files.extend(library::files(&walked.plan.workflow));
        files.extend(walked.plan.agents.clone());
    }
    files
}

/// The values of the inputs, with defaults in their places.
fn given(plan: &Plan, given: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, RunError> {
    let workflow = plan.workflow.name.to_string();
    if let Some(name) = given.keys().find(|name| !plan.inputs.contains_key(*name)) {
        return Err(RunError::UnknownInput {
            workflow,
            name: name.clone(),
            known: plan.inputs.keys().cloned().collect(),
        });
    }
    let declared: &[Input] = plan.workflow.inputs.as_deref().unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, need) in &plan.inputs {
        let value = match (given.get(name), need) {
            (Some(value), _) => Some(value.clone()),
            (None, Need::Default(value)) => Some(value.clone()),
            (None, Need::Optional) => None,
            (None, Need::Required) => {
                let name = name.clone();
                return Err(RunError::MissingInput { workflow, name });
            }
        };
        let kind = declared
            .iter()
            .find(|input| input.name == *name)
            .map(|input| input.kind);
        if let (Some(value), Some(kind)) = (&value, kind)
            && !kind.accepts(value)
        {
            let (name, kind) = (name.clone(), kind.word());
            return Err(RunError::WrongType { workflow, name, kind });
        }
        values.extend(value.map(|value| (name.clone(), value)));
    }
    Ok(values)
}
