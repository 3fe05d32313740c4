//! The command line of `agents`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use glee_engine::definitions::{Cli, Tool};

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents of the project, and where they come from
    #[command(after_help = "Example:\n  glee-supervisor agents list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show an agent: its prompt, its inputs, and what holds it to its tools and permissions
    #[command(after_help = "Example:\n  glee-supervisor agents show security-scanner")]
    Show {
        /// The agent's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a new agent
    Create(CreateArgs),
    /// Rewrite the agents of claude, gemini or codex as agents of this project
    Import(ImportArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
An agent that is there already is never replaced. It is written as untrusted: its prompt is marked
so for whoever reads it, until `glee-supervisor trust` is told otherwise.

Example:
  glee-supervisor agents create typo-fixer --description \"Fix typos\" --agent claude \\
    --tool read_file --tool edit_file --prompt 'Fix the typos in ${file}.' --input file")]
pub(crate) struct CreateArgs {
    /// Its name: lower-case letters, digits and hyphens
    pub(crate) name: String,

    /// What it is for, in one line
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: String,

    /// Its prompt; `${name}` is the value of an input
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "prompt_file",
        allow_hyphen_values = true
    )]
    pub(crate) prompt: Option<String>,

    /// Read its prompt from this file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) prompt_file: Option<PathBuf>,

    /// The CLI that it runs with [default: the first available]
    #[arg(long, value_name = "CLI", value_parser = cli)]
    pub(crate) agent: Option<Cli>,

    /// An input: required, or with a default
    #[arg(long, value_name = "NAME[=DEFAULT]")]
    pub(crate) input: Vec<String>,

    /// A tool that it may use; without any, all that the CLI has
    #[arg(long, value_name = "TOOL", value_parser = tool)]
    pub(crate) tool: Vec<Tool>,

    /// How long it may take, in minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) timeout_mins: Option<f64>,

    /// How much of its output is kept, in KiB
    #[arg(long, value_name = "KIB")]
    pub(crate) max_output_kb: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
What would run programs, reach the network or lift restrictions (hooks, MCP servers, shell tools,
permission modes, model endpoints) is dropped and named. The other program's files are never written.

Example:
  glee-supervisor agents import --from claude --dry")]
pub(crate) struct ImportArgs {
    /// Whose agents: claude, gemini or codex
    #[arg(long, value_name = "CLI", required_unless_present = "file", value_parser = cli)]
    pub(crate) from: Option<Cli>,

    /// Only this file, wherever it is
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Replace what was imported from the same file before, with its local changes
    #[arg(long)]
    pub(crate) update: bool,

    /// Write nothing; print what would change as a diff
    #[arg(long)]
    pub(crate) dry: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn cli(text: &str) -> Result<Cli, String> {
    one_of(text, Cli::WORDS)
}

fn tool(text: &str) -> Result<Tool, String> {
    one_of(text, Tool::WORDS)
}

fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("one of {}", words.join(", "))
    })
}
