//! How steps and runs end: from what came of a task, by the rules, and as a whole.

use super::drive::Driver;
use super::error::RunError;
use super::halt::Halt;
use super::machine::{NodeId, Why, is_failure};
use super::onlooker::{Event, Onlooker};
use super::price::{self, Money};
use super::view::{self, Ending, RunView};
use crate::definitions::Cli;
use crate::label::Label;
use crate::settings::Settings;
use crate::settings::store as configuration;
use crate::store::{Below, FlowState, Millis, StepState, StoreError, Used};
use crate::tasks::{News, Outcome, Word};
use crate::workflows::{StepResult, StepStatus};

/// The most of a workflow's output that is kept.
const MOST_OUTPUT: usize = 4 << 20;

impl Driver<'_> {
    /// The result of a step: what was said, or why nothing was.
    pub(super) fn result(
        &self,
        id: NodeId,
        status: StepStatus,
        said: Result<String, String>,
        duration_ms: u64,
    ) -> StepResult {
        let spot = self.tree.spot(id);
        let (output, error) = match said {
            Ok(output) => (Some(output), None),
            Err(error) => (None, Some(error)),
        };
        StepResult {
            status,
            output,
            error,
            duration_ms,
            agent: spot.map(|spot| spot.who()).unwrap_or_default(),
            step_index: spot.map_or(0, |spot| spot.index),
        }
    }

    /// Looks once at the tasks. True if any step has ended: its task, and all that this has asked for.
    pub(super) fn wait(&mut self, onlooker: &mut dyn Onlooker) -> Result<bool, RunError> {
        let mut over: Vec<(NodeId, Outcome)> = Vec::new();
        let tree = self.tree.clone();
        self.watch.turn(&mut |node, news| match news {
            News::Progress(progress) => {
                let node = NodeId(node);
                onlooker.tell(&tree, Event::Progress { node, progress });
            }
            News::Over(outcome) => over.push((NodeId(node), *outcome)),
        })?;
        if over.is_empty() && self.ending.is_empty() {
            return Ok(false);
        }
        // Prices that cannot be read are no reason to lose what was said.
        let settings = configuration::load(self.desk.scene()).map(|loaded| loaded.settings);
        let settings = settings.unwrap_or_default();
        let mut ends = Vec::new();
        let waited = std::mem::take(&mut self.ending);
        let fresh = over.into_iter().map(|over| (over, Seen::First));
        for ((id, outcome), seen) in waited.into_iter().map(|over| (over, Seen::Again)).chain(fresh) {
            let below = self.below(&outcome, seen)?;
            if below.open > 0 {
                self.ending.push((id, outcome));
                continue;
            }
            self.running.retain(|(running, _)| *running != id);
            let used = used(&outcome, &below, &settings);
            self.ledger.ended();
            self.ledger.spent(used.cost.map(Money));
            let result = self.came_to(id, outcome);
            ends.push((id, result, used));
        }
        let has_ended = !ends.is_empty();
        self.ended(ends, onlooker)?;
        Ok(has_ended)
    }

    /// What a task has asked for. It ends with the task, whatever became of the worker that should see to it.
    fn below(&self, outcome: &Outcome, seen: Seen) -> Result<Below, RunError> {
        let Some(task) = &outcome.task_id else {
            return Ok(Below::default());
        };
        let below = self.desk.store().below(task)?;
        if below.open > 0 && seen == Seen::First {
            self.desk.cancel(task)?;
        }
        Ok(below)
    }

    /// What a task came to.
    pub(super) fn came_to(&self, id: NodeId, outcome: Outcome) -> StepResult {
        let why = outcome.error.unwrap_or_else(|| "it failed".into());
        let (status, said) = match (outcome.status, self.halted) {
            (Word::Completed, _) => (StepStatus::Success, Ok(outcome.output.unwrap_or_default())),
            (Word::Cancelled, Some(Halt::Time)) => (StepStatus::Timeout, Err(Halt::Time.words(&self.ledger))),
            (Word::Timeout, _) => (StepStatus::Timeout, Err(why)),
            (Word::Error | Word::Cancelled, _) => (StepStatus::Error, Err(why)),
        };
        self.result(id, status, said, outcome.duration_ms)
    }

    /// A step that the rules end.
    pub(super) fn by_rule(&self, id: NodeId, status: StepStatus, why: Why) -> Result<StepResult, RunError> {
        let path = |id: NodeId| self.tree.spot(id).map(|spot| spot.path.clone()).unwrap_or_default();
        let skipped = |why: String| self.result(id, status, Err(why), 0);
        Ok(match why {
            Why::Depends(on) => skipped(format!("skipped: {} did not succeed", path(on))),
            Why::Stopped(by) => skipped(format!("skipped: {} failed and stopped the workflow", path(by))),
            Why::Above(owner) => skipped(format!("skipped with {}", path(owner))),
            Why::Halted => {
                let words = self.halted.map(|halt| halt.words(&self.ledger)).unwrap_or_default();
                skipped(format!("skipped: {words}"))
            }
            Why::Inner => {
                let said = match status {
                    StepStatus::Success => Ok(self.output(Some(id))),
                    StepStatus::Error | StepStatus::Timeout | StepStatus::Skipped => Err(self.reason(Some(id))),
                };
                let begun = self.desk.store().flow_steps(&self.id)?;
                let begun = begun.get(id.0).and_then(|step| step.started_at);
                let took = begun.map(|begun| Millis::now().since(begun).as_millis());
                self.result(id, status, said, u64::try_from(took.unwrap_or(0)).unwrap_or(u64::MAX))
            }
        })
    }

    /// What a workflow says: in a sequence what its last successful step said; else what the steps said that nothing waits
    /// for, as it is if there is one, as a list in JSON if there are more.
    fn output(&self, id: Option<NodeId>) -> String {
        let last = self.machine.last(id);
        let said = |id: &NodeId| self.results.get(id.0)?.as_ref()?.output.clone();
        let output = match last.as_slice() {
            [] => String::new(),
            [one] => said(one).unwrap_or_default(),
            many => {
                let all: Vec<Option<String>> = many.iter().map(said).collect();
                serde_json::to_string(&all).unwrap_or_default()
            }
        };
        crate::tasks::output::HeadTail::of(&output, MOST_OUTPUT)
    }

    /// Why a workflow failed: the first of its steps that did.
    fn reason(&self, id: Option<NodeId>) -> String {
        if let Some(halt) = self.halted {
            return halt.words(&self.ledger);
        }
        let failed = self.tree.spots.iter().zip(&self.results).find_map(|(spot, result)| {
            let result = result.as_ref().filter(|result| is_failure(result.status))?;
            let is_own = spot.owner == id;
            is_own.then(|| format!("{}: {}", spot.path, result.error.as_deref().unwrap_or("it failed")))
        });
        failed.unwrap_or_else(|| "it was stopped from above".into())
    }

    /// The run is over.
    pub(super) fn finish(self, status: StepStatus) -> Result<RunView, RunError> {
        let (state, ending) = match (status, self.halted) {
            (StepStatus::Success, _) => {
                let output = Some(self.output(None));
                (FlowState::Success, Ending { output, error: None })
            }
            (StepStatus::Error | StepStatus::Timeout | StepStatus::Skipped, halted) => {
                let error = Some(self.reason(None));
                let state = halted.map_or(FlowState::Error, Halt::state);
                (state, Ending { output: None, error })
            }
        };
        let now = Millis::now();
        let result = serde_json::to_value(&ending).map_err(|_| StoreError::Unreadable)?;
        let mut store = self.desk.store();
        store.finish_flow(&self.id, &self.me, state, &result, self.ledger.elapsed(now), now)?;
        Ok(view::view(store.flow(&self.id)?, store.flow_steps(&self.id)?))
    }
}

/// Whether a task was found over before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    First,
    Again,
}

/// What a task took, with all that it has asked for. What nobody counted or has a price for adds nothing.
fn used(outcome: &Outcome, below: &Below, settings: &Settings) -> Used {
    let one = |cli: Option<&str>, input: Option<u64>, output: Option<u64>| {
        let (input_tokens, output_tokens) = (plus(input, None), plus(output, None));
        let cli = cli.and_then(Cli::named);
        let cost = cli.and_then(|cli| price::cost(settings, cli, input_tokens, output_tokens));
        Used {
            input_tokens,
            output_tokens,
            cost: cost.map(|money| money.0),
        }
    };
    let facts = &outcome.facts;
    let own = one(outcome.cli.as_deref(), facts.input_tokens, facts.output_tokens);
    below.spent.iter().fold(own, |sum, spent| {
        let more = one(
            spent.cli.as_ref().map(Label::as_str),
            spent.input_tokens,
            spent.output_tokens,
        );
        Used {
            input_tokens: plus(sum.input_tokens, more.input_tokens),
            output_tokens: plus(sum.output_tokens, more.output_tokens),
            cost: plus(sum.cost, more.cost),
        }
    })
}

/// Nothing known and something known is what is known. Never more than the journal can hold.
fn plus(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    const MOST: u64 = i64::MAX.unsigned_abs();
    let sum = |one: u64, other: u64| one.saturating_add(other).min(MOST);
    one.or(other).map(|_| sum(one.unwrap_or(0), other.unwrap_or(0)))
}

pub(super) fn state(status: StepStatus) -> StepState {
    match status {
        StepStatus::Success => StepState::Success,
        StepStatus::Error => StepState::Error,
        StepStatus::Timeout => StepState::Timeout,
        StepStatus::Skipped => StepState::Skipped,
    }
}
