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
    everything_that_a_yes_is_for_is_shown => super::whole;
    a_tool_that_writes_is_asked_about_where_the_configuration_says_so => super::by_tool;
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
    // Cancelled while the question stands, it is not wanted any more.
    let id = client.begin("tools/call", json!({ "name": "glee_task", "arguments": stub() }));
    let question = client.next(PATIENCE).expect("a question");
    client.tell("notifications/cancelled", json!({ "requestId": id }));
    client.data("glee_agents_list", json!({}));
    client.send_json(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }));
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
    let asked_for = json!({ "name": "helper", "description": "Helps\u{202e}", "prompt": "Help with ${what}.\n\u{1b}[31m", "agent": "claude", "inputs": ["what", "how=by stealth"], "tools": ["read_file"], "timeout_mins": 3 });
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
    // The file as it is written, line by line.
    let written = fs::read_to_string(&file).expect("the file");
    for line in written.lines() {
        assert!(message.contains(&format!("| {line}\n")), "{line} is not in {message}");
    }
    for shown in [
        "Help with ${what}.",
        "by stealth",
        "agent: claude",
        "read_file",
        "timeout_mins: 3",
    ] {
        assert!(message.contains(shown), "{shown} is not in {message}");
    }
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
        let refused = client.call("glee_agent_create", wrong);
        assert_eq!(refused["isError"], true, "{name}: {refused}");
    }
    // What cannot be shown whole is not asked about.
    let mut long = asked_for.clone();
    (long["name"], long["prompt"]) = (json!("long"), json!("x".repeat(20_000)));
    let refused = client.call("glee_agent_create", long);
    assert!(
        refused["isError"] == true && refused.to_string().contains("too long to be shown"),
        "{refused}"
    );
    let names: Vec<_> = fs::read_dir(file.parent().expect("a directory"))
        .expect("list")
        .flatten()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

fn whole(caller: Caller) {
    let at = Place::of(caller);
    at.config(ASK);
    at.world.file(
        "@PROJECT/.glee/agents/one.yml",
        "name: one\ndescription: d\nagent: stub\nprompt: 'stub: say ${what}'\ninputs: [{name: what}]\n",
    );
    let task = |prompt: String| json!({ "description": "d", "agent_name": "one", "prompt": prompt, "inputs": { "what": "the inputs\u{3164}" } });
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let (_, message) = asked(
        &mut client,
        "glee_task",
        task(format!("{}\nlast words", "x".repeat(5000))),
        &yes(),
    );
    for shown in ["Input what:", "| the inputs\\u{3164}", "| last words"] {
        assert!(message.contains(shown), "{shown} is not in {message}");
    }
    // What is too long for that waits where it can be read.
    let waits = client.data("glee_task", task(format!("{}\nlast words", "x".repeat(20_000))));
    assert_eq!(waits["status"], "waiting", "{waits}");
    let id = waits["task_id"].as_str().expect("an id");
    let listed = at.output(&["approvals", "list"]);
    assert!(
        listed.contains("| the inputs\\u{3164}") && !listed.contains("last words"),
        "{listed}"
    );
    assert!(listed.contains(&format!("approvals show {id}")), "{listed}");
    assert!(at.output(&["approvals", "show", id]).contains("| last words"));
    for arguments in [
        &["approvals", "list", "--json"][..],
        &["approvals", "show", id, "--json"],
    ] {
        let told = at.output(arguments);
        assert!(told.contains("last words\"") && told.contains("the inputs"), "{told}");
    }
}

fn by_tool(caller: Caller) {
    let at = Place::of(caller);
    at.config("security:\n  require_approval:\n    tools: true\n");
    let memory = |content: &str| json!({ "category": "facts", "content": content });
    let remembered = || at.output(&["memory", "list", "--json"]);
    // By the client's own question.
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let (done, message) = asked(&mut client, "glee_memory_add", memory("asked \u{1b}[2J"), &yes());
    assert_eq!(done["isError"], false, "{done}");
    assert!(
        message.contains("glee_memory_add") && message.contains("asked"),
        "{message}"
    );
    assert!(!message.contains('\u{1b}'), "{message:?}");
    let no = json!({ "action": "decline" });
    let (denied, _) = asked(&mut client, "glee_memory_add", memory("declined"), &no);
    assert!(
        denied["isError"] == true && denied.to_string().contains("denied"),
        "{denied}"
    );
    // Both answers are in the audit log.
    let said = |answer: &str| {
        let log = at.output(&["audit", "show", "--json"]);
        let quoted = format!("\"{answer}\"");
        log.matches(quoted.as_str()).count()
    };
    assert_eq!((said("approved"), said("denied")), (1, 1));
    // What only looks is not asked about, nor is a task: that is the other switch.
    client.data("glee_memory_search", json!({ "query": "asked" }));
    let task = client.data("glee_task", stub());
    assert_eq!(task["status"], "completed", "{task}");
    // By a result, in the newest protocol.
    let web = Web::start(&at);
    let params = json!({ "name": "glee_memory_add", "arguments": memory("by a result") });
    let call = |params: &Value| {
        let reply = web.modern("tools/call", Some("glee_memory_add"), modern(params));
        reply.messages().pop().unwrap_or_else(|| panic!("{reply:?}"))["result"].clone()
    };
    let question = call(&params);
    assert_eq!(question["resultType"], "input_required", "{question}");
    let mut answered = params.clone();
    answered["requestState"] = question["requestState"].clone();
    answered["inputResponses"] = json!({ "approval": yes() });
    assert_eq!(call(&answered)["isError"], false);
    assert_eq!(call(&answered)["resultType"], "input_required", "a yes counted twice");
    // By the queue, for a client that cannot ask.
    let mut mute = at.client();
    let waits = mute.call("glee_memory_add", memory("in the queue"));
    assert!(
        waits["isError"] == true && waits.to_string().contains("approvals approve"),
        "{waits}"
    );
    assert_eq!(
        mute.call("glee_memory_add", memory("in the queue")),
        waits,
        "the same call waits once"
    );
    let listed: Value = serde_json::from_str(&at.output(&["approvals", "list", "--json"])).expect("JSON");
    let [one] = listed.as_array().expect("a list").as_slice() else {
        panic!("{listed}")
    };
    assert_eq!(
        (&one["tool"], &one["arguments"]),
        (&json!("glee_memory_add"), &memory("in the queue")),
        "{listed}"
    );
    assert!(at.output(&["approvals", "list"]).contains("in the queue"));
    let id = one["call_id"].as_str().expect("an id");
    at.output(&["approvals", "approve", id]);
    // Only this call, and once.
    let other = mute.call("glee_memory_add", memory("something else"));
    assert_eq!(other["isError"], true, "{other}");
    mute.data("glee_memory_add", memory("in the queue"));
    let again = mute.call("glee_memory_add", memory("in the queue"));
    assert_eq!(again["isError"], true, "{again}");
    let listed: Value = serde_json::from_str(&at.output(&["approvals", "list", "--json"])).expect("JSON");
    for call in listed.as_array().expect("a list") {
        at.output(&["approvals", "deny", call["call_id"].as_str().expect("an id")]);
    }
    let denied = mute.call("glee_memory_add", memory("something else"));
    assert!(
        denied["isError"] == true && denied.to_string().contains("denied"),
        "{denied}"
    );
    let kept = remembered();
    assert_eq!(kept.matches("in the queue").count(), 1, "{kept}");
    for never in ["declined", "something else"] {
        assert!(!kept.contains(never), "{kept}");
    }
    // A new agent has the same queue.
    let agent = json!({ "name": "helper", "description": "Helps", "prompt": "Help." });
    let waits = mute.call("glee_agent_create", agent.clone());
    assert!(waits.to_string().contains("approvals approve"), "{waits}");
    let listed: Value = serde_json::from_str(&at.output(&["approvals", "list", "--json"])).expect("JSON");
    at.output(&["approvals", "approve", listed[0]["call_id"].as_str().expect("an id")]);
    assert_eq!(mute.data("glee_agent_create", agent)["trusted"], false);
}
