#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::workflows::model::OnError;
use crate::workflows::testing::{LIMITS, Project};

fn problems(steps: &str) -> Vec<String> {
    Project::new(&[("w", steps)]).problems("w", LIMITS)
}

fn links(plan: &Plan) -> Vec<(usize, Vec<usize>)> {
    let link = |step: &PlanStep| (step.stage, step.depends.iter().copied().collect());
    plan.steps.iter().map(link).collect()
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let found = problems(
        "inputs: [{name: target, required: true}, {name: note}]
steps:
  - agent: scaner
  - agent: a
    name: first
    inputs: {t: '${tarket}', s: '${steps[1].output}', l: '${steps.last.output}', u: '${steps[9].output}'}
  - agent: stub
  - workflow: nowhere
  - agent: b
    name: last
    inputs: {n: '${note}', m: '${note ?? \"\"}', g: '${parallel_group.g.outputs}', f: '${steps.frist.status}'}
    needs: [first, 4, 7, fisrt]
    parallel_group: h
",
    );
    assert_eq!(
        found,
        [
            "w:5:12: there is no agent `scaner`",
            "w:8:20: the workflow has no input `tarket`",
            "w:8:36: `steps[1]` is the step itself",
            "w:8:61: `steps.last` comes later",
            "w:8:88: there is no `steps[9]`",
            "w:9:12: `stub` is a CLI, and the step does not say what to do",
            "w:10:15: there is no workflow `nowhere`",
            "w:13:20: the input `note` is optional, and there is nothing else to take",
            "w:13:54: there is no group `g`",
            "w:13:88: there is no `steps.frist`",
            "w:14:20: `steps[4]` is the step itself",
            "w:14:23: there is no `steps[7]`",
            "w:14:26: there is no `steps.fisrt`",
            "w:15:21: a group of steps runs at once, and `execution` is `sequential`",
        ]
    );
}

#[test]
fn sequential_steps_come_one_by_one_and_depend_on_what_they_use() {
    let project = Project::new(&[(
        "w",
        "steps:\n- agent: a\n- agent: b\n- {agent: c, prompt: '${steps[0].output}', needs: [1]}\n",
    )]);
    assert_eq!(links(&project.plan("w")), [(0, vec![]), (1, vec![]), (2, vec![0, 1])]);
}

#[test]
fn parallel_steps_come_group_by_group() {
    let text = "execution: parallel
steps:
- {agent: a}
- {agent: b}
- {agent: c, prompt: '${steps[0].output}'}
- {agent: a, parallel_group: g}
- {agent: b, parallel_group: g, prompt: '${steps[2].error}'}
- {agent: a, parallel_group: h}
- {agent: b, inputs: {x: '${parallel_group.g.outputs}'}}
";
    let plan = Project::new(&[("w", text)]).plan("w");
    assert_eq!(
        links(&plan),
        [
            (0, vec![]),
            (0, vec![]),
            (0, vec![0]),
            (1, vec![]),
            (1, vec![2]),
            (2, vec![]),
            (3, vec![3, 4])
        ]
    );
    assert!(plan.steps.iter().all(|step| step.on_error == OnError::Continue));
}

#[test]
fn a_group_stands_together_and_its_steps_do_not_wait_for_each_other() {
    let found = problems(
        "execution: parallel
steps:
- {agent: a, parallel_group: g}
- {agent: b, parallel_group: g, prompt: '${steps[0].output} ${parallel_group.g.status} ${parallel_group.h.status}'}
- {agent: c, parallel_group: h}
- {agent: a, parallel_group: g}
",
    );
    assert_eq!(
        found,
        [
            "w:6:44: `steps[0]` is in the same group, `g`, and runs at the same time",
            "w:6:63: the step is in the group `g` itself",
            "w:6:90: the group `h` comes later",
            "w:8:30: the steps of the group `g` do not stand together",
        ]
    );
}

#[test]
fn a_dag_follows_references_needs_and_groups_in_any_order() {
    let text = "execution: dag
steps:
- {agent: a, prompt: '${steps.late.output}'}
- {agent: b, needs: [0], parallel_group: g}
- {agent: c, name: late, parallel_group: h}
- {agent: a, prompt: '${parallel_group.g.outputs} ${parallel_group.h.failed}', on_error: stop}
";
    let plan = Project::new(&[("w", text)]).plan("w");
    assert_eq!(links(&plan), [(0, vec![2]), (0, vec![0]), (0, vec![]), (0, vec![1, 2])]);
    let on_error: Vec<OnError> = plan.steps.iter().map(|step| step.on_error).collect();
    assert_eq!(
        on_error,
        [
            OnError::SkipDependents,
            OnError::SkipDependents,
            OnError::SkipDependents,
            OnError::Stop
        ]
    );
}

#[test]
fn steps_that_wait_for_each_other_are_told() {
    let found = problems(
        "execution: dag
steps:
- {agent: a, needs: [3]}
- {agent: b, name: two, prompt: '${steps[2].output}'}
- {agent: c, needs: [3]}
- {agent: a, prompt: '${steps.two.status}'}
",
    );
    assert_eq!(
        found,
        ["w:6:3: the steps wait for each other: steps.two → steps[2] → steps[3] → steps.two"]
    );
}

#[test]
fn a_circle_of_workflows_is_told_as_documented() {
    let project = Project::new(&[
        ("run-restaurant", "steps: [{agent: a}, {workflow: serve-customers}]\n"),
        ("serve-customers", "steps: [{workflow: run-restaurant}]\n"),
        ("self", "steps: [{workflow: self}]\n"),
        ("above", "steps: [{workflow: self}, {workflow: nope}]\n"),
    ]);
    let found = project.checked("run-restaurant", LIMITS).expect_err("a circle");
    let rendered = project.library().render(&found);
    let file = project.path().join(".glee/workflows/serve-customers.yml");
    assert_eq!(
        rendered,
        format!(
            "Error: Workflow cycle detected: run-restaurant → serve-customers → run-restaurant\n{}:3:20\n\
             3 | steps: [{{workflow: run-restaurant}}]\n  |                    ^\n\
             hint: remove one of the `workflow:` steps of the circle\n",
            file.display()
        )
    );
    assert_eq!(
        project.problems("self", LIMITS),
        ["self:3:20: Workflow cycle detected: self → self"]
    );
    assert_eq!(
        project.problems("above", LIMITS),
        [
            "above:3:38: there is no workflow `nope`",
            "self:3:20: Workflow cycle detected: self → self"
        ]
    );
}

/// `w0` runs `w1` runs `w2` …
fn chain(length: usize) -> Project {
    let project = Project::new(&[]);
    for index in 0..length {
        let next = if index + 1 < length {
            format!("steps: [{{workflow: w{}}}]\n", index + 1)
        } else {
            "steps: [{agent: a}]\n".to_owned()
        };
        project.workflow(&format!("w{index}"), &next);
    }
    project
}

#[test]
fn five_workflows_inside_are_allowed_and_a_sixth_is_not() {
    assert_eq!(chain(6).plan("w0").total_steps, 6);
    let project = chain(7);
    let found = project.checked("w0", LIMITS).expect_err("too deep");
    let rendered = project.library().render(&found);
    assert!(
        rendered.starts_with("Error: Workflow depth limit exceeded (5): w0 → w1 → w2 → ...\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("w5.yml:3:20\n3 | steps: [{workflow: w6}]"),
        "{rendered}"
    );
    assert_eq!(found.len(), 1);
    let shallow = Limits { max_depth: 1, ..LIMITS };
    assert_eq!(
        chain(3).problems("w0", shallow),
        ["w1:3:20: Workflow depth limit exceeded (1): w0 → w1 → w2"]
    );
}

#[test]
fn a_chain_of_two_thousand_files_is_told_to_be_too_deep_and_nothing_worse() {
    // Too deep, and too many steps.
    assert_eq!(chain(2000).problems("w0", LIMITS).len(), 2);
}

#[test]
fn steps_are_counted_over_the_whole_tree() {
    let ten =
        "steps: [{agent: a},{agent: a},{agent: a},{agent: a},{agent: a},{agent: a},{agent: a},{agent: a},{agent: a}]\n";
    let project = Project::new(&[
        ("nine", ten),
        (
            "w",
            "steps: [{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine},{workflow: nine}]\n",
        ),
        ("more", "steps: [{workflow: w}]\n"),
    ]);
    let plan = project.plan("w");
    assert_eq!(plan.total_steps, 100);
    assert_eq!(plan.walk().len(), 100);
    assert_eq!(
        project.problems("more", LIMITS),
        ["more:3:9: the workflow has 101 steps with all below it, more than `workflows.budgets.max_steps: 100`"]
    );
}

#[test]
fn a_tree_of_ten_thousand_million_steps_is_refused_at_once() {
    let hundred = |what: &str| format!("steps: [{}]\n", vec![format!("{{{what}}}"); 100].join(","));
    let project = Project::new(&[
        ("w4", &hundred("agent: a")),
        ("w3", &hundred("workflow: w4")),
        ("w2", &hundred("workflow: w3")),
        ("w1", &hundred("workflow: w2")),
        ("w0", &hundred("workflow: w1")),
    ]);
    let start = Instant::now();
    let found = project.problems("w0", LIMITS);
    assert_eq!(
        found,
        ["w0:3:9: the workflow has 10101010100 steps with all below it, more than `workflows.budgets.max_steps: 100`"]
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_an_agent_wrote_may_not_nest_and_has_the_smaller_budget() {
    let many = format!("source: {{from: agent}}\nsteps: [{}]\n", ["{agent: a}"; 11].join(","));
    let project = Project::new(&[
        ("below", "steps: [{agent: a}]\n"),
        (
            "made",
            "source: {from: agent}\nsteps: [{agent: a}, {workflow: below}]\n",
        ),
        ("many", &many),
        ("ours", "steps: [{workflow: many}]\n"),
    ]);
    assert_eq!(
        project.problems("made", LIMITS),
        ["made:4:32: a workflow that an agent wrote cannot run the workflow `below`"]
    );
    let over = "many:4:9: the workflow has 11 steps with all below it, more than `workflows.ai_generated_budgets.max_steps: 10`";
    assert_eq!(project.problems("many", LIMITS), [over]);
    assert_eq!(project.problems("ours", LIMITS), [over]);
}

#[test]
fn inputs_are_those_that_are_listed_or_else_those_that_are_named() {
    let project = Project::new(&[(
        "w",
        "steps:\n- {agent: a, inputs: {x: '${p}', y: '${q ?? 1}'}}\n- {agent: b, inputs: {x: '${p ?? r}'}}\n",
    )]);
    let names = |plan: &Plan| plan.inputs.clone();
    assert_eq!(
        names(&project.plan("w")),
        BTreeMap::from([
            ("p".to_owned(), Need::Required),
            ("q".to_owned(), Need::Optional),
            ("r".to_owned(), Need::Required)
        ])
    );
    let listed = Project::new(&[(
        "w",
        "inputs: [{name: p, default: x}, {name: q, required: true}]\nsteps: [{agent: a}]\n",
    )]);
    assert_eq!(
        names(&listed.plan("w")),
        BTreeMap::from([
            ("p".to_owned(), Need::Default("x".into())),
            ("q".to_owned(), Need::Required)
        ])
    );
}

#[test]
fn what_a_step_does_not_give_is_passed_on_by_name_to_a_workflow_that_lists_nothing() {
    let project = Project::new(&[
        (
            "below",
            "steps: [{agent: a, inputs: {c: '${channel}', o: '${opt ?? 1}'}}]\n",
        ),
        ("free", "steps: [{workflow: below}]\n"),
        (
            "given",
            "steps: [{workflow: below, inputs: {channel: app, opt: '${z}'}}]\n",
        ),
        (
            "listed",
            "inputs: [{name: channel, required: true}]\nsteps: [{workflow: below}]\n",
        ),
        ("without", "inputs: []\nsteps: [{workflow: below}]\n"),
        ("maybe", "inputs: [{name: channel}]\nsteps: [{workflow: below}]\n"),
        ("odd", "steps: [{workflow: below, inputs: {channel: x, chanel: y}}]\n"),
    ]);
    let passes = |root: &str| {
        let plan = project.plan(root);
        let step = plan.steps.first().expect("a step");
        (
            step.passes.iter().cloned().collect::<Vec<_>>(),
            plan.inputs.keys().cloned().collect::<Vec<_>>(),
        )
    };
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(passes("free"), (words(&["channel", "opt"]), words(&["channel", "opt"])));
    assert_eq!(passes("given"), (vec![], words(&["z"])));
    assert_eq!(passes("listed"), (words(&["channel"]), words(&["channel"])));
    let missing = |name: &str| [format!("{name}:4:9: the workflow `below` needs the input `channel`")];
    assert_eq!(project.problems("without", LIMITS), missing("without"));
    assert_eq!(project.problems("maybe", LIMITS), missing("maybe"));
    assert_eq!(
        project.problems("odd", LIMITS),
        ["odd:3:56: the workflow `below` has no input `chanel`"]
    );
}

#[test]
fn inputs_that_are_listed_must_be_given_and_be_of_their_type() {
    let project = Project::new(&[
        (
            "below",
            "inputs: [{name: n, type: integer, required: true}, {name: o}]\nsteps: [{agent: strict, inputs: {target: '${n}'}}]\n",
        ),
        (
            "w",
            "steps:\n- {workflow: below}\n- {workflow: below, inputs: {n: many}}\n- {workflow: below, inputs: {n: '${x}', p: 1}}\n- {agent: strict}\n- {agent: strict, inputs: {target: x, tarjet: y, deep: 3}}\n",
        ),
    ]);
    project.agent(
        "strict",
        "inputs: [{name: target, required: true}, {name: deep, type: boolean, default: false}]\n",
    );
    assert_eq!(
        project.problems("w", LIMITS),
        [
            "w:4:3: the workflow `below` needs the input `n`",
            "w:5:33: the input `n` of the workflow `below` must be a integer",
            "w:6:44: the workflow `below` has no input `p`",
            "w:7:3: the agent `strict` needs the input `target`",
            "w:8:47: the agent `strict` has no input `tarjet`",
            "w:8:56: the input `deep` of the agent `strict` must be a boolean",
        ]
    );
}

#[test]
fn broken_files_are_named_and_a_definition_comes_before_a_cli() {
    let project = Project::new(&[
        ("bad", "steps: 7\n"),
        (
            "w",
            "steps: [{agent: broken}, {workflow: bad}, {agent: stub}, {agent: codex, prompt: go}]\n",
        ),
    ]);
    project.agent("broken", "nonsense: 1\n");
    project.agent("stub", "");
    assert_eq!(
        project.problems("w", LIMITS),
        [
            "w:3:17: the agent `broken` cannot be read",
            "w:3:37: the workflow `bad` cannot be read"
        ]
    );
    project.workflow("w", "steps: [{agent: stub}, {agent: codex, prompt: go}]\n");
    let plan = project.plan("w");
    let does: Vec<bool> = plan
        .steps
        .iter()
        .map(|step| matches!(step.does, Does::Agent(_)))
        .collect();
    assert_eq!(does, [true, false]);
    assert_eq!(
        project.problems("bad", LIMITS),
        ["bad:3:8: `steps` must be a list, found the number `7`"]
    );
    assert_eq!(
        project.problems("none", LIMITS),
        ["workflow:0:0: there is no workflow `none`"]
    );
}

#[test]
fn the_path_of_a_step_leads_through_the_workflows_around_it() {
    let project = Project::new(&[
        ("below", "steps: [{agent: a}, {agent: b}]\n"),
        ("w", "steps: [{agent: c}, {workflow: below}]\n"),
    ]);
    let plan = project.plan("w");
    let paths: Vec<(String, usize)> = plan.walk().into_iter().map(|one| (one.path, one.depth)).collect();
    let expected = [("w[0]", 0), ("w[1]", 0), ("w[1]/below[0]", 1), ("w[1]/below[1]", 1)];
    assert_eq!(paths, expected.map(|(path, depth)| (path.to_owned(), depth)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Random `needs` in a dag: a plan exists exactly if no step can reach itself.
    #[test]
    fn a_dag_has_a_plan_exactly_if_it_has_no_circle(edges in prop::collection::vec((0usize..8, 0usize..8), 0..14)) {
        let mut needs: BTreeMap<usize, Vec<usize>> = (0..8).map(|index| (index, Vec::new())).collect();
        for (from, to) in edges.into_iter().filter(|(from, to)| from != to) {
            needs.entry(from).or_default().push(to);
        }
        let steps: String = needs.values().map(|list| format!("- {{agent: a, needs: {list:?}}}\n")).collect();
        let mut reach = [[false; 8]; 8];
        for (from, list) in &needs {
            for to in list {
                reach[*from][*to] = true;
            }
        }
        for by in 0..8 {
            for from in 0..8 {
                for to in 0..8 {
                    reach[from][to] |= reach[from][by] && reach[by][to];
                }
            }
        }
        let is_round = (0..8).any(|index| reach[index][index]);
        let project = Project::new(&[("w", &format!("execution: dag\nsteps:\n{steps}"))]);
        let found = project.problems("w", LIMITS);
        prop_assert_eq!(found.len(), usize::from(is_round), "{:?}", found);
    }
}
