//! How a policy writes a time.
//!
//! Pure.

use std::time::Duration;

/// Minutes as they are read (`value::runtime`): no digit more than it takes to be read back to the millisecond.
#[must_use]
pub fn minutes(time: Duration) -> String {
    let exact = time.as_millis() as f64 / 60_000.0;
    let same = |text: &String| {
        text.parse()
            .is_ok_and(|minutes: f64| (minutes - exact).abs() < 0.4 / 60_000.0)
    };
    let mut shorter = (0..8).map(|digits| format!("{exact:.digits$}"));
    shorter.find(same).unwrap_or_else(|| exact.to_string())
}

#[cfg(test)]
#[path = "minutes_tests.rs"]
mod tests;
