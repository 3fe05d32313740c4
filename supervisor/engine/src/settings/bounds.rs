//! How long one task may take and how much of its output is kept: the most specific word counts, never above the policy's.
//!
//! Pure. A definition that is not trusted can lower its default, and not raise it.

use std::time::Duration;

use glee_policy::ResolvedPolicy;

use super::{Key, Settings};
use crate::definitions::Definition;
use crate::trust::Standing;

/// What an agent has that says nothing about its time, where the configuration says nothing either.
pub const AGENT_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// What an agent has that says nothing about its output.
pub const AGENT_OUTPUT_KB: u64 = 100;

/// The bounds of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub timeout: Duration,
    pub max_output_kb: u64,
}

/// The bounds of a task, by its agent (and how that stands), the configuration that counts, and the policy of the run.
#[must_use]
pub fn bounds(agent: Option<(&Definition, Standing)>, settings: &Settings, policy: &ResolvedPolicy) -> Bounds {
    let configured = Duration::from_millis(settings.number(Key::TimeoutMs).unwrap_or(u64::MAX));
    let timeout = match agent {
        Some((agent, standing)) => agent.timeout.map(|own| may_raise(own, AGENT_TIMEOUT, standing)),
        None => None,
    };
    let general = if agent.is_some() && !settings.is_written(Key::TimeoutMs) {
        AGENT_TIMEOUT
    } else {
        configured
    };
    let timeout = timeout.unwrap_or(general);
    let output = agent.and_then(|(agent, standing)| {
        let own = agent.max_output_kb?;
        Some(may_raise(own, AGENT_OUTPUT_KB, standing))
    });
    let output = output.unwrap_or_else(|| settings.number(Key::MaxOutputKb).unwrap_or(AGENT_OUTPUT_KB));
    Bounds {
        timeout: policy.max_runtime.map_or(timeout, |most| most.min(timeout)),
        max_output_kb: policy.limits.output_kb.map_or(output, |most| most.min(output)),
    }
}

fn may_raise<T: Ord>(own: T, default: T, standing: Standing) -> T {
    match standing {
        Standing::Trusted => own,
        Standing::Changed | Standing::Untrusted => own.min(default),
    }
}

/// What a definition asks for above its defaults: counts only if it is trusted.
#[must_use]
pub fn beyond(agent: &Definition) -> Vec<(String, String)> {
    let minutes = |time: Duration| time.as_secs_f64() / 60.0;
    let timeout = agent.timeout.filter(|own| *own > AGENT_TIMEOUT).map(|own| {
        (
            format!("timeout_mins {}", minutes(own)),
            format!("default: {}", minutes(AGENT_TIMEOUT)),
        )
    });
    let output = agent
        .max_output_kb
        .filter(|own| *own > AGENT_OUTPUT_KB)
        .map(|own| (format!("max_output_kb {own}"), format!("default: {AGENT_OUTPUT_KB}")));
    timeout.into_iter().chain(output).collect()
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
