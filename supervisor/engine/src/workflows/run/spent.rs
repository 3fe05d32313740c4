//! What a run has spent while its steps are at work: what has ended, and what their agents have asked for.

use super::price::{self, Money};
use crate::definitions::Cli;
use crate::settings::Settings;
use crate::store::{FlowId, Store, StoreError};

/// Has it spent more than it may?
pub(crate) fn is_spent(run: &FlowId, settings: &Settings, store: &Store) -> Result<bool, StoreError> {
    let Some(allowed) = store.flow(run)?.allowed else {
        return Ok(false);
    };
    let mut sum = Money::default();
    for step in store.flow_steps(run)? {
        sum = sum.plus(Money(step.used.cost.unwrap_or(0)));
        let (None, Some(task)) = (step.finished_at, &step.task) else {
            continue;
        };
        for spent in store.below(task)?.spent {
            let cli = spent.cli.and_then(|cli| Cli::named(cli.as_str()));
            let cost = cli.and_then(|cli| price::cost(settings, cli, spent.input_tokens, spent.output_tokens));
            sum = sum.plus(cost.unwrap_or_default());
        }
    }
    Ok(sum > Money(allowed))
}
