//! What steps cost, as far as that is known: tokens by the prices of the configuration.
//!
//! Pure. There are no prices but those that somebody wrote: without one the cost of a step is unknown, and that is said.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::definitions::Cli;
use crate::settings::{Key, Settings};

/// Millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    #[must_use]
    pub fn cents(cents: u64) -> Self {
        Self(cents.saturating_mul(10_000))
    }

    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }

    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// What a million tokens cost, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    input: u64,
    output: u64,
}

impl Price {
    /// That of a CLI; `None` unless both halves are written.
    #[must_use]
    pub fn of(settings: &Settings, cli: Cli) -> Option<Self> {
        Some(Self {
            input: settings.number(Key::InputPrice(cli))?,
            output: settings.number(Key::OutputPrice(cli))?,
        })
    }

    /// Rounded up: what is used is never free.
    #[must_use]
    pub fn cost(self, input: u64, output: u64) -> Money {
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = of(input, self.input).saturating_add(of(output, self.output));
        Money(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// The cost of what this CLI says it used; `None` if it does not say, or its price is not written.
#[must_use]
pub fn cost(settings: &Settings, cli: Cli, input: Option<u64>, output: Option<u64>) -> Option<Money> {
    if input.is_none() && output.is_none() {
        return None;
    }
    let price = Price::of(settings, cli)?;
    Some(price.cost(input.unwrap_or(0), output.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_costs_what_its_tokens_cost_rounded_up() {
        let price = Price {
            input: 1_250_000,
            output: 10_000_000,
        };
        assert_eq!(price.cost(1_000_000, 100_000), Money(2_250_000));
        assert_eq!(price.cost(1, 0), Money(2));
        assert_eq!(price.cost(0, 0), Money(0));
        assert_eq!(price.cost(u64::MAX, u64::MAX), Money(u64::MAX));
        assert_eq!(Money(2_250_000).to_string(), "$2.250000");
    }
}
