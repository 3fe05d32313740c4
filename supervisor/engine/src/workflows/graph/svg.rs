//! A plan as an SVG that needs nothing else: no script, no font, no other file.

use super::layout::{Boxed, Diagram, Line, diagram};
use super::text::facts;
use super::{Arrow, title, worker};
use crate::text::visible;
use crate::workflows::check::{Does, Plan, PlanStep};

/// The longest word that is shown whole; the rest is in the tooltip.
const LONGEST: usize = 40;
const LONGEST_LINE: usize = 90;
/// The widths of a letter of the fixed-width font, large and small.
const LARGE: i64 = 8;
const SMALL: i64 = 7;
const MARGIN: i64 = 24;
const TOP: i64 = 92;

const STYLE: &str = "\
text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:13px;fill:#1f2328}\
.title{font-size:17px;font-weight:bold}.head{font-weight:bold}.small{font-size:11px;fill:#57606a}\
.page{fill:#ffffff}.step{fill:#ddf4ff;stroke:#0969da}.cli{fill:#fff8c5;stroke:#9a6700}\
.flow{fill:#8b949e;fill-opacity:.12;stroke:#57606a}\
.frame{fill:none;stroke:#8250df;stroke-dasharray:5 4}.group{font-size:11px;fill:#8250df}\
.uses{fill:none;stroke:#1f2328;stroke-width:1.4}.follows{fill:none;stroke:#6e7781;stroke-width:1.2;stroke-dasharray:3 4}\
.tip{fill:#1f2328}.late{fill:#6e7781}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9ea7b3}.page{fill:#0d1117}\
.step{fill:#0c2d6b;stroke:#58a6ff}.cli{fill:#3b2300;stroke:#d29922}.flow{stroke:#8b949e}\
.frame{stroke:#bc8cff}.group{fill:#bc8cff}.uses{stroke:#e6edf3}.follows{stroke:#8b949e}.tip{fill:#e6edf3}.late{fill:#8b949e}}";

/// The whole tree, a workflow below inside the box of its step.
#[must_use]
pub fn svg(plan: &Plan) -> String {
    let diagram = diagram(plan, &|plan, step| {
        let (heading, small) = words(plan, step);
        (width(&heading, LARGE), width(&small, SMALL))
    });
    let about = short(&visible(&plan.workflow.description), LONGEST_LINE);
    let left_out = left_out(&diagram);
    let mut lines = vec![facts(plan)];
    if left_out > 0 {
        lines.push(format!("{left_out} arrows over several rows are left out"));
    }
    let facts = short(&lines.join(" · "), LONGEST_LINE);
    let texts = [
        width(plan.workflow.name.as_str(), 11),
        width(&about, LARGE),
        width(&facts, SMALL),
    ];
    let inner = texts.into_iter().fold(diagram.width, i64::max);
    let (wide, high) = (inner + 2 * MARGIN, TOP + diagram.height + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<defs>{}{}</defs>\n\
         <rect class=\"page\" width=\"{wide}\" height=\"{high}\"/>\n",
        escape(&format!("{}: {}", plan.workflow.name, plan.workflow.description)),
        tip("uses", "tip"),
        tip("follows", "late"),
    );
    words_at(&mut out, MARGIN, 34, "title", plan.workflow.name.as_str());
    words_at(&mut out, MARGIN, 54, "about", &about);
    words_at(&mut out, MARGIN, 72, "small", &facts);
    let left = MARGIN + (inner - diagram.width) / 2;
    draw(&diagram, left, TOP, &mut out);
    out.push_str("</svg>\n");
    out
}

fn tip(id: &str, class: &str) -> String {
    format!(
        "<marker id=\"{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" markerHeight=\"9\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}\" d=\"M0 1L10 5L0 9z\"/></marker>"
    )
}

fn left_out(diagram: &Diagram<'_>) -> usize {
    let below = diagram.boxes.iter().filter_map(|boxed| boxed.inside.as_ref());
    diagram.left_out + below.map(|(inside, _, _)| left_out(inside)).sum::<usize>()
}

/// The heading of a step, and what is smaller below it.
fn words(plan: &Plan, step: &PlanStep) -> (String, String) {
    let name = title(plan, step);
    let mut small = match &step.does {
        Does::Agent(agent) if agent.as_str() == name => "agent".to_owned(),
        Does::Agent(agent) => format!("agent {}", short(agent.as_str(), LONGEST)),
        Does::Cli(cli) => format!("CLI {cli}"),
        Does::Workflow(below) if worker(step) == name => format!("workflow · {}", facts(below)),
        Does::Workflow(below) => format!("workflow {} · {}", short(worker(step), LONGEST), facts(below)),
    };
    if step.on_error != plan.workflow.execution.on_error() {
        small.push_str(&format!(" · on error: {}", step.on_error.word()));
    }
    (
        format!("{} {}", step.index, short(&name, LONGEST)),
        short(&small, LONGEST_LINE),
    )
}

fn draw(diagram: &Diagram<'_>, left: i64, top: i64, out: &mut String) {
    for frame in &diagram.frames {
        let (x, y) = (left + frame.x, top + frame.y);
        out.push_str(&format!(
            "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
            frame.width, frame.height
        ));
        let name = format!("group {}", short(frame.name.as_str(), LONGEST));
        words_at(out, x + 12, y + 17, "group", &name);
    }
    for boxed in &diagram.boxes {
        draw_box(boxed, left, top, out);
    }
    for line in &diagram.lines {
        draw_line(line, left, top, out);
    }
}

fn draw_box(boxed: &Boxed<'_>, left: i64, top: i64, out: &mut String) {
    let (x, y) = (left + boxed.x, top + boxed.y);
    let class = match &boxed.step.does {
        Does::Agent(_) => "step",
        Does::Cli(_) => "cli",
        Does::Workflow(_) => "flow",
    };
    let (heading, small) = words(boxed.plan, boxed.step);
    let full = format!(
        "{}[{}] {}",
        boxed.plan.workflow.name,
        boxed.step.index,
        title(boxed.plan, boxed.step)
    );
    out.push_str(&format!(
        "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        escape(&full),
        boxed.width,
        boxed.height
    ));
    words_at(out, x + 14, y + 21, "head", &heading);
    words_at(out, x + 14, y + 38, "small", &small);
    out.push_str("</g>\n");
    if let Some((inside, dx, dy)) = &boxed.inside {
        draw(inside, x + dx, y + dy, out);
    }
}

fn draw_line(line: &Line, left: i64, top: i64, out: &mut String) {
    let class = match line.arrow {
        Arrow::Uses => "uses",
        Arrow::Follows => "follows",
    };
    let mut path = String::new();
    let mut last: Option<(i64, i64)> = None;
    for (index, (x, y)) in line.points.iter().map(|(x, y)| (left + x, top + y)).enumerate() {
        match last {
            None => path.push_str(&format!("M{x} {y}")),
            // Every second stretch leads from row to row.
            Some((from_x, from_y)) if index % 2 == 0 && from_x != x => {
                let middle = (from_y + y) / 2;
                path.push_str(&format!("C{from_x} {middle} {x} {middle} {x} {y}"));
            }
            Some(_) => path.push_str(&format!("L{x} {y}")),
        }
        last = Some((x, y));
    }
    out.push_str(&format!(
        "<path class=\"{class}\" marker-end=\"url(#{class})\" d=\"{path}\"/>\n"
    ));
}

fn words_at(out: &mut String, x: i64, y: i64, class: &str, words: &str) {
    out.push_str(&format!(
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n",
        escape(words)
    ));
}

fn width(text: &str, letter: i64) -> i64 {
    // What is not ASCII may be twice as wide.
    let units: usize = text
        .chars()
        .map(|c| if c.is_ascii() || c == '·' || c == '…' { 1 } else { 2 })
        .sum();
    i64::try_from(units).unwrap_or(i64::MAX / 64) * letter
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// Text between tags. What XML cannot hold at all is made visible first.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
