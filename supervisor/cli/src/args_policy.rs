//! The command line of `policy explain` and `policy learn`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use glee_engine::explain::{CallName, Target, Variable};

use crate::args::Workspace;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question").args(["path", "net", "env", "syscall"]).required(true).multiple(true))]
#[command(after_help = "\
The answer is that of the finished sandbox: system directories, private places, protected names and links
included. It holds as far as ordinary file permissions allow. Nothing is run, looked up or sent.

Exit status: 0 if everything that was asked for is allowed, 1 if something is denied, 125 if the policy
cannot be used here, 2 for a mistake in the command line.

Example:
  glee-supervisor policy explain workspace --path ~/.ssh/id_ed25519 --env GITHUB_TOKEN --net example.org:443")]
pub(crate) struct ExplainArgs {
    /// A profile's name, or a path to a YAML file [default: what `run` would take]
    #[arg(value_name = "NAME|FILE")]
    pub(crate) policy: Option<String>,

    /// May this path be read?
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<PathBuf>,

    /// Ask about writing (or making) the paths instead
    #[arg(long, requires = "path", conflicts_with = "exec")]
    pub(crate) write: bool,

    /// Ask about executing the paths instead
    #[arg(long, requires = "path")]
    pub(crate) exec: bool,

    /// May this host be connected to?
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) net: Vec<Target>,

    /// Does this variable pass?
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<Variable>,

    /// Is this system call allowed?
    #[arg(long, value_name = "NAME")]
    pub(crate) syscall: Vec<CallName>,

    /// As if `run` had been given --read PATH
    #[arg(long, value_name = "PATH")]
    pub(crate) with_read: Vec<OsString>,

    /// As if `run` had been given --write PATH
    #[arg(long, value_name = "PATH")]
    pub(crate) with_write: Vec<OsString>,

    /// As if `run` had been given --net HOST[:PORT]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) with_net: Vec<String>,

    /// As if `run` had been given --env NAME[=VALUE]
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) with_env: Vec<OsString>,

    /// As if `run` had been given --workspace HOW
    #[arg(long, value_name = "HOW")]
    pub(crate) with_workspace: Option<Workspace>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The command that would run, after `--` [default: /bin/sh]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
What the policy denies stays denied; the run is an ordinary one, and its exit status is the command's own.
Secrets (keys, tokens, .env, files with logins) are never proposed, only listed as comments. A command
that stops at its first denial is learned from with --permissive, which runs it again with what was
learned so far. Only for a command that you would let have it, and that may be run more than once.

Example:
  glee-supervisor policy learn --output build.yml -- make test")]
pub(crate) struct LearnArgs {
    /// The profile that is run under and extended
    #[arg(long, value_name = "NAME", default_value = "workspace")]
    pub(crate) policy: String,

    /// Write the policy here, if nothing is there yet [default: stdout, after what the command prints]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Let the policy take the place of a file that is not empty
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Run the command again with what it was denied, until it succeeds or nothing more is learned; secrets stay denied
    #[arg(long)]
    pub(crate) permissive: bool,

    /// The command and its arguments, after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
