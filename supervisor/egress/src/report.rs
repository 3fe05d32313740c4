//! What the companion tells the supervisor at its end.
//!
//! Pure. INVARIANT (bounded): at most 1 MiB of JSON, whatever is in the ledger.

use serde::{Deserialize, Serialize};

use crate::record::{Attempt, Ledger};

/// The most bytes that a report takes.
pub const MOST_JSON: usize = 1 << 20;
/// Of these, for names.
const MOST_NAMES_JSON: usize = 1 << 17;

/// The attempts of a run, and what its model broker did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub attempts: Vec<Attempt>,
    /// Attempts that have no row.
    pub dropped: u64,
    /// What the model broker did, if there was one.
    pub model: Option<serde_json::Value>,
    /// Names that were given an address during the run, in that order: those under wildcards.
    #[serde(default)]
    pub names: Vec<String>,
}

impl Report {
    #[must_use]
    pub fn new(ledger: &Ledger, model: Option<serde_json::Value>) -> Self {
        let (attempts, dropped) = ledger.rows();
        Self {
            attempts,
            dropped,
            model,
            names: Vec::new(),
        }
    }

    /// With the names that got an address during the run.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The report as JSON of at most 1 MiB: rows that do not fit are counted as dropped.
    #[must_use]
    pub fn to_json(mut self) -> Vec<u8> {
        const ROOM_FOR_THE_REST: usize = 256;
        let length = |value: serde_json::Result<Vec<u8>>| value.map_or(MOST_JSON, |json| json.len());
        let mut left = MOST_JSON.saturating_sub(ROOM_FOR_THE_REST);
        left = left.saturating_sub(length(serde_json::to_vec(&self.model)));
        // From the first on, without a gap: the place tells the address.
        let mut room = MOST_NAMES_JSON;
        let named = self.names.iter().map_while(|name| {
            room = room.checked_sub(name.len() + 3)?;
            Some(())
        });
        let named = named.count();
        self.names.truncate(named);
        left = left.saturating_sub(length(serde_json::to_vec(&self.names)));
        let fits = |row: &Attempt| {
            left = left.checked_sub(length(serde_json::to_vec(row)) + 1)?;
            Some(())
        };
        let kept = self.attempts.iter().map_while(fits).count();
        for row in self.attempts.drain(kept..) {
            self.dropped = self.dropped.saturating_add(row.count);
        }
        serde_json::to_vec(&self).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
