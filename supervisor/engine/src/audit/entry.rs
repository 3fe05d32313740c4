//! One entry: a line of JSON that names the SHA-256 of the line before.
//!
//! Pure. INVARIANT: a line has no newline inside, and what a caller chose (arguments, paths, reasons) is bounded.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::report::PolicyId;

/// Of a command, a path or a reason this many bytes are kept; the stored report has all of it.
const MOST: usize = 4096;

/// SHA-256 of one line without its newline, in text as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the very first entry names.
    pub const NONE: Self = Self([0; 32]);

    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return None;
        }
        for (to, [high, low]) in hash.iter_mut().zip(pairs) {
            *to = value(*high)? << 4 | value(*low)?;
        }
        Some(Self(hash))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: [char; 16] = [
            '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
        ];
        let text: String = self
            .0
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .filter_map(|digit| DIGITS.get(usize::from(digit)))
            .collect();
        f.write_str(&text)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a SHA-256 in hexadecimal digits"))
    }
}

/// Where an entry stands in the chain: enough to find it again, and to prove later that it was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub entry: u64,
    pub sha256: Hash,
}

/// Bytes at the end of a file that are no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Torn {
    pub lines: u64,
    pub bytes: u64,
    pub sha256: Hash,
}

/// Why a writer had to put something right before it could go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// A line was left unfinished: its writer was killed, or the disk was full.
    Torn,
    /// There were lines that no writer leaves, whenever it is killed.
    Foreign,
    /// The log is shorter than its head says.
    Truncated,
    /// The head is gone or unreadable, but there is a log.
    HeadLost,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    Started {
        #[serde(flatten)]
        run: Run<'a>,
    },
    Ended {
        #[serde(flatten)]
        run: Run<'a>,
        outcome: &'a str,
        exit_code: Option<i32>,
        signal: Option<i32>,
        duration_ms: u64,
        denials: usize,
        egress: usize,
        changed_files: usize,
        report_sha256: Option<Hash>,
    },
    Refused {
        #[serde(flatten)]
        run: Run<'a>,
        reason: String,
        exit_code: Option<i32>,
        report_sha256: Option<Hash>,
    },
    Trusted {
        project: String,
        files: Vec<(String, &'a str)>,
    },
    Untrusted {
        project: String,
        files: usize,
    },
    /// Somebody was asked whether a task may start.
    Approval {
        answer: Answer,
        project: String,
        /// Absent for what was refused before it became one.
        task: Option<&'a str>,
        policy_sha256: &'a str,
        prompt_sha256: Hash,
    },
    /// The first entry of every file but the first.
    Rotated {
        previous: String,
    },
    Repaired {
        repair: Repair,
        torn: Option<Torn>,
        /// The last entry that the head knew, if the log does not have it.
        expected: Option<Mark>,
    },
    /// Stored reports were removed: those of runs before `kept_from`.
    Pruned {
        removed: usize,
        kept_from: Option<String>,
    },
}

/// What somebody said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Approved,
    Denied,
}

/// What is said of a run in each of its entries.
#[derive(Debug, Clone, Serialize)]
pub struct Run<'a> {
    pub run_id: &'a str,
    pub command: Vec<String>,
    pub project: Option<String>,
    pub policy: &'a PolicyId,
}

#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    prev: Hash,
    at: &'a str,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Event<'_> {
    /// The line of this entry, without a newline.
    pub(super) fn line(&self, n: u64, prev: Hash, at: &str) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Line {
            n,
            prev,
            at,
            event: self,
        })
    }
}

/// What verification must know of an entry. Keys are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Parsed {
    pub(super) n: u64,
    pub(super) prev: Hash,
    pub(super) event: String,
    pub(super) run_id: Option<String>,
    pub(super) repair: Option<Repair>,
    pub(super) torn: Option<Torn>,
    pub(super) expected: Option<Mark>,
    #[serde(default)]
    pub(super) report_sha256: Option<Hash>,
    pub(super) kept_from: Option<String>,
}

impl Parsed {
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// The text, or its beginning and how much more there was.
pub(super) fn bounded(text: &str) -> String {
    cut(text, MOST)
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    format!("{kept}… and {} bytes more", text.len() - kept.len())
}

/// The arguments, of which all together are bounded.
pub(super) fn bounded_command(command: &[String]) -> Vec<String> {
    let mut left = MOST;
    let mut kept = Vec::new();
    for (count, word) in command.iter().enumerate() {
        if left == 0 {
            kept.push(format!("… and {} arguments more", command.len() - count));
            break;
        }
        kept.push(cut(word, left));
        left = left.saturating_sub(word.len() + 1);
    }
    kept
}
