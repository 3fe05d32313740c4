//! The tools that an agent may be held to, and how each CLI is held to them.
//!
//! Pure. What the flags really do was measured on the CLIs, by the tools that they then offer their model:
//! - claude: `--tools` is the whole list; `--strict-mcp-config` keeps the project's `.mcp.json` from adding to it;
//! - gemini: only an admin policy holds. `tools.core` and `--policy` are overruled by a project's own `.gemini/`;
//! - codex: its shell, and with it files, can only be had whole; web search, goals and agents of its own can be left out
//!   (`agents.enabled`: `features.multi_agent` is overruled by what the model says about itself).
//!
//! INVARIANT: a list that a CLI would not keep to is refused; nothing is left out of it in silence.

use std::fmt;

use serde::Serialize;

use super::Cli;

/// A tool by the name that definitions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    ReadFile,
    ListDirectory,
    Glob,
    Grep,
    EditFile,
    WriteFile,
    EditNotebook,
    Shell,
    WebSearch,
    WebFetch,
}

impl Tool {
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("read_file", Self::ReadFile),
        ("list_directory", Self::ListDirectory),
        ("glob", Self::Glob),
        ("grep", Self::Grep),
        ("edit_file", Self::EditFile),
        ("write_file", Self::WriteFile),
        ("edit_notebook", Self::EditNotebook),
        ("shell", Self::Shell),
        ("web_search", Self::WebSearch),
        ("web_fetch", Self::WebFetch),
    ];

    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, tool)| *tool == self)
            .map_or("", |(word, _)| word)
    }

    /// What claude calls it.
    #[must_use]
    pub fn claude(self) -> Option<&'static str> {
        match self {
            Self::ReadFile => Some("Read"),
            Self::ListDirectory => None,
            Self::Glob => Some("Glob"),
            Self::Grep => Some("Grep"),
            Self::EditFile => Some("Edit"),
            Self::WriteFile => Some("Write"),
            Self::EditNotebook => Some("NotebookEdit"),
            Self::Shell => Some("Bash"),
            Self::WebSearch => Some("WebSearch"),
            Self::WebFetch => Some("WebFetch"),
        }
    }

    /// What gemini calls it.
    #[must_use]
    pub fn gemini(self) -> Option<&'static str> {
        match self {
            Self::ReadFile => Some("read_file"),
            Self::ListDirectory => Some("list_directory"),
            Self::Glob => Some("glob"),
            Self::Grep => Some("grep_search"),
            Self::EditFile => Some("replace"),
            Self::WriteFile => Some("write_file"),
            Self::EditNotebook => None,
            Self::Shell => Some("run_shell_command"),
            Self::WebSearch => Some("google_web_search"),
            Self::WebFetch => Some("web_fetch"),
        }
    }

    /// Does it run programs, or reach out of the machine?
    #[must_use]
    pub fn reach(self) -> Option<&'static str> {
        match self {
            Self::Shell => Some("runs commands"),
            Self::WebSearch | Self::WebFetch => Some("reaches the network"),
            Self::ReadFile
            | Self::ListDirectory
            | Self::Glob
            | Self::Grep
            | Self::EditFile
            | Self::WriteFile
            | Self::EditNotebook => None,
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What is added to a CLI's command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    Word(String),
    /// The path of a file with this text, where the CLI can read it and nothing in the sandbox can change it.
    File(String),
}

fn words(list: &[&str]) -> Vec<Argument> {
    list.iter().map(|word| Argument::Word((*word).to_owned())).collect()
}

/// A list of tools that a CLI would not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unenforceable {
    #[error("{cli} has no tool `{tool}`")]
    NoSuchTool { cli: Cli, tool: Tool },
    #[error("codex cannot be held to `{0}`: it has its shell for that, which does everything else too")]
    OnlyByShell(Tool),
    #[error("codex cannot be held to a list without `shell`: its other tools stay")]
    NeedsShell,
}

impl Unenforceable {
    /// What the author can do about it.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::NoSuchTool { .. } => "leave it out, or name another `agent:`",
            Self::OnlyByShell(_) => "add `shell`, or write `agent: claude` or `agent: gemini`, which can be held to it",
            Self::NeedsShell => "add `shell`, or write `agent: claude` or `agent: gemini`",
        }
    }
}

/// Holds a CLI to these tools and no others.
pub fn restrict(cli: Cli, tools: &[Tool]) -> Result<Vec<Argument>, Unenforceable> {
    match cli {
        Cli::Claude => {
            let names = named(cli, tools, Tool::claude)?;
            Ok(words(&["--tools", &names.join(","), "--strict-mcp-config"]))
        }
        Cli::Gemini => {
            let names = named(cli, tools, Tool::gemini)?;
            let mut arguments = words(&["--admin-policy"]);
            arguments.push(Argument::File(admin_policy(&names)));
            Ok(arguments)
        }
        Cli::Codex => codex(tools),
        Cli::Stub => named(cli, tools, |_| None).map(|_| Vec::new()),
    }
}

fn named(
    cli: Cli,
    tools: &[Tool],
    name: impl Fn(Tool) -> Option<&'static str>,
) -> Result<Vec<&'static str>, Unenforceable> {
    tools
        .iter()
        .map(|tool| name(*tool).ok_or(Unenforceable::NoSuchTool { cli, tool: *tool }))
        .collect()
}

fn admin_policy(names: &[&str]) -> String {
    let mut text = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 100\n".to_owned();
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        text.push_str(&format!(
            "\n[[rule]]\ntoolName = [{}]\ndecision = \"allow\"\npriority = 200\n",
            names.join(", ")
        ));
    }
    text
}

fn codex(tools: &[Tool]) -> Result<Vec<Argument>, Unenforceable> {
    for tool in tools {
        match tool {
            Tool::Shell | Tool::WebSearch => {}
            Tool::WebFetch | Tool::EditNotebook => {
                return Err(Unenforceable::NoSuchTool {
                    cli: Cli::Codex,
                    tool: *tool,
                });
            }
            Tool::ReadFile | Tool::ListDirectory | Tool::Glob | Tool::Grep | Tool::EditFile | Tool::WriteFile
                if !tools.contains(&Tool::Shell) =>
            {
                return Err(Unenforceable::OnlyByShell(*tool));
            }
            Tool::ReadFile | Tool::ListDirectory | Tool::Glob | Tool::Grep | Tool::EditFile | Tool::WriteFile => {}
        }
    }
    if !tools.contains(&Tool::Shell) {
        return Err(Unenforceable::NeedsShell);
    }
    let search = if tools.contains(&Tool::WebSearch) {
        "web_search=live"
    } else {
        "web_search=disabled"
    };
    Ok(words(&[
        "-c",
        "agents.enabled=false",
        "-c",
        "features.goals=false",
        "-c",
        search,
    ]))
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
