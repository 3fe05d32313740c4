//! The command line, as the contract fixes it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use glee_sandbox::plan;

use crate::args_agents::AgentsCommand;
use crate::args_config::ConfigCommand;
use crate::args_context::ContextCommand;
use crate::args_more::{DoctorArgs, PolicyCommand, TrustArgs};
use crate::args_past::{AuditCommand, RunsCommand};
use crate::args_tasks::{ApprovalsCommand, SubagentArgs, SubagentsArgs, TasksCommand};
use crate::args_workflow::WorkflowCommand;
use crate::logs::LogsArgs;
use crate::mcp::McpArgs;
use crate::memory::MemoryCommand;
use crate::sessions::SessionsCommand;

/// Runs AI coding agents and any other command inside a sandbox built from a policy
#[derive(Debug, Parser)]
#[command(name = "glee-supervisor", version, max_term_width = 100)]
#[command(after_help = "Example:\n  glee-supervisor run --policy restricted -- ls -la")]
pub(crate) struct Cli {
    /// The project [default: the nearest parent directory that has .glee/, else the working directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command in a sandbox
    Run(RunArgs),
    /// Show what this machine can enforce, and what to do about the rest
    Doctor(DoctorArgs),
    /// List, show, check, plan, explain and learn policies
    #[command(subcommand, after_help = "Example:\n  glee-supervisor policy show workspace")]
    Policy(PolicyCommand),
    /// List, show, create and import the project's agents
    #[command(subcommand, after_help = "Example:\n  glee-supervisor agents list")]
    Agents(AgentsCommand),
    /// Show and set what the project's configuration says
    #[command(subcommand, after_help = "Example:\n  glee-supervisor config list")]
    Config(ConfigCommand),
    /// Show what an agent is told
    #[command(
        subcommand,
        after_help = "Example:\n  glee-supervisor context preview \"Fix the tests\""
    )]
    Context(ContextCommand),
    /// Let the project's own configuration, agents and AGENTS.md count in full, after showing them
    Trust(TrustArgs),
    /// Forget what was trusted of the project
    #[command(after_help = "Example:\n  glee-supervisor untrust --project ~/src/app")]
    Untrust,
    /// List and show past runs
    #[command(subcommand, after_help = "Example:\n  glee-supervisor runs show latest")]
    Runs(RunsCommand),
    /// Show the audit log, and verify that nobody changed it
    #[command(subcommand, after_help = "Example:\n  glee-supervisor audit verify")]
    Audit(AuditCommand),
    /// List, show and delete recorded conversations with subagents
    #[command(subcommand, after_help = "Example:\n  glee-supervisor sessions show task-a1b2c3d4")]
    Sessions(SessionsCommand),
    /// Remember texts about this project, and find them again
    #[command(
        subcommand,
        after_help = "Example:\n  glee-supervisor memory search \"token rotation\""
    )]
    Memory(MemoryCommand),
    /// Show and follow what subagents printed and what became of them
    Logs(LogsArgs),
    /// Let a subagent work on a task in the sandbox
    Subagent(SubagentArgs),
    /// Let subagents work on several tasks at once
    Subagents(SubagentsArgs),
    /// List, show, wait for and cancel tasks
    #[command(subcommand, after_help = "Example:\n  glee-supervisor tasks list")]
    Tasks(TasksCommand),
    /// Check, draw and run the project's workflows
    #[command(subcommand, after_help = "Example:\n  glee-supervisor workflow validate")]
    Workflow(WorkflowCommand),
    /// List the tasks that wait for approval, and approve or deny them
    #[command(subcommand, after_help = "Example:\n  glee-supervisor approvals list")]
    Approvals(ApprovalsCommand),
    /// Serve main agents over MCP, and enter the server in their configurations
    Mcp(McpArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  source <(glee-supervisor completions bash)")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// `run`, the commonest flags, `--` and a command, read without describing the whole command line to the parser first:
    /// that takes longer than anything else before the sandbox.
    ///
    /// `None` for everything else, mistakes and `--help` included. A test compares it with the parser.
    pub(crate) fn plain_run(arguments: &[OsString]) -> Option<Self> {
        let mut words = arguments.iter().skip(1);
        words.next().filter(|word| *word == "run")?;
        let mut project = None;
        let mut run = RunArgs::default();
        loop {
            let flag = words.next()?.to_str()?;
            if flag == "--" {
                break;
            }
            let value = words.next().filter(|value| is_plain(value))?;
            match flag {
                "--policy" => once(&mut run.policy, value.to_str()?.to_owned())?,
                "--report" => once(&mut run.report, value.into())?,
                "--project" => once(&mut project, value.into())?,
                "--job" => once(&mut run.job, value.into())?,
                "--read" => run.read.push(value.clone()),
                "--write" => run.write.push(value.clone()),
                "--env" => run.env.push(value.clone()),
                _ => return None,
            }
        }
        run.command = words.cloned().collect();
        let command = (!run.command.is_empty()).then_some(Command::Run(run))?;
        Some(Self { project, command })
    }
}

/// Nothing that the parser might take for a flag or for no value at all.
fn is_plain(value: &OsString) -> bool {
    !value.is_empty() && !value.as_encoded_bytes().starts_with(b"-")
}

fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

#[derive(Debug, Default, Args)]
#[command(after_help = "\
Exit status: the command's own; 128+N if signal N ended it; 124 the deadline was reached;
125 the sandbox was refused or could not be built, and the command never started;
126 found but not executable; 127 not found.

Example:
  glee-supervisor run --policy workspace --timeout 5m --report report.json -- make test")]
pub(crate) struct RunArgs {
    /// A profile's name, or a path to a YAML file [default: the project's own, else restricted]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) policy: Option<String>,

    /// How long the command may run: 90s, 30m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,

    /// Write a JSON report of the run here
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// What contains the command: ourselves (auto, native) or a container engine [default: the policy's]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<Backend>,

    /// Also allow reading this path
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<OsString>,

    /// Also allow writing this path
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<OsString>,

    /// Also allow connecting to this host
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) net: Vec<String>,

    /// Also pass this variable, or set it
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<OsString>,

    /// Read the key of the agent's model API from this file [default: its variable, such as OPENAI_API_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// Try forbidden things in the finished sandbox first, and start nothing if one works [default: on]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    pub(crate) receipt: Option<Switch>,

    /// Refuse to run if the run cannot be entered in the audit log
    #[arg(long)]
    pub(crate) require_audit: bool,

    /// What the command gets in place of the project [default: the project itself]
    ///
    /// A copy may be written whatever the policy says of the project: nothing real can be touched
    #[arg(long, value_name = "HOW")]
    pub(crate) workspace: Option<Workspace>,

    /// Report also what was only looked at and not there (stat, access): slower
    #[arg(long)]
    pub(crate) explain: bool,

    /// Look only at refused system calls, and print no summary of denials
    #[arg(long)]
    pub(crate) no_denials: bool,

    /// As root: report also what Landlock recorded in the kernel's audit, which is on for all of the machine meanwhile
    #[arg(long)]
    pub(crate) kernel_audit: bool,
    /// What a worker says about the task that this run is
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) job: Option<PathBuf>,

    /// The command and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    Auto,
    Native,
    Podman,
    Docker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workspace {
    /// The project itself
    Shared,
    /// A copy-on-write view: the project stays as it is, see `runs diff` and `runs apply`
    Cow,
    /// A git worktree of the last commit, on a branch of its own
    Worktree,
}

impl Workspace {
    pub(crate) fn wanted(asked: Option<Self>) -> plan::Workspace {
        match asked {
            Some(Self::Shared) | None => plan::Workspace::Shared,
            Some(Self::Cow) => plan::Workspace::Cow,
            Some(Self::Worktree) => plan::Workspace::Worktree,
        }
    }
}

/// `90`, `90s`, `1.5m`, `1h30m`, `250ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 366.0 * 86_400.0;
    let wrong = || format!("`{text}` is not a time: write 90s, 30m or 1h30m");
    let mut rest = text;
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "" if after.is_empty() && end == 0 && !text.contains(|c: char| c.is_ascii_alphabetic()) => 1.0,
            _ => return Err(wrong()),
        };
        seconds += number * factor;
        rest = after;
    }
    if !(0.001..=MOST).contains(&seconds) {
        return Err(format!("`{text}` is not a time between 1ms and a year"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let read = |text| duration(text).ok();
        assert_eq!(read("90"), Some(Duration::from_secs(90)));
        assert_eq!(read("30s"), Some(Duration::from_secs(30)));
        assert_eq!(read("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(read("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(read("250ms"), Some(Duration::from_millis(250)));
        for wrong in [
            "", "s", "1x", "-1s", "0", "0s", "1h30", "nan", "1e9s", "99999d", "1..2s", "0.0001s",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
