//! A workflow as whoever is asked about it is shown: everything that its file says, made harmless.
//!
//! Pure. INVARIANT: nothing that has a say in a run is left out or cut.

use super::model::Workflow;
use super::view::{ShownStep, show};
use crate::definitions::view::ShownInput;
use crate::text::{quoted, visible};

/// Everything that it says.
#[must_use]
pub fn page(workflow: &Workflow) -> String {
    let shown = show(workflow, None);
    let mut text = format!(
        "description  {}\nexecution    {}\n",
        visible(&shown.description),
        shown.execution.word()
    );
    shown.inputs.iter().flatten().for_each(|one| input(one, &mut text));
    shown.steps.iter().for_each(|one| step(one, &mut text));
    text
}

fn input(input: &ShownInput, text: &mut String) {
    let rest = match (&input.default, input.required) {
        (Some(_), _) => "if it is not given:",
        (None, true) => "required",
        (None, false) => "optional",
    };
    let about = input.description.as_ref().map(|about| format!(" ({})", visible(about)));
    let (name, about) = (visible(&input.name), about.unwrap_or_default());
    text.push_str(&format!("input {name}{about}, {}, {rest}\n", input.kind));
    text.push_str(&quoted(input.default.as_deref().unwrap_or_default(), "  "));
}

fn step(step: &ShownStep, text: &mut String) {
    let work = match (&step.agent, &step.workflow) {
        (Some(agent), _) => format!("agent {}", visible(agent)),
        (None, Some(workflow)) => format!("workflow {workflow}"),
        (None, None) => String::new(),
    };
    text.push_str(&format!("step {}: {work}", step.step_index));
    if let Some(name) = &step.name {
        text.push_str(&format!(", name {name}"));
    }
    if let Some(group) = &step.parallel_group {
        text.push_str(&format!(", group {group}"));
    }
    if !step.needs.is_empty() {
        text.push_str(&format!(", needs {}", step.needs.join(" ")));
    }
    text.push_str(&format!(", on_error {}\n", step.on_error.word()));
    for (name, value) in &step.inputs {
        text.push_str(&format!("  input {}\n{}", visible(name), quoted(value, "    ")));
    }
    if let Some(prompt) = &step.prompt {
        text.push_str(&format!("  prompt\n{}", quoted(prompt, "    ")));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use std::path::Path;

    use super::*;
    use crate::workflows::parse;

    #[test]
    fn everything_that_the_file_says_is_shown_and_nothing_cut() {
        let long = "b".repeat(5000);
        let text = format!(
            "name: w\ndescription: A\nexecution: dag\ninputs:\n  - {{name: x, default: \"one\\ntwo\"}}\n  - {{name: y, type: integer, required: true}}\nsteps:\n  - {{agent: stub, name: first, prompt: \"say ${{x}}\\u001b\\n{long}\", on_error: continue}}\n  - {{agent: stub, parallel_group: g, needs: [first, 0], inputs: {{to: '${{y}}'}}}}\n"
        );
        let workflow = parse(Path::new("w.yml"), text.as_bytes()).expect("a workflow");
        let whole = format!(
            "description  A\nexecution    dag\ninput x, string, if it is not given:\n  | one\n  | two\ninput y, integer, required\nstep 0: agent stub, name first, on_error continue\n  prompt\n    | say ${{x}}\\u{{1b}}\n    | {long}\nstep 1: agent stub, group g, needs steps.first steps[0], on_error skip_dependents\n  input to\n    | ${{y}}\n"
        );
        assert_eq!(page(&workflow), whole);
    }
}
