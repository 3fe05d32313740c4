//! What an agent is for: it asks its model, and does what the model says.

use std::fs;

use serde_json::json;

use crate::api::{Api, Turn};
use crate::support::claims;

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

    fn a_cli_that_is_found_through_a_link_in_the_home_works(at) {
        at.world.dir("@HOME/.local/bin");
        at.world.link(&at.cli.program().display().to_string(), &format!("@HOME/.local/bin/{}", at.cli.name()));
        let api = Api::serve(at.cli, vec![Turn::text("a word from the model")]);
        let mut command = at.cli.command(at.cli.name().as_ref(), "hello");
        command[0] = at.cli.name().to_owned();
        let run = at.sandboxed("restricted", &api).command(command);
        let outcome = run.env("PATH", "@HOME/.local/bin:/usr/local/bin:/usr/bin:/bin").go();
        let ran = at.ran(outcome, api);
        ran.succeeded(at);
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
