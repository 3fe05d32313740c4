//! `mcp` and `mcp install`: the server for main agents, and its entry in their configurations.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use glee_engine::project::Scene;
use glee_mcp::entry::{self, ServeError};
use glee_mcp::install::{Change, Client, InstallError, NAME};

use crate::agents::scene;
use crate::print;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Speaks with the client at the other end of its standard input and output, until that closes them. With
--http it listens on a loopback address instead, and answers at /mcp to whoever sends the token:
`Authorization: Bearer TOKEN`. The token's file is named when it starts, and only its user can read it.

Example:
  glee-supervisor mcp --http 127.0.0.1:7433")]
pub(crate) struct McpArgs {
    /// Listen here; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Enter this server in a client's configuration
    #[command(after_help = "\
The rest of the file stays as it is. A second time changes nothing.

Example:
  glee-supervisor mcp install claude --print")]
    Install {
        /// The client
        client: Program,
        /// Only print what would change
        #[arg(long)]
        print: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Program {
    Claude,
    Codex,
    Gemini,
    Cursor,
}

impl From<Program> for Client {
    fn from(program: Program) -> Self {
        match program {
            Program::Claude => Self::Claude,
            Program::Codex => Self::Codex,
            Program::Gemini => Self::Gemini,
            Program::Cursor => Self::Cursor,
        }
    }
}

/// Returns the exit status.
pub(crate) fn mcp(arguments: McpArgs, project: Option<PathBuf>) -> i32 {
    if let Some(McpCommand::Install { client, print }) = arguments.command {
        return install(client.into(), print).unwrap_or_else(|error| {
            print::error(&error.to_string(), Some(error.help()));
            1
        });
    }
    let scene: Scene = match scene(project.as_deref()) {
        Ok(scene) => scene,
        Err(status) => return status,
    };
    let served = match arguments.http {
        Some(address) => entry::http(scene, address, |address, file| ready(address, &file)),
        None => entry::stdio(scene),
    };
    match served {
        Ok(()) => 0,
        Err(error) => failed(&error),
    }
}

fn ready(address: SocketAddr, file: &Path) {
    print::note(&format!(
        "serving http://{address}/mcp to whoever has the token in `{}`",
        file.display()
    ));
}

fn failed(error: &ServeError) -> i32 {
    print::error(&error.to_string(), error.help());
    1
}

fn install(client: Client, only_print: bool) -> Result<i32, InstallError> {
    let change = Change::of(client)?;
    if only_print {
        return Ok(print::bytes(print::visible(&change.diff()).as_bytes(), 0));
    }
    let file = change.path.display();
    if !change.is_needed() {
        print::note(&format!("`{NAME}` is in `{file}` already"));
        return Ok(0);
    }
    change.make()?;
    print::note(&format!("`{NAME}` is entered in `{file}`"));
    Ok(0)
}
