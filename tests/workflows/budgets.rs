//! Every row of the document's table of budgets, for the whole tree, and what counts after a resume.

use std::time::{Duration, Instant};

use glee_tests::{Caller, wait_until};
use serde_json::json;

use crate::place::{Place, WORKSPACE, result, says, steps};

const LONG: Duration = Duration::from_secs(30);

glee_tests::claims! {
    never_more_run_at_once_than_may => super::parallel;
    when_the_time_is_over_what_runs_is_killed => super::runtime;
    when_the_money_is_spent_nothing_further_starts => super::cost;
    what_the_agents_of_steps_ask_for_costs_too => super::nested;
    a_price_that_is_not_written_is_said_to_be_unknown => super::unknown;
    more_steps_than_the_budget_are_refused => super::steps_budget;
    what_an_agent_wrote_has_the_smaller_budgets => super::generated;
    what_an_agent_wrote_has_the_smaller_budgets_inside_a_person_s_too => super::inside;
}

fn parallel(caller: Caller) {
    let at = Place::of(caller);
    at.trusted(&format!("{WORKSPACE}workflows:\n  budgets: {{max_parallel: 2}}\n"));
    let step = "  - {agent: stub, prompt: \"stub: append journal +\\nstub: sleep 150\\nstub: append journal -\"}\n";
    at.workflow("w", &format!("execution: dag\nsteps:\n{}", step.repeat(7)));
    let (status, view) = at.run("w", &[]);
    assert_eq!(status, Some(0), "{view}");
    let (mut now, mut most) = (0i32, 0);
    for line in at.lines("journal") {
        now += if line == "+" { 1 } else { -1 };
        most = most.max(now);
    }
    assert_eq!((now, most, at.lines("journal").len()), (0, 2, 14));
}

fn runtime(caller: Caller) {
    let at = Place::of(caller);
    at.trusted(&format!(
        "{WORKSPACE}subagents:\n  timeout_ms: 600000\nworkflows:\n  budgets: {{max_runtime_mins: 1}}\n"
    ));
    at.workflow(
        "w",
        "execution: dag\nsteps:\n  - {agent: stub, prompt: \"stub: append journal begun\\nstub: sleep 600000\\nstub: append journal late\"}\n  - {agent: stub, prompt: 'stub: say a'}\n  - {agent: stub, prompt: 'stub: say b', needs: [0]}\n",
    );
    let begun = Instant::now();
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["status"]), (Some(1), &json!("timeout")), "{view}");
    assert_eq!(steps(&view), ["w[0] timeout", "w[1] success", "w[2] skipped"]);
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_secs(59) && took < Duration::from_secs(75),
        "{took:?}"
    );
    assert!(
        wait_until(LONG, || at.world.remains().is_none()),
        "{:?}",
        at.world.remains()
    );
    assert_eq!(at.lines("journal"), ["begun"]);
}

const PRICED: &str =
    "workflows:\n  budgets: {max_cost_usd: 1.00}\n  prices:\n    stub: {input_per_mtok: 1.0, output_per_mtok: 2.0}\n";

fn cost(caller: Caller) {
    let at = Place::of(caller);
    at.trusted(PRICED);
    let step = |tokens: &str| format!("  - {{agent: stub, prompt: \"stub: tokens {tokens}\\nstub: say x\"}}\n");
    let inner = format!("steps:\n{}{}", step("300000 100000"), step("300000 200000"));
    at.workflow("inner", &inner);
    at.workflow("w", &format!("steps:\n  - {{workflow: inner}}\n{}", step("1 1")));
    // Half a dollar, then seventy cents more: over, and nobody to ask.
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["status"]), (Some(1), &json!("error")), "{view}");
    assert_eq!(
        steps(&view),
        [
            "w[0] success",
            "w[0]/inner[0] success",
            "w[0]/inner[1] success",
            "w[1] skipped"
        ]
    );
    assert_eq!((&view["cost_usd"], &view["unpriced_steps"]), (&json!(1.2), &json!(0)));
    assert!(
        view["error"].as_str().is_some_and(|why| why.contains("$1.200000")),
        "{view}"
    );
    assert_eq!(
        (&view["input_tokens"], &view["output_tokens"]),
        (&json!(600_000), &json!(300_000))
    );
    assert!(
        view["budget"]["cost_remaining_usd"]
            .as_f64()
            .is_some_and(|left| left < 0.0),
        "{view}"
    );
}

fn nested(caller: Caller) {
    let at = Place::of(caller);
    at.trusted(&format!("subagents:\n  max_depth: 1\n{PRICED}"));
    let ask = |orders: &str, background: bool| {
        let task = json!({ "description": "d", "prompt": orders, "agent_cli": "stub", "background": background });
        format!(
            "stub: mcp tools/call {}",
            json!({ "name": "glee_task", "arguments": task })
        )
    };
    let costly = "stub: tokens 600000 300000\nstub: say deep";
    let written = |name: &str, prompts: &[String]| {
        let steps: Vec<_> = prompts
            .iter()
            .map(|prompt| json!({ "agent": "stub", "prompt": prompt }))
            .collect();
        let text = json!({ "name": name, "description": "d", "steps": steps });
        at.world
            .file(&format!("@PROJECT/.glee/workflows/{name}.yml"), &text.to_string());
    };
    // A dollar and twenty cents below the first step: nothing more is asked for, nor begun.
    let first = [
        ask(costly, false),
        ask("stub: say more", false),
        "stub: tokens 10 10".into(),
    ];
    written("w", &[first.join("\n"), "stub: say x".into()]);
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["status"]), (Some(1), &json!("error")), "{view}");
    assert_eq!(steps(&view), ["w[0] success", "w[1] skipped"]);
    assert_eq!(
        (&view["input_tokens"], &view["output_tokens"], &view["cost_usd"]),
        (&json!(600_010), &json!(300_010), &json!(1.20003)),
        "{view}"
    );
    let said = result(&view, 0)["output"].as_str().expect("text");
    assert!(
        said.contains("deep") && said.contains("has spent what it may"),
        "{said}"
    );
    // What is left behind ends with its step, and counts until then.
    let slow = "stub: tokens 5 5\nstub: sleep 60000";
    let first = [ask(slow, true), "stub: sleep 1500\nstub: tokens 10 10".into()];
    written("left", &[first.join("\n")]);
    let begun = Instant::now();
    let (status, view) = at.run("left", &[]);
    assert_eq!(status, Some(0), "{view}");
    assert!(begun.elapsed() < LONG, "{view}");
    let (_, open) = at.told(&["tasks", "list"]);
    assert_eq!(open, json!([]));
}

fn unknown(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "w",
        "steps:\n  - {agent: stub, prompt: \"stub: tokens 10 10\\nstub: say x\"}\n",
    );
    let (_, view) = at.run("w", &[]);
    assert_eq!(
        (&view["cost_usd"], &view["unpriced_steps"]),
        (&json!(0.0), &json!(1)),
        "{view}"
    );
    let seen = at.go(&["workflow", "run", "w"]);
    assert!(says(&seen, "not known for 1 of the steps"), "{}", seen.describe());
    at.world.file(
        "@PROJECT/.glee/config.yml",
        "workflows:\n  prices:\n    stub: {input_per_token: 1}\n",
    );
    let seen = at.go(&["workflow", "run", "w"]);
    assert!(
        seen.code() == Some(1) && says(&seen, "input_per_mtok"),
        "{}",
        seen.describe()
    );
}

fn steps_budget(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "inner",
        &format!("steps:\n{}", "  - {agent: stub, prompt: 'stub: say x'}\n".repeat(3)),
    );
    at.workflow("w", "steps:\n  - {workflow: inner}\n  - {workflow: inner}\n");
    at.world
        .file("@PROJECT/.glee/config.yml", "workflows:\n  budgets: {max_steps: 8}\n");
    assert_eq!(at.run("w", &[]).0, Some(0));
    at.world
        .file("@PROJECT/.glee/config.yml", "workflows:\n  budgets: {max_steps: 7}\n");
    let seen = at.go(&["workflow", "run", "w"]);
    assert!(
        seen.code() == Some(1) && says(&seen, "workflows.budgets.max_steps"),
        "{}",
        seen.describe()
    );
}

fn generated(caller: Caller) {
    let at = Place::of(caller);
    let step = "  - {agent: stub, prompt: 'stub: say x'}\n";
    let source = "source: {from: agent, created_at: \"2026-01-01T00:00:00\"}\n";
    at.workflow("w", &format!("{source}steps:\n{}", step.repeat(11)));
    let seen = at.go(&["workflow", "run", "w"]);
    assert!(says(&seen, "ai_generated_budgets.max_steps"), "{}", seen.describe());
    at.workflow("w", &format!("{source}steps:\n{}", step.repeat(2)));
    assert_eq!(at.go(&["trust", "--workflow", "w", "--yes"]).code(), Some(0));
    let (_, view) = at.run("w", &[]);
    assert_eq!(view["budget"]["steps_remaining"], 8, "{view}");
    assert_eq!(result(&view, 1)["status"], "success");
}

fn inside(caller: Caller) {
    let at = Place::of(caller);
    at.trusted(&format!(
        "{WORKSPACE}subagents:\n  timeout_ms: 600000\nworkflows:\n  ai_generated_budgets: {{max_parallel: 2, max_runtime_mins: 1}}\n"
    ));
    let source = "source: {from: agent, created_at: \"2026-01-01T00:00:00\"}\n";
    let step = "  - {agent: stub, prompt: \"stub: append journal +\\nstub: sleep 150\\nstub: append journal -\"}\n";
    at.workflow("made", &format!("{source}execution: dag\nsteps:\n{}", step.repeat(6)));
    at.workflow(
        "slow",
        &format!("{source}steps:\n  - {{agent: stub, prompt: 'stub: sleep 600000', on_error: continue}}\n  - {{agent: stub, prompt: 'stub: say late'}}\n"),
    );
    at.workflow(
        "w",
        "execution: dag\nsteps:\n  - {workflow: made}\n  - {workflow: slow, needs: [0], on_error: continue}\n  - {agent: stub, prompt: 'stub: say after', needs: [1]}\n",
    );
    for name in ["made", "slow"] {
        assert_eq!(at.go(&["trust", "--workflow", name, "--yes"]).code(), Some(0));
    }
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["output"]), (Some(0), &json!("after\n")), "{view}");
    let (mut now, mut most) = (0i32, 0);
    for line in at.lines("journal") {
        now += if line == "+" { 1 } else { -1 };
        most = most.max(now);
    }
    assert_eq!((now, most, at.lines("journal").len()), (0, 2, 12));
    // Its time is over; that of the person's is not.
    let states = steps(&view);
    assert_eq!(
        states[7..],
        [
            "w[1] error",
            "w[1]/slow[0] timeout",
            "w[1]/slow[1] error",
            "w[2] success"
        ],
        "{view}"
    );
    let why = result(&view, 9)["error"].as_str().expect("a reason");
    assert!(why.contains("ai_generated_budgets.max_runtime_mins"), "{why}");
}
