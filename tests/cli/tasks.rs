//! Tasks from the user's door, worked on by the stub agent: asked for, followed, limited, cancelled, and held by the sandbox.

use std::fs;
use std::time::{Duration, Instant};

use glee_tests::{alive, carrying, wait_until};
use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::{Place, keys};

const LONG: Duration = Duration::from_secs(20);

/// What a call prints as JSON, and its exit status.
#[track_caller]
pub(crate) fn told(at: &Place, arguments: &[&str]) -> (i32, Value) {
    let seen = at.seen(arguments.iter().copied());
    let value = serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", seen.stdout, seen.stderr));
    (seen.status, value)
}

/// A task of the stub's, waited for.
#[track_caller]
pub(crate) fn stub(at: &Place, orders: &str, more: &[&str]) -> (i32, Value) {
    told(at, &[&["subagent", "--cli", "stub", "--json", orders], more].concat())
}

/// A task of the stub's in the background: its id.
#[track_caller]
pub(crate) fn begun(at: &Place, orders: &str) -> String {
    let (status, ticket) = stub(at, orders, &["--background"]);
    assert_eq!(status, 0, "{ticket}");
    ticket["task_id"].as_str().expect("an id").to_owned()
}

pub(crate) fn state(at: &Place, id: &str) -> String {
    let (_, view) = told(at, &["tasks", "show", id, "--json"]);
    view["state"].as_str().expect("a state").to_owned()
}

#[track_caller]
pub(crate) fn comes_to(at: &Place, id: &str, wanted: &str) {
    let reached = wait_until(LONG, || state(at, id) == wanted);
    assert!(reached, "{id} is {}, not {wanted}", state(at, id));
}

#[track_caller]
fn waited(at: &Place, id: &str) -> Value {
    told(at, &["tasks", "wait", id, "--json"]).1
}

/// A configuration that the user trusts.
#[track_caller]
pub(crate) fn trusted(at: &Place, config: &str) {
    at.world.file("@PROJECT/.glee/config.yml", config);
    let seen = at.seen(["trust", "--config", "--yes"]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
}

const WORKSPACE: &str = "security:\n  subagent_permissions:\n    extends: workspace\n";

/// The workers of this world.
fn workers(at: &Place) -> Vec<u32> {
    let mut found = carrying("__worker");
    found.retain(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(at.world.nonce())
    });
    found
}

claims! {
    fn a_task_is_worked_on_in_the_sandbox_and_its_answer_printed(at) {
        let seen = at.seen(["subagent", "--cli", "stub", "what is -- asked\nin two lines"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "what is -- asked\nin two lines\n"), "{}", seen.stderr);
        at.world.secret_at("@OUT/secret");
        let (status, done) = stub(at, &at.world.fill("stub: shell cat @OUT/secret; id -u; echo x > made\nstub: say over"), &[]);
        assert_eq!((status, &done["status"], &done["error"]), (0, &json!("completed"), &Value::Null), "{done}");
        let output = done["output"].as_str().expect("text");
        assert!(!output.contains(at.world.secret()) && !output.starts_with("0\n") && output.ends_with("over\n"), "{output}");
        assert!(!at.project().join("made").exists());
        let documented = ["duration_ms", "output", "session_id", "status"];
        assert!(documented.iter().all(|key| keys(&done).contains(key)), "{done}");
        // What the run was is in its report.
        let run = done["run_id"].as_str().expect("an id");
        assert_eq!(told(at, &["runs", "show", run, "--json"]).1["run_id"], run);
        let log = at.host("cat .glee/stream_logs/subagents-*.log");
        assert!(log.contains("[stub] Starting: stub: shell cat") && log.contains("Completed in "), "{log}");
    }

    fn what_the_agent_says_of_itself_is_not_believed(at) {
        for (orders, why) in [
            ("stub: say fine\nstub: exit 0", "without finishing a turn"),
            ("stub: exit 7", "exited with 7"),
            ("stub: error no idea", "no idea"),
            ("stub: dance", "`dance` is not an order"),
        ] {
            let (status, done) = stub(at, orders, &[]);
            assert_eq!((status, &done["status"]), (1, &json!("error")), "{orders}: {done}");
            assert!(done["error"].as_str().is_some_and(|error| error.contains(why)), "{orders}: {done}");
        }
    }

    fn a_task_in_the_background_outlives_its_caller(at) {
        let id = begun(at, "stub: sleep 300\nstub: say later");
        let (status, early) = told(at, &["tasks", "wait", &id, "--timeout", "1ms", "--json"]);
        assert_eq!(status, 124, "{early}");
        let done = waited(at, &id);
        assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("later\n")), "{done}");
        assert_eq!(told(at, &["tasks", "list", "--json"]).1, json!([]));
        assert_eq!(told(at, &["tasks", "list", "--all", "--json"]).1[0]["task_id"], id.as_str());
        assert!(wait_until(LONG, || workers(at).is_empty()), "a worker stays");
    }

    fn cancelling_ends_the_whole_tree(at) {
        let orders = format!("stub: shell trap '' TERM; sh -c 'trap \"\" TERM; sleep 600; : {}'", at.world.nonce());
        let id = begun(at, &orders);
        comes_to(at, &id, "running");
        assert!(wait_until(LONG, || told(at, &["tasks", "show", &id, "--json"]).1["doing"].is_string()));
        let seen = at.seen(["tasks", "cancel", &id]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let done = waited(at, &id);
        assert_eq!(done["status"], "cancelled", "{done}");
        assert!(wait_until(LONG, || workers(at).is_empty()), "a worker stays");
        assert_eq!(at.world.remains(), None);
        // One that has not started ends at once.
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 1\n");
        let first = begun(at, "stub: sleep 60000");
        comes_to(at, &first, "running");
        let second = begun(at, "stub: say never");
        assert_eq!(state(at, &second), "queued");
        at.seen(["tasks", "cancel", &second, &first]);
        assert_eq!((waited(at, &second)["status"].clone(), waited(at, &first)["status"].clone()), (json!("cancelled"), json!("cancelled")));
    }

    fn interrupting_the_caller_cancels_what_it_waits_for(at) {
        let running = at.call(["subagent", "--cli", "stub", "stub: sleep 600000"]).spawn();
        let listed = || told(at, &["tasks", "list", "--json"]).1;
        assert!(wait_until(LONG, || listed()[0]["state"] == "running"));
        running.signal("INT");
        let outcome = running.finish();
        assert_eq!((outcome.code(), outcome.hung), (Some(1), false), "{}", outcome.describe());
        assert_eq!(told(at, &["tasks", "list", "--all", "--json"]).1[0]["state"], "cancelled");
    }

    fn the_most_specific_time_counts_and_never_more_than_the_policys(at) {
        let (_, done) = stub(at, "stub: sleep 60000", &["--timeout", "700ms"]);
        assert_eq!((&done["status"], &done["error"]), (&json!("timeout"), &json!("the time limit was reached")), "{done}");
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  timeout_ms: 600\n");
        let (_, done) = stub(at, "stub: sleep 60000", &[]);
        assert_eq!(done["status"], "timeout", "{done}");
        assert_eq!(stub(at, "stub: sleep 900", &["--timeout", "20s"]).0, 0, "the caller's word is more specific");
        at.world.file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    max_runtime_mins: 0.01\n");
        let (_, done) = stub(at, "stub: sleep 60000", &["--timeout", "20s"]);
        assert_eq!(done["status"], "timeout", "{done}");
        assert_eq!(at.world.remains(), None);
    }

    fn a_session_goes_on_and_is_told_as_what_it_is(at) {
        let (_, first) = stub(at, "remember the number 4711", &[]);
        let session = first["session_id"].as_str().expect("an id");
        let (status, second) = told(at, &["subagent", "--session", session, "--json", "stub: told"]);
        assert_eq!((status, &second["session_id"], &second["cli"], &second["resumed"]), (0, &json!(session), &json!("stub"), &json!("replayed")), "{second}");
        let output = second["output"].as_str().expect("text");
        assert!(output.contains(&format!("source=\"session:{session}\" trusted=\"false\"")) && output.contains("User: remember the number 4711"), "{output}");
        let shown = told(at, &["sessions", "show", session, "--json"]).1;
        assert_eq!((&shown["status"], &shown["intact"], shown["messages"].as_array().map(Vec::len)), (&json!("completed"), &json!(true), Some(4)), "{shown}");
        // Somebody else's words are not gone on with.
        at.host(&format!("sed -i s/4711/4712/ .glee/agent_sessions/{session}.json"));
        let (status, refused) = told(at, &["subagent", "--session", session, "--json", "go on"]);
        assert!(status == 1 && refused["error"].as_str().is_some_and(|e| e.contains("somebody else has changed it")), "{refused}");
        for missing in ["task-00000000", "../../etc/passwd"] {
            assert_ne!(at.seen(["subagent", "--session", missing, "x"]).status, 0);
        }
    }

    fn errors_are_objects_and_stop_no_other_task(at) {
        at.world.file("@PROJECT/tasks.json", r#"[
            {"description": "one", "prompt": "stub: say one", "agent_cli": "stub"},
            {"description": "two", "prompt": "stub: say two", "agent_cli": "gemini"},
            {"prompt": "stub: error three", "agent_cli": "stub"},
            {"promt": "four"},
            {"prompt": "five", "agent_name": "nobody"},
            {"prompt": "stub: say six", "agent_cli": "stub", "session_id": "task-00000000"},
            {"prompt": "stub: say seven", "agent_cli": "stub", "timeout_ms": 20000}
        ]"#);
        let (status, list) = told(at, &["subagents", "--file", "@PROJECT/tasks.json", "--json"]);
        assert_eq!(status, 1);
        let of = |n: usize| (list[n]["task_index"].clone(), list[n]["status"].clone(), list[n]["error"].clone());
        assert_eq!(list.as_array().map(Vec::len), Some(7), "{list}");
        assert_eq!(of(0), (json!(0), json!("completed"), Value::Null));
        assert_eq!(of(1), (json!(1), json!("error"), json!("CLI not installed")));
        assert_eq!((&list[1]["agent"], &list[1]["output"], &list[1]["duration_ms"]), (&json!("gemini"), &Value::Null, &json!(0)));
        assert_eq!(of(2), (json!(2), json!("error"), json!("three")));
        for (n, why) in [(3, "promt"), (4, "there is no agent `nobody`"), (5, "there is no session")] {
            assert!(list[n]["error"].as_str().is_some_and(|error| error.contains(why)), "{}", list[n]);
        }
        assert_eq!((of(6).1, &list[6]["output"]), (json!("completed"), &json!("seven\n")));
        let plain = at.seen(["subagents", "--file", "@PROJECT/tasks.json"]);
        assert!(plain.status == 1 && plain.stdout == "[0]\none\n[6]\nseven\n", "{}", plain.stdout);
        assert!(plain.stderr.contains("[1] [gemini] CLI not installed") && !plain.stderr.contains('\u{1b}'), "{}", plain.stderr);
        assert_eq!(at.seen(["subagents", "--file", "@PROJECT/none.json"]).status, 2);
    }

    fn a_file_of_tasks_is_left_in_the_background(at) {
        let tasks = json!([
            {"prompt": "stub: sleep 300\nstub: say one", "agent_cli": "stub"},
            {"prompt": "stub: say two", "agent_cli": "stub", "wrong": 1},
            {"prompt": "stub: say three", "agent_cli": "stub"},
        ]);
        at.world.file("@PROJECT/tasks.json", &tasks.to_string());
        let (status, list) = told(at, &["subagents", "--file", "@PROJECT/tasks.json", "--background", "--json"]);
        assert_eq!((status, &list[1]["task_index"], &list[1]["status"]), (1, &json!(1), &json!("error")), "{list}");
        for (index, answer) in [(0, "one\n"), (2, "three\n")] {
            assert_eq!(list[index]["task_index"], index, "{list}");
            let outcome = waited(at, list[index]["task_id"].as_str().expect("an id"));
            assert_eq!((&outcome["status"], &outcome["output"]), (&json!("completed"), &json!(answer)), "{outcome}");
        }
        let plain = at.seen(["subagents", "--file", "@PROJECT/tasks.json", "--background"]);
        assert_eq!((plain.status, plain.stdout.lines().count()), (1, 2), "{}", plain.stderr);
        assert!(plain.stderr.contains("[1]"), "{}", plain.stderr);
        plain.stdout.lines().for_each(|id| comes_to(at, id, "done"));
    }

    fn who_was_named_works_on_it_or_nobody_does(at) {
        at.world.file("@PROJECT/.glee/agents/coder.yml", "name: coder\ndescription: d\nagent: codex\nprompt: p\n");
        at.world.file("@PROJECT/.glee/agents/stub.yml", "name: stub\ndescription: d\nagent: stub\nprompt: of the definition\n");
        for (flags, why) in [
            (["--agent", "coder"], "CLI not installed"),
            (["--agent", "gemini"], "CLI not installed"),
            (["--cli", "claude"], "CLI not installed"),
            (["--agent", "nobody"], "there is no agent `nobody`"),
            (["--agent", "../coder"], "there is no agent `../coder`"),
        ] {
            let (status, refused) = told(at, &[&["subagent", "--json", "fix it"], &flags[..]].concat());
            assert_eq!((status, &refused["error"], &refused["agent"]), (1, &json!(why), &json!(flags[1])), "{refused}");
        }
        // A definition comes before a CLI of the same name.
        let (_, done) = told(at, &["subagent", "--agent", "stub", "--json", "stub: told"]);
        assert!(done["output"].as_str().is_some_and(|told| told.contains("of the definition")), "{done}");
        // With nothing named, the stub is never chosen.
        let (status, refused) = told(at, &["subagent", "--json", "stub: say no"]);
        assert_eq!((status, &refused["error"]), (1, &json!("no agent CLI is installed")), "{refused}");
        assert_eq!(told(at, &["config", "list", "--json"]).0, 0);
        assert_ne!(at.seen(["config", "set", "subagents.default_agent", "stub"]).status, 0);
    }

    fn no_more_run_at_once_than_the_limit_says(at) {
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 2\n");
        let task = r#"{"prompt": "stub: sleep 150", "agent_cli": "stub"}"#;
        at.world.file("@PROJECT/tasks.json", &format!("[{}]", [task; 6].join(",")));
        assert_eq!(at.seen(["subagents", "--file", "@PROJECT/tasks.json"]).status, 0);
        let list = told(at, &["tasks", "list", "--all", "--json"]).1;
        let times: Vec<(u64, u64)> = list.as_array().expect("a list").iter()
            .map(|view| (view["started_at"].as_u64().expect("a time"), view["finished_at"].as_u64().expect("a time"))).collect();
        let most = times.iter().map(|(start, _)| times.iter().filter(|(from, to)| from <= start && start < to).count()).max();
        assert!(most.is_some_and(|most| (1..=2).contains(&most)), "{times:?}");
    }

    fn the_rate_is_kept_and_one_worker_waits_for_the_minute(at) {
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  rate_limit_per_min: 2\n");
        let ids: Vec<String> = (0..4).map(|n| begun(at, &format!("stub: say {n}"))).collect();
        assert_eq!((&waited(at, &ids[0])["output"], &waited(at, &ids[1])["output"]), (&json!("0\n"), &json!("1\n")));
        assert!(wait_until(LONG, || workers(at).len() == 1), "{:?}", workers(at));
        for id in &ids[2..] {
            assert_eq!(state(at, id), "queued");
            assert_eq!(told(at, &["tasks", "wait", id, "--timeout", "1500ms", "--json"]).0, 124);
        }
        assert_eq!(workers(at).len(), 1, "whoever waits starts no more of them");
        at.seen(["tasks", "cancel", &ids[2], &ids[3]]);
    }

    fn an_agent_is_held_to_its_definition_and_to_the_callers_word(at) {
        trusted(at, WORKSPACE);
        let agent = |name: &str, more: &str| {
            let text = format!("name: {name}\ndescription: d\nagent: stub\nprompt: Be ${{how}}.\ninputs: [{{name: how, type: string, default: kind}}]\n{more}");
            at.world.file(&format!("@PROJECT/.glee/agents/{name}.yml"), &at.world.fill(&text));
        };
        agent("free", "");
        agent("held", "permissions: {fs: {write: []}}\n");
        agent("greedy", "permissions: {fs: {write: [., /etc, @OUT]}, network: true}\n");
        let write = "stub: shell echo x > made && echo y > @OUT/made; rm -f made";
        let ask = |name: &str, more: &[&str]| told(at, &[&["subagent", "--agent", name, "--json", write], more].concat()).1["output"].as_str().unwrap_or_default().to_owned();
        assert!(ask("free", &[]).contains("outside/made"), "{}", ask("free", &[]));
        assert!(ask("held", &[]).contains("made: Read-only") || ask("held", &[]).contains("made: Permission denied"), "{}", ask("held", &[]));
        let greedy = ask("greedy", &[]);
        assert!(greedy.contains("outside/made") && !at.world.outside().join("made").exists(), "{greedy}");
        at.world.file("@PROJECT/tasks.json", &at.world.fill(r#"[
            {"prompt": "stub: append made x", "agent_cli": "stub"},
            {"prompt": "stub: append other x", "agent_cli": "stub", "permissions": {"fs": {"write": []}}},
            {"prompt": "stub: append @OUT/made x", "agent_cli": "stub", "permissions": {"fs": {"write": ["@OUT"]}}}
        ]"#));
        let (_, list) = told(at, &["subagents", "--file", "@PROJECT/tasks.json", "--json"]);
        let ended: Vec<&Value> = list.as_array().expect("a list").iter().map(|one| &one["status"]).collect();
        assert_eq!(ended, ["completed", "error", "error"], "{list}");
        assert_eq!((at.project().join("other").exists(), at.world.outside().join("made").exists()), (false, false));
        // Its prompt is told, with what the caller gave for its inputs.
        let (_, done) = told(at, &["subagent", "--agent", "free", "--input", "how=brief", "--json", "stub: told"]);
        assert!(done["output"].as_str().is_some_and(|told| told.contains("Be brief.") && told.contains("source=\"agent:free\" trusted=\"false\"")), "{done}");
        let (status, wrong) = told(at, &["subagent", "--agent", "free", "--input", "who=me", "--json", "x"]);
        assert!(status == 1 && wrong["error"].as_str().is_some_and(|e| e.contains("no input `who`")), "{wrong}");
    }

    fn kill_9_of_a_worker_ends_its_run_and_the_queue_goes_on(at) {
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 1\n");
        let id = begun(at, &format!("stub: shell sleep 600; : {}", at.world.nonce()));
        comes_to(at, &id, "running");
        assert!(wait_until(LONG, || told(at, &["tasks", "show", &id, "--json"]).1["doing"].is_string()));
        let next = begun(at, "stub: say next");
        let [worker] = workers(at)[..] else { panic!("one worker, not {:?}", workers(at)) };
        at.host(&format!("kill -9 {worker}"));
        assert!(wait_until(LONG, || !alive(worker)));
        // Whoever looks finds it, and starts another worker.
        let done = waited(at, &next);
        assert_eq!(done["output"], "next\n", "{done}");
        let lost = waited(at, &id);
        assert_eq!((&lost["status"], &lost["error"]), (&json!("error"), &json!("the supervisor ended while it ran")), "{lost}");
        let session = lost["session_id"].as_str().expect("an id");
        assert_eq!(told(at, &["sessions", "show", session, "--json"]).1["status"], "error");
        assert!(wait_until(LONG, || at.world.remains().is_none()), "{:?}", at.world.remains());
    }

    fn kill_9_of_who_waits_ends_the_task_that_runs_and_the_one_that_is_queued(at) {
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 1\n");
        at.world.file("@PROJECT/tasks.json", r#"[
            {"prompt": "stub: sleep 60000", "agent_cli": "stub"},
            {"prompt": "stub: append made x", "agent_cli": "stub"}
        ]"#);
        let waiting = at.call(["subagents", "--file", "@PROJECT/tasks.json"]).spawn();
        let open = || told(at, &["tasks", "list", "--json"]).1;
        let both = wait_until(LONG, || {
            let list = open();
            list[0]["state"] == "queued" && list[1]["state"] == "running"
        });
        assert!(both, "{}", open());
        let ids = [0, 1].map(|n| open()[n]["task_id"].as_str().expect("an id").to_owned());
        waiting.signal("KILL");
        for id in ids {
            comes_to(at, &id, "cancelled");
        }
        assert!(!at.project().join("made").exists());
        assert!(wait_until(LONG, || workers(at).is_empty()), "a worker stays");
    }

    fn a_subagent_starts_no_subagents_unless_the_trusted_configuration_says_so(at) {
        let id = begun(at, "stub: sleep 60000");
        comes_to(at, &id, "running");
        let child = |orders: &str| at.call(["subagent", "--cli", "stub", "--json", orders]).env("GLEE_TASK", &id).go();
        let refused = child("stub: say no");
        assert!(refused.code() == Some(1) && refused.says("may not start subagents"), "{}", refused.describe());
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_depth: 1\n");
        assert!(child("stub: say no").says("may not start subagents"), "an untrusted configuration counted");
        assert_eq!(at.seen(["trust", "--config", "--yes"]).status, 0);
        let allowed = child("stub: say yes");
        assert!(allowed.code() == Some(0) && allowed.says("yes"), "{}", allowed.describe());
        let inner = told(at, &["tasks", "list", "--all", "--json"]).1[0].clone();
        assert_eq!((&inner["depth"], &inner["parent"]), (&json!(1), &json!(id)), "{inner}");
        let deeper = at.call(["subagent", "--cli", "stub", "--json", "x"]).env("GLEE_TASK", inner["task_id"].as_str().expect("an id")).go();
        assert!(deeper.says("level 2"), "{}", deeper.describe());
        // What it has asked for ends with it.
        let left = at.call(["subagent", "--cli", "stub", "--json", "--background", "stub: sleep 60000"]).env("GLEE_TASK", &id).go();
        let left: Value = serde_json::from_str(&left.out()).expect("JSON");
        comes_to(at, left["task_id"].as_str().expect("an id"), "running");
        at.seen(["tasks", "cancel", &id]);
        comes_to(at, left["task_id"].as_str().expect("an id"), "cancelled");
    }

    fn a_child_has_no_more_than_its_parent(at) {
        trusted(at, &format!("subagents:\n  max_depth: 1\n{WORKSPACE}"));
        at.world.file("@PROJECT/.glee/agents/held.yml", "name: held\ndescription: d\nagent: stub\nprompt: p\npermissions: {fs: {write: []}}\n");
        let (_, parent) = told(at, &["subagent", "--agent", "held", "--background", "--json", "--timeout", "20s", "stub: sleep 60000"]);
        let parent = parent["task_id"].as_str().expect("an id").to_owned();
        comes_to(at, &parent, "running");
        let child = |task: Option<&str>, orders: &str| {
            let call = at.call(["subagent", "--cli", "stub", "--json", "--timeout", "9m", orders]);
            let call = if let Some(id) = task { call.env("GLEE_TASK", id) } else { call };
            serde_json::from_str::<Value>(&call.go().out()).expect("JSON")
        };
        assert_eq!(child(None, "stub: append alone x")["status"], "completed");
        assert_eq!(child(Some(&parent), "stub: append below x")["status"], "error");
        assert_eq!((at.project().join("alone").exists(), at.project().join("below").exists()), (true, false));
        let begun = Instant::now();
        let late = child(Some(&parent), "stub: sleep 600000");
        assert!(["timeout", "cancelled"].contains(&late["status"].as_str().unwrap_or_default()), "{late}");
        assert!(begun.elapsed() < Duration::from_secs(25), "it outlived its parent: {:?}", begun.elapsed());
    }

    fn memory_is_bounded_whatever_an_agent_prints(at) {
        let is_full = std::env::var_os("GLEE_SOAK").is_some_and(|size| size == "full");
        let (bytes, limit) = if is_full { (10_000_000_000_u64, 580) } else { (200_000_000, 50) };
        let (_, ticket) = stub(at, &format!("stub: print {bytes}\nstub: say done"), &["--background", "--timeout", &format!("{limit}s")]);
        let id = ticket["task_id"].as_str().expect("an id").to_owned();
        let (mut most, end) = (0, Instant::now() + Duration::from_secs(limit + 10));
        while !["done", "failed"].contains(&state(at, &id).as_str()) && Instant::now() < end {
            for pid in workers(at) {
                let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
                let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
                most = most.max(peak.unwrap_or(0));
            }
        }
        assert_eq!(waited(at, &id)["output"], "done\n");
        println!("{bytes} bytes printed, at most {most} kB held");
        assert!((1..40_000).contains(&most), "{most} kB");
        let logged: u64 = at.host("du -sk .glee/stream_logs | cut -f1").trim().parse().expect("a number");
        assert!(logged < 200_000, "{logged} kB");
    }
}
