//! Text to a `Workflow`: every key, its type and its value checked, as many faults at once as can be told apart.
//!
//! Pure. What a step says is read in `step`. The reader is the policies' own, and as strict. JSON is read as well, as it is YAML.

mod step;

use std::collections::BTreeSet;
use std::path::Path;

use glee_policy::error::place;
use glee_policy::node::{At, Entry, Fields, text, word};
use glee_policy::suggest::nearest;
use glee_policy::yaml::{self, Node, Value};
use glee_policy::{Origin, PolicyError, Source};

use crate::definitions;
use crate::definitions::input::Input;
use crate::library::digest;
use crate::workflows::model::{Author, Execution, Step, Workflow};
use crate::workflows::name::WorkflowName;
use crate::workflows::problem::{MOST_STEPS, Named, Problem, What};
use crate::workflows::source::Lines;

const TOP: Fields = &["name", "description", "inputs", "steps", "execution", "source"];
const SOURCE: Fields = &["from", "created_at"];
const FROM: &[(&str, Author)] = &[("agent", Author::Agent)];

/// Reads a workflow from the bytes of its file.
pub fn parse(file: &Path, bytes: &[u8]) -> Result<Workflow, Vec<Problem>> {
    let source = Source::File(file.to_string_lossy().into());
    let read = yaml::text_of(&source, bytes).and_then(|text| Ok((text, yaml::read(&source, text)?)));
    let (text, root) = read.map_err(|error| vec![error.into()])?;
    let mut reader = Reader {
        source: &source,
        lines: Lines::new(text),
        problems: Vec::new(),
    };
    let found = reader.top(&root);
    let missing = |key| reader_missing(&source, &root, "the workflow", key);
    let mut problems = reader.problems;
    let Found {
        name,
        description,
        execution,
        inputs,
        steps,
        author,
        seen,
    } = found;
    for key in ["name", "description", "steps"] {
        if !seen.contains(key) {
            problems.push(missing(key));
        }
    }
    if let Some((name, at)) = &name {
        let stem = file.file_name().unwrap_or_default().to_string_lossy();
        if stem != name.file() {
            problems.push(Problem {
                at: at.clone(),
                what: What::OtherFile {
                    name: name.to_string(),
                    file: stem.into_owned(),
                },
            });
        }
    }
    match (name, description, steps) {
        (Some((name, _)), Some(description), Some(steps)) if problems.is_empty() => Ok(Workflow {
            name,
            description,
            execution,
            inputs,
            steps,
            author,
            file: file.to_owned(),
            digest: digest(bytes),
        }),
        _ => {
            problems.sort_by(|a, b| a.at.cmp(&b.at));
            Err(problems)
        }
    }
}

fn reader_missing(source: &Source, node: &Node, what: &'static str, key: &'static str) -> Problem {
    Problem {
        at: place(source, node.line.max(1), node.column.max(1)),
        what: What::Missing { what, key },
    }
}

struct Found {
    name: Option<(WorkflowName, Origin)>,
    description: Option<String>,
    execution: Execution,
    inputs: Option<Vec<Input>>,
    steps: Option<Vec<Step>>,
    author: Author,
    /// The keys that are there, sound or not.
    seen: BTreeSet<&'static str>,
}

/// Reads on after a fault, and keeps it.
struct Reader<'s, 't> {
    source: &'s Source,
    lines: Lines<'t>,
    problems: Vec<Problem>,
}

impl Reader<'_, '_> {
    fn keep<T>(&mut self, result: Result<T, impl Into<Problem>>) -> Option<T> {
        result.map_err(|error| self.problems.push(error.into())).ok()
    }

    fn wrong(&mut self, node: &Node, what: What) {
        self.problems.push(Problem {
            at: place(self.source, node.line, node.column),
            what,
        });
    }

    /// The entries of a mapping that are known; the others are faults.
    fn entries<'n>(&mut self, node: &'n Node, inside: &str, known: Fields) -> Vec<Entry<'n>> {
        let key = if inside.is_empty() { "the workflow" } else { inside };
        let Value::Map(entries) = &node.value else {
            let at = At {
                source: self.source,
                key,
            };
            self.problems.push(at.wrong(node, "a mapping").into());
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, node) in entries {
            match known.iter().copied().find(|name| *name == key.name) {
                Some(name) => found.push(Entry { name, node }),
                None => self.problems.push(
                    PolicyError::UnknownKey {
                        at: place(self.source, key.line, key.column),
                        key: key.name.clone(),
                        inside: inside.to_owned(),
                        nearest: nearest(&key.name, known.iter().copied())
                            .and_then(|near| known.iter().copied().find(|name| *name == near)),
                        known,
                    }
                    .into(),
                ),
            }
        }
        found
    }

    fn items<'n>(&mut self, at: &At<'_>, node: &'n Node) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => {
                self.problems.push(at.wrong(node, "a list").into());
                None
            }
        }
    }

    fn top(&mut self, root: &Node) -> Found {
        let mut found = Found {
            name: None,
            description: None,
            execution: Execution::default(),
            inputs: None,
            steps: None,
            author: Author::Person,
            seen: BTreeSet::new(),
        };
        for Entry { name: key, node } in self.entries(root, "", TOP) {
            let at = At {
                source: self.source,
                key,
            };
            found.seen.insert(key);
            match key {
                "name" => {
                    let name = self.named(&at, node, Named::Workflow, WorkflowName::new);
                    found.name = name.map(|name| (name, at.at(node)));
                }
                "description" => found.description = self.line(&at, "description", node),
                "execution" => found.execution = self.keep(word(&at, node, Execution::WORDS)).unwrap_or_default(),
                "inputs" => found.inputs = self.keep(definitions::inputs(&at, node)),
                "steps" => found.steps = self.steps(&at, node),
                _ => found.author = self.author(node),
            }
        }
        found
    }

    fn named<T>(&mut self, at: &At<'_>, node: &Node, of: Named, new: impl Fn(&str) -> Option<T>) -> Option<T> {
        let name = self.keep(text(at, node))?;
        let found = new(name);
        if found.is_none() {
            let name = name.to_owned();
            self.wrong(node, What::BadName { name, of });
        }
        found
    }

    fn line(&mut self, at: &At<'_>, key: &'static str, node: &Node) -> Option<String> {
        let value = self.keep(text(at, node))?;
        if value.trim().is_empty() || value.contains(char::is_control) {
            let must = "one line of text";
            self.wrong(node, What::BadText { key, must });
            return None;
        }
        Some(value.to_owned())
    }

    fn author(&mut self, node: &Node) -> Author {
        let mut author = None;
        let mut is_there = false;
        for entry in self.entries(node, "source", SOURCE) {
            let key = format!("source.{}", entry.name);
            let at = At {
                source: self.source,
                key: &key,
            };
            match entry.name {
                "from" => {
                    is_there = true;
                    author = self.keep(word(&at, entry.node, FROM));
                }
                _ => {
                    self.line(&at, "source.created_at", entry.node);
                }
            }
        }
        if !is_there {
            let missing = reader_missing(self.source, node, "`source`", "from");
            self.problems.push(missing);
        }
        author.unwrap_or(Author::Agent)
    }

    fn steps(&mut self, at: &At<'_>, node: &Node) -> Option<Vec<Step>> {
        let items = self.items(at, node)?;
        if items.is_empty() {
            self.wrong(node, What::NoSteps);
            return None;
        }
        if items.len() > MOST_STEPS {
            self.wrong(node, What::TooManySteps(items.len()));
            return None;
        }
        let mut names = BTreeSet::new();
        let mut steps = Vec::new();
        for item in items {
            let step = self.step(item);
            if let Some(name) = step.as_ref().and_then(|step| step.name.as_ref())
                && !names.insert(name.clone())
            {
                self.wrong(item, What::StepTwice(name.to_string()));
            }
            steps.extend(step);
        }
        Some(steps)
    }
}

#[cfg(test)]
#[path = "../parse_tests.rs"]
mod tests;
