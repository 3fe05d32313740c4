//! How the stub agent speaks to the endpoint of its task: one request of the newest protocol, which needs no session.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use glee_engine::endpoint::url;
use serde_json::{Value, json};

const VERSION: &str = "2026-07-28";
/// An answer has no more.
const MOST: u64 = 16 << 20;

/// The answer to a request, given as its method and the JSON of its parameters.
pub(crate) fn ask(order: &str) -> Result<String, String> {
    let (method, params) = order.split_once(' ').unwrap_or((order, "{}"));
    let mut params: Value = serde_json::from_str(params).map_err(|error| format!("not JSON: {error}"))?;
    let name = ["name", "taskId"].iter().find_map(|key| params.get(key)?.as_str());
    let name = name.map(str::to_owned);
    if let Some(params) = params.as_object_mut() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": { "name": "stub", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.entry("_meta").or_insert(meta);
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let text = post(method, name.as_deref(), &body).map_err(|error| format!("cannot reach the endpoint: {error}"))?;
    let messages = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let answer = messages
        .filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
        .rfind(|message| message.get("id").is_some());
    Ok(answer.map_or(text, |answer| answer.to_string()))
}

fn post(method: &str, name: Option<&str>, body: &str) -> io::Result<String> {
    let url = url();
    let wrong = || io::Error::from(io::ErrorKind::InvalidInput);
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(wrong)?;
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\
         MCP-Protocol-Version: {VERSION}\r\nMcp-Method: {method}\r\n{name}\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(host)?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MOST).read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    Ok(match text.split_once("\r\n\r\n") {
        Some((_, body)) => body.to_owned(),
        None => text,
    })
}
