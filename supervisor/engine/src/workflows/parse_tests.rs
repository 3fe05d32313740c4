#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::parse;
use crate::workflows::model::{Author, Execution, OnError, StepRef, Work, Workflow};

const HEAD: &str = "name: w\ndescription: d\n";

fn read(text: &str) -> Result<Workflow, Vec<String>> {
    parse(Path::new("/p/.glee/workflows/w.yml"), text.as_bytes()).map_err(|problems| {
        let one = |problem: &crate::workflows::Problem| {
            format!("{}:{}: {}", problem.at.line, problem.at.column, problem.what)
        };
        problems.iter().map(one).collect()
    })
}

fn faults(steps: &str) -> Vec<String> {
    read(&format!("{HEAD}{steps}")).expect_err("faults")
}

macro_rules! documented {
    ($name:literal) => {
        parse(
            Path::new(concat!("/p/.glee/workflows/", $name, ".yml")),
            include_bytes!(concat!("../../../../tests/workflows/documented/", $name, ".yml")),
        )
        .unwrap_or_else(|problems| panic!("{problems:?}"))
    };
}

fn agents(workflow: &Workflow) -> Vec<&str> {
    workflow.steps.iter().map(|step| step.work.name()).collect()
}

#[test]
fn the_documented_workflows_are_read_as_they_stand() {
    let review = documented!("full-review");
    assert_eq!(review.execution, Execution::Sequential);
    assert_eq!(
        agents(&review),
        ["security-scanner", "performance-analyzer", "code-reviewer"]
    );
    let given = &review.steps.last().expect("steps").inputs;
    let written: Vec<_> = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.written()))
        .collect();
    assert_eq!(
        written,
        [
            ("performance_report", "${steps[1].output}"),
            ("security_report", "${steps[0].output}"),
            ("target_file", "${target}"),
        ]
    );
    let scan = documented!("parallel-scan");
    assert_eq!(scan.execution, Execution::Parallel);
    let groups: Vec<_> = scan
        .steps
        .iter()
        .map(|step| step.parallel_group.as_ref().map(|g| g.as_str()))
        .collect();
    assert_eq!(groups, [Some("scanners"), Some("scanners"), Some("scanners"), None]);
    let on_error = documented!("on-error");
    assert_eq!(on_error.steps.first().expect("steps").on_error, Some(OnError::Continue));
    let restaurant = documented!("run-restaurant");
    assert!(
        restaurant
            .steps
            .iter()
            .all(|step| matches!(step.work, Work::Workflow(_)))
    );
    assert_eq!(
        agents(&restaurant),
        ["accounting", "purchasing", "serve-customers", "cleaning"]
    );
    let serve = documented!("serve-customers");
    assert_eq!(serve.steps.len(), 4);
    assert_eq!((serve.author, serve.inputs), (Author::Person, None));
}

#[test]
fn a_definition_in_json_is_read_as_well() {
    let text = r#"{
  "name": "w",
  "description": "Review \"auth\" changes\u00e9",
  "steps": [
    {"agent": "security-scanner", "inputs": {"focus": "auth ${x}", "depth": 3, "deep": true, "ratio": 0.5}},
    {"agent": "b", "needs": [0], "name": "two"}
  ],
  "execution": "dag",
  "source": {"from": "agent", "created_at": "2026-01-09T15:00:00Z"}
}"#;
    let workflow = read(text).expect("a workflow");
    assert_eq!((workflow.author, workflow.execution), (Author::Agent, Execution::Dag));
    let first = workflow.steps.first().expect("steps");
    let given: Vec<_> = first
        .inputs
        .iter()
        .map(|(name, value)| (name.as_str(), value.written()))
        .collect();
    assert_eq!(
        given,
        [
            ("deep", "true"),
            ("depth", "3"),
            ("focus", "auth ${x}"),
            ("ratio", "0.5")
        ]
    );
    let focus = first
        .inputs
        .get("focus")
        .expect("focus")
        .uses()
        .first()
        .expect("a use")
        .place;
    assert_eq!((focus.line, focus.column), (5, 63));
    assert_eq!(workflow.steps.last().expect("steps").needs, [StepRef::Index(0)]);
}

#[test]
fn all_faults_are_told_at_once_with_their_lines() {
    let text = "\
name: other
descripton: d
execution: paralel
steps:
  - agent: a
    workflow: b
  - agent: Bad Name
    on_error: explode
  - prompt: ${steps[0]}
  - agent: c
    inputs:
      ok: ${x}
      bad-name: y
      list: [1]
      text: see ${inputs.} here
    parallel_group: 7
    needs: first
  - just text
  - workflow: w
    prompt: hello
";
    assert_eq!(
        read(text).expect_err("faults"),
        [
            "1:1: the workflow needs the key `description`",
            "1:7: the workflow is called `other`, its file `w.yml`",
            "2:1: unknown key `descripton`",
            "3:12: `execution` cannot be `paralel`",
            "5:5: a step has `agent` or `workflow`, not both",
            "7:12: `Bad Name` is not a name for an agent",
            "8:15: `on_error` cannot be `explode`",
            "9:5: a step needs `agent` or `workflow`",
            "9:23: `prompt`: expected `.` and `output`, `status`, `error` or `duration_ms`, found `}`",
            "13:7: `bad-name` is not a name for an input",
            "14:13: `inputs.list` must be text, found a list",
            "15:26: `inputs.text`: expected the name of an input, found `}`",
            "16:21: `parallel_group` must be text, found the number `7`",
            "17:12: `needs` must be a list, found the text `first`",
            "18:5: `steps` must be a mapping, found the text `just text`",
            "20:13: a step with `workflow` has no `prompt`",
        ]
    );
}

#[test]
fn what_is_missing_or_too_much_is_told() {
    assert_eq!(
        read("").expect_err("faults"),
        [
            "1:1: `the workflow` must be a mapping, found nothing",
            "1:1: the workflow needs the key `name`",
            "1:1: the workflow needs the key `description`",
            "1:1: the workflow needs the key `steps`"
        ]
    );
    assert_eq!(faults("steps: []\n"), ["3:8: the workflow has no steps"]);
    assert_eq!(
        faults("steps:\n- {agent: a, name: x}\n- {agent: b, name: x}\n"),
        ["5:3: there are two steps `x`"]
    );
    assert_eq!(
        faults("steps:\n- {agent: a, agent: b}\n"),
        ["4:14: the key `agent` is there twice"]
    );
    assert_eq!(
        faults("steps: [{agent: a}]\nsource: {from: person}\n"),
        ["4:16: `source.from` cannot be `person`"]
    );
    assert_eq!(
        faults("steps: [{agent: a}]\nsource: {}\n"),
        ["4:9: `source` needs the key `from`"]
    );
    let many = format!("steps:\n{}", "- agent: a\n".repeat(2001));
    assert_eq!(
        faults(&many),
        ["4:3: the workflow has 2001 steps, more than the 2000 that one file may have"]
    );
    assert!(read(&format!("{HEAD}steps:\n{}", "- agent: a\n".repeat(2000))).is_ok());
}

#[test]
fn a_use_is_found_where_it_stands() {
    let text = format!(
        "{HEAD}steps:\n- agent: a\n  prompt: |\n    first ${{x}}\n\n    then ${{x}} and ${{y ?? x}}\n  inputs:\n    q: \"é ${{y}}\"\n    e: \"\\u0024{{z}}\"\n"
    );
    let workflow = read(&text).expect("a workflow");
    let step = workflow.steps.first().expect("a step");
    let places = |template: &crate::workflows::expr::Template| -> Vec<(u32, u32)> {
        template
            .uses()
            .iter()
            .map(|one| (one.place.line, one.place.column))
            .collect()
    };
    assert_eq!(
        places(step.prompt.as_ref().expect("a prompt")),
        [(6, 13), (8, 12), (8, 21), (8, 26)]
    );
    assert_eq!(places(step.inputs.get("q").expect("q")), [(10, 13)]);
    // Escaped, it cannot be found; it is told where the value begins.
    assert_eq!(places(step.inputs.get("e").expect("e")), [(11, 8)]);
}

#[test]
fn hostile_files_are_refused_in_time() {
    let start = Instant::now();
    let bombs = [
        format!("{HEAD}steps: {}\n", "[".repeat(10_000)),
        format!(
            "{HEAD}steps: [{{agent: a, prompt: \"${{steps{}\"}}]\n",
            "[".repeat(10_000)
        ),
        format!(
            "{HEAD}a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nsteps: [*e,*e,*e,*e]\n"
        ),
        format!("{HEAD}steps:\n- agent: a\n  prompt: {}\n", "x".repeat(5 << 20)),
        format!(
            "{HEAD}steps: [{}]\n",
            "{agent: \"\u{430}\u{434}\u{43c}\u{438}\u{43d}\"},".repeat(2000)
        ),
        format!("{HEAD}{}", "k: v\n".repeat(2)),
        format!(
            "{HEAD}{}",
            (0..60_000).map(|n| format!("k{n}: v\n")).collect::<String>()
        ),
        format!(
            "{HEAD}steps: [{{agent: a, inputs: {{{}}}}}]\n",
            (0..40_000)
                .map(|n| format!("k{n}: '${{'"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    ];
    for bomb in bombs {
        let problems = parse(Path::new("w.yml"), bomb.as_bytes()).expect_err("faults");
        assert!(problems.iter().all(|problem| !problem.help().is_empty()));
    }
    // Sound, large, on one line, and every use of it looked for.
    let uses = format!(
        "{HEAD}steps: [{{agent: a, inputs: {{{}}}}}]\n",
        (0..40_000)
            .map(|n| format!("k{n}: '${{é}}'").replace('é', "e"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    assert!(read(&uses).is_ok());
    let prompt = format!(
        "{HEAD}steps: [{{agent: a, prompt: \"{}\"}}]\n",
        "é${a ?? b}".repeat(80_000)
    );
    assert!(read(&prompt).is_ok());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_place() {
    let problems = parse(Path::new("w.yml"), b"name: w\ndescription: \xff\n").expect_err("faults");
    assert_eq!(
        problems.first().map(|problem| (problem.at.line, problem.at.column)),
        Some((2, 14))
    );
}

/// Pieces of which files are made, so that chance goes deep.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "name: w\n",
        "description: d\n",
        "steps:\n",
        "- ",
        "  ",
        "agent: a\n",
        "workflow: b\n",
        "inputs: ",
        "prompt: ",
        "needs: [0, x]\n",
        "parallel_group: g\n",
        "on_error: stop\n",
        "execution: dag\n",
        "source: ",
        "from: agent\n",
        "${",
        "}",
        "{",
        "[",
        "]",
        "x: ",
        "|\n",
        ">\n",
        "\"",
        "'",
        "\\",
        "\n",
        "&a ",
        "*a",
        "é",
        "😀",
        "${x}",
        "${steps[0].output ?? \"y\"}",
        "# c\n",
        "\t",
        ", ",
        "---\n",
        "7",
        "null",
        "\r\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|list| list.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_file_breaks_the_reader_and_every_fault_lies_in_it(text in pieces()) {
        let lines = u32::try_from(text.lines().count()).expect("few lines") + 1;
        for text in [text.clone(), format!("{HEAD}steps:\n- agent: a\n  {text}")] {
            let lines = lines + 4;
            if let Err(problems) = parse(Path::new("w.yml"), text.as_bytes()) {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.at.line <= lines, "{:?} {:?}", text, problem);
                    prop_assert!(!problem.render(Some(&text)).is_empty() && !problem.help().is_empty());
                }
            }
        }
    }
}
