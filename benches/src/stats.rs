//! Quantiles, and how far a ratio of medians can be trusted. Pure.
//!
//! Medians, not means: a start disturbed by another process is longer, never shorter.

use crate::rng::Rng;
use std::time::Duration;

const RESAMPLES: usize = 1000;

/// Durations in milliseconds. Sorted and never empty: only `of` makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples(Vec<f64>);

/// A ratio of two medians, with the interval that holds 95 % of its resampled values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Samples {
    pub fn of(durations: &[Duration]) -> Option<Self> {
        if durations.is_empty() {
            return None;
        }
        let mut millis: Vec<f64> = durations.iter().map(|d| d.as_secs_f64() * 1000.0).collect();
        millis.sort_by(f64::total_cmp);
        Some(Samples(millis))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never true; here because `len` is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn median(&self) -> f64 {
        quantile(&self.0, 0.5)
    }

    pub fn p10(&self) -> f64 {
        quantile(&self.0, 0.1)
    }

    pub fn p90(&self) -> f64 {
        quantile(&self.0, 0.9)
    }

    /// The same, each shorter by so many milliseconds.
    #[must_use]
    pub fn less(&self, millis: f64) -> Self {
        Samples(self.0.iter().map(|sample| sample - millis).collect())
    }

    fn resampled_median(&self, rng: &mut Rng) -> f64 {
        let mut again: Vec<f64> = (0..self.0.len())
            .filter_map(|_| self.0.get(rng.below(self.0.len())).copied())
            .collect();
        again.sort_by(f64::total_cmp);
        quantile(&again, 0.5)
    }
}

/// The quantile of sorted values, linear between neighbours; NaN when there are none.
pub fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = fraction.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    match (sorted.get(below), sorted.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * (position - below as f64),
        (None, _) | (_, None) => f64::NAN,
    }
}

/// `median(of) / median(to)`, with a percentile bootstrap from a fixed seed.
pub fn ratio_of_medians(of: &Samples, to: &Samples) -> Ratio {
    let mut rng = Rng::seeded(0x6c65_6531);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| of.resampled_median(&mut rng) / to.resampled_median(&mut rng))
        .collect();
    ratios.sort_by(f64::total_cmp);
    Ratio {
        value: of.median() / to.median(),
        low: quantile(&ratios, 0.025),
        high: quantile(&ratios, 0.975),
    }
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
