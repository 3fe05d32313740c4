//! The command line of everything but `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Workspace;
use crate::args_policy::{ExplainArgs, LearnArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 if the profile `restricted` can be enforced here, else 1.

Example:
  glee-supervisor doctor")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print an AppArmor profile that allows user namespaces to this program, and do nothing else
    #[arg(long, conflicts_with = "json")]
    pub(crate) apparmor: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// List the profiles: built-in, the user's, the project's
    #[command(after_help = "Example:\n  glee-supervisor policy list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a policy as it is on this machine: each clause, where it was written, and why
    #[command(after_help = "Example:\n  glee-supervisor policy show workspace")]
    Show {
        /// A profile's name, or a path to a YAML file [default: what `run` would take]
        #[arg(value_name = "NAME|FILE")]
        policy: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a policy file, or a project's .glee/config.yml, and its examples
    #[command(after_help = "\
Exit status: 0 if all is well, else 1.

Example:
  glee-supervisor policy check .glee/policies/build.yml")]
    Check {
        /// The file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say whether something is allowed, by which clause, enforced by which step, and what would change that
    Explain(ExplainArgs),
    /// Run a command, and write the smallest policy that would have let it pass
    Learn(LearnArgs),
    /// Show what would be done, step by step, and which step enforces which clause; do nothing
    #[command(after_help = "Example:\n  glee-supervisor policy plan restricted -- make test")]
    Plan {
        /// A profile's name, or a path to a YAML file [default: what `run` would take]
        #[arg(value_name = "NAME|FILE")]
        policy: Option<String>,
        /// As if `run` had been given --workspace HOW
        #[arg(long, value_name = "HOW")]
        workspace: Option<Workspace>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The command to plan for, after `--` [default: /bin/sh]
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Until then the configuration only narrows the profile `restricted` and its own defaults, and what
agents, workflows and AGENTS.md say is marked as untrusted for those who read it. What is trusted
are the files as they are now: a changed file asks again.

Example:
  glee-supervisor trust --yes")]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TrustCommand>,

    /// Only this profile in the project's .glee/policies
    #[arg(long, value_name = "NAME", group = "which")]
    pub(crate) policy: Option<String>,

    /// Only this agent in the project's .glee/agents
    #[arg(long, value_name = "NAME", group = "which")]
    pub(crate) agent: Option<String>,

    /// Only this workflow in the project's .glee/workflows
    #[arg(long, value_name = "NAME", group = "which")]
    pub(crate) workflow: Option<String>,

    /// Only the project's AGENTS.md
    #[arg(long, group = "which")]
    pub(crate) agents_md: bool,

    /// Only the project's configuration
    #[arg(long, group = "which")]
    pub(crate) config: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// Show what of the project is trusted, and what is not
    #[command(after_help = "Example:\n  glee-supervisor trust status --json")]
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
