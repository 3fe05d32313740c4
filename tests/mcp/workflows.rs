//! Workflows over MCP: run with progress, in the background, cancelled; written by an agent, and then only run after a yes.

use std::fs;
use std::time::Duration;

use glee_tests::{Caller, claims, wait_until};
use serde_json::{Value, json};

use crate::support::{Client, PATIENCE, Place};
use crate::web::Web;

const LONG: Duration = Duration::from_secs(30);

claims! {
    a_workflow_is_run_and_its_steps_are_told => super::run;
    a_cancelled_call_ends_the_run => super::cancelled;
    what_an_agent_writes_is_marked_and_runs_only_after_a_yes => super::created;
    all_of_what_an_agent_wrote_is_shown_before_it_runs => super::shown;
    what_a_person_wrote_or_approved_of_is_not_replaced => super::taken;
    the_newest_protocol_asks_about_a_workflow_by_a_result => super::retried;
    when_the_money_is_spent_the_client_s_user_is_asked => super::spent;
}

fn workflow(at: &Place, name: &str, steps: &str) {
    let text = format!("name: {name}\ndescription: A trial\nsteps:\n{steps}");
    at.world.file(&format!("@PROJECT/.glee/workflows/{name}.yml"), &text);
}

const TWO: &str = "  - {agent: stub, prompt: 'stub: say one ${who}'}\n  - {agent: stub, prompt: 'stub: say two'}\n";

fn run(caller: Caller) {
    let at = Place::of(caller);
    workflow(&at, "w", TWO);
    let mut client = at.client();
    let arguments = json!({ "name": "w", "inputs": { "who": "you" } });
    let call = json!({ "name": "glee_workflow", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let id = client.begin("tools/call", call);
    let mut told = Vec::new();
    let done = loop {
        let message = client.next(PATIENCE).expect("an answer");
        if message["id"] == json!(id) {
            break message["result"].clone();
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        told.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
    };
    let view = &done["structuredContent"];
    assert_eq!(
        (&view["status"], &view["output"]),
        (&json!("success"), &json!("two\n")),
        "{done}"
    );
    assert_eq!(view["steps"][0]["result"]["output"], "one you\n");
    assert!(told.iter().any(|text| text.contains("w[1]")), "{told:?}");
    // The same data as text.
    let text: Value = serde_json::from_str(done["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(text, *view);
    let begun = client.data(
        "glee_workflow",
        json!({ "name": "w", "inputs": { "who": "me" }, "background": true }),
    );
    let run = begun["run_id"].as_str().expect("an id").to_owned();
    let mut status = || client.data("glee_workflow_status", json!({ "run_id": run }));
    assert!(wait_until(LONG, || status()["status"] == "success"), "{}", status());
    let missing = client.call("glee_workflow", json!({ "name": "w" }));
    assert!(
        missing["isError"] == true && missing.to_string().contains("who"),
        "{missing}"
    );
}

fn cancelled(caller: Caller) {
    let at = Place::of(caller);
    workflow(
        &at,
        "w",
        "  - {agent: stub, prompt: 'stub: sleep 60000'}\n  - {agent: stub, prompt: 'stub: say two'}\n",
    );
    let mut client = at.client();
    let id = client.begin(
        "tools/call",
        json!({ "name": "glee_workflow", "arguments": { "name": "w" } }),
    );
    let mut tasks = || client.data("glee_task_list", json!({}))["tasks"].clone();
    assert!(wait_until(LONG, || tasks()[0]["state"] == "running"), "{}", tasks());
    client.tell("notifications/cancelled", json!({ "requestId": id }));
    let history = || -> Value { serde_json::from_str(&at.output(&["workflow", "history", "--json"])).expect("JSON") };
    assert!(
        wait_until(LONG, || history()[0]["status"] == "cancelled"),
        "{}",
        history()
    );
    client.end();
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
}

fn definition(says: &str) -> Value {
    json!({
        "description": "Review authentication changes",
        "steps": [
            { "agent": "stub", "prompt": format!("stub: say {says}") },
            { "agent": "stub", "prompt": "stub: say ${target ?? \"nothing\"}" },
        ],
        "execution": "parallel",
    })
}

/// Runs it, and answers the one question that comes.
#[track_caller]
fn asked(client: &mut Client, name: &str, reply: &Value) -> (Value, String) {
    let id = client.begin(
        "tools/call",
        json!({ "name": "glee_workflow", "arguments": { "name": name } }),
    );
    let question = client.next(PATIENCE).expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let message = question["params"]["message"].as_str().expect("a text").to_owned();
    client.send_json(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply }));
    (client.answer(&json!(id))["result"].clone(), message)
}

fn created(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let made = client.data(
        "glee_workflow_create",
        json!({ "name": "made", "definition": definition("a\u{1b}[2J") }),
    );
    assert_eq!(
        (&made["name"], &made["trusted"]),
        (&json!("made"), &json!(false)),
        "{made}"
    );
    let file = at.world.project().join(".glee/workflows/made.yml");
    let text = fs::read_to_string(&file).expect("written");
    assert!(text.contains("\"from\": \"agent\""), "{text}");
    let (refused, message) = asked(&mut client, "made", &json!({ "action": "decline" }));
    assert!(
        refused["isError"] == true && refused.to_string().contains("denied"),
        "{refused}"
    );
    assert!(
        message.contains("stub: say a") && message.contains("sha256") && !message.contains('\u{1b}'),
        "{message:?}"
    );
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let (done, _) = asked(&mut client, "made", &yes);
    assert_eq!(done["structuredContent"]["status"], "success", "{done}");
    assert_eq!(done["structuredContent"]["budget"]["steps_remaining"], 8, "{done}");
    // One that cannot ask is told how the user can.
    let nobody = at.client().call("glee_workflow", json!({ "name": "made" }));
    assert!(
        nobody["isError"] == true && nobody.to_string().contains("trust --workflow made"),
        "{nobody}"
    );
    // Neither others inside, nor more than it may have, nor a word about who wrote it.
    workflow(&at, "mine", "  - {agent: stub, prompt: 'stub: say x'}\n");
    for (definition, why) in [
        (json!({ "description": "d", "steps": [{ "workflow": "mine" }] }), "mine"),
        (
            json!({ "description": "d", "steps": vec![json!({ "agent": "stub", "prompt": "x" }); 11] }),
            "ai_generated_budgets",
        ),
        (
            json!({ "description": "d", "steps": [{ "agent": "nobody-there", "prompt": "x" }] }),
            "nobody-there",
        ),
        (
            json!({ "description": "d", "steps": [{ "agent": "stub", "prompt": "${steps[4].output}" }] }),
            "steps[4]",
        ),
        (json!({ "description": "d", "steps": [], "source": null }), "source"),
        (json!({ "description": "d", "steps": [], "name": "x" }), "name"),
    ] {
        let refused = client.call(
            "glee_workflow_create",
            json!({ "name": "other", "definition": definition }),
        );
        assert!(
            refused["isError"] == true && refused.to_string().contains(why),
            "{why}: {refused}"
        );
    }
    assert!(!at.world.project().join(".glee/workflows/other.yml").exists());
}

fn shown(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let make = |client: &mut Client, name: &str, prompt: String| {
        let definition = json!({
            "description": "d",
            "inputs": [{ "name": "x", "default": "the default" }, { "name": "y", "default": "replaced" }],
            "steps": [{ "agent": "stub", "prompt": prompt, "inputs": { "z": "given ${x} ${y}" } }],
        });
        client.data(
            "glee_workflow_create",
            json!({ "name": name, "definition": definition }),
        );
    };
    make(&mut client, "made", format!("{}\nlast words", "x".repeat(5000)));
    let call = json!({ "name": "glee_workflow", "arguments": { "name": "made", "inputs": { "y": "the value" } } });
    let id = client.begin("tools/call", call);
    let question = client.next(PATIENCE).expect("a question");
    let message = question["params"]["message"].as_str().expect("a text").to_owned();
    for shown in [
        "| the default",
        "| given ${x} ${y}",
        "| last words",
        "with y\n  | the value",
    ] {
        assert!(message.contains(shown), "{shown} is not in {message}");
    }
    client.send_json(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }));
    client.answer(&json!(id));
    make(&mut client, "long", "x".repeat(20_000));
    let refused = client.call("glee_workflow", json!({ "name": "long" }));
    assert!(
        refused["isError"] == true && refused.to_string().contains("trust --workflow long"),
        "{refused}"
    );
}

fn taken(caller: Caller) {
    let at = Place::of(caller);
    workflow(&at, "mine", "  - {agent: stub, prompt: 'stub: say x'}\n");
    at.world.file("@PROJECT/.glee/workflows/broken.yml", "name: [\n");
    let mut client = at.client();
    let create = |client: &mut Client, name: &str, says: &str| {
        client.call(
            "glee_workflow_create",
            json!({ "name": name, "definition": definition(says) }),
        )
    };
    for name in ["mine", "broken"] {
        let refused = create(&mut client, name, "evil");
        assert!(
            refused["isError"] == true && refused.to_string().contains("is there already"),
            "{refused}"
        );
    }
    let text =
        |name: &str| fs::read_to_string(at.world.project().join(format!(".glee/workflows/{name}.yml"))).expect("there");
    assert!(text("mine").contains("stub: say x") && text("broken") == "name: [\n");
    // Its own it may write anew, until somebody has approved of it.
    assert_ne!(create(&mut client, "made", "one")["isError"], true);
    assert_ne!(create(&mut client, "made", "two")["isError"], true);
    at.output(&["trust", "--workflow", "made", "--yes"]);
    let refused = create(&mut client, "made", "evil");
    assert!(
        refused["isError"] == true && text("made").contains("say two"),
        "{refused}"
    );
    // Nor what somebody has changed since.
    let edited = text("made").replace("say two", "say mine");
    at.world.file("@PROJECT/.glee/workflows/made.yml", &edited);
    let refused = create(&mut client, "made", "evil");
    assert!(refused["isError"] == true && text("made") == edited, "{refused}");
}

fn retried(caller: Caller) {
    let at = Place::of(caller);
    let mut client = at.client();
    client.data(
        "glee_workflow_create",
        json!({ "name": "made", "definition": definition("a") }),
    );
    let web = Web::start(&at);
    let call = |params: Value| {
        let mut params = params;
        params["capabilities"] = json!({ "elicitation": {} });
        let reply = web.modern("tools/call", Some("glee_workflow"), params);
        reply.messages().pop().unwrap_or_else(|| panic!("{reply:?}"))["result"].clone()
    };
    let first = json!({ "name": "glee_workflow", "arguments": { "name": "made" } });
    let question = call(first.clone());
    assert_eq!(question["resultType"], "input_required", "{question}");
    let mut again = first;
    again["requestState"] = question["requestState"].clone();
    again["inputResponses"] = json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    // The yes was for other bytes.
    client.data(
        "glee_workflow_create",
        json!({ "name": "made", "definition": definition("evil") }),
    );
    let asked = call(again.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    again["requestState"] = asked["requestState"].clone();
    let done = call(again);
    assert_eq!(done["structuredContent"]["status"], "success", "{done}");
}

fn spent(caller: Caller) {
    let at = Place::of(caller);
    at.config("workflows:\n  budgets: {max_cost_usd: 1.00}\n  prices:\n    stub: {input_per_mtok: 1.0, output_per_mtok: 1.0}\n");
    let step = "  - {agent: stub, prompt: \"stub: tokens 600000 0\\nstub: say x\"}\n";
    workflow(&at, "w", &step.repeat(4));
    let mut client = at.client_with(json!({ "elicitation": {} }));
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let (done, message) = asked(&mut client, "w", &yes);
    // A dollar and twenty cents after two steps; a dollar more is enough for the other two only with what is over.
    assert!(
        message.contains("$1.200000") && message.contains("$1.000000"),
        "{message}"
    );
    let view = &done["structuredContent"];
    assert_eq!(
        (&view["status"], &view["cost_usd"]),
        (&json!("success"), &json!(2.4)),
        "{done}"
    );
    let (done, _) = asked(&mut client, "w", &json!({ "action": "decline" }));
    let view = &done["structuredContent"];
    let states: Vec<&Value> = (0..4).map(|step| &view["steps"][step]["state"]).collect();
    assert_eq!(
        (&view["status"], states),
        (
            &json!("error"),
            vec![
                &json!("success"),
                &json!("success"),
                &json!("skipped"),
                &json!("skipped")
            ]
        ),
        "{done}"
    );
}
