//! The stub agent: does what its prompt says, without a model. It runs in the sandbox like every other agent.
//!
//! Lines that begin with `stub:` are its orders (docs/tasks.md): those of the agent's own prompt, of a workflow's step and of the
//! task, also if another agent asks for it. Without any it says the task back. What it does is told as one JSON object a line, which `tasks::events` reads.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::process::Command;
use std::thread;
use std::time::Duration;

use glee_engine::context::encode::decode;
use serde_json::{Value, json};

use crate::stub_mcp;

const ORDER: &str = "stub:";
/// One piece of noise.
const LINE: usize = 64 << 10;

/// Returns the exit status.
pub(crate) fn work() -> i32 {
    let mut told = String::new();
    if let Err(error) = io::stdin().read_to_string(&mut told) {
        return tell(&json!({"type": "end", "error": format!("cannot read the prompt: {error}")}));
    }
    tell(&json!({"type": "start", "conversation": format!("stub-{}", std::process::id())}));
    let task = match block(&told, "request\"") {
        asked if asked.is_empty() => task(&told),
        asked => asked,
    };
    let own = format!("{}\n{}\n{task}", block(&told, "agent:"), block(&told, "workflow:"));
    let orders: Vec<&str> = own.lines().filter_map(|line| line.trim().strip_prefix(ORDER)).collect();
    if orders.is_empty() {
        say(&task);
    }
    for order in orders {
        let (word, rest) = order.trim().split_once(' ').unwrap_or((order.trim(), ""));
        match obey(word, rest, &told) {
            Ok(Next::Order) => {}
            Ok(Next::Exit(status)) => return status,
            Err(why) => {
                tell(&json!({"type": "end", "error": why}));
                return 1;
            }
        }
    }
    tell(&json!({"type": "end"}))
}

enum Next {
    Order,
    Exit(i32),
}

fn obey(word: &str, rest: &str, told: &str) -> Result<Next, String> {
    match word {
        "say" => say(rest),
        "told" => say(told),
        "sleep" => thread::sleep(Duration::from_millis(number(rest)?)),
        "print" => print(number(rest)?).map_err(|error| error.to_string())?,
        "append" => append(rest).map_err(|error| format!("cannot append: {error}"))?,
        "shell" => say(&shell(rest).map_err(|error| format!("cannot start a shell: {error}"))?),
        "mcp" => {
            tell(&json!({"type": "tool", "name": "mcp"}));
            say(&stub_mcp::ask(rest)?);
        }
        "tokens" => tokens(rest)?,
        "error" => return Err(rest.to_owned()),
        "exit" => return number(rest).map(|status| Next::Exit(i32::try_from(status & 0xff).unwrap_or(1))),
        other => return Err(format!("`{other}` is not an order")),
    }
    Ok(Next::Order)
}

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

/// The task, out of what the supervisor wrote around it.
fn task(told: &str) -> String {
    let inner = told
        .rsplit_once("<glee:user_prompt")
        .and_then(|(_, after)| after.split_once(">\n"))
        .and_then(|(_, after)| after.split_once("\n</glee:user_prompt>"));
    inner
        .and_then(|(text, _)| decode(text))
        .unwrap_or_else(|| told.to_owned())
}

/// The text of the block from such a source; nothing if there is none.
fn block(told: &str, source: &str) -> String {
    let inner = told
        .split_once(&format!("<glee:context source=\"{source}"))
        .and_then(|(_, after)| after.split_once(">\n"))
        .and_then(|(_, after)| after.split_once("\n</glee:context>"));
    inner.and_then(|(text, _)| decode(text)).unwrap_or_default()
}

/// Says that it used so many, told and said.
fn tokens(rest: &str) -> Result<(), String> {
    let (input, output) = rest.split_once(' ').unwrap_or((rest, "0"));
    let usage = json!({"input_tokens": number(input)?, "output_tokens": number(output)?});
    tell(&json!({"type": "usage", "usage": usage}));
    Ok(())
}

fn tell(event: &Value) -> i32 {
    let done = writeln!(io::stdout(), "{event}");
    i32::from(done.is_err())
}

fn say(text: &str) {
    tell(&json!({"type": "say", "text": format!("{text}\n")}));
}

/// So many bytes that say nothing.
fn print(bytes: u64) -> io::Result<()> {
    let mut line = vec![b'.'; LINE - 1];
    line.push(b'\n');
    let mut out = io::stdout();
    let mut left = bytes;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(LINE).min(LINE);
        out.write_all(line.get(LINE - count..).unwrap_or_default())?;
        left -= count as u64;
    }
    Ok(())
}

/// A file and a line for its end.
fn append(rest: &str) -> io::Result<()> {
    let (file, line) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())
}

fn shell(command: &str) -> io::Result<String> {
    tell(&json!({"type": "tool", "name": format!("shell {command}")}));
    let done = Command::new("/bin/sh").args(["-c", command]).output()?;
    let out = String::from_utf8_lossy(&done.stdout);
    let err = String::from_utf8_lossy(&done.stderr);
    Ok(format!("{out}{err}status {}", done.status.code().unwrap_or(-1)))
}
