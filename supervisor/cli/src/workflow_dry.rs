//! `workflow run --dry`: the plan, the budget, and what needs approval. Runs nothing, writes nothing.

use glee_engine::text::{columns, visible};
use glee_engine::workflows::check::Does;
use glee_engine::workflows::run::price::Money;
use glee_engine::workflows::run::tree::Spot;
use glee_engine::workflows::run::{Asks, Ready};
use serde::Serialize;

use crate::print;

#[derive(Debug, Serialize)]
struct Dry {
    workflow: String,
    inputs: std::collections::BTreeMap<String, String>,
    steps: Vec<DryStep>,
    budget: DryBudget,
    approval: DryApproval,
}

#[derive(Debug, Serialize)]
struct DryStep {
    path: String,
    agent: Option<String>,
    cli: Option<String>,
    workflow: Option<String>,
    stage: usize,
    depends: Vec<usize>,
    on_error: &'static str,
}

#[derive(Debug, Serialize)]
struct DryBudget {
    max_steps: u64,
    max_parallel: u64,
    max_runtime_mins: u64,
    max_cost_usd: Option<f64>,
}

#[derive(Debug, Serialize)]
struct DryApproval {
    /// Workflows that an agent wrote and nobody has approved of.
    workflows: Vec<String>,
    /// Does each step's task need a yes?
    steps: Asks,
}

/// Returns the exit status.
pub(crate) fn dry(ready: &Ready, json: bool) -> i32 {
    let plan = of(ready);
    if json {
        return print::json(&plan, 0);
    }
    let rows: Vec<Vec<String>> = plan.steps.iter().map(row).collect();
    let mut text = columns(&rows, "");
    let cost = plan
        .budget
        .max_cost_usd
        .map_or("no bound on the cost".into(), |most| format!("at most ${most:.2}"));
    text.push_str(&format!(
        "\nbudget    {} of {} steps, {} at once, {} minutes, {cost}\n",
        plan.steps.len(),
        plan.budget.max_steps,
        plan.budget.max_parallel,
        plan.budget.max_runtime_mins,
    ));
    text.push_str(match plan.approval.steps {
        Asks::EachStep => "approval  needed for each step (security.require_approval.subagents)\n",
        Asks::Nothing => "approval  not needed for the steps\n",
    });
    for name in &plan.approval.workflows {
        text.push_str(&format!("approval  needed for `{name}`, which an agent wrote\n"));
    }
    print::bytes(text.as_bytes(), 0)
}

fn of(ready: &Ready) -> Dry {
    let budget = &ready.order.budget;
    Dry {
        workflow: ready.order.workflow.to_string(),
        inputs: ready.order.inputs.clone(),
        steps: ready.tree.spots.iter().filter_map(step).collect(),
        budget: DryBudget {
            max_steps: budget.max_steps,
            max_parallel: budget.max_parallel,
            max_runtime_mins: budget.max_runtime_mins,
            max_cost_usd: budget.max_cost.map(Money::dollars),
        },
        approval: DryApproval {
            workflows: ready
                .unapproved
                .iter()
                .map(|workflow| workflow.name.to_string())
                .collect(),
            steps: ready.asks,
        },
    }
}

fn step(spot: &Spot) -> Option<DryStep> {
    let step = spot.step()?;
    let (agent, cli, workflow) = match &step.does {
        Does::Agent(name) => (Some(name.to_string()), None, None),
        Does::Cli(cli) => (None, Some(cli.to_string()), None),
        Does::Workflow(below) => (None, None, Some(below.workflow.name.to_string())),
    };
    Some(DryStep {
        path: spot.path.clone(),
        agent,
        cli,
        workflow,
        stage: step.stage,
        depends: step.depends.iter().copied().collect(),
        on_error: step.on_error.word(),
    })
}

fn row(step: &DryStep) -> Vec<String> {
    let who = match (&step.agent, &step.cli, &step.workflow) {
        (Some(agent), _, _) => format!("agent {agent}"),
        (None, Some(cli), _) => format!("cli {cli}"),
        (None, None, workflow) => format!("workflow {}", workflow.as_deref().unwrap_or_default()),
    };
    let after: Vec<String> = step.depends.iter().map(ToString::to_string).collect();
    let depends = if after.is_empty() {
        String::new()
    } else {
        format!("after {}", after.join(", "))
    };
    vec![
        visible(&step.path),
        visible(&who),
        format!("stage {}", step.stage),
        depends,
        format!("on_error {}", step.on_error),
    ]
}
