//! Each CLI as a subagent, from the user's door: `subagent`, its sessions, its limits.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use glee_tests::{Outcome, Run, binary, wait_until};
use serde_json::{Value, json};

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::{Place, claims};

pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Where the tests' CLIs are found, before anything else.
fn path(at: &Place) -> String {
    let program = at.cli.program();
    let dir = program.parent().expect("a program lies somewhere");
    format!("{}:/usr/local/bin:/usr/bin:/bin", dir.display())
}

/// The supervisor with these arguments, the CLI in its PATH and the key in its environment.
pub(crate) fn call<'w>(at: &'w Place, arguments: &[&str]) -> Run<'w> {
    let words = arguments.iter().map(|word| OsString::from(at.world.fill(word)));
    let argv = [OsString::from(binary())].into_iter().chain(words);
    Run::bare(&at.world)
        .raw_command(argv)
        .env("PATH", &path(at))
        .env("XDG_CONFIG_HOME", &at.world.root().join("config").display().to_string())
        .env(at.cli.key_variable(), &at.key)
        .limit(Duration::from_secs(120))
}

#[track_caller]
fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.out()).unwrap_or_else(|e| panic!("{e}\n{}", outcome.describe()))
}

#[track_caller]
pub(crate) fn told(at: &Place, arguments: &[&str]) -> Value {
    json(&call(at, arguments).go())
}

/// A project whose subagents reach this model, as its trusted configuration says. `more` comes before that.
pub(crate) fn project(at: &Place, api: &Api, more: &str) {
    let url = api.url();
    at.world.file(
        "@PROJECT/.glee/config.yml",
        &format!(
            "{more}security:\n  subagent_permissions:\n    extends: workspace\n    model_endpoint: {url}\n    env:\n      set: {{GEMINI_MODEL: gemini-2.5-pro, CLAUDE_CODE_MAX_RETRIES: \"1\"}}\n"
        ),
    );
    let trusted = call(at, &["trust", "--config", "--yes"]).go();
    assert_eq!(trusted.code(), Some(0), "{}", trusted.describe());
}

pub(crate) fn ask(at: &Place, prompt: &str, more: &[&str]) -> Value {
    let prompt = format!("{prompt} {}", at.world.nonce());
    let cli = at.cli.name();
    let who = if more.contains(&"--session") {
        vec![]
    } else {
        vec!["--cli", cli]
    };
    told(at, &[&["subagent", "--json", &prompt], &who[..], more].concat())
}

/// What was said to the model last.
pub(crate) fn last(api: &Api) -> String {
    api.asked()
        .last()
        .map(|request| request.body.clone())
        .unwrap_or_default()
}

claims! {
    fn it_works_on_a_task_and_goes_on_with_its_own_conversation(at) {
        let api = Api::serve(at.cli, vec![Turn::text("the first answer is 1147"), Turn::text("the second answer"), Turn::text("the third answer")]);
        project(at, &api, "");
        let first = ask(at, "remember 4711", &[]);
        assert_eq!((&first["status"], &first["output"], &first["cli"]), (&json!("completed"), &json!("the first answer is 1147"), &json!(at.cli.name())), "{first}");
        assert_eq!((&first["input_tokens"], &first["output_tokens"]), (&json!(110), &json!(7)), "as the vendor's answer says: {first}");
        let session = first["session_id"].as_str().expect("an id").to_owned();
        let second = ask(at, "and now?", &["--session", &session]);
        assert_eq!((&second["status"], &second["output"], &second["resumed"]), (&json!("completed"), &json!("the second answer"), &json!("native")), "{second}");
        let said = last(&api);
        assert!(said.contains("remember 4711") && said.contains("1147") && said.contains("and now?"), "{said}");
        assert!(!said.contains(&format!("session:{session}")), "the history was told as well");
        // A conversation that somebody has touched is told again instead, as what it is.
        let state = at.world.root().join("state/glee/projects");
        let touch = format!("find {} -path '*/conversations/{session}/*' -type f -exec sh -c 'echo >> \"$1\"' _ {{}} \\;", state.display());
        let touched = at.world.host_command("sh").args(["-c", &touch]).status();
        assert!(touched.is_ok_and(|status| status.success()));
        let third = ask(at, "and then?", &["--session", &session]);
        assert_eq!((&third["status"], &third["resumed"]), (&json!("completed"), &json!("replayed")), "{third}");
        let said = last(&api);
        assert!(said.contains(&format!("session:{session}")) && said.contains("1147"), "{said}");
        assert_eq!(at.world.remains(), None);
    }

    fn its_tools_work_where_the_policy_says_and_its_key_stays_outside(at) {
        let api = Api::serve(at.cli, at.shell("echo from the agent > made; env > seen"));
        project(at, &api, "");
        let done = ask(at, "go on", &[]);
        assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("that was all")), "{done}");
        assert!(done["tool_calls"].as_u64() >= Some(1) && done["changed_files"].as_u64() >= Some(1), "{done}");
        assert_eq!(fs::read_to_string(at.world.project().join("made")).expect("it was made"), "from the agent\n");
        let seen = fs::read_to_string(at.world.project().join("seen")).expect("it was made");
        assert!(!seen.contains(&at.key), "the key is in the agent's environment");
        let (header, value) = at.cli.credential(&at.key);
        assert!(api.asked().iter().all(|request| request.header(header) == Some(value.as_str())));
    }

    fn in_the_background_its_result_is_there_when_it_is_done(at) {
        let api = Api::serve(at.cli, vec![Turn::text("from the background")]);
        project(at, &api, "");
        let ticket = ask(at, "go on", &["--background"]);
        let id = ticket["task_id"].as_str().expect("an id");
        let done = told(at, &["tasks", "wait", id, "--json"]);
        assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("from the background")), "{done}");
    }

    fn cancelling_and_the_deadline_end_it(at) {
        let api = Api::serve(at.cli, vec![Turn::Hang]);
        project(at, &api, "");
        let ticket = ask(at, "go on", &["--background"]);
        let id = ticket["task_id"].as_str().expect("an id");
        assert!(wait_until(LONG, || !api.asked().is_empty()), "the model was never asked");
        assert_eq!(call(at, &["tasks", "cancel", id]).go().code(), Some(0));
        let done = told(at, &["tasks", "wait", id, "--json"]);
        assert_eq!(done["status"], "cancelled", "{done}");
        let late = ask(at, "go on", &["--timeout", "3s"]);
        assert_eq!(late["status"], "timeout", "{late}");
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }

    fn an_error_of_its_model_is_the_tasks(at) {
        let api = Api::serve(at.cli, vec![Turn::Error(401)]);
        project(at, &api, "");
        let done = ask(at, "go on", &["--timeout", "60s"]);
        assert_eq!(done["status"], "error", "{done}");
        assert!(done["error"].as_str().is_some_and(|why| !why.is_empty()) && done["output"].is_null(), "{done}");
    }

    fn the_command_that_knows_the_key_is_not_given_the_prompt(at) {
        let api = Api::serve(at.cli, vec![Turn::text("told")]);
        project(at, &api, "");
        let config = at.world.project().join(".glee/config.yml");
        let text = fs::read_to_string(&config).expect("the configuration");
        let key = format!("    key_command: [sh, -c, \"cat > {0}/eaten; echo {1}\"]\n", at.world.outside().display(), at.key);
        at.world.file("@PROJECT/.glee/config.yml", &format!("{text}{key}"));
        assert_eq!(call(at, &["trust", "--config", "--yes"]).go().code(), Some(0));
        let prompt = format!("the whole of it {}", at.world.nonce());
        let done = json(&call(at, &["subagent", "--cli", at.cli.name(), "--json", &prompt]).without_env(at.cli.key_variable()).go());
        assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("told")), "{done}");
        assert!(last(&api).contains("the whole of it"));
        assert_eq!(fs::read_to_string(at.world.outside().join("eaten")).expect("it was run"), "");
    }

    fn an_agent_by_its_definition_is_told_its_prompt_and_held_to_its_tools(at) {
        let api = Api::serve(at.cli, vec![Turn::text("scanned")]);
        project(at, &api, "");
        let (cli, tools) = (at.cli.name(), if at.cli == Cli::Codex { "shell" } else { "read_file, grep" });
        at.world.file(
            "@PROJECT/.glee/agents/scanner.yml",
            &format!("name: scanner\ndescription: d\nagent: {cli}\nprompt: Look at ${{file}} closely.\ninputs: [{{name: file, type: string, required: true}}]\ntools: [{tools}]\n"),
        );
        let prompt = format!("twice {}", at.world.nonce());
        let done = told(at, &["subagent", "--agent", "scanner", "--input", "file=src/x.rs", "--json", &prompt]);
        assert_eq!((&done["status"], &done["output"], &done["agent"], &done["cli"]), (&json!("completed"), &json!("scanned"), &json!("scanner"), &json!(cli)), "{done}");
        let said = last(&api);
        assert!(said.contains("Look at src/x.rs closely."), "{said}");
        let offered = crate::drift::tools(&said);
        assert!(!offered.iter().any(|tool| ["Write", "write_file", "web_search", "spawn_agent"].contains(&tool.as_str())), "{offered:?}");
    }
}
