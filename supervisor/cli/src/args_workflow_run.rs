//! The command line of `workflow run`, `resume`, `status`, `history` and `cancel`.

use clap::Args;
use glee_engine::store::{FlowId, NotAFlow};

use crate::args_context::pair;

#[derive(Debug, Args)]
#[command(after_help = "\
What the workflow says goes to standard output. Ctrl-C cancels it, and the agents that work for it. If this
program is killed, the agents go on to their end, and `workflow resume` goes on with the rest.

Exit status: 0 if the workflow succeeded, else 1.

Example:
  glee-supervisor workflow run full-review --input target=src/api/auth.py")]
pub(crate) struct RunArgs {
    /// The workflow's name
    pub(crate) name: String,

    /// A value for one of its inputs
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) input: Vec<(String, String)>,

    /// Run nothing: print the plan, the budget, and what needs approval
    #[arg(long, conflicts_with = "background")]
    pub(crate) dry: bool,

    /// Do not wait: print the id of the run, and go on in the background
    #[arg(long)]
    pub(crate) background: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Steps that have ended stay as they ended. Agents that still work are waited for. A step whose agent died with its
worker has failed: how far it came is not known, and it is not run again.

Exit status: 0 if the workflow succeeded, else 1.

Example:
  glee-supervisor workflow resume 01kbd4q3x5v9n8m7c6b5a4z3y2")]
pub(crate) struct ResumeArgs {
    /// The run: see `workflow history`
    #[arg(value_parser = run)]
    pub(crate) run: FlowId,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  glee-supervisor workflow status 01kbd4q3x5v9n8m7c6b5a4z3y2")]
pub(crate) struct StatusArgs {
    /// The run: see `workflow history`
    #[arg(value_parser = run)]
    pub(crate) run: FlowId,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  glee-supervisor workflow history")]
pub(crate) struct HistoryArgs {
    /// One run with its steps [default: all of them, the newest first]
    #[arg(value_parser = run)]
    pub(crate) run: Option<FlowId>,

    /// How many, at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) most: u32,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  glee-supervisor workflow cancel 01kbd4q3x5v9n8m7c6b5a4z3y2")]
pub(crate) struct CancelArgs {
    /// The run: see `workflow history`
    #[arg(value_parser = run)]
    pub(crate) run: FlowId,
}

fn run(text: &str) -> Result<FlowId, String> {
    text.parse().map_err(|error: NotAFlow| error.to_string())
}
