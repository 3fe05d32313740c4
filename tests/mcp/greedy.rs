//! Agents that want more of the endpoint in their sandbox than there is: memory, sessions, tasks.

use std::time::Duration;

use glee_tests::{Caller, claims, wait_until};
use serde_json::{Value, json};

use crate::inside::{LONG, NESTING, WORKSPACE, answers, background, becomes, call, endpoints, stub, trusted, watched};
use crate::support::{Client, Place};

/// In KiB, of the process behind the endpoint.
const MOST_MEMORY: u64 = 200 * 1024;

claims! {
    lists_hold_beginnings_and_results_the_whole => super::beginnings;
    answers_that_nobody_reads_do_not_pile_up => super::unread;
    its_end_closes_the_door_and_nothing_else => super::its_end;
    a_child_is_free_of_the_endpoints_own_bound => super::unbound;
    with_one_place_a_task_and_those_that_it_waits_for_all_work => super::one_place;
    no_more_work_at_once_however_many_levels_down => super::places;
}

fn data(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]
}

fn beginnings(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, NESTING);
    let about = "d".repeat(200_000);
    let agent = format!("name: helper\ndescription: {about}\nprompt: Help.\n");
    at.world.file("@PROJECT/.glee/agents/helper.yml", &agent);
    let mut client = at.client();
    let said = "w".repeat(9000);
    let orders = [
        call("glee_task", &stub(&format!("stub: say {said}"))),
        call("glee_task_list", &json!({})),
        call("glee_agents_list", &json!({})),
    ];
    let answers = answers(&mut client, &orders, &json!({}));
    let whole = |output: &Value| output.as_str().is_some_and(|text| text.trim() == said);
    assert!(whole(&data(&answers[0])["output"]), "the answer itself is cut");
    let listed = data(&answers[1])["tasks"][0]["outcome"]["output"]
        .as_str()
        .expect("an output");
    assert!(
        listed.starts_with("www") && listed.ends_with("bytes left out]"),
        "{listed}"
    );
    assert!(listed.len() <= 500, "{}", listed.len());
    let listed = data(&answers[2])["agents"][0]["description"]
        .as_str()
        .expect("a description");
    assert!(listed.starts_with("ddd") && listed.len() <= 2000, "{}", listed.len());
    // Outside too; the whole is one call away.
    let tasks = client.data("glee_task_list", json!({}))["tasks"].clone();
    assert_eq!(tasks[0]["depth"], 1, "{tasks}");
    assert!(
        tasks[0]["outcome"]["output"]
            .as_str()
            .is_some_and(|text| text.len() <= 500),
        "{tasks}"
    );
    let result = client.data("glee_task_result", json!({ "task_id": tasks[0]["task_id"] }));
    assert!(whole(&result["output"]), "the result is cut");
}

/// Asks again and again and reads nothing.
const UNREAD: &str = r#"
import json, socket, time
AT = ("127.0.0.1", 9787)
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "glee_agents_list", "arguments": {}, "_meta": META}}).encode()
head = ("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:9787\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
    "Mcp-Name: glee_agents_list\r\nContent-Length: %d\r\n\r\n" % len(body)).encode()
held = []
for _ in range(100):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(2)
    try:
        s.connect(AT)
        s.sendall((head + body) * 4)
        held.append(s)
    except OSError:
        pass
time.sleep(4)
print("over", len(held))
"#;

fn unread(caller: Caller) {
    let at = Place::of(caller);
    let about = "d".repeat(240_000);
    for number in 0..80 {
        let agent = format!("name: helper-{number}\ndescription: {about}\nprompt: Help.\n");
        at.world
            .file(&format!("@PROJECT/.glee/agents/helper-{number}.yml"), &agent);
    }
    at.world.file("@PROJECT/unread.py", UNREAD);
    let mut client = at.client();
    let orders = "stub: shell /usr/bin/python3 unread.py\nstub: mcp tools/list";
    let (answer, peak) = watched(&at, &mut client, orders);
    let output = answer["output"].to_string();
    assert!(
        output.contains("over") && output.contains("glee_agents_list"),
        "{output}"
    );
    assert!(peak > 0 && peak < MOST_MEMORY, "{peak} KiB");
}

fn its_end(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, WORKSPACE);
    let mut client = at.client();
    let probe = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9787' && echo open || echo closed";
    let orders = format!("stub: mcp tools/list\nstub: append listed x\nstub: sleep 3000\nstub: shell {probe}");
    let id = background(&mut client, &orders);
    let listed = at.world.project().join("listed");
    assert!(wait_until(LONG, || listed.exists()), "it does not answer");
    // As the kernel would where its bound is reached.
    for pid in endpoints(&at) {
        let killed = std::process::Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status();
        assert!(killed.expect("kill it").success());
    }
    becomes(&mut client, &id, "done");
    let done = client.data("glee_task_result", json!({ "task_id": id }));
    assert!(
        done["output"].as_str().is_some_and(|said| said.contains("closed")),
        "{done}"
    );
}

fn unbound(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, NESTING);
    let mut client = at.client();
    let look = "stub: shell bash -c 'ulimit -Sd'";
    let own = client.data("glee_task", stub(look))["output"].clone();
    let answers = answers(&mut client, &[call("glee_task", &stub(look))], &json!({}));
    assert_eq!(data(&answers[0])["output"], own, "{}", answers[0]);
}

/// Has another work in the background, and then waits for it.
const WAITS: &str = r#"
import json, urllib.request
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}
def tool(name, arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": META}}
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
    asked = urllib.request.Request("http://127.0.0.1:9787/mcp", json.dumps(body).encode(), head)
    text = urllib.request.urlopen(asked, timeout=20).read().decode()
    lines = [line for line in text.splitlines() if "jsonrpc" in line]
    return json.loads(lines[-1].removeprefix("data: "))["result"]["structuredContent"]
left = tool("glee_task", {"description": "d", "agent_cli": "stub", "background": True, "prompt": "stub: say from below"})
print(tool("glee_task_result", {"task_id": left["task_id"], "wait_ms": 15000})["output"])
"#;

fn one_place(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, &format!("{NESTING}  max_concurrent: 1\n"));
    at.world.file("@PROJECT/waits.py", WAITS);
    let mut client = at.client();
    let orders = format!(
        "{}\nstub: shell /usr/bin/python3 waits.py",
        call("glee_task", &stub("stub: say in the foreground"))
    );
    let done = client.data("glee_task", stub(&orders));
    let said = done["output"].as_str().unwrap_or_else(|| panic!("{done}"));
    assert!(
        said.contains("in the foreground") && said.contains("from below"),
        "{said}"
    );
}

fn places(caller: Caller) {
    let at = Place::of(caller);
    trusted(&at, "subagents:\n  max_depth: 2\n  max_concurrent: 2\n");
    let mut client = at.client();
    let left = |orders: &str| {
        let mut task = stub(orders);
        task["background"] = json!(true);
        call("glee_task", &task)
    };
    let kid = format!("{}\nstub: sleep 30000", left("stub: sleep 30000"));
    let orders: Vec<String> = (0..6).map(|_| left(&kid)).collect();
    let id = background(&mut client, &format!("{}\nstub: sleep 30000", orders.join("\n")));
    let running = |client: &mut Client| {
        let tasks = client.data("glee_task_list", json!({ "state": "running" }))["tasks"].clone();
        tasks.as_array().map_or(0, Vec::len)
    };
    assert!(wait_until(LONG, || running(&mut client) == 2), "two can work");
    let more = wait_until(Duration::from_secs(3), || running(&mut client) > 2);
    assert!(!more, "{} work at once", running(&mut client));
    client.data("glee_task_cancel", json!({ "task_id": id }));
}
