//! The server over HTTP, and requests to it byte by byte.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Place};

/// A server that listens.
#[derive(Debug)]
pub(crate) struct Web {
    child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Of a text that may hold nothing at all.
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The messages of a stream, or the one of a plain body.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let data = self
            .body
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        data.filter_map(|line| serde_json::from_str(line).ok())
            .filter(Value::is_object)
            .collect()
    }
}

impl Web {
    pub(crate) fn start(at: &Place) -> Self {
        let mut child = at
            .command(&["mcp", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut line = String::new();
        let mut errors = BufReader::new(child.stderr.take().expect("its messages"));
        errors.read_line(&mut line).expect("it says where it listens");
        let port = line
            .split("http://127.0.0.1:")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .and_then(|port| port.parse().ok())
            .unwrap_or_else(|| panic!("no address in {line:?}"));
        let file = line.split('`').nth(1).expect("the token's file");
        let token = fs::read_to_string(file).expect("the token").trim().to_owned();
        assert!(!line.contains(&token), "the token is printed");
        Self { child, port, token }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connect");
        stream.set_read_timeout(Some(PATIENCE)).expect("set a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("set a timeout");
        stream
    }

    /// Sends bytes and reads until the server closes. What the server no longer takes is not sent.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::of(&String::from_utf8_lossy(&answer))
    }

    /// The head of an honest POST, but for what is given.
    pub(crate) fn head(&self, length: usize, more: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n",
            self.port, self.token
        )
    }

    pub(crate) fn post(&self, more: &str, body: &str) -> Reply {
        self.raw(format!("{}{body}", self.head(body.len(), more)).as_bytes())
    }

    /// A call of the newest protocol, which needs no session.
    pub(crate) fn modern(&self, method: &str, name: Option<&str>, mut params: Value) -> Reply {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": params.get("capabilities").cloned().unwrap_or(json!({})),
        });
        if let Some(object) = params.as_object_mut() {
            object.remove("capabilities");
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let name = name.map_or(String::new(), |name| format!("Mcp-Name: {name}\r\n"));
        self.post(
            &format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}"),
            &body,
        )
    }

    /// The result of a tool, in the newest protocol.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.modern(
            "tools/call",
            Some(tool),
            json!({ "name": tool, "arguments": arguments }),
        );
        let last = reply
            .messages()
            .pop()
            .unwrap_or_else(|| panic!("no message in {reply:?}"));
        assert!(last["result"].is_object(), "{last}");
        last["result"].clone()
    }

    #[track_caller]
    pub(crate) fn is_well(&self, after: &str) {
        let result = self.call("glee_agents_list", json!({}));
        assert_eq!(result["structuredContent"]["agents"], json!([]), "after {after}");
    }

    /// A session of the older protocol: its header.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let reply = self.post("", &body);
        let id = reply
            .header("mcp-session-id")
            .unwrap_or_else(|| panic!("no session: {reply:?}"));
        format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
    }

    /// Is the connection closed by the server within this time?
    pub(crate) fn closes(stream: &mut TcpStream, within: Duration) -> bool {
        stream.set_read_timeout(Some(within)).expect("set a timeout");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).is_ok()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
