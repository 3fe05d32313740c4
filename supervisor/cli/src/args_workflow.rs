//! The command line of `workflow`.

use clap::{Args, Subcommand, ValueEnum};

use crate::args_workflow_run::{CancelArgs, HistoryArgs, ResumeArgs, RunArgs, StatusArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List the workflows of the project
    #[command(after_help = "Example:\n  glee-supervisor workflow list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a workflow: its steps, what they are given, and whether it is trusted
    #[command(after_help = "Example:\n  glee-supervisor workflow show full-review")]
    Show {
        /// The workflow's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check workflows and everything they run, and tell all that is wrong
    Validate(ValidateArgs),
    /// Draw a workflow with everything it runs
    Graph(GraphArgs),
    /// Run a workflow
    Run(RunArgs),
    /// Go on with a run whose driver is gone
    Resume(ResumeArgs),
    /// Show a run: where its steps are, and what it has used
    Status(StatusArgs),
    /// List the runs, or show one
    History(HistoryArgs),
    /// End a run, and the agents that work for it
    Cancel(CancelArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 all of them can run; 1 something is wrong, and is told with its file and line.

Example:
  glee-supervisor workflow validate full-review")]
pub(crate) struct ValidateArgs {
    /// The workflows' names [default: all of the project]
    pub(crate) names: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  glee-supervisor workflow graph full-review --format svg > full-review.svg")]
pub(crate) struct GraphArgs {
    /// The workflow's name
    pub(crate) name: String,

    /// How to draw it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: GraphFormat,

    /// Print the steps and their dependencies as JSON
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For a terminal
    Text,
    /// For documents that render mermaid
    Mermaid,
    /// A picture that needs no other file
    Svg,
}
