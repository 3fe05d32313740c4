//! How a run ends when something goes wrong: with the CLI's own failure or at the deadline, and with nothing left behind.

use std::time::Duration;

use glee_tests::wait_until;
use serde_json::json;

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::claims;

/// A process that carries the world's mark, ignores a polite end, and has a child that left its session.
const STAYING: &str = "echo begun > begun
trap '' TERM HUP INT
setsid python3 -c 'import time; time.sleep(300)' @ID &
python3 -c 'import time; time.sleep(300)' @ID";

claims! {
    fn an_error_of_the_api_is_the_clis_failure(at) {
        let api = Api::serve(at.cli, vec![Turn::Error(401)]);
        // By itself claude asks ten times, for minutes.
        let outcome = at.sandboxed("restricted", &api).flags(["--env", "CLAUDE_CODE_MAX_RETRIES=1"]).go();
        let ran = at.ran(outcome, api);
        assert!(!ran.outcome.hung, "{}", ran.outcome.describe());
        let expected = match at.cli {
            Cli::Codex | Cli::Claude => 1,
            // It takes the HTTP status for its own.
            Cli::Gemini => 401 % 256,
        };
        assert_eq!(ran.outcome.code(), Some(expected), "{}", ran.outcome.describe());
        assert!(!at.cli.succeeded(&ran.outcome.out()));
        let said = format!("{}{}", ran.outcome.out(), ran.outcome.err());
        assert!(said.contains("scripted error"), "{}", ran.outcome.describe());
        assert!(ran.usage()["statuses"]["401"].as_u64() >= Some(1), "{:#}", ran.usage());
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn a_stream_cut_in_the_middle_is_seen_as_cut(at) {
        let ran = at.run("restricted", vec![Turn::Cut, Turn::text("the second attempt")]);
        assert!(!ran.outcome.hung, "{}", ran.outcome.describe());
        match at.cli {
            // They ask again.
            Cli::Codex | Cli::Claude => {
                ran.succeeded(at);
                assert!(ran.outcome.says("the second attempt"), "{}", ran.outcome.describe());
                assert_eq!(ran.api.asked().len(), 2);
            }
            Cli::Gemini => {
                assert_eq!(ran.outcome.code(), Some(1), "{}", ran.outcome.describe());
                assert!(!at.cli.succeeded(&ran.outcome.out()));
            }
        }
        assert_eq!(ran.usage()["failed"].as_u64(), Some(1), "{:#}", ran.usage());
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn a_deadline_in_a_tool_call_leaves_no_orphan(at) {
        let api = Api::serve(at.cli, at.shell(STAYING));
        let outcome = at.sandboxed("workspace", &api).flags(["--timeout", "8s"]).go();
        assert!(at.world.project().join("begun").exists(), "no tool call began: {}", outcome.describe());
        let ran = at.ran(outcome, api);
        assert_eq!((ran.outcome.code(), &ran.report["outcome"]), (Some(124), &json!("timeout")));
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn a_deadline_while_the_model_is_silent_leaves_no_orphan(at) {
        let api = Api::serve(at.cli, vec![Turn::Hang]);
        let outcome = at.sandboxed("restricted", &api).flags(["--timeout", "8s"]).go();
        let ran = at.ran(outcome, api);
        assert_eq!((ran.outcome.code(), &ran.report["outcome"]), (Some(124), &json!("timeout")));
        at.key_stayed_outside(&ran);
        at.is_quiet(&ran);
    }

    fn a_supervisor_that_is_killed_takes_the_agent_along(at) {
        let api = Api::serve(at.cli, at.shell(STAYING));
        let run = at.sandboxed("workspace", &api).spawn();
        let begun = at.world.project().join("begun");
        let began = wait_until(Duration::from_secs(60), || begun.exists());
        run.signal("KILL");
        let outcome = run.finish();
        assert!(began, "no tool call began: {}", outcome.describe());
        at.world.be_patient(Duration::from_secs(3));
        assert_eq!(at.world.remains(), None, "{}", outcome.describe());
    }
}
