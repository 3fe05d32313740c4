//! Entries and stored reports, one against the other.
//!
//! Reads only. A report that was edited or removed has another digest than its entry, and a log that was cut off, its head
//! included, lacks the entries that stored reports name.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Hash, Parsed};
use super::log::LogError;
use super::place::State;
use super::verify::{Finding, Verdict};
use crate::runs::{self, StoredRun};

pub(super) fn compare(state: &State, entries: &[&Parsed], verdict: &mut Verdict) -> Result<(), LogError> {
    let stored: BTreeMap<String, StoredRun> = runs::all(state)?.into_iter().map(|run| (run.id.clone(), run)).collect();
    let kept_from = entries
        .iter()
        .rev()
        .find_map(|entry| entry.kept_from.as_deref())
        .unwrap_or_default();
    let mut known = BTreeSet::new();
    for entry in entries {
        let Some(id) = &entry.run_id else { continue };
        known.insert(id.as_str());
        let Some(digest) = entry.report_sha256 else { continue };
        let problem = match stored.get(id) {
            Some(run) => {
                verdict.reports += 1;
                match run.read(state) {
                    Ok(bytes) => (Hash::of(&bytes) != digest).then_some("the stored report of the run was changed"),
                    Err(_) => Some("the stored report of the run cannot be read"),
                }
            }
            None => (id.as_str() >= kept_from).then_some("the stored report of the run is missing"),
        };
        if let Some(what) = problem {
            verdict.problems.push(Finding {
                file: runs::path_of(id).unwrap_or_default(),
                line: None,
                entry: Some(entry.n),
                what: what.to_owned(),
            });
        }
    }
    for (id, run) in stored.iter().filter(|(id, _)| !known.contains(id.as_str())) {
        // A run that could not be entered says so itself: its `audit` is null.
        let report: serde_json::Value =
            serde_json::from_slice(&run.read(state).unwrap_or_default()).unwrap_or_default();
        if let Some(entry) = report.pointer("/audit/entry").and_then(serde_json::Value::as_u64) {
            verdict.problems.push(Finding {
                file: runs::path_of(id).unwrap_or_default(),
                line: None,
                entry: Some(entry),
                what: "there is a report of the run, but its entries are missing in the log".to_owned(),
            });
        }
    }
    Ok(())
}
