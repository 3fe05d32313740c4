//! What a run of a workflow, with all below it, may use: one ledger for the whole tree.
//!
//! Pure. INVARIANT: nothing is ever given back but a parallel slot; what was used before a crash is used.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::price::Money;
use crate::settings::{Key, Settings};
use crate::store::Millis;
use crate::workflows::Author;

/// What it may use. Kept with the run: a change of the configuration counts for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub max_steps: u64,
    pub max_parallel: u64,
    pub max_runtime_mins: u64,
    /// Absent: no bound.
    pub max_cost: Option<Money>,
}

impl Budget {
    /// That of the configuration. What an agent wrote has the smaller one, and never more than a person's.
    #[must_use]
    pub fn of(settings: &Settings, author: Author) -> Self {
        let number = |key| settings.number(key).unwrap_or(1);
        let least = |own, general| number(own).min(number(general));
        let max_cost = settings.number(Key::BudgetCostCents).map(Money::cents);
        match author {
            Author::Person => Self {
                max_steps: number(Key::BudgetSteps),
                max_parallel: number(Key::BudgetParallel),
                max_runtime_mins: number(Key::BudgetRuntimeMins),
                max_cost,
            },
            Author::Agent => Self {
                max_steps: least(Key::GeneratedSteps, Key::BudgetSteps),
                max_parallel: least(Key::GeneratedParallel, Key::BudgetParallel),
                max_runtime_mins: least(Key::GeneratedRuntimeMins, Key::BudgetRuntimeMins),
                max_cost,
            },
        }
    }

    pub(super) fn max_runtime(&self) -> Duration {
        Duration::from_secs(self.max_runtime_mins.saturating_mul(60))
    }
}

/// What was used so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    budget: Budget,
    /// Begun, ever.
    steps: u64,
    /// Agents that run now.
    running: u64,
    /// Before this driver began.
    used: Duration,
    since: Millis,
    cost: Money,
    /// Steps whose cost nobody knows.
    unpriced: u64,
    /// What may be spent; grows when somebody says so.
    allowed: Option<Money>,
}

/// Whether one more step may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    Begin,
    /// As many run as may.
    Wait,
    NoSteps,
    /// More was spent than is allowed: somebody has to say whether to go on.
    Cost,
}

/// As documented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExecutionBudget {
    pub steps_remaining: u64,
    pub parallel_slots: u64,
    /// In UTC.
    pub runtime_deadline: String,
    pub cost_remaining_usd: Option<f64>,
}

impl Ledger {
    #[must_use]
    pub fn new(budget: Budget, allowed: Option<Money>, used: Duration, since: Millis) -> Self {
        Self {
            budget,
            steps: 0,
            running: 0,
            used,
            since,
            cost: Money::default(),
            unpriced: 0,
            allowed,
        }
    }

    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// May a step begin that is an agent's (and takes a slot)?
    #[must_use]
    pub fn may_run(&self) -> May {
        match self.may_open() {
            May::Begin if self.running >= self.budget.max_parallel => May::Wait,
            other @ (May::Begin | May::Wait | May::NoSteps | May::Cost) => other,
        }
    }

    /// May a step begin that is a workflow? It takes no slot, or its own steps could have none.
    #[must_use]
    pub fn may_open(&self) -> May {
        if self.is_over_cost() {
            May::Cost
        } else if self.steps >= self.budget.max_steps {
            May::NoSteps
        } else {
            May::Begin
        }
    }

    pub fn began(&mut self, kind: Kind) {
        self.steps += 1;
        match kind {
            Kind::Agent => self.running += 1,
            Kind::Workflow => {}
        }
    }

    /// An agent's step is over.
    pub fn ended(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    pub fn spent(&mut self, cost: Option<Money>) {
        match cost {
            Some(cost) => self.cost = self.cost.plus(cost),
            None => self.unpriced += 1,
        }
    }

    #[must_use]
    pub fn cost(&self) -> Money {
        self.cost
    }

    #[must_use]
    pub fn unpriced(&self) -> u64 {
        self.unpriced
    }

    #[must_use]
    pub fn is_over_cost(&self) -> bool {
        self.allowed.is_some_and(|allowed| self.cost > allowed)
    }

    /// Somebody lets it go on: once more as much as the budget says, from here.
    pub fn allow(&mut self) -> Option<Money> {
        self.allowed = self.budget.max_cost.map(|more| self.cost.plus(more));
        self.allowed
    }

    #[must_use]
    pub fn allowed(&self) -> Option<Money> {
        self.allowed
    }

    /// Another driver goes on now; so much time was used before.
    pub fn goes_on(&mut self, used: Duration, now: Millis) {
        (self.used, self.since) = (used, now);
    }

    /// It stood still for so long, waiting for somebody's word: that does not count.
    pub fn rested(&mut self, time: Duration) {
        self.since = self.since.after(time);
    }

    /// When everything ends.
    #[must_use]
    pub fn deadline(&self) -> Millis {
        self.since.after(self.budget.max_runtime().saturating_sub(self.used))
    }

    /// The time that was used until now.
    #[must_use]
    pub fn elapsed(&self, now: Millis) -> Duration {
        self.used + now.since(self.since)
    }

    #[must_use]
    pub fn view(&self) -> ExecutionBudget {
        let left = |allowed: Money| allowed.dollars() - self.cost.dollars();
        ExecutionBudget {
            steps_remaining: self.budget.max_steps.saturating_sub(self.steps),
            parallel_slots: self.budget.max_parallel.saturating_sub(self.running),
            runtime_deadline: crate::clock::Moment::from_seconds(self.deadline().0 / 1000).to_string(),
            cost_remaining_usd: self.allowed.map(left),
        }
    }
}

/// What kind of step begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Agent,
    Workflow,
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
