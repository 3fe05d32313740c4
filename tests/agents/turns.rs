//! What an agent is for: it asks its model, and does what the model says.

use std::fs;

use glee_tests::Caller;
use serde_json::json;

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::{Place, claims};

claims! {
    fn a_text_turn_comes_back(at) {
        let ran = at.run("restricted", vec![Turn::text("a word from the model")]);
        ran.succeeded(at);
        assert!(ran.outcome.says("a word from the model"), "{}", ran.outcome.describe());
        assert_eq!(ran.report["denials"], json!([]));
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn a_tool_call_writes_in_the_project(at) {
        let ran = at.run("workspace", at.shell("echo from the agent > made && mkdir -p deep/er && cp made deep/er/"));
        ran.succeeded(at);
        for file in ["made", "deep/er/made"] {
            let content = fs::read_to_string(at.world.project().join(file));
            assert_eq!(content.expect("it was made"), "from the agent\n", "{}", ran.outcome.describe());
        }
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn what_a_tool_call_prints_is_told_to_the_model(at) {
        at.world.file("@PROJECT/note", "the note says 4711\n");
        let ran = at.run("restricted", at.shell("cat note"));
        ran.succeeded(at);
        assert_eq!(ran.api.asked().len(), 2);
        assert!(ran.api.asked()[1].body.contains("the note says 4711"), "{}", ran.outcome.describe());
    }

    fn a_tool_call_does_not_write_where_the_policy_only_reads(at) {
        let ran = at.run("restricted", at.shell("echo x > made; echo status $?"));
        ran.succeeded(at);
        assert!(!at.world.project().join("made").exists());
    }

    fn tokens_and_requests_are_counted(at) {
        let ran = at.run("restricted", at.shell("true"));
        ran.succeeded(at);
        let usage = ran.usage();
        let counted = ["input_tokens", "cached_tokens", "output_tokens", "refused", "failed", "foreign_keys"]
            .map(|key| usage[key].as_u64());
        assert_eq!(counted, [Some(220), Some(60), Some(14), Some(0), Some(0), Some(0)], "{usage:#}");
        assert_eq!((&usage["statuses"], &usage["endpoint"]), (&json!({"200": 2}), &json!(ran.api.url())));
    }
}

/// Older models of codex's have a tool of its own for the shell.
fn codex_with_an_older_model_runs_a_tool_call(caller: Caller) {
    let at = Place::of(Cli::Codex, caller);
    let api = Api::serve(at.cli, at.shell("echo from the agent > made"));
    let mut command = at.cli.command(&at.cli.program(), at.world.nonce());
    command.extend(["-m", "gpt-5.2-codex"].map(str::to_owned));
    let outcome = at.sandboxed("workspace", &api).command(command).go();
    let ran = at.ran(outcome, api);
    ran.succeeded(&at);
    assert!(
        ran.api.asked()[0].body.contains(r#""name":"exec_command""#),
        "no older tool is offered"
    );
    assert!(at.world.project().join("made").exists(), "{}", ran.outcome.describe());
}

mod codex_with_an_older_model {
    use glee_tests::Caller;

    #[test]
    fn runs_a_tool_call_of_roots() {
        super::codex_with_an_older_model_runs_a_tool_call(Caller::Root);
    }

    #[test]
    fn runs_a_tool_call_of_a_users() {
        super::codex_with_an_older_model_runs_a_tool_call(Caller::User);
    }
}
