//! The command line of `agents`.

use clap::Subcommand;

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
}
