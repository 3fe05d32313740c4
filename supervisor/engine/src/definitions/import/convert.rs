//! The keys of another program's agent to a draft of ours, and what did not come along.
//!
//! Pure. A key comes along only if it is named here.

use glee_policy::Source;
use glee_policy::node::{At, text};
use glee_policy::value::runtime;
use glee_policy::yaml::{Key, Node, Value};
use serde::Serialize;

use super::ImportError;
use super::foreign::{Foreign, TITLE};
use super::tools::{Meaning, meanings};
use crate::definitions::draft::{Draft, Writing};
use crate::definitions::template::literal;
use crate::definitions::{AgentName, Cli, Tool};

/// Why something did not come along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Runs,
    Reaches,
    Lifts,
    NoCounterpart,
    Unknown,
}

impl Reason {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Runs => "it would run programs",
            Self::Reaches => "it would reach the network",
            Self::Lifts => "it would lift restrictions",
            Self::NoCounterpart => "there is nothing like it here",
            Self::Unknown => "it is not known",
        }
    }

    /// Would it have given the agent something?
    #[must_use]
    pub fn is_grant(self) -> bool {
        match self {
            Self::Runs | Self::Reaches | Self::Lifts => true,
            Self::NoCounterpart | Self::Unknown => false,
        }
    }
}

/// One thing that did not come along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// `hooks`, ``tools `Bash` ``, `permissionMode: bypassPermissions`.
    pub what: String,
    /// From 1; 0 if the line is not known.
    pub line: u32,
    pub reason: Reason,
}

/// Keys that would give the agent something, whatever they say.
const GRANTS: &[(&str, Reason)] = &[
    ("hooks", Reason::Runs),
    ("mcpServers", Reason::Runs),
    ("mcp_servers", Reason::Runs),
    ("mcp-servers", Reason::Runs),
    ("notify", Reason::Runs),
    ("skills", Reason::Runs),
    ("plugins", Reason::Runs),
    ("agent_card_url", Reason::Reaches),
    ("agentCardUrl", Reason::Reaches),
    ("auth", Reason::Reaches),
    ("base_url", Reason::Reaches),
    ("chatgpt_base_url", Reason::Reaches),
    ("openai_base_url", Reason::Reaches),
    ("model_provider", Reason::Reaches),
    ("model_providers", Reason::Reaches),
    ("web_search", Reason::Reaches),
    ("otel", Reason::Reaches),
    ("approval_policy", Reason::Lifts),
    ("approvals_reviewer", Reason::Lifts),
    ("sandbox_workspace_write", Reason::Lifts),
    ("shell_environment_policy", Reason::Lifts),
    ("permissions", Reason::Lifts),
    ("features", Reason::Lifts),
];

/// Keys that grant nothing and that definitions do not have.
const HARMLESS: &[&str] = &[
    "model",
    "effort",
    "maxTurns",
    "max_turns",
    "initialPrompt",
    "memory",
    "background",
    "color",
    "temperature",
    "display_name",
    "model_reasoning_effort",
    "model_verbosity",
    "nickname_candidates",
    "personality",
];

struct Conversion<'a> {
    source: &'a Source,
    cli: Cli,
    name: Option<String>,
    description: Option<String>,
    prompt: Option<String>,
    timeout_mins: Option<f64>,
    tools: Option<Vec<Tool>>,
    /// Tools that the agent must not have, and the line that says so.
    without: Option<(Vec<Tool>, u32)>,
    writing: Writing,
    dropped: Vec<Dropped>,
}

/// The draft, and what did not come along. `stem` is the file's name, for an agent that does not say its own.
pub(super) fn convert(
    source: &Source,
    cli: Cli,
    foreign: Foreign,
    stem: &str,
) -> Result<(Draft, Vec<Dropped>), ImportError> {
    let mut found = Conversion {
        source,
        cli,
        name: None,
        description: None,
        prompt: Some(foreign.body).filter(|body| !body.is_empty()),
        timeout_mins: None,
        tools: None,
        without: None,
        writing: Writing::AsTheRun,
        dropped: Vec::new(),
    };
    for (key, node) in &foreign.keys {
        found.take(key, node)?;
    }
    let name = found.name.unwrap_or_else(|| stem.to_owned());
    let name = AgentName::new(&name)
        .or_else(|| AgentName::from_title(&name))
        .ok_or(ImportError::BadName(name))?;
    let tools = match (found.tools, found.without) {
        (tools, None) => tools,
        (Some(mut tools), Some((without, _))) => {
            tools.retain(|tool| !without.contains(tool));
            Some(tools)
        }
        // Everything but these: of that, what grants nothing.
        (None, Some((without, line))) => {
            let mut tools = Vec::new();
            for (word, tool) in Tool::WORDS.iter().filter(|(_, tool)| !without.contains(tool)) {
                match meanings(cli, word).as_slice() {
                    [Meaning::Kept(_)] => tools.push(*tool),
                    [Meaning::Dropped(reason)] if reason.is_grant() => found.dropped.push(Dropped {
                        what: format!("the tool `{tool}`, which was not forbidden"),
                        line,
                        reason: *reason,
                    }),
                    _ => {}
                }
            }
            Some(tools)
        }
    };
    let draft = Draft {
        name,
        description: found.description.ok_or(ImportError::Missing("description"))?,
        agent: Some(cli),
        prompt: literal(&found.prompt.ok_or(ImportError::Missing("prompt"))?) + "\n",
        source: None,
        timeout_mins: found.timeout_mins,
        max_output_kb: None,
        inputs: Vec::new(),
        tools,
        writing: found.writing,
    };
    Ok((draft, found.dropped))
}

impl Conversion<'_> {
    fn drop(&mut self, what: String, line: u32, reason: Reason) {
        self.dropped.push(Dropped { what, line, reason });
    }

    fn take(&mut self, key: &Key, node: &Node) -> Result<(), ImportError> {
        let at = At {
            source: self.source,
            key: &key.name,
        };
        match (key.name.as_str(), self.cli) {
            ("name", _) => self.name = Some(text(&at, node)?.to_owned()),
            ("description", _) => self.description = one_line(text(&at, node)?),
            (TITLE, Cli::Claude) => {
                self.name = Some(text(&at, node)?.to_owned());
                self.description = one_line(text(&at, node)?);
            }
            ("developer_instructions", Cli::Codex) => self.prompt = Some(text(&at, node)?.trim().to_owned()),
            ("timeout_mins", Cli::Gemini) => self.timeout_mins = minutes(&at, node)?,
            ("tools" | "allowed-tools", Cli::Claude | Cli::Gemini) => self.tools = Some(self.held(key, node)?),
            ("disallowedTools", Cli::Claude) => self.forbid(key, node)?,
            ("prompts" | "run", Cli::Gemini) => self.section(key, node)?,
            ("sandbox_mode", Cli::Codex) => self.sandbox(key, node),
            ("permissionMode", Cli::Claude) => {
                let harmless = matches!(&node.value, Value::Text(mode) if mode == "default" || mode == "plan");
                self.valued(key, node, harmless, Reason::Lifts);
            }
            ("isolation", Cli::Claude) => {
                let harmless = matches!(&node.value, Value::Text(how) if how == "worktree");
                self.valued(key, node, harmless, Reason::Reaches);
            }
            ("kind", Cli::Gemini) => match &node.value {
                Value::Text(kind) if kind == "local" => {}
                Value::Text(_)
                | Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::List(_)
                | Value::Map(_) => self.valued(key, node, false, Reason::Reaches),
            },
            (name, _) => {
                let reason = GRANTS
                    .iter()
                    .find(|(grant, _)| *grant == name)
                    .map(|(_, reason)| *reason);
                let known = HARMLESS.contains(&name).then_some(Reason::NoCounterpart);
                self.drop(name.to_owned(), key.line, reason.or(known).unwrap_or(Reason::Unknown));
            }
        }
        Ok(())
    }

    /// A key whose value decides whether it grants something.
    fn valued(&mut self, key: &Key, node: &Node, harmless: bool, reason: Reason) {
        let what = match &node.value {
            Value::Text(value) => format!("{}: {value}", key.name),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                key.name.clone()
            }
        };
        let reason = if harmless { Reason::NoCounterpart } else { reason };
        self.drop(what, key.line, reason);
    }

    /// The tables of gemini's older format.
    fn section(&mut self, key: &Key, node: &Node) -> Result<(), ImportError> {
        let Value::Map(entries) = &node.value else {
            self.drop(key.name.clone(), key.line, Reason::Unknown);
            return Ok(());
        };
        for (inner, node) in entries {
            let path = format!("{}.{}", key.name, inner.name);
            let at = At {
                source: self.source,
                key: &path,
            };
            match path.as_str() {
                "prompts.system_prompt" => self.prompt = Some(text(&at, node)?.trim().to_owned()),
                "run.timeout_mins" => self.timeout_mins = minutes(&at, node)?,
                "run.max_turns" | "prompts.query" => self.drop(path, inner.line, Reason::NoCounterpart),
                _ => self.drop(path, inner.line, Reason::Unknown),
            }
        }
        Ok(())
    }

    fn sandbox(&mut self, key: &Key, node: &Node) {
        match &node.value {
            Value::Text(mode) if mode == "read-only" => self.writing = Writing::Nothing,
            Value::Text(mode) => {
                let harmless = mode == "workspace-write";
                self.valued(key, node, harmless, Reason::Lifts);
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                self.drop(key.name.clone(), key.line, Reason::Unknown);
            }
        }
    }

    /// The tools of a list, or of a text with commas.
    fn held(&mut self, key: &Key, node: &Node) -> Result<Vec<Tool>, ImportError> {
        let mut kept = Vec::new();
        for (name, line) in names(self.source, key, node)? {
            let mut reasons = Vec::new();
            for meaning in meanings(self.cli, &name) {
                match meaning {
                    Meaning::Kept(tool) if !kept.contains(&tool) => kept.push(tool),
                    Meaning::Kept(_) => {}
                    Meaning::Dropped(reason) if !reasons.contains(&reason) => reasons.push(reason),
                    Meaning::Dropped(_) => {}
                }
            }
            for reason in reasons {
                self.drop(format!("{} `{name}`", key.name), line, reason);
            }
        }
        Ok(kept)
    }

    fn forbid(&mut self, key: &Key, node: &Node) -> Result<(), ImportError> {
        let mut without = Vec::new();
        for (name, _) in names(self.source, key, node)? {
            // A part of a tool cannot be forbidden here: all of it is. What is not known is in no list of ours anyway.
            let base = name.split('(').next().unwrap_or_default().trim();
            let mut tools = Tool::WORDS.iter().map(|(_, tool)| *tool);
            without.extend(tools.find(|tool| tool.claude() == Some(base) || tool.word() == base));
        }
        self.without = Some((without, key.line));
        Ok(())
    }
}

fn names(source: &Source, key: &Key, node: &Node) -> Result<Vec<(String, u32)>, ImportError> {
    let at = At { source, key: &key.name };
    match &node.value {
        Value::List(items) => items
            .iter()
            .map(|item| Ok((text(&at, item)?.trim().to_owned(), item.line)))
            .collect(),
        Value::Text(list) => Ok(split(list).into_iter().map(|name| (name, node.line)).collect()),
        Value::Null => Ok(Vec::new()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => {
            Err(at.wrong(node, "a list, or text with commas").into())
        }
    }
}

/// At commas, but not at those inside of parentheses.
fn split(list: &str) -> Vec<String> {
    let (mut depth, mut names) = (0_i32, vec![String::new()]);
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match names.last_mut() {
            Some(_) if c == ',' && depth <= 0 => names.push(String::new()),
            Some(name) => name.push(c),
            None => {}
        }
    }
    let names = names.iter().map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

fn minutes(at: &At<'_>, node: &Node) -> Result<Option<f64>, ImportError> {
    Ok(runtime(at, node)?.map(|time| time.as_secs_f64() / 60.0))
}

/// Some programs have descriptions of many lines; `\n` in them is text.
fn one_line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;
