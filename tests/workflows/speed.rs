//! What scheduling costs: a thousand steps, and the time beyond the runs themselves.
//!
//! Printed always; held to the promise with `GLEE_SOAK=full`, on a machine that does nothing else.

use glee_tests::Caller;
use serde_json::{Value, json};

use crate::place::Place;

#[test]
fn a_thousand_steps_cost_little_beyond_their_runs() {
    let is_full = std::env::var("GLEE_SOAK").is_ok_and(|size| size == "full");
    let count: usize = if is_full { 1000 } else { 60 };
    let at = Place::of(Caller::Root);
    at.trusted("workflows:\n  budgets: {max_steps: 2000, max_parallel: 2, max_runtime_mins: 60}\n");
    let step = "  - {agent: stub, prompt: 'stub: say x'}\n";
    for (name, mode) in [("one-by-one", "sequential"), ("at-once", "dag")] {
        at.workflow(name, &format!("execution: {mode}\nsteps:\n{}", step.repeat(count)));
        let (status, view) = at.run(name, &[]);
        assert_eq!(
            (status, &view["status"]),
            (Some(0), &json!("success")),
            "{}",
            view["error"]
        );
        let list = view["steps"].as_array().expect("steps");
        let ran: u64 = list
            .iter()
            .filter_map(|step| step["result"]["duration_ms"].as_u64())
            .sum();
        let whole = view["duration_ms"].as_u64().expect("a number");
        // Two at once: the runs themselves take half of their sum.
        let ran = if mode == "dag" { ran / 2 } else { ran };
        let each = whole.saturating_sub(ran) as f64 / count as f64;
        println!("{name}: {count} steps in {whole} ms, {ran} ms of them their runs: {each:.2} ms a step beyond");
        assert!(list.iter().all(|step: &Value| step["state"] == "success"));
        assert!(!is_full || each <= 5.0, "{each:.2} ms a step");
    }
}
