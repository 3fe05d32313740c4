#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use proptest::prelude::*;

use super::layout::{Diagram, diagram};
use super::*;
use crate::workflows::testing::Project;

const SCAN: &str = "execution: parallel
steps:
- {agent: a, parallel_group: scan-all}
- {agent: b, parallel_group: scan-all}
- {agent: c, inputs: {r: '${parallel_group.scan-all.outputs}'}, on_error: stop}
";

#[test]
fn a_terminal_gets_a_tree() {
    let project = Project::new(&[
        ("scan", SCAN),
        (
            "w",
            "inputs: [{name: t, required: true}, {name: u}]\nsteps:\n- {agent: stub, prompt: 'x ${t}', name: first}\n- {workflow: scan}\n- {agent: a, name: last, prompt: '${steps.first.output}'}\n",
        ),
    ]);
    assert_eq!(
        text(&project.plan("w")),
        "\
w: About w
sequential · 6 steps · inputs t, [u]
├─ [0] first  (CLI stub)
├─ [1] scan  (workflow scan, parallel)
│  ├─ group scan-all, at once
│  │  ├─ [0] a
│  │  └─ [1] b
│  └─ [2] c  (uses group scan-all; on error: stop)
└─ [2] last  (agent a; uses [0])
"
    );
}

#[test]
fn mermaid_gets_ids_and_escaped_labels() {
    let project = Project::new(&[("w", SCAN)]);
    let file = project.path().join(".glee/workflows/w.yml");
    let evil = "\"] --> x <script>alert(1)</script> #quot; `%%{init}%%`; end";
    let written = std::fs::read_to_string(&file).expect("the file");
    let quoted = serde_json::to_string(evil).expect("a text");
    std::fs::write(&file, written.replace("About w", &quoted)).expect("written");
    let drawn = mermaid(&project.plan("w"));
    let (title, rest) = drawn.split_at(drawn.find("\n    s2[").expect("a group"));
    assert!(
        title.starts_with("flowchart TD\n  subgraph w [\"w: #34;#93; --#62; x #60;script#62;alert(1)"),
        "{title}"
    );
    assert_eq!(title.matches('"').count(), 2, "{title}");
    assert!(!title.contains(['<', '`', '{', '%']), "{title}");
    assert_eq!(
        rest,
        "
    s2[\"2: c\"]
    subgraph sg_scan_hall [\"group scan-all\"]
      s0[\"0: a\"]
      s1[\"1: b\"]
    end
    sg_scan_hall --> s2
  end
"
    );
}

#[test]
fn what_all_of_a_group_use_is_one_arrow() {
    let text = "execution: dag
steps:
- {agent: a}
- {agent: b, parallel_group: g, needs: [0]}
- {agent: c, parallel_group: g, prompt: '${steps[0].output}'}
- {agent: a, parallel_group: h, needs: [0]}
- {agent: b, parallel_group: h}
";
    let drawn = mermaid(&Project::new(&[("w", text)]).plan("w"));
    let arrows: Vec<&str> = drawn
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("-->"))
        .collect();
    assert_eq!(arrows, ["s0 --> s3", "s0 --> sg_g"]);
}

#[test]
fn svg_is_well_formed_and_holds_nothing_that_acts() {
    let project = Project::new(&[
        ("below", SCAN),
        (
            "w",
            "steps:\n- {agent: a}\n- {workflow: below}\n- {agent: b, prompt: '${steps[0].output}'}\n",
        ),
    ]);
    let file = project.path().join(".glee/workflows/w.yml");
    let written = std::fs::read_to_string(&file).expect("the file");
    let evil = serde_json::to_string("</title><script>alert('x')</script>&amp;\u{202e}\u{7}]]>").expect("a text");
    // A control character is refused by the parser already.
    std::fs::write(&file, written.replace("About w", &evil.replace("\\u0007", ""))).expect("written");
    let drawn = svg(&project.plan("w"));
    assert!(
        !drawn.contains("<script") && !drawn.contains("]]>") && !drawn.contains('\u{202e}'),
        "{drawn}"
    );
    for outside in ["href", "url(http", "@import", "@font-face", "onload"] {
        assert!(!drawn.contains(outside), "{outside}");
    }
    // Every tag is closed in its order.
    let mut open = Vec::new();
    for tag in drawn.split('<').skip(1) {
        let tag = tag.split('>').next().expect("a tag");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{drawn}");
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().expect("a name"));
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

type Rect = (i64, i64, i64, i64);

fn rects(diagram: &Diagram<'_>) -> Vec<Rect> {
    let boxes = diagram.boxes.iter().map(|one| (one.x, one.y, one.width, one.height));
    boxes.collect()
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.0 < b.0 + b.2 && b.0 < a.0 + a.2 && a.1 < b.1 + b.3 && b.1 < a.1 + a.3
}

/// Boxes apart, everything inside, arrows downwards, and no straight stretch of an arrow through a box.
fn is_tidy(diagram: &Diagram<'_>) {
    let rects = rects(diagram);
    for (index, a) in rects.iter().enumerate() {
        assert!(
            a.0 >= 0 && a.1 >= 0 && a.0 + a.2 <= diagram.width && a.1 + a.3 <= diagram.height,
            "{a:?}"
        );
        for b in rects.iter().skip(index + 1) {
            assert!(!overlap(*a, *b), "{a:?} {b:?}");
        }
    }
    for frame in &diagram.frames {
        let frame = (frame.x, frame.y, frame.width, frame.height);
        for a in &rects {
            let inside =
                a.0 >= frame.0 && a.0 + a.2 <= frame.0 + frame.2 && a.1 >= frame.1 && a.1 + a.3 <= frame.1 + frame.3;
            assert!(inside || !overlap(frame, *a), "{frame:?} {a:?}");
        }
    }
    for line in &diagram.lines {
        let steps = line.points.iter().zip(line.points.iter().skip(1));
        for (index, (from, to)) in steps.enumerate() {
            assert!(to.1 >= from.1, "{line:?}");
            if index % 2 == 0 {
                assert_eq!(from.0, to.0, "{line:?}");
                for a in &rects {
                    let crosses = from.0 > a.0 && from.0 < a.0 + a.2 && from.1.max(a.1) < to.1.min(a.1 + a.3);
                    assert!(!crosses, "{line:?} {a:?}");
                }
            }
        }
    }
    for boxed in &diagram.boxes {
        if let Some((inside, x, y)) = &boxed.inside {
            assert!(x + inside.width <= boxed.width && y + inside.height <= boxed.height);
            is_tidy(inside);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn nothing_overlaps_in_any_picture(
        steps in prop::collection::vec((prop::collection::vec(0usize..12, 0..4), 0usize..4, prop::bool::ANY), 1..12),
        mode in prop::sample::select(vec!["sequential", "dag", "parallel"]),
    ) {
        let mut text = format!("execution: {mode}\nsteps:\n");
        for (index, (needs, group, nests)) in steps.iter().enumerate() {
            let needs: Vec<usize> = needs.iter().copied().filter(|on| *on < index && mode != "parallel").collect();
            let work = if *nests { "workflow: below" } else { "agent: a" };
            let group = match mode {
                "parallel" => format!(", parallel_group: g{}", index / 3),
                "dag" if *group > 0 => format!(", parallel_group: g{group}"),
                _ => String::new(),
            };
            text.push_str(&format!("- {{{work}, needs: {needs:?}{group}}}\n"));
        }
        let project = Project::new(&[("below", SCAN), ("w", &text)]);
        let plan = project.plan("w");
        is_tidy(&diagram(&plan, &|_, step| (120 + 7 * i64::try_from(step.index).unwrap_or(0), 90)));
        prop_assert!(svg(&plan).ends_with("</svg>\n") && mermaid(&plan).ends_with("  end\n"));
    }
}

#[test]
fn a_thousand_steps_are_drawn_in_time() {
    let mut steps = String::from("execution: dag\nsteps:\n- {agent: a}\n");
    for index in 1..1000 {
        steps.push_str(&format!("- {{agent: a, needs: [0, {}]}}\n", index - 1));
    }
    let project = Project::new(&[("w", &steps)]);
    let limits = crate::workflows::check::Limits {
        max_steps: 10_000,
        ..crate::workflows::testing::LIMITS
    };
    let plan = project.checked("w", limits).expect("a plan");
    let start = std::time::Instant::now();
    let drawn = svg(&plan);
    assert!(
        start.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    assert!(drawn.matches("<path class=\"uses\"").count() > 1000);
}
