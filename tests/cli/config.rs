//! The project's configuration: read, set in place, and never above a default without trust.

use crate::claims::claims;
use crate::support::Place;

const FILE: &str = "# Ours.\nsubagents:\n  max_concurrent: 5   # few\n\nsecurity:\n  subagent_permissions:\n    fs: {read: [\".\"]}  # all\n";

fn get(at: &Place, key: &str) -> String {
    let seen = at.seen(["config", "get", key]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    seen.stdout
}

claims! {
    fn a_value_is_set_where_it_stands_and_comments_stay(at) {
        at.world.file("@PROJECT/.glee/config.yml", FILE);
        let seen = at.seen(["config", "set", "subagents.max_concurrent", "7"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.seen(["config", "set", "subagents.timeout_ms", "30000"]).status, 0);
        assert_eq!(at.seen(["config", "set", "security.subagent_permissions.fs.deny", "[\"*.pem\"]"]).status, 0);
        let expected = FILE.replace("5   #", "7   #").replace("# few\n", "# few\n  timeout_ms: 30000\n").replace("[\".\"]}", "[\".\"], deny: [\"*.pem\"]}");
        assert_eq!(at.host("cat .glee/config.yml"), expected);
        assert_eq!(at.host("ls -A .glee"), "config.yml\n");
        assert_eq!(get(at, "subagents.max_concurrent"), "7\n");
        assert_eq!(get(at, "security.subagent_permissions.fs.deny"), "[\"*.pem\"]\n");
    }

    fn the_documented_calls_work_in_a_project_without_a_configuration(at) {
        for (key, value) in [("subagents.max_concurrent", "20"), ("subagents.timeout_ms", "120000")] {
            let seen = at.seen(["config", "set", key, value]);
            assert!(seen.status == 0 && seen.stderr.contains("trust"), "{}", seen.stderr);
        }
        assert_eq!(at.host("cat .glee/config.yml"), "subagents:\n  max_concurrent: 20\n  timeout_ms: 120000\n");
    }

    fn a_value_above_its_default_counts_after_trust_until_the_file_changes(at) {
        at.seen(["config", "set", "subagents.max_concurrent", "20"]);
        assert_eq!(get(at, "subagents.max_concurrent"), "10\n");
        let asked = at.seen(["trust", "--yes"]);
        assert!(asked.status == 0 && asked.stderr.contains("subagents.max_concurrent 20") && asked.stderr.contains("default: 10"), "{}", asked.stderr);
        assert_eq!(get(at, "subagents.max_concurrent"), "20\n");
        let seen = at.seen(["config", "set", "sessions.max_history", "5"]);
        assert!(seen.stderr.contains("asks again"), "{}", seen.stderr);
        assert_eq!(get(at, "subagents.max_concurrent"), "10\n");
        assert_eq!(get(at, "sessions.max_history"), "5\n");
    }

    fn what_is_wrong_is_refused_and_nothing_is_written(at) {
        at.world.file("@PROJECT/.glee/config.yml", FILE);
        for (key, value, word) in [
            ("subagents.max_concurent", "3", "did you mean `subagents.max_concurrent`?"),
            ("max_concurrent", "3", "did you mean `subagents.max_concurrent`?"),
            ("subagents.max_concurrent", "0", "is zero"),
            ("subagents.max_concurrent", "-1", "is negative"),
            ("subagents.max_concurrent", "lots", "must be a number"),
            ("subagents.default_agent", "cursor", "cannot be `cursor`"),
            ("security.require_approval.tools", "maybe", "`true` or `false`"),
            ("security.subagent_permissions.network", "maybe", "`network` must be"),
            ("security.subagent_permissions.fs", "{read: [/]}\nnetwork: true", "one line"),
            ("../x", "1", "no key"),
        ] {
            let seen = at.seen(["config", "set", key, value]);
            assert!(seen.status == 1 && seen.stdout.is_empty() && seen.stderr.contains(word), "{key} {value}: {}", seen.stderr);
        }
        assert_eq!(at.host("cat .glee/config.yml"), FILE);
    }

    fn a_broken_file_is_named_with_its_line(at) {
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 3\n  speed: 9\n");
        for call in [&["config", "list"][..], &["config", "get", "sessions.max_history"], &["config", "set", "sessions.max_history", "3"]] {
            let seen = at.seen(call.iter().copied());
            assert!(seen.status == 1 && seen.stderr.contains("config.yml:3:3: error: unknown key `subagents.speed`"), "{call:?}: {}", seen.stderr);
        }
    }

    fn checking_the_file_finds_mistakes_outside_of_the_policy_too(at) {
        at.world.file("@PROJECT/.glee/config.yml", "sessions:\n  max_history: 0\n");
        let seen = at.seen(["policy", "check", ".glee/config.yml"]);
        assert!(
            seen.status == 1 && seen.stderr.contains("config.yml:2:16: error: `sessions.max_history`: `0` is zero"),
            "{}",
            seen.stderr
        );
    }

    fn the_list_has_every_key_with_its_value(at) {
        at.world.file("@PROJECT/.glee/config.yml", FILE);
        let seen = at.seen(["config", "list", "--json"]);
        let list: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
        let value = |key: &str| list.as_array().and_then(|l| l.iter().find(|e| e["key"] == key)).map(|e| (e["value"].clone(), e["is_default"].clone()));
        assert_eq!(value("subagents.max_concurrent"), Some(("5".into(), false.into())));
        assert_eq!(value("subagents.timeout_ms"), Some(("60000".into(), true.into())));
        assert_eq!(value("security.require_approval.subagents"), Some(("false".into(), true.into())));
        assert!(at.seen(["config", "list"]).stdout.contains("subagents.timeout_ms"));
    }

    fn a_link_is_not_written_through(at) {
        at.world.file("@OUT/config.yml", "");
        at.host("mkdir .glee && ln -s @OUT/config.yml .glee/config.yml");
        assert_eq!(at.seen(["config", "set", "sessions.max_history", "3"]).status, 1);
        assert_eq!(at.host("cat @OUT/config.yml"), "");
    }
}
