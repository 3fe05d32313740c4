//! The MCP endpoint of a task in its own sandbox: when there is one, how each CLI is told of it, and who serves it.
//!
//! A door on the loopback of the run's network namespace; behind it a process of our own program, outside, that is told
//! which task it serves. INVARIANT: whose endpoint it is follows from the door alone, never from what is said through it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use glee_egress::doors::ENDPOINT_PORT;
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode, Network};
use glee_sandbox::launch::Porter;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::container;
use crate::definitions::Cli;
use crate::store::TaskId;
use crate::tasks::OWN;

/// The argument by which our own program serves one.
pub const ENDPOINT: &str = "__endpoint";

/// What the process behind one may hold. It has a stranger for a client, and is outside the run's cgroup: where its own bounds
/// do not hold, it ends, and the door is closed.
pub const MEMORY: u64 = 512 << 20;

/// The server's name in the CLI's configuration.
const NAME: &str = "glee";
/// A subagent's own subagents may take their time: the bound is the task's.
const CALL_SECONDS: u64 = 24 * 60 * 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    Offered,
    Absent,
}

impl Endpoint {
    /// What a policy leaves room for: a network namespace that holds this run and nothing else.
    #[must_use]
    pub fn under(policy: &ResolvedPolicy) -> Self {
        let walled = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
        let apart = match policy.network {
            Network::Off | Network::Names { .. } => true,
            Network::Host => false,
        };
        match walled && apart && container::engine(policy.backend).is_none() {
            true => Self::Offered,
            false => Self::Absent,
        }
    }

    /// Offered only if both offer it.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Offered, Self::Offered) => Self::Offered,
            (Self::Absent, _) | (_, Self::Absent) => Self::Absent,
        }
    }
}

/// Where it is, seen from inside.
#[must_use]
pub fn url() -> String {
    format!("http://127.0.0.1:{ENDPOINT_PORT}/mcp")
}

/// How a CLI is told of it on its command line.
#[must_use]
pub fn words(cli: Cli) -> Vec<String> {
    let url = url();
    match cli {
        Cli::Claude => {
            let server = json!({ "mcpServers": { NAME: { "type": "http", "url": url } } });
            vec!["--mcp-config".to_owned(), server.to_string()]
        }
        Cli::Codex => {
            let server = [
                format!("url=\"{url}\""),
                format!("tool_timeout_sec={CALL_SECONDS}"),
                "default_tools_approval_mode=\"approve\"".to_owned(),
            ];
            let words = server.map(|word| ["-c".to_owned(), format!("mcp_servers.{NAME}.{word}")]);
            words.concat()
        }
        // The one in its settings (`servers`), the other knows where to find us.
        Cli::Gemini | Cli::Stub => Vec::new(),
    }
}

/// The MCP servers in a CLI's settings, as gemini writes them.
#[must_use]
pub fn servers(endpoint: Endpoint) -> String {
    match endpoint {
        Endpoint::Absent => "{}".to_owned(),
        Endpoint::Offered => {
            json!({ NAME: { "httpUrl": url(), "timeout": CALL_SECONDS * 1000, "trust": true } }).to_string()
        }
    }
}

/// Serves it for one task of one project.
#[derive(Debug)]
pub struct Server {
    pub project: PathBuf,
    pub task: TaskId,
}

impl Porter for Server {
    /// The listener is its standard input; its parent's pid tells it whether it came too late.
    fn start(&self, door: OwnedFd) -> io::Result<Child> {
        Command::new(OWN)
            .arg0("glee-supervisor")
            .arg(ENDPOINT)
            .arg(&self.project)
            .arg(self.task.as_str())
            .arg(std::process::id().to_string())
            .current_dir("/")
            .stdin(door)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}
