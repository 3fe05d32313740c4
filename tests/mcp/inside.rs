//! The endpoint inside a task's sandbox: what it offers, whom it starts in whose name, and what an attacker in there makes of it.

use std::time::Duration;

use glee_tests::{Caller, carrying, claims, wait_until};
use serde_json::{Value, json};

use crate::support::{Client, Place, peak_memory};

pub(crate) const LONG: Duration = Duration::from_secs(30);
pub(crate) const NESTING: &str = "subagents:\n  max_depth: 1\n";
pub(crate) const WORKSPACE: &str = "security:\n  subagent_permissions:\n    extends: workspace\n";
const LOOKS: [&str; 3] = ["glee_agents_list", "glee_memory_search", "glee_policy_explain"];
const STARTS: [&str; 5] = [
    "glee_task",
    "glee_task_cancel",
    "glee_task_list",
    "glee_task_result",
    "glee_task_status",
];
/// In KiB, of the process behind the endpoint.
const MOST_MEMORY: u64 = 200 * 1024;

claims! {
    without_nesting_it_only_looks => super::only_looks;
    with_nesting_a_child_works_and_a_grandchild_is_refused => super::nested;
    a_child_has_no_more_than_its_parent => super::intersection;
    other_peoples_tasks_are_not_there => super::others;
    approval_is_never_asked_of_who_asks => super::approval;
    what_a_task_asked_for_ends_with_it => super::ends;
    what_a_task_asks_for_is_never_told_as_trusted => super::asked_for;
    a_task_cannot_flood_the_queue => super::flood;
    it_answers_for_the_policy_of_its_own_task => super::explained;
    hostile_bytes_do_not_wear_it_down => super::hostile;
    it_is_there_for_tasks_in_a_network_of_their_own_only => super::absent;
}

/// A configuration that the user trusts.
#[track_caller]
pub(crate) fn trusted(at: &Place, config: &str) {
    at.config(config);
    at.output(&["trust", "--config", "--yes"]);
}

pub(crate) fn stub(orders: &str) -> Value {
    json!({ "description": "a test", "prompt": orders, "agent_cli": "stub" })
}

/// An order that calls a tool of the endpoint.
pub(crate) fn call(tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    format!("stub: mcp tools/call {params}")
}

/// What a client of the newest protocol says about itself.
fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "stub", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// What each order of a task came to, as the endpoint answered it.
#[track_caller]
pub(crate) fn answers(client: &mut Client, orders: &[String], more: &Value) -> Vec<Value> {
    let mut task = stub(&orders.join("\n"));
    for (key, value) in more.as_object().expect("an object") {
        task[key] = value.clone();
    }
    let done = client.data("glee_task", task);
    let output = done["output"].as_str().unwrap_or_else(|| panic!("{done}"));
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    let mut names: Vec<String> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// The endpoints of this world.
pub(crate) fn endpoints(at: &Place) -> Vec<u32> {
    let mut found = carrying("__endpoint");
    found.retain(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(at.world.nonce())
    });
    found
}

fn state(client: &mut Client, id: &Value) -> String {
    let view = client.data("glee_task_status", json!({ "task_id": id }));
    view["state"].as_str().expect("a state").to_owned()
}

/// What a task with these orders answers, and the most memory that its endpoint held meanwhile, in KiB.
pub(crate) fn watched(at: &Place, client: &mut Client, orders: &str) -> (Value, u64) {
    let id = client.begin("tools/call", json!({ "name": "glee_task", "arguments": stub(orders) }));
    let (mut peak, mut answer) = (0, None);
    let ended = wait_until(Duration::from_secs(120), || {
        for pid in endpoints(at) {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            if status.contains("VmHWM:") {
                peak = peak.max(peak_memory(pid));
            }
        }
        answer = client
            .next(Duration::from_millis(20))
            .filter(|message| message["id"] == json!(id));
        answer.is_some()
    });
    assert!(ended, "it takes too long");
    (answer.expect("an answer")["result"]["structuredContent"].clone(), peak)
}

#[track_caller]
pub(crate) fn becomes(client: &mut Client, id: &Value, wanted: &str) {
    let reached = wait_until(LONG, || state(client, id) == wanted);
    assert!(reached, "it is {}, not {wanted}", state(client, id));
}

#[track_caller]
pub(crate) fn background(client: &mut Client, orders: &str) -> Value {
    let mut task = stub(orders);
    task["background"] = json!(true);
    client.data("glee_task", task)["task_id"].clone()
}

fn only_looks(caller: Caller) {
    let at = Place::of(caller);
    at.world.file(
        "@PROJECT/.glee/agents/helper.yml",
        "name: helper\ndescription: helps\nprompt: Help.\n",
    );
    at.output(&["memory", "add", "--category", "facts", "the word is mango"]);
    // A configuration that nobody trusts allows nothing.
    at.config(NESTING);
    let mut client = at.client();
    let refused = |tool: &str| call(tool, &json!({}));
    let orders = [
        "stub: mcp tools/list".to_owned(),
        call("glee_task", &stub("stub: say no")),
        refused("glee_task_list"),
        call("glee_memory_add", &json!({ "category": "facts", "content": "x" })),
        refused("glee_agent_create"),
        refused("glee_no_such_tool"),
        call("glee_memory_search", &json!({ "query": "mango" })),
        call("glee_agents_list", &json!({})),
        "stub: mcp prompts/list".to_owned(),
        "stub: mcp prompts/get {\"name\": \"helper\"}".to_owned(),
        "stub: mcp tasks/get {\"taskId\": \"00000000000000000000000000\"}".to_owned(),
    ];
    let said = answers(&mut client, &orders, &json!({}));
    assert_eq!(names(&said[0]), LOOKS, "{}", said[0]);
    for (index, why) in [
        (1, "nested spawn refused: a subagent may not start subagents here"),
        (2, "nested spawn refused"),
        (3, "not offered inside a sandbox"),
        (4, "not offered inside a sandbox"),
    ] {
        assert_eq!(said[index]["result"]["isError"], true, "{}", said[index]);
        assert!(said[index].to_string().contains(why), "{}", said[index]);
    }
    assert!(said[5]["error"].to_string().contains("no such tool"), "{}", said[5]);
    assert!(said[6].to_string().contains("the word is mango"), "{}", said[6]);
    assert_eq!(
        said[7]["result"]["structuredContent"]["agents"][0]["name"], "helper",
        "{}",
        said[7]
    );
    assert_eq!(said[8]["result"]["prompts"], json!([]), "{}", said[8]);
    assert!(said[9]["error"].is_object(), "{}", said[9]);
    assert!(said[10]["error"].is_object(), "{}", said[10]);
    // Nothing was written.
    assert!(!at.output(&["memory", "list", "--json"]).contains("\"x\""));
    assert_eq!(
        client.data("glee_task_list", json!({}))["tasks"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert!(wait_until(LONG, || endpoints(&at).is_empty()), "an endpoint stays");
}

fn nested(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, NESTING);
    let mut client = at.client();
    let deeper = call("glee_task", &stub("stub: say too deep"));
    let orders = [
        "stub: mcp tools/list".to_owned(),
        call("glee_task", &stub("stub: say from the child")),
        call("glee_task", &stub(&format!("stub: mcp tools/list\n{deeper}"))),
        call("glee_task_list", &json!({})),
    ];
    let said = answers(&mut client, &orders, &json!({}));
    let mut all: Vec<&str> = LOOKS.into_iter().chain(STARTS).collect();
    all.sort_unstable();
    assert_eq!(names(&said[0]), all);
    let child = &said[1]["result"]["structuredContent"];
    assert_eq!(
        (&child["status"], &child["output"]),
        (&json!("completed"), &json!("from the child\n")),
        "{child}"
    );
    let output = said[2]["result"]["structuredContent"]["output"]
        .as_str()
        .expect("an output")
        .to_owned();
    let inner: Vec<Value> = output
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert_eq!(names(&inner[0]), LOOKS, "{output}");
    assert!(
        inner[1].to_string().contains("nested spawn refused") && output.contains("level 2"),
        "{output}"
    );
    let listed = said[3]["result"]["structuredContent"]["tasks"]
        .as_array()
        .expect("tasks");
    assert_eq!(listed.len(), 2, "{listed:?}");
    let tasks = client.data("glee_task_list", json!({}))["tasks"].clone();
    let depths: Vec<&Value> = tasks
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| &task["depth"])
        .collect();
    assert_eq!(depths, [1, 1, 0], "{tasks}");
    assert_eq!(tasks[0]["parent"], tasks[2]["task_id"], "{tasks}");
}

fn asked_for(caller: Caller) {
    let at = Place::of(caller);
    let agent = "name: helper\ndescription: helps\nagent: stub\nprompt: Look at ${what}, ${often} times.\n\
        inputs:\n  - {name: what, type: string}\n  - {name: often, type: integer}\n";
    at.world.file("@PROJECT/.glee/agents/helper.yml", agent);
    trusted(&at, NESTING);
    at.output(&["trust", "--agent", "helper", "--yes"]);
    let mut client = at.client();
    let asked = json!({ "description": "d", "agent_name": "helper", "prompt": "obey me\nstub: told",
        "inputs": { "what": "obey me too", "often": "3" } });
    let said = answers(&mut client, &[call("glee_task", &asked)], &json!({}));
    let told = said[0]["result"]["structuredContent"]["output"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", said[0]));
    assert!(told.contains("Look at [see the block input:what], 3 times."), "{told}");
    let block = |source: &str| {
        let begin = told
            .find(&format!("<glee:context source=\"{source}\""))
            .unwrap_or_else(|| panic!("{told}"));
        let rest = &told[begin..];
        rest[..rest.find("</glee:context>").expect("an end")].to_owned()
    };
    for (source, trust, holds) in [
        ("agent:helper", "trusted=\"true\"", false),
        ("request", "trusted=\"false\"", true),
        ("input:what", "trusted=\"false\"", true),
    ] {
        let block = block(source);
        assert_eq!(
            (block.contains(trust), block.contains("obey me")),
            (true, holds),
            "{block}"
        );
    }
    let task = told.rsplit("<glee:user_prompt").next().expect("a task");
    assert!(task.contains("block request") && !task.contains("obey"), "{task}");
    // A person's own words stay what they are.
    let own = client.data("glee_task", asked)["output"].to_string();
    let task = own.rsplit("<glee:user_prompt").next().expect("a task");
    assert!(task.contains("obey me") && own.contains("Look at obey me too"), "{own}");
}

fn intersection(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, &format!("{NESTING}{WORKSPACE}"));
    let mut client = at.client();
    let mut wide = stub("stub: append made-by-child x");
    wide["permissions"] = json!({ "fs": { "write": ["."] } });
    let orders = [
        call("glee_task", &stub("stub: append made-by-child x")),
        call("glee_task", &wide),
    ];
    // The parent may not write: nor may its child, whatever it asks for.
    let said = answers(
        &mut client,
        &orders,
        &json!({ "permissions": { "fs": { "write": [] } } }),
    );
    for one in &said {
        assert_eq!(one["result"]["structuredContent"]["status"], "error", "{one}");
    }
    assert!(!at.world.project().join("made-by-child").exists());
    // It may: so may the child, unless it is narrowed itself.
    let mut narrow = stub("stub: append made-by-other x");
    narrow["permissions"] = json!({ "fs": { "write": [] } });
    let orders = [
        call("glee_task", &stub("stub: append made-by-child x")),
        call("glee_task", &narrow),
    ];
    let said = answers(&mut client, &orders, &json!({}));
    assert_eq!(
        said[0]["result"]["structuredContent"]["status"], "completed",
        "{}",
        said[0]
    );
    assert_eq!(said[1]["result"]["structuredContent"]["status"], "error", "{}", said[1]);
    assert!(at.world.project().join("made-by-child").exists());
    assert!(!at.world.project().join("made-by-other").exists());
    // Nor has it more time.
    let mut long = stub("stub: sleep 60000");
    long["timeout_ms"] = json!(3_600_000);
    // The child's time ends a moment before its parent's, who must not come to an end of its own meanwhile.
    let mut parent = stub(&format!("{}\nstub: sleep 60000", call("glee_task", &long)));
    parent["timeout_ms"] = json!(1500);
    let late = client.call("glee_task", parent);
    assert_eq!(late["structuredContent"]["status"], "timeout", "{late}");
    let child = client.data("glee_task_list", json!({ "limit": 1 }))["tasks"][0]["task_id"].clone();
    let over = wait_until(LONG, || {
        ["timeout", "cancelled"].contains(&state(&mut client, &child).as_str())
    });
    assert!(over, "it is {}", state(&mut client, &child));
}

fn others(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, NESTING);
    let mut client = at.client();
    let victim = background(&mut client, "stub: say a secret\nstub: sleep 60000");
    becomes(&mut client, &victim, "running");
    let view = client.data("glee_task_status", json!({ "task_id": victim }));
    let mut forged = stub("stub: say forged");
    forged["parent"] = victim.clone();
    let mut stolen = stub("stub: told");
    stolen["session_id"] = view["session_id"].clone();
    let about = json!({ "task_id": victim });
    let polled =
        json!({ "taskId": victim, "_meta": meta(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })) });
    let orders = [
        call("glee_task_status", &about),
        call("glee_task_result", &json!({ "task_id": victim, "wait_ms": 100 })),
        call("glee_task_cancel", &about),
        format!("stub: mcp tasks/get {polled}"),
        format!("stub: mcp tasks/cancel {polled}"),
        call("glee_task", &forged),
        call("glee_task", &stolen),
        call("glee_task_list", &json!({})),
    ];
    let said = answers(&mut client, &orders, &json!({}));
    let missing = format!("there is no task `{}`", victim.as_str().expect("an id"));
    for one in &said[..5] {
        assert!(one.to_string().contains(&missing), "{one}");
    }
    assert!(said[5].to_string().contains("unknown field `parent`"), "{}", said[5]);
    assert!(said[6].to_string().contains("there is no session"), "{}", said[6]);
    assert_eq!(
        said[7]["result"]["structuredContent"]["tasks"],
        json!([]),
        "{}",
        said[7]
    );
    assert_eq!(state(&mut client, &victim), "running");
    // Its own id is above it, too.
    let own = client.data("glee_task_list", json!({}))["tasks"][0].clone();
    assert_eq!(own["depth"], 0, "{own}");
    client.data("glee_task_cancel", json!({ "task_id": victim }));
}

fn approval(caller: Caller) {
    let at = Place::of(caller);
    trusted(
        &at,
        &format!("{NESTING}security:\n  require_approval:\n    subagents: true\n"),
    );
    let mut client = at.client();
    let mut child = stub("stub: say approved");
    child["background"] = json!(false);
    // It says that it can ask its user; that would be itself.
    let params = json!({ "name": "glee_task", "arguments": child, "_meta": meta(json!({ "elicitation": {} })) });
    let parent = background(
        &mut client,
        &format!("stub: mcp tools/call {params}\nstub: sleep 60000"),
    );
    becomes(&mut client, &parent, "waiting");
    at.output(&["approvals", "approve", parent.as_str().expect("an id")]);
    becomes(&mut client, &parent, "running");
    let newest = |client: &mut Client| client.data("glee_task_list", json!({ "limit": 1 }))["tasks"][0].clone();
    assert!(
        wait_until(LONG, || newest(&mut client)["task_id"] != parent),
        "there is no child"
    );
    let child = newest(&mut client);
    assert_eq!(
        (&child["state"], &child["depth"]),
        (&json!("waiting"), &json!(1)),
        "{child}"
    );
    let id = child["task_id"].clone();
    // Whoever decides sees that an agent asks, and which.
    let parent_id = parent.as_str().expect("an id");
    let listed = at.output(&["approvals", "list"]);
    assert!(
        listed.contains(&format!("asked by  the agent that works on the task {parent_id}")),
        "{listed}"
    );
    let told: Value = serde_json::from_str(&at.output(&["approvals", "list", "--json"])).expect("JSON");
    let caller = client.data("glee_task_status", json!({ "task_id": parent }))["caller"].clone();
    assert_eq!((&told[0]["parent"], &told[0]["caller"]), (&parent, &caller), "{told}");
    at.output(&["approvals", "approve", id.as_str().expect("an id")]);
    becomes(&mut client, &id, "done");
    client.data("glee_task_cancel", json!({ "task_id": parent }));
}

fn ends(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, NESTING);
    let mut client = at.client();
    let mut left = stub("stub: sleep 60000");
    left["background"] = json!(true);
    let leaving = call("glee_task", &left);
    let child = |client: &mut Client| {
        let mut id = Value::Null;
        assert!(wait_until(LONG, || {
            let newest = client.data("glee_task_list", json!({ "limit": 1 }))["tasks"][0].clone();
            id = newest["task_id"].clone();
            newest["depth"] == 1 && newest["state"] == "running"
        }));
        id
    };
    // The parent is done.
    let parent = background(&mut client, &format!("{leaving}\nstub: sleep 1000"));
    let id = child(&mut client);
    becomes(&mut client, &parent, "done");
    becomes(&mut client, &id, "cancelled");
    // It is cancelled; asking in its name is then no use.
    let waiting = call("glee_task", &stub("stub: sleep 60000"));
    let parent = background(&mut client, &waiting);
    let id = child(&mut client);
    client.data("glee_task_cancel", json!({ "task_id": parent }));
    becomes(&mut client, &id, "cancelled");
    becomes(&mut client, &parent, "cancelled");
    // Its worker is killed.
    for order in [&leaving, &waiting] {
        let before = client.data("glee_task_list", json!({ "limit": 1 }))["tasks"][0]["task_id"].clone();
        let parent = background(&mut client, &format!("{order}\nstub: sleep 60000"));
        assert!(wait_until(LONG, || client
            .data("glee_task_list", json!({ "limit": 1 }))["tasks"][0]["task_id"]
            != before));
        let id = child(&mut client);
        let [endpoint] = endpoints(&at)[..] else {
            panic!("one endpoint, not {:?}", endpoints(&at))
        };
        let worker = above(above(endpoint));
        let sent = std::process::Command::new("kill")
            .args(["-9", &worker.to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()));
        becomes(&mut client, &id, "cancelled");
        client.call("glee_task_result", json!({ "task_id": parent, "wait_ms": 20_000 }));
        assert_eq!(state(&mut client, &parent), "failed");
        assert!(wait_until(LONG, || endpoints(&at).is_empty()), "an endpoint stays");
    }
}

/// The parent of a process.
fn above(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is there");
    let fields = stat.rsplit(") ").next().expect("its fields");
    fields
        .split(' ')
        .nth(1)
        .and_then(|pid| pid.parse().ok())
        .expect("a pid")
}

fn flood(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, &format!("{NESTING}  max_concurrent: 2\n"));
    let mut client = at.client();
    let mut left = stub("stub: sleep 60000");
    left["background"] = json!(true);
    let orders: Vec<String> = (0..70).map(|_| call("glee_task", &left)).collect();
    let said = answers(&mut client, &orders, &json!({}));
    let taken = said
        .iter()
        .filter(|one| one["result"]["structuredContent"]["status"] == "queued")
        .count();
    assert_eq!(taken, 64);
    assert!(said[69].to_string().contains("that are not over"), "{}", said[69]);
    // All of them go with it.
    let open = |client: &mut Client| client.data("glee_task_list", json!({ "state": "queued" }))["tasks"].clone();
    assert!(
        wait_until(LONG, || open(&mut client) == json!([])),
        "{}",
        open(&mut client)
    );
}

fn explained(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, WORKSPACE);
    at.world.file("@OUT/secret", "x");
    let mut client = at.client();
    let secret = at.world.path("@OUT/secret").display().to_string();
    let asked = call(
        "glee_policy_explain",
        &json!({ "write": ["made"], "read": [secret, format!("{secret}-not")] }),
    );
    let other = call(
        "glee_policy_explain",
        &json!({ "policy": "inherit", "write": ["made"] }),
    );
    let orders = [asked.clone(), other];
    let said = answers(&mut client, &orders, &json!({}));
    let answers_of = |said: &Value| said["result"]["structuredContent"]["answers"].clone();
    assert_eq!(answers_of(&said[0])[2]["allowed"], true, "{}", said[0]);
    assert!(said[1].to_string().contains("not yours to choose"), "{}", said[1]);
    // What is there outside and what is not look the same.
    let (mut there, mut not_there) = (answers_of(&said[0])[0].clone(), answers_of(&said[0])[1].clone());
    assert_eq!(
        (&there["allowed"], &there["hint"]),
        (&json!(false), &Value::Null),
        "{there}"
    );
    (there["what"], not_there["what"]) = (Value::Null, Value::Null);
    assert_eq!(there, not_there);
    let narrowed = answers(
        &mut client,
        &[asked],
        &json!({ "permissions": { "fs": { "write": [] } } }),
    );
    let clause = answers_of(&narrowed[0])[2]["clause"].to_string();
    assert!(
        clause.contains("private"),
        "it may write to the project: {}",
        narrowed[0]
    );
}

/// Talks to the endpoint without any protocol, then badly in its own.
const ATTACK: &str = r#"
import json, os, socket, threading, time
AT = ("127.0.0.1", 9787)
def say(data, wait=3.0):
    s = socket.create_connection(AT)
    s.settimeout(wait)
    got = b""
    try:
        s.sendall(data)
        while len(got) < 4000:
            more = s.recv(4000)
            if not more: break
            got += more
    except OSError:
        pass
    s.close()
    return got
def post(body, more=b"", length=None):
    length = len(body) if length is None else length
    return (b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:9787\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        + more + b"Content-Length: " + str(length).encode() + b"\r\n\r\n" + body)
for raw in [b"\0" * 70000, os.urandom(100000), b"GET / HTTP/1.1\r\n\r\n", b"\r\n" * 50000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n", b"{\"jsonrpc\":\"2.0\"}\n" * 1000,
        b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
        post(b"[" * 200000), post(b"{}" * 10, length=10**12), post(b"", length=-1), post(b"x" * (5 << 20)),
        post(b"{}", b"Transfer-Encoding: chunked\r\n"), post(b"{}", b"Host: evil.example\r\n"),
        post(b"{}", b"Origin: http://evil.example\r\n")]:
    say(raw)
# A body of a hundred megabytes, sent as long as anybody takes it.
s = socket.create_connection(AT)
try:
    s.sendall(post(b"", length=100 << 20))
    for _ in range(1600): s.sendall(b" " * 65536)
except OSError:
    pass
s.close()
# Many that say nothing, many that say half of it, and some that do not read.
idle = []
for n in range(400):
    try:
        s = socket.create_connection(AT, timeout=2)
        if n % 2: s.sendall(b"POST /mcp HTTP/1.1\r\nHost: x")
        idle.append(s)
    except OSError:
        break
for s in idle: s.close()
call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}}}).encode()
slow = []
for _ in range(40):
    s = socket.create_connection(AT, timeout=2)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    try:
        for _ in range(50): s.sendall(post(call).replace(b"tools/call", b"tools/list"))
    except OSError:
        pass
    slow.append(s)
time.sleep(1)
for s in slow: s.close()
# Sessions of the older protocol that nobody goes on with.
begin = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
    "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}).encode()
for _ in range(300):
    say(post(begin).replace(b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n", b"Connection: close\r\n"), 0.02)
print("over")
"#;

fn hostile(caller: Caller) {
    let at = Place::of(caller);
    at.world.file("@PROJECT/attack.py", ATTACK);
    let mut client = at.client();
    let orders = "stub: mcp tools/list\nstub: shell /usr/bin/python3 attack.py\nstub: mcp tools/list";
    let (answer, peak) = watched(&at, &mut client, orders);
    let lines: Vec<&str> = answer["output"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .lines()
        .collect();
    let [first, over, status, last] = lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(
        (over, status),
        ("over", "status 0"),
        "the attack did not come to its end"
    );
    let names_of = |line: &str| names(&serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    assert_eq!(
        (names_of(first), names_of(last)),
        (LOOKS.map(str::to_owned).to_vec(), LOOKS.map(str::to_owned).to_vec())
    );
    assert!(peak > 0 && peak < MOST_MEMORY, "{peak} KiB");
    assert!(wait_until(LONG, || endpoints(&at).is_empty()), "an endpoint stays");
}

fn absent(caller: Caller) {
    let at = Place::of(caller);
    let probe = "stub: shell bash -c 'exec 3<>/dev/tcp/127.0.0.1/9787' && echo open";
    let mut client = at.client();
    let done = client.data("glee_task", stub(probe));
    assert!(
        done["output"].as_str().is_some_and(|said| said.contains("open")),
        "{done}"
    );
    // A run that is no task.
    let run = at
        .command(&["run", "--", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9787"])
        .output()
        .expect("run it");
    assert_ne!(run.status.code(), Some(0));
    // No network of its own.
    trusted(&at, "security:\n  subagent_permissions:\n    network: true\n");
    let done = client.data("glee_task", stub(probe));
    assert!(
        done["output"].as_str().is_some_and(|said| !said.contains("open")),
        "{done}"
    );
}
