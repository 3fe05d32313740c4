//! Runs of workflows as they are stored and read: the run, and a row for each step of its whole tree.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rusqlite::{OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::task::{TaskId, json, parsed, parsed_if, wrong};
use super::worker::Worker;
use super::{Millis, Store, StoreError};

/// What a run of a workflow is called: 26 letters and digits, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FlowId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a workflow's run: 26 lower-case letters and digits")]
pub struct NotAFlow;

impl FlowId {
    #[must_use]
    pub fn fresh() -> Self {
        Self(crate::run_id::run_id())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<FlowId> for String {
    fn from(id: FlowId) -> Self {
        id.0
    }
}

impl TryFrom<String> for FlowId {
    type Error = NotAFlow;

    fn try_from(text: String) -> Result<Self, NotAFlow> {
        text.parse()
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for FlowId {
    type Err = NotAFlow;

    fn from_str(text: &str) -> Result<Self, NotAFlow> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let is_id = text.len() == 26 && text.bytes().all(is_plain);
        is_id.then(|| Self(text.to_owned())).ok_or(NotAFlow)
    }
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowState {
    Running,
    /// It has cost more than it may, and somebody has to say whether it goes on.
    Paused,
    Success,
    Error,
    Timeout,
    Cancelled,
}

impl FlowState {
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Paused,
        Self::Success,
        Self::Error,
        Self::Timeout,
        Self::Cancelled,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Running | Self::Paused => false,
            Self::Success | Self::Error | Self::Timeout | Self::Cancelled => true,
        }
    }
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    Waiting,
    Running,
    Success,
    Error,
    Timeout,
    Skipped,
}

impl StepState {
    pub const ALL: [Self; 6] = [
        Self::Waiting,
        Self::Running,
        Self::Success,
        Self::Error,
        Self::Timeout,
        Self::Skipped,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }
}

/// A run as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub id: FlowId,
    pub name: String,
    /// What it takes to go on: the driver's own words.
    pub request: Value,
    pub state: FlowState,
    pub created_at: Millis,
    pub finished_at: Option<Millis>,
    /// The time that it has used, as of `seen_at`.
    pub used: Duration,
    pub seen_at: Millis,
    /// What it may cost, in millionths of a dollar.
    pub allowed: Option<u64>,
    pub cancel_asked: bool,
    pub driver: Option<Worker>,
    pub result: Option<Value>,
}

/// A step as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowStep {
    /// Its place in the whole tree.
    pub node: usize,
    pub path: String,
    pub state: StepState,
    pub task: Option<TaskId>,
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    pub result: Option<Value>,
    pub used: Used,
}

/// What a step took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Used {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// In millionths of a dollar; absent: unknown.
    pub cost: Option<u64>,
}

impl Store {
    pub fn flow(&self, id: &FlowId) -> Result<Flow, StoreError> {
        let found = self.look(|c| {
            let mut query = c.prepare("SELECT * FROM flows WHERE id = ?1")?;
            query.query_row([id.as_str()], flow).optional()
        })?;
        found.ok_or_else(|| StoreError::NoFlow(id.clone()))
    }

    /// The newest runs, the newest first.
    pub fn flows(&self, most: u32) -> Result<Vec<Flow>, StoreError> {
        self.look(|c| {
            let mut query = c.prepare("SELECT * FROM flows ORDER BY seq DESC LIMIT ?1")?;
            query.query_map([most], flow)?.collect()
        })
    }

    /// Its steps, in the order of the whole tree.
    pub fn flow_steps(&self, id: &FlowId) -> Result<Vec<FlowStep>, StoreError> {
        self.look(|c| {
            let mut query = c.prepare(
                "SELECT node, path, state, task, started_at, finished_at, result, input_tokens, output_tokens, cost
                 FROM flow_steps WHERE flow = ?1 ORDER BY node",
            )?;
            query.query_map([id.as_str()], step)?.collect()
        })
    }

    /// What the agent of a step is told besides its task, as JSON.
    pub fn flow_told(&self, id: &FlowId, node: usize) -> Result<Option<Value>, StoreError> {
        let sql = "SELECT told FROM flow_steps WHERE flow = ?1 AND node = ?2";
        let told: Option<Option<String>> = self.look(|c| {
            let mut query = c.prepare(sql)?;
            query.query_row((id.as_str(), node), |row| row.get(0)).optional()
        })?;
        let text = told.ok_or_else(|| StoreError::NoFlow(id.clone()))?;
        text.map(|text| serde_json::from_str(&text).map_err(|_| StoreError::Unreadable))
            .transpose()
    }
}

fn flow(row: &Row<'_>) -> rusqlite::Result<Flow> {
    let state: String = row.get("state")?;
    let state = FlowState::ALL.into_iter().find(|known| known.as_str() == state);
    Ok(Flow {
        id: parsed(row, "id")?,
        name: row.get("name")?,
        request: json(&row.get::<_, String>("request")?)?,
        state: state.ok_or_else(|| wrong(NotAFlow))?,
        created_at: Millis(row.get("created_at")?),
        finished_at: row.get::<_, Option<u64>>("finished_at")?.map(Millis),
        used: Duration::from_millis(row.get("used_ms")?),
        seen_at: Millis(row.get("seen_at")?),
        allowed: row.get("allowed")?,
        cancel_asked: row.get("cancel_asked")?,
        driver: Worker::read(row)?,
        result: row
            .get::<_, Option<String>>("result")?
            .as_deref()
            .map(json)
            .transpose()?,
    })
}

fn step(row: &Row<'_>) -> rusqlite::Result<FlowStep> {
    let state: String = row.get("state")?;
    let state = StepState::ALL.into_iter().find(|known| known.as_str() == state);
    Ok(FlowStep {
        node: row.get("node")?,
        path: row.get("path")?,
        state: state.ok_or_else(|| wrong(NotAFlow))?,
        task: parsed_if(row, "task")?,
        started_at: row.get::<_, Option<u64>>("started_at")?.map(Millis),
        finished_at: row.get::<_, Option<u64>>("finished_at")?.map(Millis),
        result: row
            .get::<_, Option<String>>("result")?
            .as_deref()
            .map(json)
            .transpose()?,
        used: Used {
            input_tokens: row.get("input_tokens")?,
            output_tokens: row.get("output_tokens")?,
            cost: row.get("cost")?,
        },
    })
}
