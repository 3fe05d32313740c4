//! The MCP inspector's command line lists and calls every tool, over pipes and over HTTP.

use glee_tests::{Caller, binary};
use serde_json::Value;

use crate::others::node;
use crate::support::Place;
use crate::web::Web;

/// What the inspector prints for this method of a server that is named by these arguments.
#[track_caller]
fn inspect(at: &Place, server: &[&str], method: &[&str]) -> Value {
    let arguments = [&["--cli"], server, method].concat();
    let (succeeded, out, err) = node("inspector", SCRIPT, &arguments, at.world.root());
    // A result that says it is an error is one of the inspector's too.
    let told = out.contains("\"isError\": true");
    assert!(succeeded || told, "{method:?}\n{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{method:?}: {e}\n{out}\n{err}"))
}

const SCRIPT: &str = "clients/launcher/build/index.js";

/// Every tool with arguments that are right, and a piece of what it must say.
fn calls(task: &str) -> Vec<(&'static str, Vec<String>, &'static str)> {
    let text = |arguments: &[&str]| arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<String>>();
    let id = format!("task_id={task}");
    vec![
        ("glee_task_status", vec![id.clone()], "\"done\""),
        ("glee_task_result", vec![id.clone()], "from the stub"),
        ("glee_task_cancel", vec![id], "\"done\""),
        ("glee_task_list", text(&["limit=5"]), "\"tasks\""),
        ("glee_agents_list", vec![], "\"agents\""),
        (
            "glee_agent_create",
            text(&["name=a", "description=d", "prompt=p"]),
            "approval",
        ),
        (
            "glee_memory_add",
            text(&["category=notes", "content=a mango"]),
            "\"id\"",
        ),
        ("glee_memory_search", text(&["query=mango"]), "mango"),
        ("glee_policy_explain", text(&["read=[\".\"]"]), "\"allowed\""),
        (
            "glee_workflow_create",
            text(&[
                "name=made",
                r#"definition={"description": "d", "steps": [{"agent": "stub", "prompt": "stub: say x"}]}"#,
            ]),
            "\"trusted\"",
        ),
        ("glee_workflow", text(&["name=made"]), "approve"),
        (
            "glee_workflow_status",
            text(&["run_id=00000000000000000000000000"]),
            "there is no run",
        ),
    ]
}

fn lists_and_calls(at: &Place, server: &[&str]) {
    let list = inspect(at, server, &["--method", "tools/list"]);
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(13), "{list}");
    let call = |tool: &str, arguments: &[String]| {
        let mut method = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in arguments {
            method.extend(["--tool-arg", argument]);
        }
        inspect(at, server, &method)
    };
    let task = ["description=x", "prompt=stub: say from the stub", "agent_cli=stub"].map(str::to_owned);
    let done = call("glee_task", &task);
    assert_eq!(done["structuredContent"]["status"], "completed", "{done}");
    let id = done["structuredContent"]["task_id"].as_str().expect("an id").to_owned();
    for (tool, arguments, says) in calls(&id) {
        let result = call(tool, &arguments);
        assert!(result.to_string().contains(says), "{tool}: {result}");
    }
}

#[test]
fn over_pipes() {
    let at = Place::of(Caller::Root);
    let (program, project) = (binary().display().to_string(), at.world.project().display().to_string());
    let state = format!("XDG_STATE_HOME={}", at.world.root().join("state").display());
    lists_and_calls(&at, &["-e", &state, &program, "--project", &project, "mcp"]);
}

#[test]
fn over_http() {
    let at = Place::of(Caller::Root);
    let web = Web::start(&at);
    let (url, header) = (
        format!("http://127.0.0.1:{}/mcp", web.port),
        format!("Authorization: Bearer {}", web.token),
    );
    lists_and_calls(&at, &[&url, "--transport", "http", "--header", &header]);
}
