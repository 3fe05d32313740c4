//! A stored report as a line of a list. Reads it tolerantly: keys are only ever added, and old ones have fewer.

use serde::Serialize;
use serde_json::Value;

use super::all;
use crate::audit::place::{PlaceError, State};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub run_id: String,
    pub started_at: Option<String>,
    pub outcome: Option<String>,
    pub exit_code: Option<i64>,
    pub signal: Option<i64>,
    pub duration_ms: Option<u64>,
    pub denials: usize,
    pub policy: Option<String>,
    pub project: Option<String>,
    pub command: Vec<String>,
}

impl Summary {
    #[must_use]
    pub fn of(id: &str, report: &Value) -> Self {
        let text = |pointer: &str| report.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| report.get(key).and_then(Value::as_i64);
        let list = |key: &str| report.get(key).and_then(Value::as_array);
        Self {
            run_id: id.to_owned(),
            started_at: text("/started_at"),
            outcome: text("/outcome"),
            exit_code: number("exit_code"),
            signal: number("signal"),
            duration_ms: report.get("duration_ms").and_then(Value::as_u64),
            denials: list("denials").map_or(0, Vec::len),
            policy: text("/policy/name"),
            project: text("/project"),
            command: list("command")
                .into_iter()
                .flatten()
                .filter_map(|word| word.as_str().map(str::to_owned))
                .collect(),
        }
    }
}

/// The last `most` runs, of one project if it is given, newest first.
pub fn list(state: &State, most: usize, project: Option<&str>) -> Result<Vec<Summary>, PlaceError> {
    let mut found = Vec::new();
    for run in all(state)?.iter().rev() {
        if found.len() >= most {
            break;
        }
        // One that cannot be read is listed all the same: the others are none the worse for it.
        let bytes = run.read(state).unwrap_or_default();
        let report = serde_json::from_slice(&bytes).unwrap_or_default();
        let summary = Summary::of(&run.id, &report);
        if project.is_none_or(|project| summary.project.as_deref() == Some(project)) {
            found.push(summary);
        }
    }
    Ok(found)
}
