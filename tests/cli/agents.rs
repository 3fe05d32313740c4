//! Commands that are an agent's by name: where a key comes from, what becomes of a login, and whose word counts.

use glee_tests::wait_until;

use crate::claims::claims;
use crate::support::Place;

/// Not the agent itself, but called like it: it says what it sees.
const AGENT: &str = "#!/bin/sh
cat $HOME/.codex/auth.json 2>&1
(echo more >> $HOME/.codex/auth.json) 2>&1
env | grep KEY
grep base_url /etc/codex/config.toml
";

fn agent(at: &Place) {
    at.world.program("@PROJECT/bin/codex", AGENT);
    at.world.file("@HOME/.codex/auth.json", "the login\n");
}

const PLACEHOLDER: &str = "CODEX_API_KEY=sk-glee-placeholder-the-key-stays-outside";

claims! {
    fn a_login_stays_outside_and_the_caller_is_told_what_to_do(at) {
        agent(at);
        let (seen, report) = at.reported(&["--", "bin/codex"]);
        assert!(!seen.stdout.contains("the login"), "{}", seen.stdout);
        assert!(seen.stdout.contains(PLACEHOLDER), "{}", seen.stdout);
        for word in ["no key", "OPENAI_API_KEY", "--key-file", "key_command", "auth: mount"] {
            assert!(seen.stderr.contains(word), "{word}: {}", seen.stderr);
        }
        assert_eq!(report["model"]["access"], "none");
        assert_eq!(report["model"]["agent"], "codex");
    }

    fn auth_mount_shows_that_one_file_read_only_and_the_report_names_it(at) {
        agent(at);
        at.world.secret_at("@HOME/.codex/history.jsonl");
        at.world.file("@OUT/mount.yml", "extends: restricted\nauth: mount\n");
        let (seen, report) = at.reported(&["--policy", "@OUT/mount.yml", "--", "bin/codex"]);
        assert!(seen.stdout.contains("the login"), "{}", seen.stdout);
        assert!(seen.stdout.contains("Read-only file system"), "{}", seen.stdout);
        assert!(!seen.stdout.contains("base_url"), "{}", seen.stdout);
        assert_eq!(report["model"]["access"], "mount");
        assert_eq!(report["model"]["exposed"], serde_json::json!([at.world.fill("@HOME/.codex/auth.json")]));
        assert_eq!(at.host("cat @HOME/.codex/auth.json"), "the login\n");
    }

    fn a_key_comes_from_a_file_a_command_or_the_environment_and_never_goes_inside(at) {
        agent(at);
        at.world.file("@OUT/key", "sk-from-a-file-0123456789\n");
        at.world.file("@OUT/command.yml", "extends: restricted\nkey_command: [cat, @OUT/key]\n".replace("@OUT", &at.world.fill("@OUT")).as_str());
        for arguments in [
            &["--key-file", "@OUT/key", "--", "bin/codex"][..],
            &["--policy", "@OUT/command.yml", "--", "bin/codex"],
        ] {
            let (seen, report) = at.reported(arguments);
            assert_eq!(report["model"]["access"], "broker", "{}", seen.stderr);
            assert!(seen.stdout.contains(PLACEHOLDER) && !seen.stdout.contains("sk-from"), "{}", seen.stdout);
            assert!(seen.stdout.contains("http://127.0.0.1:9786/v1"), "{}", seen.stdout);
            assert!(!report.to_string().contains("sk-from"), "{report}");
        }
        let seen = at.call(["run", "--", "bin/codex"]).env("OPENAI_API_KEY", "sk-from-a-variable-01").go();
        assert!(!seen.out().contains("sk-from"), "{}", seen.out());
        assert!(!seen.err().contains("no key"), "{}", seen.err());
    }

    fn a_key_that_cannot_be_had_is_a_refusal(at) {
        agent(at);
        at.world.file("@OUT/fails.yml", "extends: restricted\nkey_command: [\"false\"]\n");
        at.world.file("@OUT/none.yml", "extends: restricted\nkey_command: [/no/such/program]\n");
        at.is_refused(&["run", "--key-file", "@OUT/absent", "--", "bin/codex"], &["@OUT/absent"]);
        at.is_refused(&["run", "--policy", "@OUT/fails.yml", "--", "bin/codex"], &["false", "failed"]);
        at.is_refused(&["run", "--policy", "@OUT/none.yml", "--", "bin/codex"], &["/no/such/program"]);
    }

    fn a_project_cannot_run_a_key_command_or_receive_the_key(at) {
        agent(at);
        let mark = at.world.path("@OUT/ran");
        at.world.file("@PROJECT/.glee/config.yml", &at.world.fill(
            "security: {subagent_permissions: {key_command: [touch, @OUT/ran], model_endpoint: 'http://127.0.0.1:1/'}}\n",
        ));
        let report = at.world.path("@OUT/report.json");
        let seen = at
            .call(["run", "--report", "@OUT/report.json", "--", "bin/codex"])
            .env("OPENAI_API_KEY", "sk-from-a-variable-01")
            .go();
        assert_eq!(seen.code(), Some(0), "{}", seen.err());
        for word in ["key_command", "model_endpoint", "not trusted"] {
            assert!(seen.err().contains(word), "{word}: {}", seen.err());
        }
        assert!(!wait_until(std::time::Duration::from_millis(200), || mark.exists()), "the project's command ran");
        let report = std::fs::read_to_string(report).expect("a report");
        assert!(report.contains("\"access\": \"none\""), "{report}");
    }

    fn an_agent_in_a_home_that_is_granted_gets_a_home_of_its_own(at) {
        at.world.program("@HOME/bin/claude", "#!/bin/sh\necho $HOME; cat $HOME/.claude/settings.json; ls -A @HOME/.claude 2>&1\n".replace("@HOME", &at.world.fill("@HOME")).as_str());
        let seen = at.call(["run", "--", "bin/claude"]).cwd("@HOME").go();
        assert!(seen.out().starts_with("/run/agent\n{\"permissions\""), "{}\n{}", seen.out(), seen.err());
        assert_eq!(at.host("ls -A @HOME"), "bin\nproject\n");
    }
}
