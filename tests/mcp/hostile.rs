//! A hostile client on pipes: after each thing it says, the server answers an honest question.

use std::time::Duration;

use glee_tests::{Caller, claims};
use serde_json::{Value, json};

use crate::support::{Client, Place};

/// What an attempt must come to.
enum Expect {
    /// A result that says it is an error, with this in its text.
    Told(&'static str),
    /// An error of the protocol with this number.
    Error(i64),
    /// An error without an id.
    Nobodys(i64),
    /// Nothing at all.
    Silence,
    /// Whatever it is, it says nothing.
    Whatever,
}

use Expect::{Error, Nobodys, Silence, Told, Whatever};

/// Ids that name no task: what must not become a path, a query or a crash.
fn wrong_ids() -> Vec<Value> {
    vec![
        json!("../../../../etc/passwd"),
        json!(".."),
        json!("/etc/passwd"),
        json!(""),
        json!("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        json!("0123456789012345678901234567"),
        json!("0123456789012345678901234\u{0}"),
        json!("a' OR '1'='1' -- 0123456789"),
        json!("\u{202e}2345678901234567890123456"),
        json!("x".repeat(1 << 20)),
        json!(17),
        json!(null),
        json!(["01234567890123456789012345"]),
        json!({ "id": "01234567890123456789012345" }),
        json!("01234567890123456789012345"),
    ]
}

fn tool_cases() -> Vec<(&'static str, Value, Expect)> {
    let task = |more: Value| {
        let mut arguments = json!({ "description": "d", "prompt": "p", "agent_cli": "stub" });
        for (key, value) in more.as_object().expect("an object") {
            arguments[key] = value.clone();
        }
        arguments
    };
    let mut cases = vec![
        ("glee_task", json!({}), Told("description")),
        ("glee_task", json!({ "description": "d" }), Told("prompt")),
        ("glee_task", json!({ "prompt": "p" }), Told("description")),
        (
            "glee_task",
            json!({ "description": " ", "prompt": "p" }),
            Told("description"),
        ),
        ("glee_task", task(json!({ "prompt": 7 })), Told("fit")),
        ("glee_task", task(json!({ "prompt": "" })), Told("prompt")),
        ("glee_task", task(json!({ "prompt": ["p"] })), Told("fit")),
        (
            "glee_task",
            task(json!({ "prompt": "x".repeat(600 << 10) })),
            Told("prompt"),
        ),
        (
            "glee_task",
            task(json!({ "description": "x".repeat(10_000) })),
            Told("description"),
        ),
        ("glee_task", task(json!({ "agent_name": "../../etc/passwd" })), Told("")),
        ("glee_task", task(json!({ "agent_name": "a/b" })), Told("")),
        ("glee_task", task(json!({ "agent_name": "nobody" })), Told("no agent")),
        ("glee_task", task(json!({ "agent_name": "" })), Told("")),
        ("glee_task", task(json!({ "agent_cli": "bash" })), Told("fit")),
        ("glee_task", task(json!({ "agent_cli": "/bin/sh" })), Told("fit")),
        ("glee_task", task(json!({ "agent_cli": "--help" })), Told("fit")),
        ("glee_task", task(json!({ "agent_cli": 1 })), Told("fit")),
        ("glee_task", task(json!({ "session_id": "../../x" })), Told("")),
        ("glee_task", task(json!({ "session_id": "task-../../x" })), Told("")),
        ("glee_task", task(json!({ "session_id": "task-00000000" })), Told("")),
        ("glee_task", task(json!({ "session_id": 3 })), Told("fit")),
        ("glee_task", task(json!({ "background": "true" })), Told("background")),
        ("glee_task", task(json!({ "background": 1 })), Told("background")),
        ("glee_task", task(json!({ "inputs": ["a"] })), Told("fit")),
        ("glee_task", task(json!({ "inputs": { "a": "b" } })), Told("inputs")),
        ("glee_task", task(json!({ "inputs": { "a": 1 } })), Told("fit")),
        ("glee_task", task(json!({ "permissions": [] })), Told("fit")),
        (
            "glee_task",
            task(json!({ "permissions": { "nonsense": 1 } })),
            Told("fit"),
        ),
        (
            "glee_task",
            task(json!({ "permissions": { "fs": { "read": "/" } } })),
            Told("fit"),
        ),
        ("glee_task", task(json!({ "timeout_ms": -1 })), Told("fit")),
        ("glee_task", task(json!({ "timeout_ms": 0 })), Told("timeout_ms")),
        ("glee_task", task(json!({ "timeout_ms": 1.5 })), Told("fit")),
        ("glee_task", task(json!({ "timeout_ms": "60000" })), Told("fit")),
        ("glee_task", task(json!({ "timeout_ms": u64::MAX })), Told("timeout_ms")),
        ("glee_task", task(json!({ "cwd": "/" })), Told("cwd")),
        (
            "glee_task",
            task(json!({ "working_directory": "/etc" })),
            Told("working_directory"),
        ),
        ("glee_task", task(json!({ "project": "/" })), Told("project")),
        ("glee_task", task(json!({ "policy": "inherit" })), Told("policy")),
        ("glee_task", task(json!({ "env": { "A": "b" } })), Told("env")),
        (
            "glee_task",
            task(json!({ "parent": "01234567890123456789012345" })),
            Told("parent"),
        ),
        ("glee_task", task(json!({ "depth": 0 })), Told("depth")),
        (
            "glee_task_result",
            json!({ "task_id": "01234567890123456789012345", "wait_ms": -5 }),
            Told("fit"),
        ),
        (
            "glee_task_result",
            json!({ "task_id": "01234567890123456789012345", "wait_ms": 1e12 }),
            Told(""),
        ),
        (
            "glee_task_result",
            json!({ "task_id": "01234567890123456789012345", "wait_ms": u64::MAX }),
            Told("wait_ms"),
        ),
        ("glee_task_list", json!({ "limit": 0 }), Told("limit")),
        ("glee_task_list", json!({ "limit": -1 }), Told("fit")),
        ("glee_task_list", json!({ "limit": 101 }), Told("limit")),
        ("glee_task_list", json!({ "state": "alive" }), Told("state")),
        (
            "glee_task_list",
            json!({ "state": "'; DROP TABLE tasks; --" }),
            Told("state"),
        ),
        ("glee_agents_list", json!({ "project": "/" }), Told("project")),
        (
            "glee_agent_create",
            json!({ "name": "../x", "description": "d", "prompt": "p" }),
            Told("is not a name"),
        ),
        (
            "glee_agent_create",
            json!({ "name": "a", "description": "d" }),
            Told("prompt"),
        ),
        (
            "glee_agent_create",
            json!({ "name": "a", "description": "d", "prompt": "p", "trusted": true }),
            Told("trusted"),
        ),
        (
            "glee_agent_create",
            json!({ "name": "a", "description": "d", "prompt": "p", "tools": ["rm"] }),
            Told("rm"),
        ),
        (
            "glee_memory_add",
            json!({ "category": "../x", "content": "c" }),
            Told("name"),
        ),
        (
            "glee_memory_add",
            json!({ "category": "x", "content": "" }),
            Told("empty"),
        ),
        (
            "glee_memory_add",
            json!({ "category": "x", "content": "x".repeat(65 << 10) }),
            Told("too long"),
        ),
        (
            "glee_memory_add",
            json!({ "category": "x", "content": "c", "said_by": "user" }),
            Told("said_by"),
        ),
        (
            "glee_memory_add",
            json!({ "category": "x", "content": "c", "trusted": true }),
            Told("trusted"),
        ),
        ("glee_memory_search", json!({ "query": "***" }), Told("word")),
        (
            "glee_memory_search",
            json!({ "query": "a", "limit": 1000 }),
            Told("limit"),
        ),
        ("glee_memory_search", json!({ "query": "a", "limit": -1 }), Told("fit")),
        ("glee_policy_explain", json!({}), Told("questions")),
        (
            "glee_policy_explain",
            json!({ "policy": "/etc/passwd", "read": ["."] }),
            Told("profile"),
        ),
        (
            "glee_policy_explain",
            json!({ "policy": "x.yml", "read": ["."] }),
            Told("profile"),
        ),
        (
            "glee_policy_explain",
            json!({ "policy": "nobody", "read": ["."] }),
            Told("nobody"),
        ),
        ("glee_policy_explain", json!({ "net": ["not a host"] }), Told("host")),
        (
            "glee_policy_explain",
            json!({ "read": vec!["."; 65] }),
            Told("questions"),
        ),
        ("glee_workflow", json!({}), Told("name")),
        ("glee_workflow", json!({ "name": "../x" }), Told("no workflow")),
        (
            "glee_workflow",
            json!({ "name": "x", "trusted": true }),
            Told("trusted"),
        ),
        ("glee_workflow_status", json!({ "run_id": "../../x" }), Told("run_id")),
        (
            "glee_workflow_create",
            json!({ "name": "../x", "definition": { "description": "d", "steps": [] } }),
            Told("not a name"),
        ),
        (
            "glee_workflow_create",
            json!({ "name": "x", "definition": { "description": "d", "steps": [], "source": null } }),
            Told("no key"),
        ),
        (
            "glee_workflow_create",
            json!({ "name": "x", "definition": { "description": "d", "steps": [{ "workflow": "x" }] } }),
            Told(""),
        ),
        ("glee_policy_explain", json!({ "read": ["a\u{0}b"] }), Whatever),
        ("glee_policy_explain", json!({ "read": ["x/".repeat(5000)] }), Whatever),
    ];
    for tool in ["glee_task_status", "glee_task_result", "glee_task_cancel"] {
        cases.extend(
            wrong_ids()
                .into_iter()
                .map(|id| (tool, json!({ "task_id": id }), Told(""))),
        );
        cases.push((tool, json!({}), Told("task_id")));
    }
    cases
}

fn request(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": "h", "method": method, "params": params }))
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn protocol_cases() -> Vec<(&'static str, Vec<u8>, Expect)> {
    let call = |params: Value| request("tools/call", &params);
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut batch = vec![json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }); 10_000];
    batch.push(json!(1));
    vec![
        ("an unknown tool", call(json!({ "name": "rm", "arguments": {} })), Error(-32602)),
        ("a tool named like a path", call(json!({ "name": "../glee_task" })), Error(-32602)),
        ("a tool without a name", call(json!({ "arguments": {} })), Error(-32602)),
        ("a tool with a number for a name", call(json!({ "name": 5 })), Error(-32602)),
        ("arguments that are a text", call(json!({ "name": "glee_task", "arguments": "x" })), Error(-32602)),
        ("arguments that are a list", call(json!({ "name": "glee_task", "arguments": [] })), Error(-32602)),
        ("parameters that are a list", call(json!([])), Error(-32600)),
        ("no parameters", line(&json!({ "jsonrpc": "2.0", "id": "h", "method": "tools/call" })), Error(-32602)),
        ("an unknown method", request("tools/destroy", &json!({})), Error(-32601)),
        ("a method that is long", request(&"m".repeat(1 << 20), &json!({})), Error(-32601)),
        ("an empty method", request("", &json!({})), Error(-32601)),
        ("tasks of a client that declared none", request("tasks/get", &json!({ "taskId": "../x" })), Error(-32021)),
        ("a prompt named like a path", request("prompts/get", &json!({ "name": "../../etc/passwd" })), Error(-32602)),
        ("a prompt that is not there", request("prompts/get", &json!({ "name": "nobody" })), Error(-32602)),
        ("a prompt with a number", request("prompts/get", &json!({ "name": 1 })), Error(-32602)),
        ("a level of logging", request("logging/setLevel", &json!({ "level": "debug" })), Error(-32601)),
        ("a resource", request("resources/read", &json!({ "uri": "file:///etc/passwd" })), Error(-32601)),
        ("a second introduction", request("initialize", &json!({ "protocolVersion": "1", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } })), Whatever),
        ("an introduction without sense", request("initialize", &json!({ "protocolVersion": {} })), Whatever),
        ("no JSON", b"hello\n".to_vec(), Nobodys(-32700)),
        ("half of a message", b"{\"jsonrpc\":\"2.0\",\"id\":\n".to_vec(), Nobodys(-32700)),
        ("bytes that are no text", b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"ping\"}\n".to_vec(), Nobodys(-32700)),
        ("zeros", vec![0; 1000].into_iter().chain(*b"\n").collect(), Nobodys(-32700)),
        ("deep lists", format!("{}\n", nested(100_000)).into_bytes(), Nobodys(-32700)),
        ("deep arguments", format!("{{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"tools/call\",\"params\":{{\"name\":\"glee_task\",\"arguments\":{{\"a\":{}}}}}}}\n", nested(5000)).into_bytes(), Nobodys(-32700)),
        ("a number", b"17\n".to_vec(), Nobodys(-32600)),
        ("a text", b"\"x\"\n".to_vec(), Nobodys(-32600)),
        ("null", b"null\n".to_vec(), Nobodys(-32600)),
        ("an empty object", b"{}\n".to_vec(), Nobodys(-32600)),
        ("an empty batch", b"[]\n".to_vec(), Nobodys(-32600)),
        ("a batch", line(&json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }])), Nobodys(-32600)),
        ("a flood in a batch", line(&Value::Array(batch)), Nobodys(-32600)),
        ("no version", line(&json!({ "id": "h", "method": "ping" })), Error(-32600)),
        ("another version", line(&json!({ "jsonrpc": "1.0", "id": "h", "method": "ping" })), Error(-32600)),
        ("an id that is null", line(&json!({ "jsonrpc": "2.0", "id": null, "method": "ping" })), Whatever),
        ("an id that is a fraction", line(&json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" })), Whatever),
        ("an id that is an object", line(&json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" })), Nobodys(-32600)),
        ("an id beyond all numbers", b"{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"ping\"}\n".to_vec(), Whatever),
        ("an id that is long", line(&json!({ "jsonrpc": "2.0", "id": "i".repeat(1 << 20), "method": "ping" })), Whatever),
        ("half of a surrogate", b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"tools/call\",\"params\":{\"name\":\"glee_memory_add\",\"arguments\":{\"category\":\"x\",\"content\":\"\\ud800\"}}}\n".to_vec(), Nobodys(-32700)),
        ("the same key twice", b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"id\":\"i\",\"method\":\"ping\"}\n".to_vec(), Whatever),
        ("empty lines", b"\n\n\r\n   \n".to_vec(), Silence),
        ("a notification that nobody knows", line(&json!({ "jsonrpc": "2.0", "method": "notifications/x" })), Silence),
        ("a notification without sense", line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5 })), Silence),
        ("a cancellation of nothing", line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "nothing" } })), Silence),
        ("progress of nothing", line(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": -1e300 } })), Silence),
        ("an answer to nothing", line(&json!({ "jsonrpc": "2.0", "id": 99, "result": { "approve": true } })), Silence),
        ("an error to nothing", line(&json!({ "jsonrpc": "2.0", "id": 99, "error": { "code": 1, "message": "x" } })), Silence),
        ("both an answer and an error", line(&json!({ "jsonrpc": "2.0", "id": 99, "result": {}, "error": { "code": 1, "message": "x" } })), Whatever),
        ("a message that is too long", [vec![b' '; 5 << 20], b"\n".to_vec()].concat(), Nobodys(-32600)),
    ]
}

#[track_caller]
fn judge(client: &mut Client, name: &str, expect: &Expect) {
    let told = |answer: &Value, text: &str| {
        let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
        assert!(said.contains(text), "{name}: {said} does not hold {text}");
        // It says what is wrong, not everything that it was sent.
        assert!(said.len() < 4096, "{name}: {} bytes", said.len());
    };
    match expect {
        Told(text) => told(&client.answer(&json!("h")), text),
        Error(code) => {
            let answer = client.answer(&json!("h"));
            assert_eq!(answer["error"]["code"], *code, "{name}: {answer}");
            assert!(answer.to_string().len() < 4096, "{name}");
        }
        Nobodys(code) => {
            let answer = client
                .next(crate::support::PATIENCE)
                .unwrap_or_else(|| panic!("{name}: no answer"));
            let seen = (
                answer.get("id").cloned().unwrap_or_default(),
                answer["error"]["code"].clone(),
            );
            assert_eq!(seen, (Value::Null, json!(code)), "{name}: {answer}");
        }
        Silence => assert_eq!(client.next(Duration::from_millis(30)), None, "{name}"),
        Whatever => {}
    }
}

claims! {
    whatever_arguments_a_tool_gets_the_server_goes_on => super::arguments;
    whatever_a_client_says_the_server_goes_on => super::messages;
    what_comes_before_the_introduction_does_no_harm => super::before;
    a_prompt_is_a_prompt_whatever_it_begins_with => super::prompts;
}

/// As the task asks: more than a hundred things to say.
#[test]
fn there_are_enough_attempts() {
    assert!(tool_cases().len() + protocol_cases().len() >= 150);
}

fn arguments(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    for (tool, arguments, expect) in tool_cases() {
        let name = format!("{tool} {}", arguments.to_string().chars().take(200).collect::<String>());
        client.send(&request("tools/call", &json!({ "name": tool, "arguments": arguments })));
        if matches!(expect, Whatever) {
            client.answer(&json!("h"));
        }
        judge(&mut client, &name, &expect);
        client.is_well(&name);
    }
    assert_eq!(
        client.data("glee_task_list", json!({}))["tasks"],
        json!([]),
        "none of them became a task"
    );
    assert_eq!(client.end(), Some(0));
}

fn messages(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    for (name, bytes, expect) in protocol_cases() {
        client.send(&bytes);
        judge(&mut client, name, &expect);
        client.is_well(name);
    }
    assert_eq!(client.end(), Some(0));
}

fn before(caller: Caller) {
    let at = Place::of(caller);
    for (name, bytes, _) in protocol_cases() {
        let mut client = at.silent();
        client.send(&bytes);
        client.send(&line(
            &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ));
        client.introduce("2025-06-18", json!({}));
        client.is_well(name);
    }
}

fn prompts(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    for prompt in [
        "--help",
        "-",
        "--",
        "-c 'id'",
        "$(id)",
        "`id`",
        "a\u{202e}b",
        "@/etc/passwd",
        "/exit",
        "\\",
        "'",
        "%s",
    ] {
        let task = json!({ "description": "say it back", "prompt": prompt, "agent_cli": "stub" });
        let said = client.data("glee_task", task);
        assert_eq!(said["output"].as_str().map(str::trim_end), Some(prompt), "{said}");
    }
}
