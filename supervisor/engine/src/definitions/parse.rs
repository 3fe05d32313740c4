//! Text to a `Definition`: every key, its type and its value checked, each error with its line.
//!
//! Pure. The reader is the policies' own, and as strict.

use std::path::Path;
use std::time::Duration;

use glee_policy::error::place;
use glee_policy::node::{At, Fields, fields, text, word};
use glee_policy::parse::parse_node;
use glee_policy::value::{Whole, runtime, whole_number};
use glee_policy::yaml::{self, Node, Value};
use glee_policy::{Origin, PolicyError, Source};

use super::input::{Absent, Input, InputKind};
use super::template::{Template, TemplateProblem, is_name};
use super::tool::{Tool, restrict};
use super::{AgentName, Cli, Definition, DefinitionError, Imported};
use crate::library::digest;

const TOP: Fields = &[
    "name",
    "description",
    "agent",
    "prompt",
    "source",
    "timeout_mins",
    "max_output_kb",
    "inputs",
    "tools",
    "permissions",
];

const OUTPUT: Whole = Whole {
    least: 1,
    most: 1 << 40,
    range: "a whole number of KiB, at least 1",
};

/// Reads a definition from the bytes of its file.
pub fn parse(file: &Path, bytes: &[u8]) -> Result<Definition, DefinitionError> {
    let source = &Source::File(file.to_string_lossy().into());
    let written = yaml::text_of(source, bytes)?;
    let root = yaml::read(source, written)?;
    let mut found = Found::default();
    for entry in fields(source, &root, "", TOP)? {
        found.take(source, entry.name, entry.node)?;
    }
    let missing = |key| DefinitionError::Missing {
        at: place(source, root.line.max(1), root.column.max(1)),
        what: "the agent",
        key,
    };
    let (name, at) = found.name.ok_or_else(|| missing("name"))?;
    let stem = file.file_name().unwrap_or_default().to_string_lossy();
    if stem != name.file() {
        return Err(DefinitionError::OtherFile {
            at,
            name: name.to_string(),
            file: stem.into_owned(),
        });
    }
    let (prompt, prompt_node) = found.prompt.ok_or_else(|| missing("prompt"))?;
    let prompt = template(source, written, &prompt, &prompt_node, &found.inputs)?;
    if let (Some(cli), Some((tools, at))) = (found.agent, &found.tools) {
        restrict(cli, tools).map_err(|problem| DefinitionError::Unenforceable {
            at: at.clone(),
            cli,
            problem,
        })?;
    }
    Ok(Definition {
        name,
        description: found.description.ok_or_else(|| missing("description"))?,
        agent: found.agent,
        prompt,
        source: found.source,
        timeout: found.timeout,
        max_output_kb: found.max_output_kb,
        inputs: found.inputs,
        tools: found.tools.map(|(tools, _)| tools),
        permissions: found.permissions,
        file: file.to_owned(),
        digest: digest(bytes),
    })
}

#[derive(Default)]
struct Found {
    name: Option<(AgentName, Origin)>,
    description: Option<String>,
    agent: Option<Cli>,
    prompt: Option<(String, Node)>,
    source: Option<Imported>,
    timeout: Option<Duration>,
    max_output_kb: Option<u64>,
    inputs: Vec<Input>,
    tools: Option<(Vec<Tool>, Origin)>,
    permissions: Option<glee_policy::Policy>,
}

impl Found {
    fn take(&mut self, source: &Source, key: &'static str, node: &Node) -> Result<(), DefinitionError> {
        let at = At { source, key };
        match key {
            "name" => self.name = Some((agent_name(&at, node)?, at.at(node))),
            "description" => self.description = Some(line(&at, key, node)?),
            "agent" => self.agent = Some(word(&at, node, Cli::NAMED)?),
            "prompt" => self.prompt = Some((prompt(&at, node)?, node.clone())),
            "source" => self.source = Some(imported(source, node)?),
            "timeout_mins" => self.timeout = Some(bounded(&at, node, runtime(&at, node)?)?),
            "max_output_kb" => self.max_output_kb = Some(bounded(&at, node, whole_number(&at, node, OUTPUT)?)?),
            "inputs" => self.inputs = inputs(&at, node)?,
            "tools" => self.tools = Some((tools(&at, node)?, at.at(node))),
            "permissions" => self.permissions = Some(parse_node(source, node, "permissions")?),
            _ => {}
        }
        Ok(())
    }
}

fn agent_name(at: &At<'_>, node: &Node) -> Result<AgentName, DefinitionError> {
    let name = text(at, node)?;
    AgentName::new(name).ok_or_else(|| DefinitionError::BadName {
        at: at.at(node),
        name: name.to_owned(),
    })
}

/// `none` would lift a bound: a definition cannot.
fn bounded<T>(at: &At<'_>, node: &Node, value: Option<T>) -> Result<T, PolicyError> {
    value.ok_or_else(|| at.wrong(node, "a number"))
}

fn line(at: &At<'_>, key: &'static str, node: &Node) -> Result<String, DefinitionError> {
    let value = text(at, node)?;
    if value.trim().is_empty() || value.contains(char::is_control) {
        return Err(DefinitionError::BadText {
            at: at.at(node),
            key,
            must: "one line of text",
        });
    }
    Ok(value.to_owned())
}

fn prompt(at: &At<'_>, node: &Node) -> Result<String, DefinitionError> {
    let value = text(at, node)?;
    if value.trim().is_empty() {
        return Err(DefinitionError::BadText {
            at: at.at(node),
            key: "prompt",
            must: "some text",
        });
    }
    Ok(value.to_owned())
}

fn template(
    source: &Source,
    file: &str,
    prompt: &str,
    node: &Node,
    inputs: &[Input],
) -> Result<Template, DefinitionError> {
    let wrong = |problem: TemplateProblem| DefinitionError::Template {
        at: found_at(source, file, node, &problem.written()),
        problem,
    };
    let template = Template::parse(prompt).map_err(wrong)?;
    let unknown = template
        .names()
        .into_iter()
        .find(|name| !inputs.iter().any(|input| input.name == **name))
        .map(str::to_owned);
    match unknown {
        Some(name) => Err(wrong(TemplateProblem::Unknown(name))),
        None => Ok(template),
    }
}

/// Where a word of the prompt stands in the file, else where the prompt begins.
fn found_at(source: &Source, file: &str, node: &Node, word: &str) -> Origin {
    let first = usize::try_from(node.line).unwrap_or(1).max(1) - 1;
    for (number, line) in file.lines().enumerate().skip(first) {
        if let Some((before, _)) = line.split_once(word) {
            let column = before.chars().count() + 1;
            return place(
                source,
                u32::try_from(number + 1).unwrap_or(node.line),
                u32::try_from(column).unwrap_or(1),
            );
        }
    }
    place(source, node.line, node.column)
}

fn imported(source: &Source, node: &Node) -> Result<Imported, DefinitionError> {
    let (mut from, mut file, mut imported_at) = (None, None, None);
    for entry in fields(source, node, "source", &["from", "file", "imported_at"])? {
        let key = format!("source.{}", entry.name);
        let at = At { source, key: &key };
        match entry.name {
            "from" => from = Some(word(&at, entry.node, Cli::WORDS)?),
            "file" => file = Some(line(&at, "source.file", entry.node)?),
            _ => imported_at = Some(line(&at, "source.imported_at", entry.node)?),
        }
    }
    let at = At { source, key: "source" };
    let missing = |key| DefinitionError::Missing {
        at: at.at(node),
        what: "`source`",
        key,
    };
    Ok(Imported {
        from: from.ok_or_else(|| missing("from"))?,
        file: file.ok_or_else(|| missing("file"))?,
        imported_at: imported_at.ok_or_else(|| missing("imported_at"))?,
    })
}

fn items<'a>(at: &At<'_>, node: &'a Node) -> Result<&'a [Node], PolicyError> {
    match &node.value {
        Value::List(items) => Ok(items),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => {
            Err(at.wrong(node, "a list"))
        }
    }
}

fn tools(at: &At<'_>, node: &Node) -> Result<Vec<Tool>, DefinitionError> {
    let mut list = Vec::new();
    for item in items(at, node)? {
        let tool = word(at, item, Tool::WORDS)?;
        if list.contains(&tool) {
            return Err(DefinitionError::ToolTwice { at: at.at(item), tool });
        }
        list.push(tool);
    }
    Ok(list)
}

pub(crate) fn inputs(at: &At<'_>, node: &Node) -> Result<Vec<Input>, DefinitionError> {
    let mut list: Vec<Input> = Vec::new();
    for item in items(at, node)? {
        let input = input(at.source, item)?;
        if list.iter().any(|other| other.name == input.name) {
            return Err(DefinitionError::InputTwice {
                at: at.at(item),
                name: input.name,
            });
        }
        list.push(input);
    }
    Ok(list)
}

const INPUT: Fields = &["name", "type", "description", "required", "default"];

fn input(source: &Source, node: &Node) -> Result<Input, DefinitionError> {
    let (mut name, mut kind, mut description) = (None, InputKind::String, None);
    let (mut required, mut default) = (false, None);
    for entry in fields(source, node, "inputs", INPUT)? {
        let key = format!("inputs.{}", entry.name);
        let at = At { source, key: &key };
        match entry.name {
            "name" => name = Some(input_name(&at, entry.node)?),
            "type" => kind = word(&at, entry.node, InputKind::WORDS)?,
            "description" => description = Some(text(&at, entry.node)?.to_owned()),
            "required" => required = boolean(&at, entry.node)?,
            _ => default = Some(entry.node),
        }
    }
    let at = At { source, key: "inputs" };
    let name = name.ok_or_else(|| DefinitionError::Missing {
        at: at.at(node),
        what: "an input",
        key: "name",
    })?;
    let absent = match (required, default) {
        (true, Some(node)) => {
            return Err(DefinitionError::RequiredDefault { at: at.at(node), name });
        }
        (true, None) => Absent::Required,
        (false, None) => Absent::Optional,
        (false, Some(node)) => match default_of(kind, node) {
            Some(value) => Absent::Default(value),
            None => {
                return Err(DefinitionError::BadDefault {
                    at: at.at(node),
                    name,
                    kind: kind.word(),
                });
            }
        },
    };
    Ok(Input {
        name,
        kind,
        description,
        absent,
    })
}

fn input_name(at: &At<'_>, node: &Node) -> Result<String, DefinitionError> {
    let name = text(at, node)?;
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(DefinitionError::BadInput {
            at: at.at(node),
            name: name.to_owned(),
        })
    }
}

fn boolean(at: &At<'_>, node: &Node) -> Result<bool, PolicyError> {
    match &node.value {
        Value::Bool(value) => Ok(*value),
        Value::Null | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
            Err(at.wrong(node, "`true` or `false`"))
        }
    }
}

/// A default is of the input's type, written as YAML writes that type.
fn default_of(kind: InputKind, node: &Node) -> Option<String> {
    let value = match (&node.value, kind) {
        (Value::Text(text), InputKind::String) => text.clone(),
        (Value::Int(number), InputKind::Integer | InputKind::Number) => number.to_string(),
        (Value::Float(number), InputKind::Number) => number.to_string(),
        (Value::Bool(value), InputKind::Boolean) => value.to_string(),
        (
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_),
            InputKind::String | InputKind::Number | InputKind::Integer | InputKind::Boolean,
        ) => return None,
    };
    kind.accepts(&value).then_some(value)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
