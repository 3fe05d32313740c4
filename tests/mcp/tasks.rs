//! Tasks over MCP, worked on by the stub agent in the sandbox.

use std::thread;
use std::time::{Duration, Instant};

use glee_tests::{Caller, claims, wait_until};
use serde_json::{Value, json};

use crate::support::{Client, Place};
use crate::web::Web;

claims! {
    a_task_returns_what_its_agent_said => super::foreground;
    a_failure_is_told_as_one => super::failures;
    a_session_goes_on => super::resumed;
    a_background_task_returns_at_once_and_its_result_is_waited_for => super::background;
    a_cancelled_task_is_over => super::cancelled;
    a_cancelled_call_ends_its_run => super::cancelled_call;
    a_client_that_goes_away_ends_what_it_waited_for_and_nothing_else => super::gone;
    a_server_that_is_asked_to_end_ends_what_it_waits_for => super::asked_to_end;
    a_server_that_is_killed_ends_what_it_waited_for_and_nothing_else => super::killed;
    progress_says_what_happens => super::progress;
    permissions_only_narrow => super::narrowed;
    a_client_that_knows_tasks_gets_one => super::extension;
    many_tasks_at_once => super::many;
    over_http_a_client_that_hangs_up_ends_its_run => super::hung_up;
}

fn stub(orders: &str) -> Value {
    json!({ "description": "a test", "prompt": orders, "agent_cli": "stub" })
}

fn state(client: &mut Client, id: &Value) -> String {
    let view = client.data("glee_task_status", json!({ "task_id": id }));
    view["state"].as_str().expect("a state").to_owned()
}

/// Waits for a state, within bounds.
#[track_caller]
fn becomes(client: &mut Client, id: &Value, wanted: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let state = state(client, id);
        if state == wanted {
            return;
        }
        assert!(Instant::now() < end, "it is {state}, not {wanted}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn foreground(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let done = client.data(
        "glee_task",
        stub("stub: say hello\nstub: shell id -u; pwd; cat /etc/shadow"),
    );
    let output = done["output"].as_str().expect("an output");
    assert!(output.contains("hello"), "{done}");
    assert!(output.contains(&at.world.project().display().to_string()), "{done}");
    assert!(!output.contains("root:"), "{done}");
    assert_eq!(done["status"], "completed");
    assert!(
        done["session_id"].as_str().is_some_and(|id| id.starts_with("task-")),
        "{done}"
    );
    assert!(done["duration_ms"].is_u64());
    let list = client.data("glee_task_list", json!({ "state": "done" }));
    assert_eq!(list["tasks"][0]["task_id"], done["task_id"], "{list}");
    assert_eq!(list["tasks"][0]["description"], "a test");
}

fn failures(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let failed = client.call("glee_task", stub("stub: exit 3"));
    assert_eq!(failed["isError"], true, "{failed}");
    assert_eq!(failed["structuredContent"]["status"], "error", "{failed}");
    assert!(failed["structuredContent"]["error"].is_string(), "{failed}");
    crate::support::same(&failed);
    let mut late = stub("stub: sleep 60000");
    late["timeout_ms"] = json!(300);
    let late = client.call("glee_task", late);
    assert_eq!(late["structuredContent"]["status"], "timeout", "{late}");
    client.is_well("failures");
}

fn resumed(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let first = client.data("glee_task", stub("stub: say the word is mango"));
    let again = json!({ "prompt": "stub: told", "session_id": first["session_id"] });
    let second = client.data("glee_task", again);
    assert_eq!(second["session_id"], first["session_id"]);
    assert!(
        second["output"].as_str().is_some_and(|told| told.contains("mango")),
        "{second}"
    );
}

fn background(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let mut task = stub("stub: sleep 1500\nstub: say late");
    task["background"] = json!(true);
    let start = Instant::now();
    let taken = client.data("glee_task", task);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(
        (&taken["status"], &taken["output"]),
        (&json!("queued"), &Value::Null),
        "{taken}"
    );
    let id = taken["task_id"].clone();
    let early = client.data("glee_task_result", json!({ "task_id": id, "wait_ms": 0 }));
    assert_eq!(early["output"], Value::Null, "{early}");
    let late = client.data("glee_task_result", json!({ "task_id": id, "wait_ms": 20_000 }));
    assert_eq!(
        (&late["status"], late["output"].as_str().map(str::trim_end)),
        (&json!("completed"), Some("late")),
        "{late}"
    );
    // Of another server, and by its id.
    let seen = Web::start(&at).call("glee_task_result", json!({ "task_id": id }));
    assert_eq!(seen["structuredContent"], late);
}

fn cancelled(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let mut task = stub("stub: sleep 60000");
    task["background"] = json!(true);
    let id = client.data("glee_task", task)["task_id"].clone();
    becomes(&mut client, &id, "running");
    client.data("glee_task_cancel", json!({ "task_id": id }));
    let over = client.call("glee_task_result", json!({ "task_id": id, "wait_ms": 20_000 }));
    assert_eq!(
        (&over["isError"], &over["structuredContent"]["status"]),
        (&json!(true), &json!("cancelled")),
        "{over}"
    );
    let again = client.call("glee_task_cancel", json!({ "task_id": id }));
    assert_eq!(again["structuredContent"]["state"], "cancelled", "{again}");
}

fn only_task(client: &mut Client) -> Option<Value> {
    let list = client.data("glee_task_list", json!({}));
    list["tasks"].as_array().and_then(|tasks| tasks.first().cloned())
}

fn cancelled_call(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let id = client.begin(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000") }),
    );
    assert!(wait_until(Duration::from_secs(20), || only_task(&mut client)
        .is_some_and(|task| task["state"] == "running")));
    client.tell(
        "notifications/cancelled",
        json!({ "requestId": id, "reason": "enough" }),
    );
    let task = only_task(&mut client).expect("a task")["task_id"].clone();
    becomes(&mut client, &task, "cancelled");
    client.notes.retain(|note| note["id"] == json!(id));
    assert_eq!(client.notes, [] as [Value; 0], "a cancelled request gets no answer");
}

fn gone(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let mut task = stub("stub: sleep 9000\nstub: say done");
    task["background"] = json!(true);
    let kept = client.data("glee_task", task)["task_id"].clone();
    becomes(&mut client, &kept, "running");
    client.begin(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000") }),
    );
    assert!(wait_until(Duration::from_secs(20), || only_task(&mut client)
        .is_some_and(|task| task["task_id"] != kept && task["state"] == "running")));
    let waited_for = only_task(&mut client).expect("a task")["task_id"].clone();
    assert_eq!(client.end(), Some(0));
    let mut other = at.client();
    becomes(&mut other, &waited_for, "cancelled");
    let done = other.data("glee_task_result", json!({ "task_id": kept, "wait_ms": 20_000 }));
    assert_eq!(done["status"], "completed", "{done}");
}

fn asked_to_end(caller: Caller) {
    let at = Place::of(caller);
    for signal in ["TERM", "INT", "HUP"] {
        let mut client = at.client();
        client.begin(
            "tools/call",
            json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000") }),
        );
        assert!(wait_until(Duration::from_secs(20), || only_task(&mut client)
            .is_some_and(|task| task["state"] == "running")));
        let task = only_task(&mut client).expect("a task")["task_id"].clone();
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &client.pid().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()));
        assert_eq!(client.ended(), Some(0), "{signal}");
        becomes(&mut at.client(), &task, "cancelled");
    }
}

fn killed(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let mut task = stub("stub: sleep 4000\nstub: say done");
    task["background"] = json!(true);
    let kept = client.data("glee_task", task)["task_id"].clone();
    becomes(&mut client, &kept, "running");
    client.begin(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000") }),
    );
    assert!(wait_until(Duration::from_secs(20), || only_task(&mut client)
        .is_some_and(|task| task["task_id"] != kept && task["state"] == "running")));
    let waited_for = only_task(&mut client).expect("a task")["task_id"].clone();
    let sent = std::process::Command::new("kill")
        .args(["-9", &client.pid().to_string()])
        .status();
    assert!(sent.is_ok_and(|status| status.success()));
    assert_eq!(client.ended(), None);
    let mut other = at.client();
    becomes(&mut other, &waited_for, "cancelled");
    let done = other.data("glee_task_result", json!({ "task_id": kept, "wait_ms": 20_000 }));
    assert_eq!(done["status"], "completed", "{done}");
}

fn progress(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let params = json!({ "name": "glee_task", "arguments": stub("stub: sleep 300\nstub: tool looking around\nstub: sleep 300"), "_meta": { "progressToken": "here" } });
    let answer = client.ask("tools/call", params);
    assert!(answer["result"].is_object(), "{answer}");
    let told: Vec<&Value> = client
        .notes
        .iter()
        .filter(|note| note["method"] == "notifications/progress")
        .collect();
    assert!(
        told.iter().all(|note| note["params"]["progressToken"] == "here"),
        "{told:?}"
    );
    let numbers: Vec<f64> = told
        .iter()
        .filter_map(|note| note["params"]["progress"].as_f64())
        .collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
    let words: Vec<&str> = told
        .iter()
        .filter_map(|note| note["params"]["message"].as_str())
        .collect();
    assert!(words.contains(&"running"), "{words:?}");
    // Who did not ask for it hears nothing.
    client.notes.clear();
    client.data("glee_task", stub("stub: say x"));
    assert_eq!(client.notes, [] as [Value; 0]);
}

fn narrowed(caller: Caller) {
    let at = Place::of(caller);
    at.world.file("@PROJECT/a.txt", "apple");
    at.world.file("@OUT/b.txt", "banana");
    let outside = at.world.path("@OUT/b.txt").display().to_string();
    let mut client = at.client();
    let orders = format!("stub: shell cat a.txt {outside}; touch made; true");
    let mut narrow = stub(&orders);
    narrow["permissions"] = json!({ "fs": { "read": [] } });
    let narrow = client.call("glee_task", narrow);
    assert!(!narrow.to_string().contains("apple"), "{narrow}");
    let mut wide = stub(&orders);
    wide["permissions"] = json!({ "fs": { "read": ["/", outside], "write": [".", "/"] }, "network": true });
    let wide = client.call("glee_task", wide);
    let said = wide.to_string();
    assert!(said.contains("apple") && !said.contains("banana"), "{wide}");
    assert!(!at.world.path("@PROJECT/made").exists(), "a caller widened the policy");
}

fn extension(caller: Caller) {
    let at = Place::of(caller);
    // One that speaks the older protocol gets the result itself, whatever it declares.
    let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut older = at.client_with(declared.clone());
    assert_eq!(older.data("glee_task", stub("stub: say hello"))["status"], "completed");
    let mut client = at.silent();
    let mut ask = |method: &str, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": declared,
        });
        client.ask(method, params)
    };
    let seed = ask(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: sleep 300\nstub: say hello") }),
    );
    let id = seed["result"]["taskId"].clone();
    assert_eq!(
        (&seed["result"]["resultType"], &seed["result"]["status"]),
        (&json!("task"), &json!("working")),
        "{seed}"
    );
    let end = Instant::now() + Duration::from_secs(20);
    let task = loop {
        let task = ask("tasks/get", json!({ "taskId": id }))["result"].clone();
        if task["status"] != "working" {
            break task;
        }
        assert!(Instant::now() < end, "{task}");
        thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(
        (&task["resultType"], &task["status"]),
        (&json!("complete"), &json!("completed")),
        "{task}"
    );
    assert_eq!(
        task["result"]["structuredContent"]["output"]
            .as_str()
            .map(str::trim_end),
        Some("hello"),
        "{task}"
    );
    let failed = ask(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: exit 3") }),
    )["result"]["taskId"]
        .clone();
    let seed = ask(
        "tools/call",
        json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000") }),
    );
    let id = seed["result"]["taskId"].clone();
    assert_eq!(
        ask("tasks/cancel", json!({ "taskId": id }))["result"],
        json!({ "resultType": "complete" })
    );
    assert!(wait_until(Duration::from_secs(20), || ask(
        "tasks/get",
        json!({ "taskId": id })
    )["result"]["status"]
        == "cancelled"));
    // A tool that fails has come to its end; only the protocol can fail.
    assert!(wait_until(Duration::from_secs(20), || ask(
        "tasks/get",
        json!({ "taskId": failed })
    )["result"]["result"]["isError"]
        == true));
    for unknown in ["../x", "01234567890123456789012345"] {
        let refused = ask("tasks/get", json!({ "taskId": unknown }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

fn many(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    let ids: Vec<u64> = (0..40)
        .map(|number| {
            client.begin(
                "tools/call",
                json!({ "name": "glee_task", "arguments": stub(&format!("stub: say number {number}.")) }),
            )
        })
        .collect();
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < ids.len() {
        let message = client.next(Duration::from_secs(60)).expect("an answer");
        if let Some(id) = message["id"].as_u64() {
            answers.insert(id, message);
        }
    }
    for (number, id) in ids.iter().enumerate() {
        let said = &answers[id]["result"]["structuredContent"]["output"];
        assert_eq!(
            said.as_str().map(str::trim_end),
            Some(format!("number {number}.").as_str()),
            "{}",
            answers[id]
        );
    }
}

fn hung_up(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let params = json!({ "name": "glee_task", "arguments": stub("stub: sleep 60000"), "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut stream = web.connect();
    let more = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: glee_task\r\n";
    std::io::Write::write_all(&mut stream, format!("{}{body}", web.head(body.len(), more)).as_bytes()).expect("send");
    let state = || {
        let list = web.call("glee_task_list", json!({}));
        list["structuredContent"]["tasks"][0]["state"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(wait_until(Duration::from_secs(20), || state() == "running"));
    drop(stream);
    assert!(
        wait_until(Duration::from_secs(20), || state() == "cancelled"),
        "it is {}",
        state()
    );
}
