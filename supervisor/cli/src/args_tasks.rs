//! The command line of `subagent`, `subagents`, `tasks` and `approvals`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use glee_engine::definitions::Cli;
use glee_engine::sessions::SessionId;
use glee_engine::store::TaskId;

use crate::args::duration;
use crate::args_context::pair;

#[derive(Debug, Args)]
#[command(after_help = "\
The answer goes to standard output. Which CLI works on it: the one that the agent's definition or --cli
names, else `subagents.default_agent`, else one that suits the words of the prompt, else the first of
codex, claude and gemini that is installed.

Exit status: 0 if the task was completed, else 1.

Example:
  glee-supervisor subagent \"Read src/main.py and summarize\" --agent explorer")]
pub(crate) struct SubagentArgs {
    /// The task; `-` reads it from standard input
    #[arg(value_name = "PROMPT", allow_hyphen_values = true)]
    pub(crate) prompt: String,

    /// An agent of the project, else a CLI of that name
    #[arg(long, value_name = "NAME", conflicts_with = "cli")]
    pub(crate) agent: Option<String>,

    /// The CLI: codex, claude, gemini, or stub (no model; see docs/tasks.md)
    #[arg(long, value_name = "CLI", value_parser = named)]
    pub(crate) cli: Option<Cli>,

    /// A few words for lists [default: the beginning of the prompt]
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// Do not wait: print the ids, and go on in the background
    #[arg(long)]
    pub(crate) background: bool,

    /// A session whose conversation goes on
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,

    /// A value for one of the agent's inputs
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) input: Vec<(String, String)>,

    /// How long it may take, below what the policy allows: 90s, 30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The file holds a list of objects: `prompt`, and where wanted `description`, `agent_name`, `agent_cli`,
`session_id`, `inputs`, `timeout_ms` and `permissions`, which can only narrow. One failure does not stop
the others.

Exit status: 0 if all were completed, else 1. With --background: 0 if all were taken.

Example:
  glee-supervisor subagents --file tasks.json --json")]
pub(crate) struct SubagentsArgs {
    /// The tasks, as a list in JSON; `-` reads them from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Do not wait: print the ids, and go on in the background
    #[arg(long)]
    pub(crate) background: bool,

    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List the tasks, the newest first
    #[command(after_help = "Example:\n  glee-supervisor tasks list --all")]
    List {
        /// Also those that are over
        #[arg(long)]
        all: bool,
        /// How many, at most
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        most: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a task: where it is, and what came of it
    #[command(after_help = "Example:\n  glee-supervisor tasks show 01kbd4q3x5v9n8m7c6b5a4z3y2")]
    Show {
        /// The task
        #[arg(value_parser = task)]
        id: TaskId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Wait until a task is over, and print its answer
    #[command(after_help = "\
Exit status: 0 if it was completed, 124 if the time to wait has passed, else 1.

Example:
  glee-supervisor tasks wait 01kbd4q3x5v9n8m7c6b5a4z3y2 --timeout 5m")]
    Wait {
        /// The task
        #[arg(value_parser = task)]
        id: TaskId,
        /// How long to wait; the task itself goes on
        #[arg(long, value_name = "TIME", value_parser = duration)]
        timeout: Option<Duration>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End tasks, and those that they have asked for
    #[command(after_help = "Example:\n  glee-supervisor tasks cancel 01kbd4q3x5v9n8m7c6b5a4z3y2")]
    Cancel {
        /// The tasks
        #[arg(required = true, value_parser = task)]
        ids: Vec<TaskId>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List what waits for approval: of a task who asks, the policy, the command, the inputs and the beginning of the prompt; of a tool its arguments
    #[command(after_help = "Example:\n  glee-supervisor approvals list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one of them with its whole prompt
    #[command(after_help = "Example:\n  glee-supervisor approvals show 01kbd4q3x5v9n8m7c6b5a4z3y2")]
    Show {
        /// The id, as the list shows it
        #[arg(value_parser = task)]
        id: TaskId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let tasks start, and calls of tools be made
    #[command(after_help = "Example:\n  glee-supervisor approvals approve 01kbd4q3x5v9n8m7c6b5a4z3y2")]
    Approve {
        /// The ids, as the list shows them
        #[arg(required = true, value_parser = task)]
        ids: Vec<TaskId>,
    },
    /// Refuse tasks and calls
    #[command(after_help = "Example:\n  glee-supervisor approvals deny 01kbd4q3x5v9n8m7c6b5a4z3y2")]
    Deny {
        /// The ids, as the list shows them
        #[arg(required = true, value_parser = task)]
        ids: Vec<TaskId>,
    },
}

fn task(text: &str) -> Result<TaskId, String> {
    text.parse()
        .map_err(|error: glee_engine::store::NotATask| error.to_string())
}

fn named(text: &str) -> Result<Cli, String> {
    Cli::named(text).ok_or_else(|| {
        let words: Vec<&str> = Cli::NAMED.iter().map(|(word, _)| *word).collect();
        format!("one of {}", words.join(", "))
    })
}
