//! Bounds: what a client sends, asks for at once, or does not read, costs the server no more than that.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use glee_tests::{Caller, claims};
use serde_json::{Value, json};

use crate::support::{Place, peak_memory};

/// In KiB. The server alone has about a quarter of it.
const MOST_MEMORY: u64 = 160 << 10;

claims! {
    an_argument_of_100_mb_is_refused_within_bounds => super::long_argument;
    a_line_without_end_is_refused_within_bounds => super::no_end;
    a_client_that_does_not_read_is_not_read_from => super::slow_reader;
    a_request_with_an_id_in_use_is_refused => super::same_id;
    more_requests_than_can_wait_are_told_so => super::flood;
    a_long_wait_looks_less_often_than_a_short_one => super::patient;
}

fn long_argument(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let head = "{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"tools/call\",\"params\":{\"name\":\"glee_task\",\"arguments\":{\"description\":\"d\",\"prompt\":\"";
    client.send(head.as_bytes());
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        client.send(&piece);
    }
    client.send(b"\"}}}\n");
    let answer = client.next(crate::support::PATIENCE).expect("an answer");
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    client.is_well("100 MB");
    let peak = peak_memory(client.pid());
    assert!(peak < MOST_MEMORY, "{peak} KiB");
}

fn no_end(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let piece = vec![b'['; 1 << 20];
    for _ in 0..64 {
        client.send(&piece);
    }
    let peak = peak_memory(client.pid());
    assert!(peak < MOST_MEMORY, "{peak} KiB");
    assert_eq!(client.end(), Some(0));
}

/// Without reading, one can send no more than the pipes and the bounds hold; then every answer comes.
fn slow_reader(caller: Caller) {
    let at = Place::of(caller);
    let mut child = at
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start");
    let mut input = child.stdin.take().expect("its input");
    let output = child.stdout.take().expect("its output");
    let pid = child.id();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    const COUNT: usize = 20_000;
    let writer = thread::spawn(move || {
        for id in 0..COUNT {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta } });
            if writeln!(input, "{message}").is_err() {
                return;
            }
        }
    });
    thread::sleep(Duration::from_secs(2));
    assert!(
        !writer.is_finished(),
        "everything was taken from a client that reads nothing"
    );
    let peak = peak_memory(pid);
    assert!(peak < MOST_MEMORY, "{peak} KiB");
    // Now it reads.
    let mut answers = BTreeMap::new();
    for line in std::io::BufRead::lines(std::io::BufReader::new(output)) {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let kind = if message["result"].is_object() {
            "result"
        } else {
            "error"
        };
        *answers.entry(kind).or_insert(0) += 1;
    }
    writer.join().expect("the writer is done");
    child.wait().expect("it ended");
    assert_eq!(answers.values().sum::<usize>(), COUNT, "{answers:?}");
    assert!(answers["result"] > COUNT / 2, "{answers:?}");
    let _ = pid;
}

fn same_id(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let task = json!({ "description": "d", "prompt": "stub: sleep 300\nstub: say first", "agent_cli": "stub" });
    let call = json!({ "jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": { "name": "glee_task", "arguments": task } });
    client.send_json(&call);
    client.send_json(&call);
    let refused = client.answer(&json!("twice"));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let done = client.answer(&json!("twice"));
    assert_eq!(done["result"]["structuredContent"]["status"], "completed", "{done}");
    assert_eq!(
        client.data("glee_task_list", json!({}))["tasks"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    client.is_well("the same id twice");
}

fn flood(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let wait = json!({ "name": "glee_task_result", "arguments": { "task_id": "01234567890123456789012345" } });
    let first = client.data(
        "glee_task",
        json!({ "description": "d", "prompt": "stub: sleep 120000", "agent_cli": "stub", "background": true }),
    );
    let mut ids = Vec::new();
    for _ in 0..400 {
        let mut wait = wait.clone();
        wait["arguments"]["task_id"] = first["task_id"].clone();
        wait["arguments"]["wait_ms"] = json!(120_000);
        ids.push(client.begin("tools/call", wait));
    }
    // Those beyond the bound are told, however long a busy machine takes to read them; the others wait.
    for refused in 0..400 - 256 {
        let message = client.next(crate::support::PATIENCE);
        let message = message.unwrap_or_else(|| panic!("only {refused} were refused"));
        assert_eq!(message["error"]["code"], -32000, "{message}");
    }
    assert_eq!(client.next(Duration::from_millis(500)), None);
    // A cancelled request makes room.
    client.tell("notifications/cancelled", json!({ "requestId": ids[0] }));
    client.is_well("a flood");
    client.tell("notifications/cancelled", json!({ "requestId": ids[1] }));
    let cancelled = client.call("glee_task_cancel", json!({ "task_id": first["task_id"] }));
    assert_eq!(cancelled["structuredContent"]["cancel_asked"], true, "{cancelled}");
    let peak = peak_memory(client.pid());
    assert!(peak < MOST_MEMORY, "{peak} KiB");
}

/// It begins with a look every millisecond, for whoever waits for something short.
fn patient(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let task = client.data(
        "glee_task",
        json!({ "description": "d", "prompt": "stub: sleep 60000", "agent_cli": "stub", "background": true }),
    );
    let wait = json!({ "task_id": task["task_id"], "wait_ms": 30_000 });
    client.begin("tools/call", json!({ "name": "glee_task_result", "arguments": wait }));
    thread::sleep(Duration::from_secs(2));
    let before = pauses(client.pid());
    thread::sleep(Duration::from_secs(3));
    let looks = pauses(client.pid()) - before;
    assert!(looks < 1000, "{looks} in three seconds");
    client.call("glee_task_cancel", json!({ "task_id": task["task_id"] }));
}

/// How often the threads of a process have gone to sleep.
fn pauses(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there");
    let of = |thread: std::io::Result<std::fs::DirEntry>| {
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    threads.filter_map(of).sum()
}
