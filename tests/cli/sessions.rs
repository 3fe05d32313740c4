//! Recorded conversations: shown, deleted, and never believed when somebody else has changed them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::claims::claims;
use crate::keeper::said_by;
use crate::support::{Place, keys};

/// A session in which these things were said.
fn recorded(at: &Place, said: &[&str]) -> String {
    let id = said_by(&at.world, &["session", "create", "codex"]).expect("make a session");
    for text in said {
        said_by(&at.world, &["session", "append", id.trim(), text]).expect("say something");
    }
    id.trim().to_owned()
}

fn file(at: &Place, id: &str) -> PathBuf {
    at.project().join(".glee/agent_sessions").join(format!("{id}.json"))
}

fn change(at: &Place, id: &str, edit: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(file(at, id)).expect("read the session");
    let mut json = serde_json::from_str(&text).expect("JSON");
    edit(&mut json);
    fs::write(file(at, id), json.to_string()).expect("change the session");
}

#[track_caller]
fn json(at: &Place, arguments: &[&str]) -> Value {
    let seen = at.seen(arguments.iter().copied());
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{arguments:?}");
    serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("not JSON: {e}: {}", seen.stdout))
}

/// What `show` finds wrong with a session.
fn fault(at: &Place, id: &str) -> String {
    let shown = json(at, &["sessions", "show", id, "--json"]);
    assert_eq!(shown["intact"], Value::Bool(shown["fault"].is_null()));
    shown["fault"].as_str().unwrap_or_default().to_owned()
}

claims! {
    fn a_project_without_sessions_lists_none_and_nothing_is_made(at) {
        let before = at.listing();
        assert_eq!(json(at, &["sessions", "list", "--json"]), serde_json::json!([]));
        assert_eq!(at.seen(["sessions", "list"]).status, 0);
        assert_eq!(at.seen(["sessions", "show", "task-a1b2c3d4"]).status, 1);
        assert_eq!(at.seen(["sessions", "prune"]).status, 0);
        assert_eq!(at.listing(), before);
    }

    fn what_was_said_is_listed_and_shown_without_driving_the_terminal(at) {
        let id = recorded(at, &["Search\u{1b}[2Jfor endpoints\nin src/", "Found 5"]);
        let list = json(at, &["sessions", "list", "--json"]);
        let entry = &list[0];
        assert_eq!((&entry["session_id"], &entry["messages"], &entry["intact"]), (&id.as_str().into(), &2.into(), &true.into()));
        let shown = json(at, &["sessions", "show", &id, "--json"]);
        for key in ["session_id", "agent_name", "agent_cli", "created_at", "updated_at", "status", "messages"] {
            assert!(keys(&shown).contains(&key), "{key}");
        }
        assert_eq!(shown["messages"][0]["content"], "Search\u{1b}[2Jfor endpoints\nin src/");
        let text = at.seen(["sessions", "show", &id]).stdout;
        assert!(text.contains("Search\\u{1b}[2Jfor endpoints\nin src/") && text.contains("Found 5"), "{text}");
        assert!(at.seen(["sessions", "list"]).stdout.contains(&id));
    }

    fn a_session_is_the_callers_alone_and_stays_out_of_git(at) {
        let id = recorded(at, &["x"]);
        at.host("git init -q . && git add -A && test -z \"$(git status --porcelain .glee)\"");
        let modes = at.host(&format!("stat -c '%a %u' .glee/agent_sessions .glee/agent_sessions/{id}.json"));
        let uid = at.world.caller().uid();
        assert_eq!(modes, format!("700 {uid}\n600 {uid}\n"));
        assert_eq!(at.host("stat -c %a @STATE/glee/keys/*"), "600\n");
    }

    fn an_edited_history_is_named(at) {
        let id = recorded(at, &["one", "two", "three"]);
        assert_eq!(fault(at, &id), "");
        change(at, &id, |json| json["messages"][1]["content"] = "rm -rf /".into());
        assert!(fault(at, &id).contains("message 2"), "{}", fault(at, &id));
        let listed = at.seen(["sessions", "list"]).stdout;
        assert!(listed.contains("message 2 was changed"), "{listed}");
        let more = said_by(&at.world, &["session", "append", &id, "four"]).expect_err("it is not continued");
        assert!(more.contains("Changed"), "{more}");
    }

    fn a_truncated_and_a_reordered_history_are_named(at) {
        let cut = recorded(at, &["one", "two", "three"]);
        change(at, &cut, |json| { json["messages"].as_array_mut().expect("messages").pop(); });
        assert!(fault(at, &cut).contains("left out"), "{}", fault(at, &cut));
        let moved = recorded(at, &["one", "two", "three"]);
        change(at, &moved, |json| json["messages"].as_array_mut().expect("messages").swap(1, 2));
        assert!(fault(at, &moved).contains("moved"), "{}", fault(at, &moved));
    }

    fn a_session_from_another_project_or_another_user_is_not_believed(at) {
        let id = recorded(at, &["one"]);
        at.host(&format!("mkdir -p other/.glee/agent_sessions && cp .glee/agent_sessions/{id}.json other/.glee/agent_sessions/"));
        let other = json(at, &["sessions", "show", &id, "--json", "--project", "@PROJECT/other"]);
        assert_eq!(other["intact"], false);
        at.host("rm @STATE/glee/keys/sessions.key");
        assert!(fault(at, &id).contains("another user"), "{}", fault(at, &id));
    }

    fn what_cannot_be_read_is_listed_with_the_reason_and_can_be_deleted(at) {
        let id = recorded(at, &["one"]);
        at.world.file(&format!("@PROJECT/.glee/agent_sessions/{id}.json"), "{\"session_id\":");
        let list = json(at, &["sessions", "list", "--json"]);
        assert!(list[0]["fault"].as_str().is_some_and(|fault| fault.contains("cannot be read")), "{list}");
        assert_eq!(at.seen(["sessions", "show", &id]).status, 1);
        assert_eq!(at.seen(["sessions", "delete", &id]).status, 0);
        assert_eq!(at.seen(["sessions", "delete", &id]).status, 1);
        assert_eq!(json(at, &["sessions", "list", "--json"]), serde_json::json!([]));
    }

    fn an_id_leads_nowhere_else(at) {
        recorded(at, &["x"]);
        at.world.file("@PROJECT/.glee/secret.json", "{}");
        for wrong in ["../secret", "task-../secret", "/etc/passwd", "task-A1B2C3D4", "-x", ".", "task-a1b2c3d4.json", ""] {
            for command in ["show", "delete"] {
                let seen = at.seen(["sessions", command, "--", wrong]);
                assert_eq!((seen.status, seen.stdout.as_str()), (2, ""), "{command} {wrong}: {}", seen.stderr);
            }
        }
        assert!(at.project().join(".glee/secret.json").is_file());
    }

    fn links_in_the_place_of_the_directory_or_a_session_are_not_followed(at) {
        let id = recorded(at, &["x"]);
        at.host(&format!("mv .glee/agent_sessions/{id}.json @HOME/real.json && ln -s @HOME/real.json .glee/agent_sessions/{id}.json"));
        assert_eq!(at.seen(["sessions", "show", &id]).status, 1);
        at.host("mv .glee/agent_sessions @HOME/real && ln -s @HOME/real .glee/agent_sessions");
        let seen = at.seen(["sessions", "list"]);
        assert!(seen.status == 1 && seen.stderr.contains("agent_sessions"), "{seen:?}");
        assert!(said_by(&at.world, &["session", "create", "codex"]).is_err());
    }

    fn old_sessions_are_pruned_and_drafts_of_the_killed_with_them(at) {
        let kept = recorded(at, &["x"]);
        let torn = recorded(at, &["x"]);
        at.host(&format!("echo '{{' > .glee/agent_sessions/{torn}.json && touch -d '8 days ago' .glee/agent_sessions/{torn}.json
            touch .glee/agent_sessions/.draft-0123456789abcdef"));
        assert_eq!(json(at, &["sessions", "prune", "--json"]), serde_json::json!([torn]));
        assert_eq!(at.host("ls -A .glee/agent_sessions"), format!(".gitignore\n{kept}.json\n"));
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(json(at, &["sessions", "prune", "--days", "0", "--json"]), serde_json::json!([kept]));
    }

    fn how_long_they_are_kept_is_in_the_configuration_and_the_next_task_sees_to_it(at) {
        let aged = |days: u32| {
            let id = recorded(at, &["x"]);
            at.host(&format!("echo '{{' > .glee/agent_sessions/{id}.json && touch -d '{days} days ago' .glee/agent_sessions/{id}.json"));
            id
        };
        let (young, old) = (aged(2), aged(4));
        assert_eq!(json(at, &["sessions", "prune", "--json"]), serde_json::json!([]));
        at.world.file("@PROJECT/.glee/config.yml", "sessions:\n  expiry_days: 3\n");
        assert_eq!(json(at, &["sessions", "prune", "--json"]), serde_json::json!([old]));
        at.world.file("@PROJECT/.glee/config.yml", "sessions:\n  expiry_days: 1\n");
        assert_eq!(at.seen(["subagent", "--cli", "stub", "x"]).status, 0);
        assert_eq!(at.host(&format!("ls .glee/agent_sessions | grep -c {young} || :")), "0\n");
    }

    fn neither_sessions_nor_their_key_are_in_a_sandbox(at) {
        let id = recorded(at, &["the-words-of-a-session"]);
        for policy in ["restricted", "workspace"] {
            let seen = at.run(policy, &format!("cat .glee/agent_sessions/{id}.json || :; find / -name sessions.key 2>/dev/null || :"));
            assert_eq!((seen.status, seen.stdout.as_str()), (0, ""), "{policy}");
        }
        assert_eq!(fault(at, &id), "");
    }
}
