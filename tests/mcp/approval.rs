//! Approval: by the client's own question in both eras, by the queue if it cannot ask, and never by itself.

use std::fs;

use glee_tests::{Caller, claims};
use serde_json::{Value, json};

use crate::support::{Client, PATIENCE, Place};
use crate::web::Web;

const ASK: &str = "security:\n  require_approval:\n    subagents: true\n";

claims! {
    the_client_asks_its_user => super::by_request;
    the_newest_protocol_asks_by_a_result => super::by_retry;
    a_client_that_cannot_ask_has_the_queue => super::by_queue;
    a_new_agent_is_written_only_after_a_yes => super::new_agent;
}

fn stub() -> Value {
    json!({ "description": "risky", "prompt": "stub: say \u{1b}[2J done", "agent_cli": "stub" })
}

/// Calls a tool and answers the one question that comes.
#[track_caller]
fn asked(client: &mut Client, tool: &str, arguments: Value, reply: &Value) -> (Value, String) {
    let id = client.begin("tools/call", json!({ "name": tool, "arguments": arguments }));
    let question = client.next(PATIENCE).expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().expect("a text").to_owned();
    client.send_json(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply }));
    (client.answer(&json!(id))["result"].clone(), message)
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

fn by_request(caller: Caller) {
    let at = Place::of(caller);
    at.config(ASK);
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let (done, message) = asked(&mut client, "glee_task", stub(), &yes());
    assert_eq!(done["structuredContent"]["status"], "completed", "{done}");
    for shown in ["risky", "stub", "restricted", "network", "say"] {
        assert!(message.contains(shown), "{shown} is not in {message}");
    }
    assert!(!message.contains('\u{1b}'), "{message:?}");
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept" }),
    ] {
        let (refused, _) = asked(&mut client, "glee_task", stub(), &no);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused.to_string().contains("denied"), "{refused}");
    }
    // Nobody there: the task waits in the queue.
    let (waits, _) = asked(&mut client, "glee_task", stub(), &json!({ "action": "cancel" }));
    assert_eq!(waits["structuredContent"]["status"], "waiting", "{waits}");
    let states: Vec<Value> = client.data("glee_task_list", json!({}))["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| task["state"].clone())
        .collect();
    assert_eq!(states, [json!("waiting"), json!("done")]);
}

fn modern(params: &Value) -> Value {
    let mut params = params.clone();
    params["capabilities"] = json!({ "elicitation": {} });
    params
}

fn by_retry(caller: Caller) {
    let at = Place::of(caller);
    at.config(ASK);
    let web = Web::start(&at);
    let call = |params: &Value| {
        let reply = web.modern("tools/call", Some("glee_task"), modern(params));
        reply.messages().pop().unwrap_or_else(|| panic!("{reply:?}"))["result"].clone()
    };
    let first = json!({ "name": "glee_task", "arguments": stub() });
    let question = call(&first);
    assert_eq!(question["resultType"], "input_required", "{question}");
    assert!(
        question["inputRequests"]["approval"]["params"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("risky")),
        "{question}"
    );
    let state = question["requestState"].clone();
    let again = |state: &Value, reply: Value, arguments: &Value| {
        call(
            &json!({ "name": "glee_task", "arguments": arguments, "requestState": state, "inputResponses": { "approval": reply } }),
        )
    };
    let done = again(&state, yes(), &stub());
    assert_eq!(done["structuredContent"]["status"], "completed", "{done}");
    assert_eq!(
        again(&state, yes(), &stub())["resultType"],
        "input_required",
        "a yes counted twice"
    );
    assert_eq!(
        again(&json!("0".repeat(32)), yes(), &stub())["resultType"],
        "input_required",
        "a handle was guessed"
    );
    let other = call(&first)["requestState"].clone();
    let mut changed = stub();
    changed["prompt"] = json!("stub: say something else");
    assert_eq!(
        again(&other, yes(), &changed)["resultType"],
        "input_required",
        "a yes counted for something else"
    );
    let third = call(&first)["requestState"].clone();
    let denied = again(&third, json!({ "action": "decline" }), &stub());
    assert!(
        denied["isError"] == true && denied.to_string().contains("denied"),
        "{denied}"
    );
    let tasks = web.call("glee_task_list", json!({}))["structuredContent"]["tasks"].clone();
    assert_eq!(tasks.as_array().map(Vec::len), Some(1), "{tasks}");
}

fn by_queue(caller: Caller) {
    let at = Place::of(caller);
    at.config(ASK);
    let mut client = at.client();
    let waits = client.data("glee_task", stub());
    assert_eq!(waits["status"], "waiting", "{waits}");
    let id = waits["task_id"].as_str().expect("an id").to_owned();
    assert!(
        waits["help"]
            .as_str()
            .is_some_and(|help| help.contains(&format!("approvals approve {id}"))),
        "{waits}"
    );
    let still = client.data("glee_task_result", json!({ "task_id": id, "wait_ms": 300 }));
    assert_eq!(still["status"], "waiting", "{still}");
    at.output(&["approvals", "approve", &id]);
    let done = client.data("glee_task_result", json!({ "task_id": id, "wait_ms": 20_000 }));
    assert_eq!(done["status"], "completed", "{done}");
    let other = client.data("glee_task", stub())["task_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    at.output(&["approvals", "deny", &other]);
    let denied = client.call("glee_task_result", json!({ "task_id": other }));
    assert!(
        denied["isError"] == true && denied.to_string().contains("denied"),
        "{denied}"
    );
}

fn new_agent(caller: Caller) {
    let at = Place::of(caller);
    let file = at.world.path("@PROJECT/.glee/agents/helper.yml");
    let asked_for = json!({ "name": "helper", "description": "Helps\u{202e}", "prompt": "Help with ${what}.\n\u{1b}[31m", "agent": "claude", "inputs": ["what"], "tools": ["read_file"] });
    let mut mute = at.client();
    let refused = mute.call("glee_agent_create", asked_for.clone());
    assert!(
        refused["isError"] == true && refused.to_string().contains("approval"),
        "{refused}"
    );
    let mut client = at.client_with(json!({ "elicitation": { "form": {} } }));
    for no in [json!({ "action": "decline" }), json!({ "action": "cancel" })] {
        let (refused, _) = asked(&mut client, "glee_agent_create", asked_for.clone(), &no);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(!file.exists(), "written without a yes");
    }
    let (created, message) = asked(&mut client, "glee_agent_create", asked_for.clone(), &yes());
    assert_eq!(created["structuredContent"]["trusted"], false, "{created}");
    assert!(
        message.contains("helper") && message.contains("Help with ${what}."),
        "{message}"
    );
    assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message:?}");
    assert!(fs::read_to_string(&file).expect("the file").contains("read_file"));
    let listed = client.data("glee_agents_list", json!({}));
    assert_eq!(
        (&listed["agents"][0]["name"], &listed["agents"][0]["trusted"]),
        (&json!("helper"), &json!(false)),
        "{listed}"
    );
    let (taken, _) = asked(&mut client, "glee_agent_create", asked_for.clone(), &yes());
    assert!(
        taken["isError"] == true && taken.to_string().contains("already"),
        "{taken}"
    );
    for name in ["../../x", "a/b", "A", "", "-x"] {
        let mut wrong = asked_for.clone();
        wrong["name"] = json!(name);
        let (refused, _) = asked(&mut client, "glee_agent_create", wrong, &yes());
        assert_eq!(refused["isError"], true, "{name}: {refused}");
    }
    let names: Vec<_> = fs::read_dir(file.parent().expect("a directory"))
        .expect("list")
        .flatten()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}
