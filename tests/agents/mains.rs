//! Each CLI as the main agent: it calls `glee_task` over MCP, and a subagent of the same kind works in the sandbox.
//!
//! The server is entered in the CLI's configuration by `mcp install`, as its user would do it.

use std::ffi::OsString;
use std::time::Duration;

use glee_tests::{Run, binary, wait_until};
use serde_json::{Value, json};

use crate::api::{Api, Turn};
use crate::bare;
use crate::cli::Cli;
use crate::support::{Place, Ran, claims};

const LONG: Duration = Duration::from_secs(60);

fn path(at: &Place) -> String {
    let program = at.cli.program();
    let dir = program.parent().expect("a program lies somewhere");
    format!("{}:/usr/local/bin:/usr/bin:/bin", dir.display())
}

fn supervisor<'w>(at: &'w Place, arguments: &[&str]) -> Run<'w> {
    let words = arguments.iter().map(OsString::from);
    let argv = [OsString::from(binary())].into_iter().chain(words);
    let run = Run::bare(&at.world).raw_command(argv).env("PATH", &path(at));
    run.env(at.cli.key_variable(), &at.key).limit(LONG)
}

/// What the CLI calls a tool of ours when it offers it to its model.
fn tool(at: &Place, name: &str) -> &'static str {
    let called = match at.cli {
        Cli::Codex | Cli::Claude => format!("mcp__glee__{name}"),
        Cli::Gemini => format!("mcp_glee_{name}"),
    };
    // One for each tool and CLI of a test process.
    Box::leak(called.into_boxed_str())
}

/// A project whose subagents reach this model, and a CLI that has the server in its configuration. Not yet started.
fn main_agent<'w>(at: &'w Place, main: &Api, subagent: &Api, more: &str) -> Run<'w> {
    at.world.file(
        "@PROJECT/.glee/config.yml",
        &format!(
            "security:\n{more}  subagent_permissions:\n    extends: workspace\n    model_endpoint: {}\n    env:\n      set: {{GEMINI_MODEL: gemini-2.5-pro, CLAUDE_CODE_MAX_RETRIES: \"1\"}}\n",
            subagent.url()
        ),
    );
    let run = bare::run(at, main).env("PATH", &path(at));
    for arguments in [&["trust", "--config", "--yes"][..], &["mcp", "install", at.cli.name()]] {
        let done = supervisor(at, arguments).go();
        assert_eq!(done.code(), Some(0), "{arguments:?}: {}", done.describe());
    }
    if at.cli == Cli::Codex {
        let file = at.world.path("@HOME/.codex/config.toml");
        let text = std::fs::read_to_string(&file).expect("the configuration");
        let approved = text.replace(
            "[mcp_servers.glee]\n",
            "[mcp_servers.glee]\ndefault_tools_approval_mode = \"approve\"\n",
        );
        assert_ne!(text, approved, "the server is not in {text}");
        at.world.file("@HOME/.codex/config.toml", &approved);
    }
    let mut command = at
        .cli
        .command(&at.cli.program(), &format!("delegate {}", at.world.nonce()));
    if at.cli == Cli::Codex {
        // With a newer one the tools are called from JavaScript.
        command.splice(2..2, ["-m".to_owned(), "gpt-5.2-codex".to_owned()]);
    }
    run.command(command).limit(Duration::from_secs(120))
}

fn delegate(at: &Place, subagent: Vec<Turn>, turns: Vec<Turn>, more: &str) -> (Ran, Api) {
    let (main, sub) = (Api::serve(at.cli, turns), Api::serve(at.cli, subagent));
    let outcome = main_agent(at, &main, &sub, more).go();
    let ran = Ran {
        outcome,
        api: main,
        report: Value::Null,
    };
    (ran, sub)
}

fn task(at: &Place, more: Value) -> Value {
    let mut arguments = json!({ "description": "a part of it", "prompt": format!("say the word {}", at.world.nonce()), "agent_cli": at.cli.name() });
    for (key, value) in more.as_object().expect("an object") {
        arguments[key] = value.clone();
    }
    arguments
}

/// What the main agent told its model after the tool was called.
fn told_last(ran: &Ran) -> String {
    ran.api
        .asked()
        .last()
        .map(|request| request.body.clone())
        .unwrap_or_default()
}

fn tasks(at: &Place) -> Value {
    let listed = supervisor(at, &["tasks", "list", "--all", "--json"]).go();
    serde_json::from_str(&listed.out()).unwrap_or_else(|e| panic!("{e}: {}", listed.describe()))
}

claims! {
    fn as_the_main_agent_it_delegates_and_is_told_the_result(at) {
        let turns = vec![Turn::Call(tool(at, "glee_task"), task(at, json!({}))), Turn::text("that was all")];
        let (ran, sub) = delegate(at, vec![Turn::text("the word is mango-4711")], turns, "");
        ran.succeeded(at);
        let said = told_last(&ran);
        assert!(said.contains("mango-4711"), "{said}\n{}", ran.outcome.describe());
        assert!(said.contains("completed") && said.contains("session_id"), "{said}");
        let asked = sub.asked();
        assert!(asked.iter().any(|request| request.body.contains("say the word")), "the subagent was never asked");
        let (header, key) = at.cli.credential(&at.key);
        assert!(asked.iter().all(|request| request.header(header) == Some(key.as_str())));
        assert_eq!(tasks(at)[0]["state"], "done");
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }

    fn as_the_main_agent_it_sees_every_tool(at) {
        let (ran, _) = delegate(at, vec![Turn::text("x")], vec![Turn::text("that was all")], "");
        ran.succeeded(at);
        let said = ran.told();
        for name in ["glee_task", "glee_task_status", "glee_task_result", "glee_task_cancel", "glee_task_list",
            "glee_agents_list", "glee_agent_create", "glee_memory_add", "glee_memory_search", "glee_policy_explain",
            "glee_workflow", "glee_workflow_status", "glee_workflow_create"] {
            assert!(said.contains(&format!("{name}\"")), "{name} is not offered to the model");
        }
    }

    fn as_the_main_agent_its_background_tasks_run_on_and_a_call_of_the_result_waits(at) {
        let turns = vec![
            Turn::Call(tool(at, "glee_task"), task(at, json!({ "background": true }))),
            Turn::Call(tool(at, "glee_task_list"), json!({})),
            Turn::text("that was all"),
        ];
        // Its model must outlive the main agent, as it does.
        let (ran, model) = delegate(at, vec![Turn::text("the word is mango-4711")], turns, "");
        ran.succeeded(at);
        let said = told_last(&ran);
        assert!(said.contains("task_id") && said.contains("a part of it"), "{said}");
        // The next configuration names another model.
        assert!(wait_until(LONG, || !model.asked().is_empty()), "the task did not start");
        let id = tasks(at)[0]["task_id"].as_str().expect("an id").to_owned();
        let result = vec![Turn::Call(tool(at, "glee_task_result"), json!({ "task_id": id, "wait_ms": 60_000 })), Turn::text("that was all")];
        let (ran, _) = delegate(at, vec![Turn::text("unused")], result, "");
        assert!(told_last(&ran).contains("mango-4711"), "{}", told_last(&ran));
    }

    fn as_the_main_agent_it_cannot_do_without_approval(at) {
        let turns = vec![Turn::Call(tool(at, "glee_task"), task(at, json!({}))), Turn::text("that was all")];
        let ask = "  require_approval:\n    subagents: true\n";
        let (ran, sub) = delegate(at, vec![Turn::text("the word is mango-4711")], turns, ask);
        ran.succeeded(at);
        let said = told_last(&ran);
        assert!(!said.contains("mango-4711") && (said.contains("approv") || said.contains("waiting")), "{said}");
        assert_eq!(sub.asked().len(), 0, "a subagent started without approval");
    }

    fn killed_as_the_main_agent_it_takes_the_task_it_waited_for_along(at) {
        let (main, sub) = (Api::serve(at.cli, vec![Turn::Call(tool(at, "glee_task"), task(at, json!({}))), Turn::text("x")]), Api::serve(at.cli, vec![Turn::Hang]));
        let running = main_agent(at, &main, &sub, "").spawn();
        assert!(wait_until(LONG, || !sub.asked().is_empty()), "the subagent never asked its model");
        // Codex is started by a launcher, which passes this on; killed, it would leave the program behind.
        running.signal(if at.cli == Cli::Codex { "TERM" } else { "KILL" });
        let _ = running.finish();
        assert!(wait_until(LONG, || tasks(at)[0]["state"] == "cancelled"), "{}", tasks(at));
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }
}
