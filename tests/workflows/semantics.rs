//! Every row of the document's table of failures, `on_error`, nesting, and its examples with scripted agents.

use glee_tests::Caller;
use serde_json::json;

use crate::place::{Place, result, says, steps};

glee_tests::claims! {
    a_sequence_stops_and_its_rest_is_skipped => super::sequential;
    parallel_steps_go_on_without_one_that_failed => super::parallel;
    in_a_dag_what_depends_on_a_failure_is_skipped => super::dag;
    on_error_overrides_the_mode => super::overrides;
    a_workflow_inside_has_its_own_inputs_and_says_what_its_last_steps_said => super::nested;
    the_document_s_examples_run => super::documented;
    a_plan_is_shown_without_running_anything => super::dry;
    inputs_that_do_not_fit_are_refused_before_anything_runs => super::inputs;
    what_needs_approval_waits_or_is_refused => super::approval;
    the_examples_that_come_along_run => super::examples;
}

fn sequential(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "w",
        "steps:\n  - {agent: stub, prompt: 'stub: say a'}\n  - {agent: stub, prompt: 'stub: error no'}\n  - {agent: stub, prompt: 'stub: say c'}\n",
    );
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["status"]), (Some(1), &json!("error")), "{view}");
    assert_eq!(steps(&view), ["w[0] success", "w[1] error", "w[2] skipped"]);
    // Field for field.
    let first = result(&view, 0);
    let wanted = json!({"status": "success", "output": "a\n", "error": null, "duration_ms": first["duration_ms"], "agent": "stub", "step_index": 0});
    assert_eq!(*first, wanted);
    assert_eq!(
        (&result(&view, 1)["output"], &result(&view, 1)["error"]),
        (&json!(null), &json!("no"))
    );
    assert_eq!(result(&view, 2)["status"], "skipped");
    assert!(
        result(&view, 2)["error"]
            .as_str()
            .is_some_and(|why| why.contains("w[1]")),
        "{view}"
    );
    assert!(
        view["error"].as_str().is_some_and(|why| why.contains("w[1]: no")),
        "{view}"
    );
}

fn parallel(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "w",
        "execution: parallel\nsteps:\n  - {agent: stub, parallel_group: g, prompt: 'stub: say a'}\n  - {agent: stub, parallel_group: g, prompt: 'stub: error no'}\n  - {agent: stub, inputs: {all: '${parallel_group.g.outputs}', how: '${parallel_group.g.status}'}, prompt: 'stub: told'}\n",
    );
    let (status, view) = at.run("w", &[]);
    assert_eq!((status, &view["status"]), (Some(1), &json!("error")), "{view}");
    assert_eq!(steps(&view), ["w[0] success", "w[1] error", "w[2] success"]);
    let told = result(&view, 2)["output"].as_str().expect("told");
    assert!(told.contains("\npartial\n</glee:context>"), "{told}");
    assert!(
        told.contains("<glee:context source=\"parallel_group:g\" trusted=\"false\""),
        "{told}"
    );
    assert!(
        told.contains("[{\"status\":\"success\",\"output\":\"a\\n\",\"error\":null,"),
        "{told}"
    );
}

fn dag(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "w",
        "execution: dag\nsteps:\n  - {agent: stub, name: bad, prompt: 'stub: error no'}\n  - {agent: stub, prompt: 'stub: say ${steps.bad.output}'}\n  - {agent: stub, prompt: 'stub: say c', needs: [1]}\n  - {agent: stub, prompt: 'stub: say d'}\n",
    );
    let (status, view) = at.run("w", &[]);
    assert_eq!(status, Some(1), "{view}");
    assert_eq!(
        steps(&view),
        ["w[0] error", "w[1] skipped", "w[2] skipped", "w[3] success"]
    );
}

fn overrides(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "goes-on",
        "steps:\n  - {agent: stub, prompt: 'stub: error no', on_error: continue}\n  - {agent: stub, prompt: 'stub: say ${steps[0].status} ${steps[0].output ?? \"none\"}[${steps[0].output}]'}\n",
    );
    let (status, view) = at.run("goes-on", &[]);
    assert_eq!(
        (status, &view["status"], &view["output"]),
        (Some(0), &json!("success"), &json!("error none[]\n")),
        "{view}"
    );
    at.workflow(
        "skips",
        "steps:\n  - {agent: stub, prompt: 'stub: error no', on_error: skip_dependents}\n  - {agent: stub, prompt: 'stub: say ${steps[0].output}'}\n  - {agent: stub, prompt: 'stub: say c'}\n",
    );
    let (status, view) = at.run("skips", &[]);
    assert_eq!(status, Some(1), "{view}");
    assert_eq!(steps(&view), ["skips[0] error", "skips[1] skipped", "skips[2] success"]);
    at.workflow(
        "stops",
        "execution: parallel\nsteps:\n  - {agent: stub, parallel_group: g, prompt: 'stub: error no', on_error: stop}\n  - {agent: stub, prompt: 'stub: say b'}\n",
    );
    let (_, view) = at.run("stops", &[]);
    assert_eq!(steps(&view), ["stops[0] error", "stops[1] skipped"]);
    at.workflow(
        "late",
        "steps:\n  - {agent: slow}\n  - {agent: stub, prompt: 'stub: say b'}\n",
    );
    at.world.file(
        "@PROJECT/.glee/agents/slow.yml",
        "name: slow\ndescription: d\nagent: stub\nprompt: 'stub: sleep 60000'\ntimeout_mins: 0.01\n",
    );
    let (_, view) = at.run("late", &[]);
    assert_eq!(steps(&view), ["late[0] timeout", "late[1] skipped"], "{view}");
}

fn nested(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "inner",
        "inputs: [{name: who, type: string, required: true}, {name: how, type: string, default: kindly}]\nsteps:\n  - {agent: stub, prompt: 'stub: say first'}\n  - {agent: stub, prompt: 'stub: say hello ${who} ${how}'}\n",
    );
    at.workflow(
        "wide",
        "execution: dag\nsteps:\n  - {agent: stub, prompt: 'stub: say x'}\n  - {agent: stub, prompt: 'stub: say y'}\n",
    );
    at.workflow(
        "outer",
        "steps:\n  - {workflow: inner, inputs: {who: '${name}'}}\n  - {workflow: wide}\n  - {agent: stub, prompt: 'stub: told', inputs: {a: '${steps[0].output}', b: '${steps[1].output}'}}\n",
    );
    let (status, view) = at.run("outer", &["--input", "name=you"]);
    assert_eq!(status, Some(0), "{view}");
    let all = [
        "outer[0] success",
        "outer[0]/inner[0] success",
        "outer[0]/inner[1] success",
        "outer[1] success",
        "outer[1]/wide[0] success",
        "outer[1]/wide[1] success",
        "outer[2] success",
    ];
    assert_eq!(steps(&view), all);
    assert_eq!(result(&view, 0)["output"], "hello you kindly\n");
    assert_eq!(
        (&result(&view, 0)["agent"], &result(&view, 0)["step_index"]),
        (&json!("inner"), &json!(0))
    );
    assert_eq!(result(&view, 3)["output"], "[\"x\\n\",\"y\\n\"]");
    // A failure inside is the step's own.
    at.workflow(
        "broken",
        "steps:\n  - {agent: stub, prompt: 'stub: error no'}\n  - {agent: stub, prompt: 'stub: say b'}\n",
    );
    at.workflow("around", "steps:\n  - {workflow: broken}\n  - {workflow: wide}\n");
    let (_, view) = at.run("around", &[]);
    let all = [
        "around[0] error",
        "around[0]/broken[0] error",
        "around[0]/broken[1] skipped",
        "around[1] skipped",
        "around[1]/wide[0] skipped",
        "around[1]/wide[1] skipped",
    ];
    assert_eq!(steps(&view), all);
    assert!(
        result(&view, 0)["error"]
            .as_str()
            .is_some_and(|why| why.contains("broken[0]: no")),
        "{view}"
    );
}

/// The files of the document, as they are.
const DOCUMENTED: [(&str, &str); 8] = [
    ("accounting", include_str!("documented/accounting.yml")),
    ("cleaning", include_str!("documented/cleaning.yml")),
    ("full-review", include_str!("documented/full-review.yml")),
    ("on-error", include_str!("documented/on-error.yml")),
    ("parallel-scan", include_str!("documented/parallel-scan.yml")),
    ("purchasing", include_str!("documented/purchasing.yml")),
    ("run-restaurant", include_str!("documented/run-restaurant.yml")),
    ("serve-customers", include_str!("documented/serve-customers.yml")),
];

fn documented(caller: Caller) {
    let at = Place::of(caller);
    for (name, text) in DOCUMENTED {
        at.world.file(&format!("@PROJECT/.glee/workflows/{name}.yml"), text);
    }
    for name in [
        "security-scanner",
        "performance-analyzer",
        "lint-checker",
        "type-checker",
        "bookkeeper",
        "buyer",
        "cleaner",
        "order-taker",
        "payment-processor",
        "food-preparer",
    ] {
        at.agent(name, &format!("stub: say of {name}"));
    }
    for name in ["code-reviewer", "report-aggregator", "delivery-handler"] {
        at.agent(name, "stub: told");
    }
    let block = |from: &str, text: &str| format!("<glee:context source=\"{from}\" trusted=\"false\"|{text}");
    let told = |view: &serde_json::Value, index: usize, blocks: &[String]| {
        let told = result(view, index)["output"].as_str().expect("told").to_owned();
        for block in blocks {
            let (open, text) = block.split_once('|').expect("two");
            let after = told.split_once(open).unwrap_or_else(|| panic!("no {open} in {told}")).1;
            let body = after.split_once(">\n").expect("a tag").1;
            assert!(body.starts_with(text), "{block}: {told}");
        }
    };
    let (status, view) = at.run("full-review", &["--input", "target=src/a.py"]);
    assert_eq!(status, Some(0), "{view}");
    told(
        &view,
        2,
        &[
            block("input:target_file", "src/a.py\n"),
            block("input:security_report", "[see the block step:0:security-scanner]"),
            block("step:0:security-scanner", "of security-scanner\n"),
            block("step:1:performance-analyzer", "of performance-analyzer\n"),
        ],
    );
    let (status, view) = at.run("parallel-scan", &[]);
    assert_eq!(status, Some(0), "{view}");
    told(
        &view,
        3,
        &[block(
            "parallel_group:scanners",
            "[{\"status\":\"success\",\"output\":\"of security-scanner\\n\"",
        )],
    );
    assert_eq!(view["output"], result(&view, 3)["output"]);
    let (status, view) = at.run("run-restaurant", &["--input", "channel=app"]);
    assert_eq!(status, Some(0), "{view}");
    assert_eq!(steps(&view).len(), 11);
    let delivery = steps(&view)
        .iter()
        .position(|step| step.contains("serve-customers[3]"))
        .expect("there");
    told(
        &view,
        delivery,
        &[
            block("step:0:order-taker", "of order-taker\n"),
            block("step:2:food-preparer", "of food-preparer\n"),
        ],
    );
    at.agent("security-scanner", "stub: error no scanner today");
    let (status, view) = at.run("on-error", &[]);
    assert_eq!(status, Some(0), "{view}");
    told(
        &view,
        1,
        &[block("input:security_report", "No security scan available\n")],
    );
    let (status, view) = at.run("full-review", &["--input", "target=x"]);
    assert_eq!(status, Some(1), "{view}");
    assert_eq!(
        steps(&view),
        [
            "full-review[0] error",
            "full-review[1] skipped",
            "full-review[2] skipped"
        ]
    );
    let (status, view) = at.run("parallel-scan", &[]);
    assert_eq!(status, Some(1), "{view}");
    let ends: Vec<String> = steps(&view);
    assert_eq!(
        ends.iter().filter(|step| step.ends_with("success")).count(),
        3,
        "{ends:?}"
    );
}

fn dry(caller: Caller) {
    let at = Place::of(caller);
    at.trusted("security:\n  require_approval:\n    subagents: true\nworkflows:\n  budgets: {max_steps: 7, max_cost_usd: 2.5}\n");
    at.workflow("w", "steps:\n  - {agent: stub, prompt: 'stub: append journal x'}\n  - {agent: stub, prompt: 'x ${steps[0].output}'}\n");
    let (status, plan) = at.run("w", &["--dry"]);
    assert_eq!(status, Some(0), "{plan}");
    assert_eq!(
        plan["budget"],
        json!({"max_steps": 7, "max_parallel": 10, "max_runtime_mins": 30, "max_cost_usd": 2.5})
    );
    assert_eq!(plan["approval"], json!({"workflows": [], "steps": "each_step"}));
    assert_eq!(
        (&plan["steps"][1]["depends"], &plan["steps"][1]["cli"]),
        (&json!([0]), &json!("stub"))
    );
    assert_eq!(at.told(&["workflow", "history"]).1, json!([]));
    let seen = at.go(&["workflow", "run", "w", "--dry"]);
    assert!(says(&seen, "needed for each step"), "{}", seen.describe());
}

fn inputs(caller: Caller) {
    let at = Place::of(caller);
    at.workflow(
        "w",
        "inputs: [{name: n, type: integer, required: true}]\nsteps:\n  - {agent: stub, prompt: 'stub: say ${n}'}\n",
    );
    for (more, why) in [
        (&[][..], "needs the input `n`"),
        (&["--input", "n=x"], "must be a integer"),
        (&["--input", "n=1", "--input", "m=2"], "no input `m`"),
    ] {
        let seen = at.go(&[&["workflow", "run", "w"], more].concat());
        assert!(seen.code() == Some(1) && says(&seen, why), "{}", seen.describe());
    }
    let seen = at.go(&["workflow", "run", "nobody"]);
    assert!(
        seen.code() == Some(1) && says(&seen, "no workflow `nobody`"),
        "{}",
        seen.describe()
    );
    let seen = at.go(&["workflow", "run", "w", "--input", "n=4"]);
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(0), "4\n"),
        "{}",
        seen.describe()
    );
}

fn approval(caller: Caller) {
    let at = Place::of(caller);
    at.trusted("security:\n  require_approval:\n    subagents: true\n");
    at.workflow("w", "steps:\n  - {agent: stub, prompt: 'stub: say a'}\n");
    let (status, view) = at.run("w", &[]);
    assert_eq!(status, Some(1), "{view}");
    assert!(
        result(&view, 0)["error"]
            .as_str()
            .is_some_and(|why| why.contains("nobody to ask")),
        "{view}"
    );
    // In the background it waits, and what is shown is what the step says.
    let (_, begun) = at.run("w", &["--background"]);
    let run = begun["run_id"].as_str().expect("an id").to_owned();
    let waits = || at.told(&["approvals", "list"]).1;
    assert!(glee_tests::wait_until(std::time::Duration::from_secs(20), || waits()
        .as_array()
        .is_some_and(|list| !list.is_empty())));
    let question = waits()[0].clone();
    assert!(
        question["prompt_head"]
            .as_str()
            .is_some_and(|head| head.contains("stub: say a")),
        "{question}"
    );
    let task = question["task_id"].as_str().expect("an id").to_owned();
    assert_eq!(at.go(&["approvals", "approve", &task]).code(), Some(0));
    let over = || at.told(&["workflow", "status", &run]).1["status"] == "success";
    assert!(
        glee_tests::wait_until(std::time::Duration::from_secs(20), over),
        "{:?}",
        at.told(&["workflow", "status", &run])
    );
    // What an agent wrote needs a yes, or trust.
    at.trusted("{}\n");
    at.workflow("made", "source: {from: agent, created_at: \"2026-01-01T00:00:00\"}\nsteps:\n  - {agent: stub, prompt: 'stub: say a'}\n");
    let seen = at.go(&["workflow", "run", "made"]);
    assert!(
        seen.code() == Some(1) && says(&seen, "nobody has approved"),
        "{}",
        seen.describe()
    );
    let (_, plan) = at.run("made", &["--dry"]);
    assert_eq!(
        (&plan["approval"]["workflows"], &plan["budget"]["max_steps"]),
        (&json!(["made"]), &json!(10))
    );
    assert_eq!(at.go(&["trust", "--workflow", "made", "--yes"]).code(), Some(0));
    assert_eq!(at.run("made", &[]).0, Some(0));
}

/// The examples of the documentation, with what they are called with.
const EXAMPLES: [(&str, &str, &[&str]); 3] = [
    (
        "review",
        include_str!("../../docs/examples/review.yml"),
        &["--input", "target=src/main.rs"],
    ),
    ("scan", include_str!("../../docs/examples/scan.yml"), &[]),
    (
        "release",
        include_str!("../../docs/examples/release.yml"),
        &["--input", "version=1.2.3"],
    ),
];

fn examples(caller: Caller) {
    let at = Place::of(caller);
    for (name, text, _) in EXAMPLES {
        at.world.file(&format!("@PROJECT/.glee/workflows/{name}.yml"), text);
    }
    for (name, _, more) in EXAMPLES {
        let (status, view) = at.run(name, more);
        assert_eq!((status, &view["status"]), (Some(0), &json!("success")), "{view}");
        assert!(view["output"].as_str().is_some_and(|said| !said.is_empty()), "{view}");
    }
}
