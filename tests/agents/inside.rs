//! Each CLI in the sandbox of a task, at the endpoint of that task: what its model is offered, and what a call comes to.

use glee_tests::wait_until;
use serde_json::{Value, json};

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::drift;
use crate::subagents::{LONG, ask, call, last, project, told};
use crate::support::{Place, claims};

/// What the CLI calls a tool of the endpoint when it offers it to its model.
fn tool(at: &Place, name: &str) -> &'static str {
    let called = match at.cli {
        Cli::Codex | Cli::Claude => format!("mcp__glee__{name}"),
        Cli::Gemini => format!("mcp_glee_{name}"),
    };
    // One for each tool and CLI of a test process.
    Box::leak(called.into_boxed_str())
}

/// It delegates to another of its kind, which says a word if it is asked; then it says something itself.
fn nested(at: &Place) -> Vec<Turn> {
    let prompt = format!("say the word {}", at.world.nonce());
    let arguments = json!({ "description": "a part", "prompt": prompt, "agent_cli": at.cli.name() });
    vec![
        Turn::Call(tool(at, "glee_task"), arguments),
        Turn::text("the word is mango-4711"),
        Turn::text("that was all"),
    ]
}

fn tasks(at: &Place) -> Value {
    told(at, &["tasks", "list", "--all", "--json"])
}

claims! {
    fn in_the_sandbox_it_is_offered_what_looks_and_a_nested_task_is_refused(at) {
        at.world.file("@PROJECT/.glee/agents/helper.yml", "name: helper-4712\ndescription: helps\nprompt: Help.\n");
        let mut turns = vec![Turn::Call(tool(at, "glee_agents_list"), json!({}))];
        turns.extend(nested(at));
        let api = Api::serve(at.cli, turns);
        project(at, &api, "");
        let done = ask(at, "delegate", &[]);
        assert_eq!(done["status"], "completed", "{done}");
        let said = last(&api);
        assert!(said.contains("helper.yml") || said.contains("helper-4712"), "the endpoint did not answer: {said}");
        if at.cli != Cli::Codex {
            // Codex' newer models find tools by searching for them.
            let offered = format!("{:?}", drift::tools(&said));
            for name in ["glee_agents_list", "glee_memory_search", "glee_policy_explain"] {
                assert!(offered.contains(name), "{name} is not offered: {offered}");
            }
            for name in ["glee_task", "glee_memory_add", "glee_agent_create"] {
                assert!(!offered.contains(name), "{name} is offered");
            }
        }
        assert_eq!(tasks(at).as_array().map(Vec::len), Some(1), "{}", tasks(at));
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }

    fn in_the_sandbox_it_delegates_where_the_trusted_configuration_allows_it(at) {
        let api = Api::serve(at.cli, nested(at));
        project(at, &api, "subagents:\n  max_depth: 1\n");
        let done = ask(at, "delegate", &[]);
        assert_eq!(done["status"], "completed", "{done}");
        let said = last(&api);
        assert!(said.contains("the word is mango-4711") && said.contains("session_id"), "{said}");
        let list = tasks(at);
        assert_eq!((&list[0]["depth"], &list[0]["state"], &list[0]["parent"]), (&json!(1), &json!("done"), &list[1]["task_id"]), "{list}");
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }

    fn an_agent_that_is_held_to_its_tools_has_no_endpoint(at) {
        let api = Api::serve(at.cli, vec![Turn::text("nothing to do")]);
        project(at, &api, "");
        let (cli, tools) = (at.cli.name(), if at.cli == Cli::Codex { "shell" } else { "read_file" });
        at.world.file(
            "@PROJECT/.glee/agents/reader.yml",
            &format!("name: reader\ndescription: d\nagent: {cli}\nprompt: Read.\ntools: [{tools}]\n"),
        );
        let prompt = format!("go on {}", at.world.nonce());
        let done = told(at, &["subagent", "--agent", "reader", "--json", &prompt]);
        assert_eq!(done["status"], "completed", "{done}");
        assert!(!last(&api).contains("glee_agents_list"), "{}", last(&api));
        assert_eq!(call(at, &["tasks", "list"]).go().code(), Some(0));
    }
}
