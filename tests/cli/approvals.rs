//! What must be approved starts only when somebody has said yes to exactly that.

use serde_json::{Value, json};

use crate::claims::claims;
use crate::interactive::terminal;
use crate::keeper::said_by;
use crate::support::Place;
use crate::tasks::{begun, state, stub, told};

const ASK: &str = "security:\n  require_approval:\n    subagents: true\n";

fn asking(at: &Place) {
    at.world.file("@PROJECT/.glee/config.yml", ASK);
}

#[track_caller]
fn ended(at: &Place, id: &str) -> (Value, Value) {
    let (_, done) = told(at, &["tasks", "wait", id, "--json"]);
    (done["status"].clone(), done["error"].clone())
}

claims! {
    fn with_nobody_to_ask_it_is_refused(at) {
        asking(at);
        let (status, refused) = stub(at, "stub: append made x", &[]);
        assert_eq!((status, &refused["error"]), (1, &json!("a subagent needs approval here, and there is nobody to ask")), "{refused}");
        assert_eq!(told(at, &["tasks", "list", "--all", "--json"]).1, json!([]));
    }

    fn in_the_background_it_waits_for_a_yes_or_a_no(at) {
        asking(at);
        let (yes, no) = (begun(at, "stub: say fine"), begun(at, "stub: say \u{1b}[2Jnever"));
        assert_eq!((state(at, &yes).as_str(), state(at, &no).as_str()), ("waiting", "waiting"));
        let (_, list) = told(at, &["approvals", "list", "--json"]);
        assert_eq!(list.as_array().map(Vec::len), Some(2));
        assert!(list[0]["clauses"].as_array().is_some_and(|all| all.contains(&json!("network: false"))), "{list}");
        let plain = at.seen(["approvals", "list"]);
        assert!(plain.stdout.contains("| stub: say \\u{1b}[2Jnever") && plain.stdout.contains("policy"), "{}", plain.stdout);
        assert!(!plain.stdout.contains('\u{1b}'));
        let one = at.seen(["approvals", "show", &yes]);
        assert!(one.status == 0 && one.stdout.starts_with(&yes) && !one.stdout.contains(&no), "{}", one.stdout);
        assert_eq!(told(at, &["approvals", "show", &yes, "--json"]).1["prompt"], "stub: say fine");
        assert_eq!(at.seen(["approvals", "approve", &yes]).status, 0);
        assert_eq!(at.seen(["approvals", "deny", &no]).status, 0);
        assert_eq!(ended(at, &yes), (json!("completed"), Value::Null));
        assert_eq!(ended(at, &no), (json!("error"), json!("approval was denied")));
        let log = at.host("cat @STATE/glee/audit-*.jsonl");
        for (id, answer) in [(&yes, "approved"), (&no, "denied")] {
            assert!(log.lines().any(|line| line.contains("\"approval\"") && line.contains(answer) && line.contains(id.as_str())), "{log}");
        }
        assert_eq!(at.seen(["audit", "verify"]).status, 0);
        for over in [&yes, &no] {
            assert_eq!(at.seen(["approvals", "approve", over]).status, 1, "what is over is not approved of");
            assert_eq!(at.seen(["approvals", "show", over]).status, 1, "what is over does not wait");
        }
    }

    fn what_was_approved_is_what_starts(at) {
        asking(at);
        let file = "@PROJECT/.glee/agents/one.yml";
        let agent = "name: one\ndescription: d\nagent: stub\nprompt: Be kind.\n";
        at.world.file(file, agent);
        let ask = || {
            let ticket = told(at, &["subagent", "--agent", "one", "--background", "--json", "stub: told"]).1;
            ticket["task_id"].as_str().expect("an id").to_owned()
        };
        let other = ask();
        at.world.file(file, &agent.replace("kind", "cruel"));
        assert_eq!(at.seen(["approvals", "approve", &other]).status, 0);
        let (status, error) = ended(at, &other);
        assert!(status == "error" && error.as_str().is_some_and(|error| error.contains("has changed since")), "{error}");
        let wider = ask();
        at.world.file("@PROJECT/.glee/config.yml", &format!("{ASK}  subagent_permissions:\n    fs: {{read: []}}\n"));
        assert_eq!(at.seen(["approvals", "approve", &wider]).status, 0);
        let (status, error) = ended(at, &wider);
        assert!(status == "error" && error.as_str().is_some_and(|error| error.contains("policy has changed")), "{error}");
    }

    fn a_changed_configuration_does_not_take_approval_away(at) {
        let file = "@PROJECT/.glee/config.yml";
        let wide = "subagents:\n  max_depth: 1\n";
        at.world.file(file, &format!("{ASK}{wide}"));
        assert_eq!(at.seen(["trust", "--config", "--yes"]).status, 0);
        let asks = || stub(at, "stub: say fine", &[]).0 == 1;
        let standing = || {
            let (_, list) = told(at, &["trust", "status", "--json"]);
            list[0]["standing"].clone()
        };
        assert_eq!((asks(), standing()), (true, json!("trusted")));
        // As after a pull: without a word, with other words, with the opposite, and without the file.
        for other in ["", wide, &ASK.replace("true", "false"), "sessions:\n  max_history: 3\n"] {
            at.world.file(file, other);
            assert_eq!((asks(), standing()), (true, json!("changed")), "{other}");
        }
        let shown = at.seen(["trust", "status"]).stdout;
        assert!(shown.contains("security.require_approval.subagents false"), "{shown}");
        at.host("rm .glee/config.yml");
        assert_eq!((asks(), standing()), (true, json!("changed")));
        // Who trusts the new one, or no longer the old one, has said so.
        at.world.file(file, wide);
        assert_eq!(at.seen(["trust", "--config", "--yes"]).status, 0);
        assert_eq!((asks(), standing()), (false, json!("trusted")));
        at.world.file(file, &format!("{ASK}{wide}"));
        assert_eq!(at.seen(["trust", "--config", "--yes"]).status, 0);
        at.world.file(file, "");
        assert!(asks());
        assert_eq!(at.seen(["untrust"]).status, 0);
        assert!(!asks());
    }

    fn what_nobody_approves_of_in_time_is_over(at) {
        let id = said_by(&at.world, &["tasks", "wait-since", "7200"]).expect("a task");
        assert_eq!(told(at, &["approvals", "list", "--json"]).1, json!([]));
        assert_eq!(at.seen(["approvals", "approve", id.trim()]).status, 1);
        assert_eq!(ended(at, id.trim()), (json!("error"), json!("nobody has approved of it in time")));
        let young = said_by(&at.world, &["tasks", "wait-since", "60"]).expect("a task");
        assert_eq!(state(at, young.trim()), "waiting");
    }

    fn at_a_terminal_each_task_that_runs_has_a_line(at) {
        at.world.file("@PROJECT/tasks.json", r#"[{"prompt": "stub: sleep 900", "agent_cli": "stub"}, {"prompt": "stub: sleep 900\nstub: error no", "agent_cli": "stub"}]"#);
        terminal(at, "
t = Terminal([*RUN, 'subagents', '--file', 'tasks.json'])
t.see('\\\\[0\\\\] stub: .*running'); t.see('completed in'); print(t.end(), '[1] [stub] no' in t.lines())
", "1 True\n");
    }

    fn at_a_terminal_ctrl_c_cancels(at) {
        terminal(at, "
t = Terminal([*RUN, 'subagent', '--cli', 'stub', 'stub: sleep 600000'])
t.see('running'); t.type('\\x03'); t.see('cancelling'); print(t.end(), 'it was cancelled' in t.lines())
", "1 True\n");
        assert_eq!(told(at, &["tasks", "list", "--all", "--json"]).1[0]["state"], "cancelled");
    }

    fn at_a_terminal_the_policy_the_command_and_the_prompt_are_shown_first(at) {
        asking(at);
        terminal(at, "
t = Terminal([*RUN, 'subagent', '--cli', 'stub', 'say this\\x1b[2J'])
t.see('start it'); t.type('n\\n'); print(t.end(), 'approval was denied' in t.lines())
t = Terminal([*RUN, 'subagent', '--cli', 'stub', 'say this\\x1b[2J' + 'x' * 2000 + '\\nlast words'])
t.see('start it')
shown = t.lines()
print('__stub-agent' in shown, 'network: false' in shown, '| say this' in shown, '| last words' in shown, '\\x1b[2J' in shown)
t.type('y\\n'); print(t.end(), 'say this' in t.lines())
", "1 True\nTrue True True True False\n0 True\n");
    }
}
