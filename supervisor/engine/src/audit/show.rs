//! Entries for the eye: chosen, in order, each with its place.

use serde::Serialize;
use serde_json::Value;

use super::head::file_name;
use super::lines::content;
use super::place::{PlaceError, State};

/// Which entries.
#[derive(Debug, Default)]
pub struct Which<'a> {
    /// The id of a run, or its beginning.
    pub run: Option<&'a str>,
    /// Not before this time, as the entries write it; its beginning (a date) will do.
    pub since: Option<&'a str>,
    /// The last so many of these.
    pub most: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub file: String,
    pub line: u64,
    /// `null` if the line is no entry.
    pub entry: Option<Value>,
}

/// The last entries that were asked for, oldest first.
pub fn show(state: &State, which: &Which<'_>) -> Result<Vec<Shown>, PlaceError> {
    let mut numbers: Vec<u64> = state
        .names()?
        .iter()
        .filter_map(|name| super::head::file_number(name))
        .collect();
    let mut found = Vec::new();
    while let Some(number) = numbers.pop().filter(|_| found.len() < which.most) {
        let bytes = content(state, number)?;
        let lines: Vec<(u64, &[u8])> = (1..).zip(bytes.split(|byte| *byte == b'\n')).collect();
        for (at, line) in lines.into_iter().rev().filter(|(_, line)| !line.is_empty()) {
            let entry: Option<Value> = serde_json::from_slice(line).ok();
            if !is_wanted(entry.as_ref(), which) {
                continue;
            }
            if found.len() >= which.most {
                break;
            }
            found.push(Shown {
                file: file_name(number),
                line: at,
                entry,
            });
        }
    }
    found.reverse();
    Ok(found)
}

fn is_wanted(entry: Option<&Value>, which: &Which<'_>) -> bool {
    let text = |key: &str| entry.and_then(|entry| entry.get(key)).and_then(Value::as_str);
    let of_run = which
        .run
        .is_none_or(|run| text("run_id").is_some_and(|id| id.starts_with(run)));
    let since = which.since.is_none_or(|since| text("at").is_some_and(|at| at >= since));
    of_run && since
}
