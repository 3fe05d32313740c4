//! One entry of `steps`.

use std::collections::BTreeMap;

use glee_policy::error::place;
use glee_policy::node::{At, Entry, Fields, word};
use glee_policy::yaml::{Node, Value};

use super::Reader;
use crate::definitions::AgentName;
use crate::definitions::template::is_name;
use crate::workflows::expr::{Place, Template};
use crate::workflows::model::{Marks, OnError, Step, StepRef, Work};
use crate::workflows::name::{GroupName, StepName, WorkflowName};
use crate::workflows::problem::{Named, Problem, What};
use crate::workflows::source::place_of;

/// Faults of one text that are told.
const MOST_FAULTS: usize = 20;

const STEP: Fields = &[
    "name",
    "agent",
    "workflow",
    "inputs",
    "prompt",
    "parallel_group",
    "needs",
    "on_error",
];
impl Reader<'_, '_> {
    pub(super) fn step(&mut self, node: &Node) -> Option<Step> {
        let (mut agent, mut workflow, mut work_keys) = (None, None, 0);
        let mut prompt_at = None;
        let mut step = Step {
            name: None,
            // Replaced below, or the step is not kept.
            work: Work::Agent(AgentName::new("agent")?),
            inputs: BTreeMap::new(),
            prompt: None,
            parallel_group: None,
            needs: Vec::new(),
            on_error: None,
            at: place(self.source, node.line, node.column),
            marks: Marks::default(),
        };
        if !matches!(node.value, Value::Map(_)) {
            let at = At {
                source: self.source,
                key: "steps",
            };
            self.problems.push(at.wrong(node, "a mapping").into());
            return None;
        }
        for Entry { name: key, node } in self.entries(node, "steps", STEP) {
            let at = At {
                source: self.source,
                key,
            };
            match key {
                "name" => step.name = self.named(&at, node, Named::Step, StepName::new),
                "agent" | "workflow" => {
                    work_keys += 1;
                    step.marks.work = place_of(node);
                    if key == "agent" {
                        agent = self.named(&at, node, Named::Agent, AgentName::new);
                    } else {
                        workflow = self.named(&at, node, Named::Workflow, WorkflowName::new);
                    }
                }
                "inputs" => step.inputs = self.given(&at, node),
                "prompt" => {
                    prompt_at = Some(node);
                    step.prompt = self.template("prompt", node);
                }
                "parallel_group" => {
                    step.marks.group = place_of(node);
                    step.parallel_group = self.named(&at, node, Named::Group, GroupName::new);
                }
                "needs" => (step.needs, step.marks.needs) = self.needs(&at, node),
                _ => step.on_error = self.keep(word(&at, node, OnError::WORDS)),
            }
        }
        match work_keys {
            0 => self.wrong(node, What::NoWork),
            1 => {}
            _ => self.wrong(node, What::TwoWorks),
        }
        if let (Some(_), Some(prompt)) = (&workflow, prompt_at) {
            self.wrong(prompt, What::PromptForWorkflow);
        }
        step.work = agent.map(Work::Agent).or(workflow.map(Work::Workflow))?;
        Some(step)
    }

    fn given(&mut self, at: &At<'_>, node: &Node) -> BTreeMap<String, Template> {
        let Value::Map(entries) = &node.value else {
            self.problems.push(at.wrong(node, "a mapping").into());
            return BTreeMap::new();
        };
        let mut given = BTreeMap::new();
        for (key, value) in entries {
            if !is_name(&key.name) {
                self.problems.push(Problem {
                    at: place(self.source, key.line, key.column),
                    what: What::BadName {
                        name: key.name.clone(),
                        of: Named::Input,
                    },
                });
            } else if let Some(template) = self.template(&format!("inputs.{}", key.name), value) {
                given.insert(key.name.clone(), template);
            }
        }
        given
    }

    /// A text with expressions, or a number, or a yes or no.
    fn template(&mut self, key: &str, node: &Node) -> Option<Template> {
        let written = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Null | Value::List(_) | Value::Map(_) => {
                let at = At {
                    source: self.source,
                    key,
                };
                self.problems.push(at.wrong(node, "text").into());
                return None;
            }
        };
        match Template::parse(&written) {
            Ok(template) => Some(self.lines.placed(template, node)),
            Err(_) => {
                for problem in Template::faults(&written, MOST_FAULTS) {
                    let found = self.lines.find(node, &written, &problem.span);
                    self.problems.push(Problem {
                        at: place(self.source, found.line, found.column),
                        what: What::Expression {
                            key: key.to_owned(),
                            problem,
                        },
                    });
                }
                None
            }
        }
    }

    fn needs(&mut self, at: &At<'_>, node: &Node) -> (Vec<StepRef>, Vec<Place>) {
        let (mut needs, mut marks) = (Vec::new(), Vec::new());
        for item in self.items(at, node).unwrap_or_default() {
            let found = match &item.value {
                Value::Int(index) => match usize::try_from(*index) {
                    Ok(index) => Some(StepRef::Index(index)),
                    Err(_) => {
                        self.problems.push(
                            at.wrong(item, "the name of a step, or its number counted from 0")
                                .into(),
                        );
                        None
                    }
                },
                Value::Text(_) => self.named(at, item, Named::Step, StepName::new).map(StepRef::Name),
                Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                    self.problems.push(
                        at.wrong(item, "the name of a step, or its number counted from 0")
                            .into(),
                    );
                    None
                }
            };
            if let Some(found) = found {
                needs.push(found);
                marks.push(place_of(item));
            }
        }
        (needs, marks)
    }
}
