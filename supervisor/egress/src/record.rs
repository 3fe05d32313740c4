//! The ledger of what was tried: each attempt with its verdict, its reason and its bytes.
//!
//! Touches nothing but memory. What it stores came from hostile bytes: only visible ASCII of a bounded length is kept.
//! INVARIANT (bounded): at most 1000 rows; what does not fit is counted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The most rows that are kept.
pub const MOST_ROWS: usize = 1000;
const LONGEST_HOST: usize = 260;
const LONGEST_TEXT: usize = 400;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Allowed,
    Refused,
    Failed,
}

/// Which way it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    Transparent,
    Connect,
    Http,
    Socks,
    Dns,
    Broker,
}

/// Attempts that differ in nothing but their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub host: String,
    /// 0 where none was said: a name that was only asked for.
    pub port: u16,
    pub verdict: Outcome,
    pub via: Via,
    pub bytes_up: u64,
    pub bytes_down: u64,
    pub reason: Option<String>,
    /// The policy line that decided.
    pub rule: Option<String>,
    /// The policy line that would allow it.
    pub hint: Option<String>,
    pub count: u64,
    /// The first who made it, for whoever can tell a process by its port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Client>,
    /// How many were made by others, or by nobody knows whom.
    #[serde(default, skip_serializing_if = "is_none")]
    pub others: u64,
}

fn is_none(others: &u64) -> bool {
    *others == 0
}

/// The most clients that a row names.
pub const MOST_CLIENTS: usize = 16;

/// Where an attempt came from: a port of the sandbox's own addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    Tcp(u16),
    Udp(u16),
}

tokio::task_local! {
    /// Who is being served: every attempt that is entered meanwhile is this client's.
    pub(crate) static CLIENT: Client;
}

type Key = (String, u16, Via, Outcome, Option<String>);

/// All attempts of one run.
#[derive(Debug, Default)]
pub struct Ledger {
    entered: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    rows: BTreeMap<Key, Attempt>,
    dropped: u64,
}

impl Ledger {
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Starts an attempt. It is entered when the track is dropped, whatever became of it.
    #[must_use]
    pub fn open(self: &Arc<Self>, via: Via, host: &str, port: u16) -> Track {
        Track {
            ledger: Arc::clone(self),
            host: host.to_owned(),
            port,
            via,
            end: RefCell::new(End::Cut),
            counts: Counts::default(),
        }
    }

    /// Enters something that was not done.
    pub fn refuse(&self, via: Via, host: &str, port: u16, refusal: &Refusal) {
        self.enter(via, host, port, &End::Refused(refusal.clone()), &Counts::default());
    }

    fn enter(&self, via: Via, host: &str, port: u16, end: &End, counts: &Counts) {
        let host = visible(host, LONGEST_HOST);
        let text = |text: &Option<String>| text.as_deref().map(|text| visible(text, LONGEST_TEXT));
        let (verdict, reason, rule, hint) = match end {
            End::Allowed { rule } => (Outcome::Allowed, None, Some(visible(rule, LONGEST_TEXT)), None),
            End::Cut => (Outcome::Failed, Some("it was cut short".to_owned()), None, None),
            End::Refused(Refusal {
                kind,
                reason,
                rule,
                hint,
            }) => (
                kind.outcome(),
                Some(visible(reason, LONGEST_TEXT)),
                text(rule),
                text(hint),
            ),
        };
        let key = (host.clone(), port, via, verdict, reason.clone());
        let mut entered = self.rows_mut();
        if entered.rows.len() >= MOST_ROWS && !entered.rows.contains_key(&key) {
            entered.dropped = entered.dropped.saturating_add(1);
            return;
        }
        let row = entered.rows.entry(key).or_insert(Attempt {
            host,
            port,
            verdict,
            via,
            bytes_up: 0,
            bytes_down: 0,
            reason,
            rule,
            hint,
            count: 0,
            clients: Vec::new(),
            others: 0,
        });
        match CLIENT.try_with(|client| *client) {
            Ok(client) if row.clients.contains(&client) => {}
            Ok(client) if row.clients.len() < MOST_CLIENTS => row.clients.push(client),
            Ok(_) | Err(_) => row.others = row.others.saturating_add(1),
        }
        row.bytes_up = row.bytes_up.saturating_add(counts.up.get());
        row.bytes_down = row.bytes_down.saturating_add(counts.down.get());
        row.count = row.count.saturating_add(1);
    }

    /// Every row, ordered by host, and how many attempts have none.
    #[must_use]
    pub fn rows(&self) -> (Vec<Attempt>, u64) {
        let entered = self.rows_mut();
        (entered.rows.values().cloned().collect(), entered.dropped)
    }

    fn rows_mut(&self) -> MutexGuard<'_, Rows> {
        // Every step leaves the rows whole, so a panic elsewhere does not spoil them.
        self.entered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that went each way.
#[derive(Debug, Default)]
pub struct Counts {
    pub up: Cell<u64>,
    pub down: Cell<u64>,
}

/// Adds to a counter.
pub fn add(counter: &Cell<u64>, bytes: usize) {
    counter.set(counter.get().saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX)));
}

#[derive(Debug, Clone)]
enum End {
    /// Nobody decided before it was over.
    Cut,
    Allowed {
        rule: String,
    },
    Refused(Refusal),
}

/// One attempt under way.
#[derive(Debug)]
pub struct Track {
    ledger: Arc<Ledger>,
    host: String,
    port: u16,
    via: Via,
    end: RefCell<End>,
    pub counts: Counts,
}

impl Track {
    pub fn allowed(&self, rule: &str) {
        self.end.replace(End::Allowed { rule: rule.to_owned() });
    }

    /// The attempt ended here. What had passed before was allowed, and keeps its own row.
    pub fn refused(&self, refusal: &Refusal) {
        let passed = self.counts.up.get() > 0 || self.counts.down.get() > 0;
        match passed {
            true => self.ledger.refuse(self.via, &self.host, self.port, refusal),
            false => drop(self.end.replace(End::Refused(refusal.clone()))),
        }
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        let end = self.end.borrow();
        self.ledger.enter(self.via, &self.host, self.port, &end, &self.counts);
    }
}

/// The text with everything but visible ASCII escaped, cut at `limit` bytes.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for char in text.chars() {
        let start = out.len();
        match char {
            ' '..='~' => out.push(char),
            _ => out.extend(char.escape_default()),
        }
        if out.len() > limit {
            out.truncate(start);
            out.push_str("...");
            break;
        }
    }
    out
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
