//! A place to serve, and a client that says what the test wants, line by line.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use glee_tests::{Caller, World, binary};
use serde_json::{Value, json};

pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How long anything may take that is not meant to take long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A world of one caller's, with state and configuration of its own.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) world: World,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        let world = World::new(caller);
        world.dir("@PROJECT/.glee");
        Self { world }
    }

    /// The supervisor with these arguments in this place, not yet started. Its processes carry the world's mark.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let caller = self.world.caller();
        let mut command = Command::new(binary());
        command.arg("--project").arg(self.world.project()).args(arguments);
        command.env_clear().env("PATH", PATH).env("HOME", self.world.home());
        command.env("XDG_STATE_HOME", self.world.root().join("state"));
        command.env("XDG_CONFIG_HOME", self.world.root().join("config"));
        command.current_dir(self.world.project());
        if caller == Caller::User {
            command.uid(caller.uid()).gid(caller.gid());
        }
        command
    }

    /// What the supervisor prints, called so.
    #[track_caller]
    pub(crate) fn output(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("start the supervisor");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// A server on pipes, to whom nothing was said yet.
    pub(crate) fn silent(&self) -> Client {
        Client::start(self.command(&["mcp"]))
    }

    /// A server to which a client with these capabilities has introduced itself.
    pub(crate) fn client_with(&self, capabilities: Value) -> Client {
        let mut client = self.silent();
        client.introduce("2025-11-25", capabilities);
        client
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(json!({}))
    }

    /// Keeps the task's own questions away: approval is asked for in tests of approval.
    pub(crate) fn config(&self, text: &str) {
        self.world.file("@PROJECT/.glee/config.yml", text);
    }
}

/// The other end of a server's standard streams.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
    /// What came that was no answer to what was asked.
    pub(crate) notes: Vec<Value>,
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("start the server");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            last_id: 0,
            notes: Vec::new(),
        }
    }

    pub(crate) fn introduce(&mut self, version: &str, capabilities: Value) -> Value {
        let who = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": who });
        let answer = self.ask("initialize", params);
        assert!(answer["result"]["serverInfo"]["name"].is_string(), "{answer}");
        self.tell("notifications/initialized", json!({}));
        answer
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Bytes as they are. A server that has closed its input fails the test.
    #[track_caller]
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
        input.flush().expect("the server reads");
    }

    #[track_caller]
    pub(crate) fn send_json(&mut self, message: &Value) {
        self.send(format!("{message}\n").as_bytes());
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send_json(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send_json(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self, within: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(within).ok()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|e| panic!("the server said what is no JSON: {e}: {line}")))
    }

    /// The answer to this request; what comes before it is kept.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let message = self.next(end.saturating_duration_since(Instant::now()));
            let message = message.unwrap_or_else(|| panic!("no answer to {id}; instead {:?}", self.notes));
            if message.get("id") == Some(id) && message.get("method").is_none() {
                return message;
            }
            self.notes.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(&json!(id))
    }

    /// What a tool returns: its result as it is.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The data of a tool that does what it is asked to. Text and structure say the same.
    #[track_caller]
    pub(crate) fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        same(&result);
        result["structuredContent"].clone()
    }

    /// The server still does what an honest client asks.
    #[track_caller]
    pub(crate) fn is_well(&mut self, after: &str) {
        let id = self.begin("tools/call", json!({ "name": "glee_agents_list", "arguments": {} }));
        let end = Instant::now() + PATIENCE;
        loop {
            let message = self.next(end.saturating_duration_since(Instant::now()));
            let message = message.unwrap_or_else(|| panic!("after {after}: the server is silent"));
            if message.get("id") == Some(&json!(id)) {
                assert_eq!(
                    message["result"]["structuredContent"]["agents"],
                    json!([]),
                    "after {after}"
                );
                return;
            }
        }
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// The exit status after the input was closed.
    #[track_caller]
    pub(crate) fn end(mut self) -> Option<i32> {
        self.close_input();
        self.ended()
    }

    /// The exit status, once there is one.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status.code();
            }
            assert!(Instant::now() < end, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result is its structure.
#[track_caller]
pub(crate) fn same(result: &Value) {
    let text = result["content"][0]["text"].as_str().expect("a text");
    let text: Value = serde_json::from_str(text).expect("JSON in the text");
    assert_eq!(text, result["structuredContent"]);
}

/// The most memory that a process ever had, in KiB.
pub(crate) fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("its peak");
    line.split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("a number")
}
