//! A definition that is to be written: by `agents create`, or from another program's format.
//!
//! Pure. The text is for people: keys in the documented order, prompts as blocks. INVARIANT, property-tested: what is
//! written is read again as the same.

use super::input::{Absent, Input};
use super::{AgentName, Cli, Imported, Tool};

/// What a new definition says.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub name: AgentName,
    /// One line.
    pub description: String,
    pub agent: Option<Cli>,
    /// A template.
    pub prompt: String,
    pub source: Option<Imported>,
    pub timeout_mins: Option<f64>,
    pub max_output_kb: Option<u64>,
    pub inputs: Vec<Input>,
    pub tools: Option<Vec<Tool>>,
    pub writing: Writing,
}

/// Does the agent keep what the run may write?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    AsTheRun,
    /// `permissions: {fs: {write: []}}`.
    Nothing,
}

impl Draft {
    /// The text of its file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("name: {}\ndescription: {}\n", self.name, quoted(&self.description));
        if let Some(agent) = self.agent {
            out.push_str(&format!("agent: {agent}\n"));
        }
        out.push_str(&format!("prompt: {}\n", block(&self.prompt)));
        if let Some(source) = &self.source {
            out.push_str(&format!(
                "source:\n  from: {}\n  file: {}\n  imported_at: {}\n",
                source.from,
                quoted(&source.file),
                quoted(&source.imported_at)
            ));
        }
        if let Some(minutes) = self.timeout_mins {
            out.push_str(&format!("timeout_mins: {minutes}\n"));
        }
        if let Some(output) = self.max_output_kb {
            out.push_str(&format!("max_output_kb: {output}\n"));
        }
        if !self.inputs.is_empty() {
            out.push_str("inputs:\n");
            self.inputs.iter().for_each(|input| out.push_str(&written(input)));
        }
        match self.tools.as_deref() {
            None => {}
            Some([]) => out.push_str("tools: []\n"),
            Some(tools) => {
                out.push_str("tools:\n");
                tools.iter().for_each(|tool| out.push_str(&format!("  - {tool}\n")));
            }
        }
        match self.writing {
            Writing::AsTheRun => {}
            Writing::Nothing => out.push_str("permissions:\n  fs:\n    write: []\n"),
        }
        out
    }
}

fn written(input: &Input) -> String {
    let mut out = format!("  - name: {}\n    type: {}\n", quoted(&input.name), input.kind.word());
    if let Some(description) = &input.description {
        out.push_str(&format!("    description: {}\n", quoted(description)));
    }
    match &input.absent {
        Absent::Required => out.push_str("    required: true\n"),
        Absent::Default(value) if input.kind == super::input::InputKind::String => {
            out.push_str(&format!("    default: {}\n", quoted(value)));
        }
        Absent::Default(value) => out.push_str(&format!("    default: {value}\n")),
        Absent::Optional => {}
    }
    out
}

/// A text on one line: plain where nobody could read it as something else.
fn quoted(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '.' | '/' | '(' | ')' | ',' | ';' | '-');
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let typed = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if first && !typed && !text.ends_with(' ') && text.chars().all(word) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xff => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// A text of several lines as a block, where a block can hold it.
fn block(text: &str) -> String {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let fits = !lines.is_empty()
        && !lines.starts_with([' ', '\n', '\t'])
        && !lines.ends_with(['\n', ' ', '\t'])
        && lines.chars().all(|c| is_printable(c) || c == '\n')
        && lines.lines().all(|line| line.is_empty() || !line.trim().is_empty());
    if !fits {
        return quoted(text);
    }
    let chomp = if text.ends_with('\n') { "|" } else { "|-" };
    let body: Vec<String> = lines
        .split('\n')
        .map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("  {line}")
            }
        })
        .collect();
    format!("{chomp}\n{}", body.join("\n"))
}

/// Stands for itself in a file that people look at.
fn is_printable(c: char) -> bool {
    c == ' ' || (crate::context::encode::is_plain(c) && !c.is_control()) || matches!(c, '<' | '>' | '&')
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
