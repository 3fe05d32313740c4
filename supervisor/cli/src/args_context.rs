//! The command line of `context`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Show the exact bytes that an agent would be told
    Preview(PreviewArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The id and the signatures are new each time. AGENTS.md and the agent's own prompt are marked as
trusted only if `glee-supervisor trust` has been told so, for exactly these files.

Example:
  glee-supervisor context preview --agent security-scanner --input target_file=src/main.rs \"Look twice\"")]
pub(crate) struct PreviewArgs {
    /// An agent of the project, whose prompt comes first
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// A value for one of the agent's inputs
    #[arg(long, value_name = "NAME=VALUE", requires = "agent", value_parser = pair)]
    pub(crate) input: Vec<(String, String)>,

    /// A session whose conversation goes on
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The task; `-` reads it from standard input
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
}

/// `name=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err(format!("`{text}` is not NAME=VALUE")),
    }
}
