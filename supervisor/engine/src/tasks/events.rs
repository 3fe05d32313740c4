//! What an agent CLI says of its work, line by line: one reader for three dialects.
//!
//! Pure. Everything here comes out of the sandbox: it is data, bounded, and believed only together with what the system saw.

use serde_json::Value;

use super::output::HeadTail;
use crate::definitions::Cli;
use crate::sessions::ConversationId;

/// The longest line that is read. Longer ones are passed over and counted.
pub const LONGEST_LINE: usize = 8 << 20;

/// The longest description of what the agent is doing.
const LONGEST_DEED: usize = 200;

/// Tokens as the CLI counts them. Absent where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    pub input: Option<u64>,
    pub output: Option<u64>,
}

/// How the CLI says its turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    Completed,
    Failed(String),
}

/// Listens to one CLI.
#[derive(Debug)]
pub struct Listener {
    cli: Cli,
    limit: usize,
    conversation: Option<ConversationId>,
    answer: HeadTail,
    turn: Option<Turn>,
    tokens: Tokens,
    /// Tool calls that were begun.
    tools: u32,
    events: u64,
    /// Lines that are no events.
    strange: u64,
}

impl Listener {
    /// Keeps at most `limit` bytes of the answer.
    #[must_use]
    pub fn new(cli: Cli, limit: usize) -> Self {
        Self {
            cli,
            limit,
            conversation: None,
            answer: HeadTail::new(limit),
            turn: None,
            tokens: Tokens::default(),
            tools: 0,
            events: 0,
            strange: 0,
        }
    }

    #[must_use]
    pub fn conversation(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    #[must_use]
    pub fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    #[must_use]
    pub fn answer(&self) -> &HeadTail {
        &self.answer
    }

    #[must_use]
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    #[must_use]
    pub fn tools(&self) -> u32 {
        self.tools
    }

    /// Takes one line, and says what the agent is doing now if the line tells.
    pub fn hear(&mut self, line: &[u8]) -> Option<String> {
        let event: Value = match serde_json::from_slice(line) {
            Ok(event @ Value::Object(_)) => event,
            Ok(_) | Err(_) => {
                self.strange += u64::from(!line.trim_ascii().is_empty());
                return None;
            }
        };
        self.events += 1;
        let deed = match self.cli {
            Cli::Codex => self.codex(&event),
            Cli::Claude => self.claude(&event),
            Cli::Gemini => self.gemini(&event),
            Cli::Stub => self.stub(&event),
        };
        deed.map(|deed| deed.chars().take(LONGEST_DEED).collect())
    }

    fn codex(&mut self, event: &Value) -> Option<String> {
        let item = event.get("item");
        let kind = item.and_then(|item| text(item, "type"));
        match (text(event, "type")?, kind) {
            ("thread.started", _) => self.call_it(event, "thread_id"),
            ("turn.started", _) => self.turn = None,
            ("turn.completed", _) => {
                self.count(event.get("usage"));
                self.turn = Some(Turn::Completed);
            }
            ("turn.failed", _) => {
                let message = event.get("error").and_then(|error| text(error, "message"));
                self.turn = Some(Turn::Failed(message.unwrap_or("the turn failed").to_owned()));
            }
            ("item.completed", Some("agent_message")) => self.say_anew(item.and_then(|item| text(item, "text"))),
            ("item.started", Some("command_execution")) => {
                self.tools += 1;
                return item.and_then(|item| text(item, "command")).map(str::to_owned);
            }
            ("item.started", Some(tool @ ("mcp_tool_call" | "web_search" | "file_change"))) => {
                self.tools += 1;
                return Some(tool.replace('_', " "));
            }
            _ => {}
        }
        None
    }

    fn claude(&mut self, event: &Value) -> Option<String> {
        match text(event, "type")? {
            "system" => self.call_it(event, "session_id"),
            "assistant" => {
                let content = event.pointer("/message/content").and_then(Value::as_array);
                let uses = content
                    .into_iter()
                    .flatten()
                    .filter(|block| text(block, "type") == Some("tool_use"));
                let mut deed = None;
                for used in uses {
                    self.tools += 1;
                    let name = text(used, "name").unwrap_or("a tool");
                    let what = used
                        .pointer("/input/command")
                        .or_else(|| used.pointer("/input/file_path"));
                    let what = what.and_then(Value::as_str).unwrap_or_default();
                    deed = Some(format!("{name} {what}").trim_end().to_owned());
                }
                return deed;
            }
            "result" => {
                self.call_it(event, "session_id");
                self.count(event.get("usage"));
                let said = text(event, "result");
                // `subtype` may say success for an answer that is an error of the API.
                if event.get("is_error").and_then(Value::as_bool) == Some(false) {
                    self.say_anew(said);
                    self.turn = Some(Turn::Completed);
                } else {
                    let message = said.or_else(|| text(event, "subtype")).unwrap_or("the turn failed");
                    self.turn = Some(Turn::Failed(message.to_owned()));
                }
            }
            _ => {}
        }
        None
    }

    fn gemini(&mut self, event: &Value) -> Option<String> {
        match (text(event, "type")?, text(event, "role")) {
            ("init", _) => self.call_it(event, "session_id"),
            // It comes in pieces.
            ("message", Some("assistant")) => {
                self.answer.write(text(event, "content").unwrap_or_default().as_bytes());
            }
            ("tool_use", _) => {
                self.tools += 1;
                // What it said before was about this call.
                self.answer = HeadTail::new(self.limit);
                let name = text(event, "tool_name").unwrap_or("a tool");
                let what = event.pointer("/parameters/command").and_then(Value::as_str);
                return Some(format!("{name} {}", what.unwrap_or_default()).trim_end().to_owned());
            }
            ("result", _) => {
                self.count(event.get("stats"));
                self.turn = Some(if text(event, "status") == Some("success") {
                    Turn::Completed
                } else {
                    let message = event.pointer("/error/message").and_then(Value::as_str);
                    Turn::Failed(message.unwrap_or("the turn failed").to_owned())
                });
            }
            _ => {}
        }
        None
    }

    fn stub(&mut self, event: &Value) -> Option<String> {
        match text(event, "type")? {
            "start" => self.call_it(event, "conversation"),
            "tool" => {
                self.tools += 1;
                return text(event, "name").map(str::to_owned);
            }
            "usage" => self.count(event.get("usage")),
            "say" => self.answer.write(text(event, "text").unwrap_or_default().as_bytes()),
            "end" => {
                self.turn = Some(match text(event, "error") {
                    None => Turn::Completed,
                    Some(why) => Turn::Failed(why.to_owned()),
                });
            }
            _ => {}
        }
        None
    }

    fn call_it(&mut self, event: &Value, key: &str) {
        if let Some(id) = text(event, key).and_then(|id| id.parse().ok()) {
            self.conversation = Some(id);
        }
    }

    fn say_anew(&mut self, said: Option<&str>) {
        self.answer = HeadTail::new(self.limit);
        self.answer.write(said.unwrap_or_default().as_bytes());
    }

    fn count(&mut self, usage: Option<&Value>) {
        let of = |key| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64);
        self.tokens = Tokens {
            input: of("input_tokens").or(self.tokens.input),
            output: of("output_tokens").or(self.tokens.output),
        };
    }
}

fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Cuts a stream into lines of at most `LONGEST_LINE` bytes.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
    /// The line has become too long: the rest of it is passed over.
    over: bool,
    pub too_long: u64,
}

impl Lines {
    /// Takes what was read and hands on every whole line.
    pub fn take(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (end, after) = rest.split_at(at);
            self.hold(end);
            self.finish(&mut line);
            rest = after.get(1..).unwrap_or_default();
        }
        self.hold(rest);
    }

    /// The stream has ended: what is left is a line, too.
    pub fn end(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.held.is_empty() || self.over {
            self.finish(&mut line);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.over || self.held.len() + bytes.len() > LONGEST_LINE {
            self.over = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn finish(&mut self, line: &mut impl FnMut(&[u8])) {
        if self.over {
            self.too_long += 1;
        } else {
            line(&self.held);
        }
        self.over = false;
        self.held.clear();
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
