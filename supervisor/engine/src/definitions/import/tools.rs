//! The names that other programs have for tools.
//!
//! Pure.

use super::convert::Reason;
use crate::definitions::{Cli, Tool};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Kept(Tool),
    Dropped(Reason),
}

/// Older names, and those of tools that were merged.
const ALIASES: &[(&str, Tool)] = &[
    ("MultiEdit", Tool::EditFile),
    ("NotebookRead", Tool::ReadFile),
    ("search_file_content", Tool::Grep),
    ("read_many_files", Tool::ReadFile),
    ("edit", Tool::EditFile),
];

/// The meanings of one name or pattern.
pub(super) fn meanings(cli: Cli, written: &str) -> Vec<Meaning> {
    // `Bash(git *)`: the tool, narrowed in a way that is not carried over.
    let name = written.split('(').next().unwrap_or_default().trim();
    if name.starts_with("mcp_") || name.contains("__") {
        return vec![Meaning::Dropped(Reason::Runs)];
    }
    if matches!(
        name,
        "Task" | "Agent" | "invoke_agent" | "Workflow" | "Skill" | "activate_skill"
    ) {
        return vec![Meaning::Dropped(Reason::Runs)];
    }
    let own = |tool: &Tool| match cli {
        Cli::Claude => tool.claude(),
        Cli::Gemini => tool.gemini(),
        Cli::Codex | Cli::Stub => None,
    };
    let all = Tool::WORDS.iter().map(|(_, tool)| *tool);
    if let Some(start) = name.strip_suffix('*') {
        let held = |tool: &Tool| own(tool).is_some_and(|own| own.starts_with(start));
        return all.filter(held).map(meaning).collect();
    }
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, tool)| *tool);
    let found = all
        .clone()
        .find(|tool| own(tool) == Some(name))
        .or_else(|| all.clone().find(|tool| tool.word() == name))
        .or_else(alias);
    vec![match found {
        // A word of ours for something that this CLI does not have.
        Some(tool) if own(&tool).is_none() => Meaning::Dropped(Reason::NoCounterpart),
        Some(tool) => meaning(tool),
        None => Meaning::Dropped(Reason::NoCounterpart),
    }]
}

fn meaning(tool: Tool) -> Meaning {
    match tool {
        Tool::Shell => Meaning::Dropped(Reason::Runs),
        Tool::WebFetch | Tool::WebSearch => Meaning::Dropped(Reason::Reaches),
        Tool::ReadFile
        | Tool::ListDirectory
        | Tool::Glob
        | Tool::Grep
        | Tool::EditFile
        | Tool::WriteFile
        | Tool::EditNotebook => Meaning::Kept(tool),
    }
}
