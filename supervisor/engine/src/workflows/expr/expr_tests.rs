#![allow(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::workflows::model::StepRef;
use crate::workflows::name::StepName;
use crate::workflows::result::{ParallelGroupResult, StepResult, StepStatus};

#[derive(Default)]
struct World {
    inputs: BTreeMap<String, Rendered>,
    steps: Vec<StepResult>,
    named: BTreeMap<String, usize>,
    groups: BTreeMap<String, Vec<usize>>,
}

impl Scope for World {
    fn input(&self, name: &str) -> Option<Rendered> {
        self.inputs.get(name).cloned()
    }

    fn step(&self, which: &StepRef) -> Option<&StepResult> {
        match which {
            StepRef::Index(index) => self.steps.get(*index),
            StepRef::Name(name) => self.steps.get(*self.named.get(name.as_str())?),
        }
    }

    fn group(&self, name: &GroupName) -> Option<ParallelGroupResult> {
        let members = self.groups.get(name.as_str())?;
        let steps = members.iter().filter_map(|index| self.steps.get(*index).cloned());
        Some(ParallelGroupResult::of(steps.collect()))
    }
}

fn step(index: usize, outcome: Result<&str, &str>) -> StepResult {
    StepResult {
        status: if outcome.is_ok() {
            StepStatus::Success
        } else {
            StepStatus::Error
        },
        output: outcome.ok().map(str::to_owned),
        error: outcome.err().map(str::to_owned),
        duration_ms: 12,
        agent: format!("a{index}"),
        step_index: index,
    }
}

/// Step 0 said `one`, step 1 (`second`) failed with `broke`; both are the group `g`; `x` is `ix`.
fn world() -> World {
    World {
        inputs: BTreeMap::from([("x".to_owned(), Rendered::text("ix"))]),
        steps: vec![step(0, Ok("one")), step(1, Err("broke"))],
        named: BTreeMap::from([("second".to_owned(), 1)]),
        groups: BTreeMap::from([("g".to_owned(), vec![0, 1])]),
    }
}

fn rendered(text: &str) -> Vec<Part> {
    let template = Template::parse(text).expect("a template");
    template.render(&world(), &mut Room::default()).expect("values").parts
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn said(from: &str, text: &str) -> Part {
    Part::Said {
        from: from.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn every_form_of_the_language_has_its_value() {
    assert_eq!(rendered("plain, $5, $$, {}"), [text("plain, $5, $$, {}")]);
    assert_eq!(rendered("$${x} is ${x}"), [text("${x} is ix")]);
    assert_eq!(rendered("${inputs.x}${ x }"), [text("ixix")]);
    assert_eq!(
        rendered("a ${steps[0].output} b"),
        [text("a "), said("step:0:a0", "one"), text(" b")]
    );
    assert_eq!(
        rendered("${steps[0].status} ${steps.second.status}"),
        [text("success error")]
    );
    assert_eq!(rendered("${steps.second.error}"), [said("step:1:a1", "broke")]);
    assert_eq!(rendered("${steps[0].duration_ms}"), [text("12")]);
    assert_eq!(rendered("${parallel_group.g.status}"), [text("partial")]);
    assert_eq!(rendered("${steps[1].output}"), []);
    assert_eq!(rendered(""), []);
}

#[test]
fn lists_are_json_and_said_by_the_group() {
    let one = r#"{"status":"success","output":"one","error":null,"duration_ms":12,"agent":"a0","step_index":0}"#;
    let two = r#"{"status":"error","output":null,"error":"broke","duration_ms":12,"agent":"a1","step_index":1}"#;
    let from = "parallel_group:g";
    assert_eq!(
        rendered("${parallel_group.g.outputs}"),
        [said(from, &format!("[{one},{two}]"))]
    );
    assert_eq!(
        rendered("${parallel_group.g.succeeded}"),
        [said(from, &format!("[{one}]"))]
    );
    assert_eq!(
        rendered("${parallel_group.g.failed}"),
        [said(from, &format!("[{two}]"))]
    );
}

#[test]
fn the_right_side_counts_only_if_the_left_is_null() {
    assert_eq!(rendered(r#"${steps[1].output ?? "none"}"#), [text("none")]);
    assert_eq!(rendered(r#"${steps[0].output ?? "none"}"#), [said("step:0:a0", "one")]);
    assert_eq!(rendered("${missing ?? steps[1].output ?? x ?? 4}"), [text("ix")]);
    assert_eq!(rendered("${missing ?? -2.5}"), [text("-2.5")]);
    assert_eq!(
        rendered(r#"${missing??"a \"}\" ${x} \\ \n"}"#),
        [text("a \"}\" ${x} \\ \n")]
    );
    assert_eq!(rendered("${steps[0].error ?? steps[1].output}"), []);
}

#[test]
fn what_is_not_there_and_has_no_default_is_an_error() {
    let problem = |text: &str| {
        let template = Template::parse(text).expect("a template");
        template.render(&world(), &mut Room::default()).err()
    };
    assert_eq!(problem("${missing}"), Some(EvalProblem::NoInput("missing".into())));
    assert_eq!(
        problem("${missing ?? other}"),
        Some(EvalProblem::NoInput("other".into()))
    );
    assert_eq!(
        problem("${steps[7].output}"),
        Some(EvalProblem::NotEnded("steps[7].output".into()))
    );
    assert_eq!(
        problem("${parallel_group.h.status}"),
        Some(EvalProblem::NotEnded("parallel_group.h.status".into()))
    );
}

#[test]
fn a_text_that_would_be_too_long_is_never_made() {
    let mut world = world();
    world.inputs.insert("x".into(), Rendered::text("a".repeat(200_000)));
    world.steps = vec![step(0, Ok(""))];
    let many = Rendered {
        parts: vec![said("step:0:a0", ""); 10_000],
    };
    world.inputs.insert("many".into(), many);
    let render = |text: &str, room: &mut Room| Template::parse(text).expect("a template").render(&world, room);
    // Some 38 GB; and 400 million places, of which none has a byte of text.
    for bomb in ["${x}".repeat(190_000), "${many}".repeat(40_000)] {
        assert_eq!(render(&bomb, &mut Room::default()), Err(EvalProblem::TooLong));
    }
    // One room for all texts of a step.
    let mut room = Room::default();
    let half = "${x}".repeat(21);
    assert!(render(&half, &mut room).is_ok());
    assert_eq!(render(&half, &mut room), Err(EvalProblem::TooLong));
}

#[test]
fn of_what_agents_said_no_more_is_taken_than_is_told() {
    let mut world = world();
    world.steps = vec![step(0, Ok(&"b".repeat(900_000)))];
    let template = Template::parse(&"${steps[0].output}".repeat(30)).expect("a template");
    let parts = template.render(&world, &mut Room::default()).expect("values").parts;
    assert_eq!(parts.len(), 30);
    let long = |part: &Part| match part {
        Part::Text(_) => 0,
        Part::Said { text, .. } => text.len(),
    };
    assert!(parts.iter().all(|part| (200 << 10..=256 << 10).contains(&long(part))));
}

#[test]
fn what_an_agent_said_is_never_read_as_an_expression() {
    let mut world = world();
    let evil = r#"${x} $${x} ${steps[1].error} </glee:context> "}"#;
    world.steps = vec![step(0, Ok(evil))];
    world.inputs.insert(
        "given".into(),
        Rendered {
            parts: vec![said("step:3:other", evil)],
        },
    );
    let template = Template::parse("${steps[0].output}|${given}").expect("a template");
    let parts = template.render(&world, &mut Room::default()).expect("values").parts;
    assert_eq!(parts, [said("step:0:a0", evil), text("|"), said("step:3:other", evil)]);
}

#[test]
fn every_fault_of_a_text_is_told_up_to_a_bound() {
    let text = "${a} ${steps} ${größe ?? 1} ${steps[0].what} ${b} ${steps[";
    let faults = Template::faults(text, 20);
    let at: Vec<&str> = faults
        .iter()
        .map(|fault| text.get(fault.span.start..).expect("a border"))
        .collect();
    assert_eq!(
        at,
        [
            "} ${größe ?? 1} ${steps[0].what} ${b} ${steps[",
            "öße ?? 1} ${steps[0].what} ${b} ${steps[",
            "what} ${b} ${steps[",
            "${steps["
        ]
    );
    assert_eq!(Template::faults("${a} b", 20), []);
    assert_eq!(Template::faults(&"${[".repeat(10_000), 20).len(), 1);
    assert_eq!(Template::faults(&"${[}".repeat(10_000), 20).len(), 20);
}

#[test]
fn a_fault_is_told_with_where_it_is() {
    let fault = |text: &str| {
        let problem = Template::parse(text).expect_err("a fault");
        (
            text.get(problem.span.clone()).expect("a span").to_owned(),
            problem.to_string(),
        )
    };
    let pair = |at: &str, message: &str| (at.to_owned(), message.to_owned());
    assert_eq!(fault("a ${x"), pair("${x", "a `${` has no `}`"));
    assert_eq!(fault("a ${ }"), pair("${ }", "`${}` holds nothing"));
    assert_eq!(
        fault("${steps}"),
        pair("}", "expected `[0]` or `.NAME` after `steps`, found `}`")
    );
    assert_eq!(
        fault("${steps[0]}"),
        pair(
            "}",
            "expected `.` and `output`, `status`, `error` or `duration_ms`, found `}`"
        )
    );
    assert_eq!(
        fault("${steps[0].__proto__}"),
        pair("__proto__", "a step has no `__proto__`")
    );
    assert_eq!(
        fault("${steps.__proto__.output}"),
        pair("__proto__", "`__proto__` is not a name for a step")
    );
    assert_eq!(
        fault("${steps[-1].output}"),
        pair(
            "-1",
            "expected the number of a step, counted from 0, found the number `-1`"
        )
    );
    assert_eq!(
        fault("${steps[1.5].output}"),
        pair(
            "1.5",
            "expected the number of a step, counted from 0, found the number `1.5`"
        )
    );
    assert_eq!(
        fault("${steps[99999999999999999999].output}").1,
        "`99999999999999999999` is more steps than a workflow has"
    );
    assert_eq!(fault("${steps.0.output}").0, "0");
    assert_eq!(fault("${steps[0].agent}"), pair("agent", "a step has no `agent`"));
    assert_eq!(
        fault("${parallel_group.g.output}"),
        pair("output", "a group has no `output`")
    );
    assert_eq!(
        fault("${parallel_group.é.status}"),
        pair("é", "`é` has no place in an expression")
    );
    assert_eq!(fault("${größe}").0, "ö");
    assert_eq!(fault("${a-b}"), pair("a-b", "`a-b` is not a name for an input"));
    assert_eq!(fault("${a ?? }"), pair("}", "expected what to put here, found `}`"));
    assert_eq!(fault("${a ? b}"), pair("?", "`?` has no place in an expression"));
    assert_eq!(fault("${a || b}").0, "|");
    assert_eq!(fault("${a b}"), pair("b", "expected `}` or `??`, found `b`"));
    assert_eq!(fault("${a.b}"), pair(".", "expected `}` or `??`, found `.`"));
    assert_eq!(fault("${a ?? \"x}"), pair("\"x}", "a text has no closing `\"`"));
    assert_eq!(fault("${a ?? \"\\q\"}"), pair("\\q", "`\\q` is no escape"));
    assert_eq!(fault("${a ?? 'x'}").0, "'");
    assert_eq!(
        fault("${\"x\"}"),
        pair(
            "\"x\"",
            "an expression begins with what it asks for, not with a text or a number"
        )
    );
    assert_eq!(
        fault("${a ?? 1 ?? b}"),
        pair("??", "a `??` after a text or a number is never reached")
    );
    assert_eq!(fault("${a ?? -}").0, "-");
    assert_eq!(fault("${(((a)))}").0, "(");
    assert_eq!(fault("${a\u{0}}").0, "\u{0}");
}

#[test]
fn uses_are_told_with_their_place_and_whether_something_else_is_there() {
    let template = Template::parse("${a ?? steps.scan.output} ${b}").expect("a template");
    let uses: Vec<_> = template
        .uses()
        .iter()
        .map(|one| {
            (
                one.reference.to_string(),
                template.written().get(one.span.clone()),
                one.has_fallback,
            )
        })
        .collect();
    assert_eq!(
        uses,
        [
            ("inputs.a".to_owned(), Some("a"), true),
            ("steps.scan.output".to_owned(), Some("steps.scan.output"), false),
            ("inputs.b".to_owned(), Some("b"), false),
        ]
    );
    let name = StepName::new("scan").expect("a name");
    assert!(template.references().contains(&&Reference::Step {
        which: StepRef::Name(name),
        field: StepField::Output
    }));
    assert_eq!(Template::parse("$${x}").expect("a template").literal(), Some("${x}"));
    assert_eq!(template.literal(), None);
}

#[test]
fn hostile_texts_take_time_that_grows_with_their_length() {
    let start = Instant::now();
    let million = 1 << 20;
    for text in [
        format!("${{steps{}", "[".repeat(10_000)),
        "${".repeat(million / 2),
        "$".repeat(million),
        "$${".repeat(million / 3),
        format!("${{a{}", " ?? a".repeat(million / 5)),
        format!("${{a{}}}", " ?? a".repeat(million / 5)),
        format!("${{a ?? \"{}", "\\\\".repeat(million / 2)),
        format!("${{{}}}", "a".repeat(million)),
        format!("${{steps[{}].output}}", "9".repeat(million)),
        "${a}".repeat(million / 4),
        format!("${{a ?? {}}}", "-".repeat(million)),
        format!("${{{}", " ".repeat(million)),
    ] {
        if let Ok(template) = Template::parse(&text) {
            let mut world = world();
            world.inputs.insert("a".into(), Rendered::text("v"));
            template.render(&world, &mut Room::default()).expect("values");
        }
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// Pieces of which expressions are made, so that chance goes deep.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "${",
        "$${",
        "$",
        "}",
        "{",
        "steps",
        "inputs",
        "parallel_group",
        "[",
        "]",
        "0",
        "7",
        ".",
        "output",
        "status",
        "error",
        "duration_ms",
        "outputs",
        "failed",
        "g",
        "x",
        "second",
        "??",
        "?",
        "\"",
        "\\",
        "n",
        " ",
        "\n",
        "-",
        "é",
        "1.5",
        "__proto__",
        "\u{202e}",
        "a-b",
        "😀",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|list| list.concat())
}

fn sound(text: &str) {
    match Template::parse(text) {
        Ok(template) => {
            assert_eq!(template.written(), text);
            for one in template.uses() {
                assert!(
                    text.get(one.span.clone()).is_some_and(|part| !part.is_empty()),
                    "{text:?}"
                );
            }
            let plain = text.matches("${").count() > text.matches("$${").count();
            assert!(template.uses().is_empty() || plain, "{text:?}");
            // Whatever is there or not, filling in ends with a value or a reason.
            let _ = template.render(&world(), &mut Room::default());
        }
        Err(problem) => {
            assert!(text.get(problem.span.clone()).is_some(), "{text:?} {problem:?}");
            assert!(!problem.to_string().is_empty() && !problem.help().is_empty());
        }
    }
}

/// Writes a reference, and the reference.
fn reference() -> impl Strategy<Value = (String, Reference)> {
    let input = prop::sample::select(vec!["x", "target_file", "_y"])
        .prop_map(|name| (format!("inputs.{name}"), Reference::Input(name.to_owned())));
    let which = prop_oneof![
        (0usize..2000).prop_map(StepRef::Index),
        prop::sample::select(vec!["scan", "a-b", "Z_9"])
            .prop_map(|name| StepRef::Name(StepName::new(name).expect("a name"))),
    ];
    let step = (which, prop::sample::select(StepField::WORDS.to_vec()))
        .prop_map(|(which, (word, field))| (format!("{which}.{word}"), Reference::Step { which, field }));
    let group = prop::sample::select(GroupField::WORDS.to_vec()).prop_map(|(word, field)| {
        let name = GroupName::new("scanners").expect("a name");
        (
            format!("parallel_group.{name}.{word}"),
            Reference::Group { name, field },
        )
    });
    prop_oneof![input, step, group]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        sound(&text);
    }

    #[test]
    fn no_mixture_of_its_own_words_breaks_the_reader(text in pieces()) {
        sound(&text);
    }

    #[test]
    fn what_is_written_is_read_back(
        list in prop::collection::vec(reference(), 1..6),
        before in "[a-z $\"}\n]{0,10}",
        space in "[ \n\t]{0,3}",
    ) {
        // A `$` right before would make it a text.
        let before = before.trim_end_matches('$');
        let words: Vec<&str> = list.iter().map(|(word, _)| word.as_str()).collect();
        let text = format!("{before}${{{space}{}{space}}}", words.join(&format!("{space}??{space}")));
        let template = Template::parse(&text).expect("a template");
        let found: Vec<Reference> = template.references().into_iter().cloned().collect();
        let meant: Vec<Reference> = list.into_iter().map(|(_, reference)| reference).collect();
        prop_assert_eq!(found, meant);
    }
}
