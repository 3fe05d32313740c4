//! `workflow list|show|validate|graph`: the documented workflows as they stand, and files that are wrong.

use serde_json::Value;

use crate::claims::claims;
use crate::support::Place;

/// The documented workflows, verbatim, and those that `run-restaurant` names besides.
const DOCUMENTED: [(&str, &str); 8] = [
    ("full-review", include_str!("documented/full-review.yml")),
    ("parallel-scan", include_str!("documented/parallel-scan.yml")),
    ("on-error", include_str!("documented/on-error.yml")),
    ("run-restaurant", include_str!("documented/run-restaurant.yml")),
    ("serve-customers", include_str!("documented/serve-customers.yml")),
    ("accounting", include_str!("documented/accounting.yml")),
    ("purchasing", include_str!("documented/purchasing.yml")),
    ("cleaning", include_str!("documented/cleaning.yml")),
];

const AGENTS: [&str; 13] = [
    "security-scanner",
    "performance-analyzer",
    "code-reviewer",
    "lint-checker",
    "type-checker",
    "report-aggregator",
    "order-taker",
    "payment-processor",
    "food-preparer",
    "delivery-handler",
    "bookkeeper",
    "buyer",
    "cleaner",
];

fn documented(at: &Place) {
    for (name, text) in DOCUMENTED {
        at.world.file(&format!("@PROJECT/.glee/workflows/{name}.yml"), text);
    }
    for name in AGENTS {
        let text = format!("name: {name}\ndescription: A worker\nagent: stub\nprompt: Do it\n");
        at.world.file(&format!("@PROJECT/.glee/agents/{name}.yml"), &text);
    }
}

fn workflow(at: &Place, name: &str, text: &str) {
    at.world.file(
        &format!("@PROJECT/.glee/workflows/{name}.yml"),
        &format!("name: {name}\ndescription: d\n{text}"),
    );
}

fn json(at: &Place, arguments: &[&str]) -> (i32, Value) {
    let seen = at.seen([arguments, &["--json"]].concat());
    let value = serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", seen.stdout, seen.stderr));
    (seen.status, value)
}

claims! {
    fn the_documented_workflows_are_valid(at) {
        documented(at);
        let seen = at.seen(["workflow", "validate"]);
        assert_eq!(
            seen.whole(),
            (
                0,
                "accounting: valid (1 step)\ncleaning: valid (1 step)\nfull-review: valid (3 steps)\non-error: valid (2 steps)\nparallel-scan: valid (4 steps)\npurchasing: valid (1 step)\nrun-restaurant: valid (11 steps)\nserve-customers: valid (4 steps)\n",
                ""
            )
        );
        let (status, verdicts) = json(at, &["workflow", "validate", "full-review"]);
        assert_eq!((status, verdicts), (0, serde_json::json!([{"name": "full-review", "valid": true, "problems": []}])));
    }

    fn the_list_says_what_each_is_and_whether_it_is_trusted(at) {
        workflow(at, "mine", "steps: [{agent: stub, prompt: x}]\n");
        workflow(at, "theirs", "execution: parallel\nsteps: [{agent: stub, prompt: x}, {agent: stub, prompt: y}]\nsource: {from: agent}\n");
        workflow(at, "bad", "steps: [{agent: }]\nx: y\n");
        at.world.file("@PROJECT/.glee/workflows/Bad Name.yml", "");
        assert_eq!(at.seen(["trust", "--workflow", "mine", "--yes"]).status, 0);
        let seen = at.seen(["workflow", "list"]);
        let lines: Vec<&str> = seen.stdout.lines().collect();
        assert_eq!(lines.len(), 4, "{}", seen.stdout);
        assert!(lines[0].starts_with("Bad Name  broken") && lines[0].contains("is not read"), "{}", lines[0]);
        assert_eq!(lines[1], "bad       broken                                        2 problems; `workflow validate` shows them");
        assert_eq!(lines[2], "mine      1 step, sequential  trusted                   d");
        assert_eq!(lines[3], "theirs    2 steps, parallel   not trusted  by an agent  d");
        let (_, list) = json(at, &["workflow", "list"]);
        assert_eq!((&list[2]["standing"], &list[3]["author"], &list[3]["steps"]), (&"trusted".into(), &"agent".into(), &2.into()));
        assert_eq!(list[1]["problems"].as_array().map(Vec::len), Some(2));
        workflow(at, "mine", "steps: [{agent: stub, prompt: changed}]\n");
        assert!(at.seen(["workflow", "list"]).stdout.contains("changed since it was trusted"));
    }

    fn a_project_without_workflows_is_told_where_they_lie(at) {
        for command in ["list", "validate"] {
            let seen = at.seen(["workflow", command]);
            assert_eq!((seen.status, seen.stdout.as_str()), (0, ""));
            assert!(seen.stderr.contains(".glee/workflows/NAME.yml"), "{}", seen.stderr);
        }
        let seen = at.seen(["workflow", "graph", "x"]);
        assert_eq!(seen.status, 1);
        assert!(seen.stderr.contains("there is no workflow `x`") && seen.stderr.contains("workflow list"), "{}", seen.stderr);
    }

    fn one_is_shown_with_its_steps(at) {
        documented(at);
        let page = at.seen(["workflow", "show", "on-error"]).stdout;
        assert!(page.contains("execution    sequential\n"), "{page}");
        assert!(
            page.ends_with(
                "steps\n  [0] agent security-scanner\n      on_error  continue\n  [1] agent code-reviewer\n      security_report  ${steps[0].output ?? \"No security scan available\"}\n"
            ),
            "{page}"
        );
        let (_, shown) = json(at, &["workflow", "show", "parallel-scan"]);
        assert_eq!(shown["steps"][3]["inputs"]["reports"], "${parallel_group.scanners.outputs}");
        assert_eq!(shown["steps"][0]["parallel_group"], "scanners");
        let seen = at.seen(["workflow", "show", "ful-review"]);
        assert!(seen.status == 1 && seen.stderr.contains("did you mean `full-review`?"), "{}", seen.stderr);
    }

    fn all_that_is_wrong_is_told_at_once_with_its_line(at) {
        workflow(at, "w", "steps:\n  - agent: nobody\n  - agent: stub\n    prompt: ${steps[2].output} ${steps.x.output}\n  - agent: stub\n    inputs:\n      a: ${steps[0].outputs\n");
        let seen = at.seen(["workflow", "validate", "w"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (1, ""));
        assert!(seen.stderr.contains("w.yml:9:21: error: `inputs.a`: a step has no `outputs`\n9 |       a: ${steps[0].outputs\n"), "{}", seen.stderr);
        workflow(at, "w", "steps:\n  - agent: nobody\n  - agent: stub\n    prompt: ${steps[2].output} ${steps.x.output}\n  - agent: stub\n    inputs:\n      a: ${steps[0].output}\n");
        let seen = at.seen(["workflow", "validate", "w"]);
        for part in [
            "w.yml:4:12: error: there is no agent `nobody`\n4 |   - agent: nobody\n  |            ^\nhint: `glee-supervisor agents list` shows the agents\n",
            "w.yml:6:15: error: `steps[2]` comes later\n",
            "w.yml:6:34: error: there is no `steps.x`\n",
        ] {
            assert!(seen.stderr.contains(part), "{}", seen.stderr);
        }
        workflow(at, "above", "steps: [{workflow: w}]\n");
        let seen = at.seen(["workflow", "validate"]);
        assert_eq!(seen.stderr.matches("there is no agent `nobody`").count(), 1, "{}", seen.stderr);
        assert!(seen.stderr.contains("`w` is not valid: 3 told above"), "{}", seen.stderr);
        let (status, verdicts) = json(at, &["workflow", "validate", "w"]);
        assert_eq!(status, 1);
        let problems = verdicts[0]["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), 3);
        assert_eq!((&problems[1]["line"], &problems[1]["column"]), (&6.into(), &15.into()));
    }

    fn circles_and_depth_are_told_as_documented(at) {
        workflow(at, "run-restaurant", "steps: [{workflow: serve-customers}]\n");
        workflow(at, "serve-customers", "steps: [{workflow: run-restaurant}]\n");
        let seen = at.seen(["workflow", "validate", "run-restaurant"]);
        assert_eq!(seen.status, 1);
        assert!(seen.stderr.starts_with("Error: Workflow cycle detected: run-restaurant → serve-customers → run-restaurant\n"), "{}", seen.stderr);
        for index in 0..6 {
            workflow(at, &format!("w{index}"), &format!("steps: [{{workflow: w{}}}]\n", index + 1));
        }
        workflow(at, "w6", "steps: [{agent: stub, prompt: x}]\n");
        let seen = at.seen(["workflow", "validate", "w0"]);
        assert_eq!(seen.status, 1);
        assert!(seen.stderr.starts_with("Error: Workflow depth limit exceeded (5): w0 → w1 → w2 → ...\n"), "{}", seen.stderr);
        assert_eq!(at.seen(["workflow", "validate", "w1"]).whole(), (0, "w1: valid (6 steps)\n", ""));
        // A project may lower the limit by its own word.
        at.world.file("@PROJECT/.glee/config.yml", "workflows: {max_depth: 2}\n");
        let seen = at.seen(["workflow", "validate", "w1"]);
        assert!(seen.stderr.starts_with("Error: Workflow depth limit exceeded (2): w1 → w2 → w3 → ...\n"), "{}", seen.stderr);
    }

    fn a_budget_that_cannot_be_met_is_told(at) {
        let steps = ["{agent: stub, prompt: x}"; 11].join(",");
        workflow(at, "ours", &format!("steps: [{steps}]\n"));
        workflow(at, "made", &format!("source: {{from: agent}}\nsteps: [{steps}]\n"));
        assert_eq!(at.seen(["workflow", "validate", "ours"]).status, 0);
        let seen = at.seen(["workflow", "validate", "made"]);
        assert!(seen.status == 1 && seen.stderr.contains("11 steps with all below it, more than `workflows.ai_generated_budgets.max_steps: 10`"), "{}", seen.stderr);
        at.world.file("@PROJECT/.glee/config.yml", "workflows: {budgets: {max_steps: 5}}\n");
        assert_eq!(at.seen(["workflow", "validate", "ours"]).status, 1);
        // Raised by a project that nobody trusts, it stays as it was.
        at.world.file("@PROJECT/.glee/config.yml", "workflows: {ai_generated_budgets: {max_steps: 50}}\n");
        assert_eq!(at.seen(["workflow", "validate", "made"]).status, 1);
    }

    fn graphs_are_drawn_for_people_documents_and_browsers(at) {
        documented(at);
        let text = at.seen(["workflow", "graph", "parallel-scan"]);
        assert_eq!(
            text.whole(),
            (
                0,
                "parallel-scan: Run multiple scanners in parallel\nparallel · 4 steps\n├─ group scanners, at once\n│  ├─ [0] security-scanner\n│  ├─ [1] lint-checker\n│  └─ [2] type-checker\n└─ [3] report-aggregator  (uses group scanners)\n",
                ""
            )
        );
        let mermaid = at.seen(["workflow", "graph", "full-review", "--format", "mermaid"]).stdout;
        assert!(mermaid.starts_with("flowchart TD\n") && mermaid.contains("    s0 -.-> s1\n    s0 --> s2\n    s1 --> s2\n"), "{mermaid}");
        let svg = at.seen(["workflow", "graph", "run-restaurant", "--format", "svg"]).stdout;
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && svg.contains(">0 order-taker<"), "{svg}");
        let (_, plan) = json(at, &["workflow", "graph", "run-restaurant"]);
        assert_eq!(plan["steps"][6]["path"], "run-restaurant[2]/serve-customers[1]");
        assert_eq!(plan["steps"][6]["depends"], serde_json::json!([0]));
        assert_eq!(plan["inputs"]["channel"]["required"], true);
        let seen = at.seen(["workflow", "graph", "full-review", "--json", "--format", "svg"]);
        assert_eq!(seen.status, 2, "{}", seen.stderr);
    }

    fn hostile_files_end_in_words(at) {
        at.host("mkdir -p .glee/workflows && head -c 5000000 /dev/zero | tr '\\0' 'x' > .glee/workflows/large.yml");
        workflow(at, "deep", &format!("steps: {}\n", "[".repeat(10_000)));
        workflow(at, "brackets", &format!("steps:\n- agent: stub\n  prompt: ${{steps{}\n", "[".repeat(10_000)));
        workflow(at, "proto", "steps:\n- agent: stub\n  prompt: ${steps[0].__proto__}\n");
        workflow(at, "umlaut", "steps:\n- agent: stub\n  prompt: ${größe}\n");
        at.host("ln -s /etc/passwd .glee/workflows/linked.yml; mkfifo .glee/workflows/pipe.yml");
        let seen = at.seen(["workflow", "validate"]);
        assert_eq!(seen.status, 1);
        for part in [
            "a workflow has at most 1048576 bytes",
            "lists and mappings nest at most 64 deep",
            "brackets.yml:5:19: error: `prompt`: expected the number of a step, counted from 0, found `[`",
            "proto.yml:5:22: error: `prompt`: a step has no `__proto__`",
            "umlaut.yml:5:15: error: `prompt`: `ö` has no place in an expression",
            "links are not followed",
        ] {
            assert!(seen.stderr.contains(part), "{part}\n{}", seen.stderr);
        }
        assert!(!seen.stderr.contains("root:"), "{}", seen.stderr);
    }

    fn every_help_has_an_example(at) {
        for command in ["list", "show", "validate", "graph"] {
            let seen = at.seen(["workflow", command, "--help"]);
            assert!(seen.status == 0 && seen.stdout.contains(&format!("glee-supervisor workflow {command}")), "{}", seen.stdout);
        }
    }
}
