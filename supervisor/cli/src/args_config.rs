//! The command line of `config`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the value of a key that holds
    #[command(after_help = "Example:\n  glee-supervisor config get subagents.max_concurrent")]
    Get {
        /// The key, from the top of the file
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a key; everything else in the file stays as it is, comments too
    #[command(after_help = "\
A file that was trusted is another file afterwards: `glee-supervisor trust` asks again. A value
above its default counts only when the file is trusted.

Example:
  glee-supervisor config set subagents.timeout_ms 120000")]
    Set {
        /// The key, from the top of the file
        key: String,
        /// The value, as YAML on one line
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show every key, its value, and what it is for
    #[command(after_help = "Example:\n  glee-supervisor config list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
