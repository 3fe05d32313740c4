//! A plan as a mermaid flowchart.

use std::collections::BTreeMap;

use super::text::facts;
use super::{Arrow, End, edges, group, title};
use crate::text::visible;
use crate::workflows::check::{Does, Plan, PlanStep};
use crate::workflows::name::GroupName;

/// The whole tree, a workflow below as a subgraph.
#[must_use]
pub fn mermaid(plan: &Plan) -> String {
    let about = format!(
        "{}: {} ({})",
        plan.workflow.name,
        plan.workflow.description,
        facts(plan)
    );
    let mut out = String::from("flowchart TD\n");
    out.push_str(&format!("  subgraph w [\"{}\"]\n", escape(&about)));
    body(plan, "s", 2, &mut out);
    out.push_str("  end\n");
    out
}

fn body(plan: &Plan, above: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let mut groups: BTreeMap<&GroupName, Vec<&PlanStep>> = BTreeMap::new();
    for step in &plan.steps {
        match group(plan, step) {
            Some(name) => groups.entry(name).or_default().push(step),
            None => node(plan, step, above, depth, out),
        }
    }
    for (name, steps) in groups {
        out.push_str(&format!(
            "{indent}subgraph {} [\"group {name}\"]\n",
            group_id(above, name)
        ));
        for step in steps {
            node(plan, step, above, depth + 1, out);
        }
        out.push_str(&format!("{indent}end\n"));
    }
    for edge in edges(plan) {
        let arrow = match edge.arrow {
            Arrow::Uses => "-->",
            Arrow::Follows => "-.->",
        };
        out.push_str(&format!(
            "{indent}{} {arrow} {}\n",
            id(above, &edge.from),
            id(above, &edge.to)
        ));
    }
}

fn node(plan: &Plan, step: &PlanStep, above: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let name = title(plan, step);
    let own = id(above, &End::Step(step.index));
    let who = match &step.does {
        Does::Agent(agent) if agent.as_str() == name => String::new(),
        Does::Agent(agent) => format!(" · agent {agent}"),
        Does::Cli(cli) => format!(" · CLI {cli}"),
        Does::Workflow(below) => {
            let label = format!(
                "{}: {name} · workflow {} ({})",
                step.index,
                below.workflow.name,
                facts(below)
            );
            out.push_str(&format!("{indent}subgraph {own} [\"{}\"]\n", escape(&label)));
            body(below, &format!("{own}_"), depth + 1, out);
            out.push_str(&format!("{indent}end\n"));
            return;
        }
    };
    let label = format!("{}: {name}{who}", step.index);
    out.push_str(&format!("{indent}{own}[\"{}\"]\n", escape(&label)));
}

fn id(above: &str, end: &End) -> String {
    match end {
        End::Step(index) => format!("{above}{index}"),
        End::Group(name) => group_id(above, name),
    }
}

/// Names have hyphens, which an id had better not have.
fn group_id(above: &str, name: &GroupName) -> String {
    let tame = name.as_str().replace('_', "__").replace('-', "_h");
    format!("{above}g_{tame}")
}

/// Between the quotes of a label everything but plain words is written as a character's number.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | ':' | '-' | '_' | '(' | ')' | '·' | '?' | '!') {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", u32::from(c)));
        }
    }
    out
}
