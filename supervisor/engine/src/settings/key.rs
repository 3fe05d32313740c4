//! The keys of the configuration, each with its type, its bounds and its default.
//!
//! Pure data: one table, from which files are checked, values shown and defaults taken.

use glee_policy::PolicyError;
use glee_policy::node::{At, word};
use glee_policy::value::{Whole, whole_number};
use glee_policy::yaml::{Node, Value};

use crate::definitions::Cli;

/// One key with a value of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    DefaultAgent,
    MaxConcurrent,
    RateLimitPerMin,
    TimeoutMs,
    MaxOutputKb,
    MaxSubagentDepth,
    MaxHistory,
    MaxContextTokens,
    ExpiryDays,
    ApproveSubagents,
    ApproveTools,
    MaxDepth,
    BudgetSteps,
    BudgetParallel,
    BudgetRuntimeMins,
    BudgetCostCents,
    GeneratedSteps,
    GeneratedParallel,
    GeneratedRuntimeMins,
    /// Of a million tokens, in millionths of a dollar.
    InputPrice(Cli),
    OutputPrice(Cli),
}

/// What a key's value is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// A bound; `None` is no bound.
    Number(Option<u64>),
    Switch(bool),
    /// Absent: chosen by what is there and what is asked.
    Agent(Option<Cli>),
}

impl Key {
    /// Those by which a person is asked before something happens.
    pub const APPROVALS: [Self; 2] = [Self::ApproveSubagents, Self::ApproveTools];

    pub const ALL: [Self; 27] = [
        Self::DefaultAgent,
        Self::MaxConcurrent,
        Self::RateLimitPerMin,
        Self::TimeoutMs,
        Self::MaxOutputKb,
        Self::MaxSubagentDepth,
        Self::MaxHistory,
        Self::MaxContextTokens,
        Self::ExpiryDays,
        Self::ApproveSubagents,
        Self::ApproveTools,
        Self::MaxDepth,
        Self::BudgetSteps,
        Self::BudgetParallel,
        Self::BudgetRuntimeMins,
        Self::BudgetCostCents,
        Self::GeneratedSteps,
        Self::GeneratedParallel,
        Self::GeneratedRuntimeMins,
        Self::InputPrice(Cli::Claude),
        Self::OutputPrice(Cli::Claude),
        Self::InputPrice(Cli::Codex),
        Self::OutputPrice(Cli::Codex),
        Self::InputPrice(Cli::Gemini),
        Self::OutputPrice(Cli::Gemini),
        Self::InputPrice(Cli::Stub),
        Self::OutputPrice(Cli::Stub),
    ];

    /// As it is written, from the top of the file.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::DefaultAgent => "subagents.default_agent",
            Self::MaxConcurrent => "subagents.max_concurrent",
            Self::RateLimitPerMin => "subagents.rate_limit_per_min",
            Self::TimeoutMs => "subagents.timeout_ms",
            Self::MaxOutputKb => "subagents.max_output_kb",
            Self::MaxSubagentDepth => "subagents.max_depth",
            Self::MaxHistory => "sessions.max_history",
            Self::MaxContextTokens => "sessions.max_context_tokens",
            Self::ExpiryDays => "sessions.expiry_days",
            Self::ApproveSubagents => "security.require_approval.subagents",
            Self::ApproveTools => "security.require_approval.tools",
            Self::MaxDepth => "workflows.max_depth",
            Self::BudgetSteps => "workflows.budgets.max_steps",
            Self::BudgetParallel => "workflows.budgets.max_parallel",
            Self::BudgetRuntimeMins => "workflows.budgets.max_runtime_mins",
            Self::BudgetCostCents => "workflows.budgets.max_cost_usd",
            Self::GeneratedSteps => "workflows.ai_generated_budgets.max_steps",
            Self::GeneratedParallel => "workflows.ai_generated_budgets.max_parallel",
            Self::GeneratedRuntimeMins => "workflows.ai_generated_budgets.max_runtime_mins",
            Self::InputPrice(Cli::Claude) => "workflows.prices.claude.input_per_mtok",
            Self::OutputPrice(Cli::Claude) => "workflows.prices.claude.output_per_mtok",
            Self::InputPrice(Cli::Codex) => "workflows.prices.codex.input_per_mtok",
            Self::OutputPrice(Cli::Codex) => "workflows.prices.codex.output_per_mtok",
            Self::InputPrice(Cli::Gemini) => "workflows.prices.gemini.input_per_mtok",
            Self::OutputPrice(Cli::Gemini) => "workflows.prices.gemini.output_per_mtok",
            Self::InputPrice(Cli::Stub) => "workflows.prices.stub.input_per_mtok",
            Self::OutputPrice(Cli::Stub) => "workflows.prices.stub.output_per_mtok",
        }
    }

    /// What it is for, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::DefaultAgent => "the CLI to use when a task names none",
            Self::MaxConcurrent => "subagents that run at the same time",
            Self::RateLimitPerMin => "subagents started in a minute",
            Self::TimeoutMs => "time for one task, in milliseconds",
            Self::MaxOutputKb => "output of one task that is kept, in KiB",
            Self::MaxSubagentDepth => "levels of subagents that subagents may start",
            Self::MaxHistory => "messages of a session that are told again",
            Self::MaxContextTokens => "tokens of a session that are told again",
            Self::ExpiryDays => "days that a session is kept",
            Self::ApproveSubagents => "ask before a subagent is started",
            Self::ApproveTools => "ask before a tool of the MCP server writes or starts something",
            Self::MaxDepth => "workflows inside workflows",
            Self::BudgetSteps => "steps of a workflow and all below it",
            Self::BudgetParallel => "steps of a workflow at the same time",
            Self::BudgetRuntimeMins => "time for a workflow, in minutes",
            Self::BudgetCostCents => "estimated cost of a workflow, in US dollars",
            Self::GeneratedSteps => "steps of a workflow that an agent wrote",
            Self::GeneratedParallel => "steps of a workflow that an agent wrote, at the same time",
            Self::GeneratedRuntimeMins => "time for a workflow that an agent wrote, in minutes",
            Self::InputPrice(_) => "a million tokens that this CLI is told, in US dollars",
            Self::OutputPrice(_) => "a million tokens that this CLI says, in US dollars",
        }
    }

    /// What holds if nothing is written.
    #[must_use]
    pub fn default(self) -> Setting {
        let number = |value| Setting::Number(Some(value));
        match self {
            Self::DefaultAgent => Setting::Agent(None),
            Self::MaxConcurrent => number(10),
            Self::RateLimitPerMin | Self::MaxContextTokens => Setting::Number(None),
            Self::TimeoutMs => number(60_000),
            Self::MaxOutputKb => number(100),
            Self::MaxSubagentDepth => number(0),
            Self::MaxHistory => number(20),
            Self::ExpiryDays => number(7),
            Self::ApproveSubagents | Self::ApproveTools => Setting::Switch(false),
            Self::MaxDepth => number(5),
            Self::BudgetSteps => number(100),
            Self::BudgetParallel => number(10),
            Self::BudgetRuntimeMins => number(30),
            Self::BudgetCostCents | Self::InputPrice(_) | Self::OutputPrice(_) => Setting::Number(None),
            Self::GeneratedSteps => number(10),
            Self::GeneratedParallel => number(3),
            Self::GeneratedRuntimeMins => number(5),
        }
    }

    /// Reads its value.
    pub(super) fn read(self, at: &At<'_>, node: &Node) -> Result<Setting, PolicyError> {
        match self.default() {
            Setting::Agent(_) => Ok(Setting::Agent(Some(word(at, node, Cli::WORDS)?))),
            Setting::Switch(_) => match &node.value {
                Value::Bool(value) => Ok(Setting::Switch(*value)),
                Value::Null | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                    Err(at.wrong(node, "`true` or `false`"))
                }
            },
            Setting::Number(_) if self == Self::MaxSubagentDepth && matches!(node.value, Value::Int(0)) => {
                Ok(Setting::Number(Some(0)))
            }
            Setting::Number(_) if self == Self::BudgetCostCents => dollars(at, node, CENT),
            Setting::Number(_) if self.is_price() => dollars(at, node, MICRO),
            Setting::Number(default) => {
                let value = whole_number(at, node, self.bounds())?;
                if value.is_none() && default.is_some() {
                    // What has a default is never without a bound.
                    return Err(at.wrong(node, "a number"));
                }
                Ok(Setting::Number(value))
            }
        }
    }

    fn is_price(self) -> bool {
        matches!(self, Self::InputPrice(_) | Self::OutputPrice(_))
    }

    fn bounds(self) -> Whole {
        let (most, range) = match self {
            Self::MaxSubagentDepth => (8, "a whole number between 0 and 8"),
            Self::MaxConcurrent | Self::BudgetParallel | Self::GeneratedParallel => {
                (1024, "a whole number between 1 and 1024")
            }
            Self::TimeoutMs => (
                365 * 86_400_000,
                "a whole number of milliseconds, at least 1 and at most a year",
            ),
            Self::ExpiryDays => (36_500, "a whole number of days, between 1 and 36500"),
            Self::MaxDepth => (64, "a whole number between 1 and 64"),
            Self::BudgetRuntimeMins | Self::GeneratedRuntimeMins => {
                (525_600, "a whole number of minutes, at least 1 and at most a year")
            }
            Self::RateLimitPerMin
            | Self::MaxOutputKb
            | Self::MaxHistory
            | Self::MaxContextTokens
            | Self::BudgetSteps
            | Self::GeneratedSteps
            | Self::BudgetCostCents
            | Self::InputPrice(_)
            | Self::OutputPrice(_)
            | Self::DefaultAgent
            | Self::ApproveSubagents
            | Self::ApproveTools => (1 << 40, "a whole number, at least 1"),
        };
        Whole { least: 1, most, range }
    }

    /// A value as it is written in the file.
    #[must_use]
    pub fn written(self, value: &Setting) -> String {
        match value {
            Setting::Number(None) => "none".into(),
            Setting::Number(Some(cents)) if self == Self::BudgetCostCents => {
                format!("{}.{:02}", cents / 100, cents % 100)
            }
            Setting::Number(Some(micros)) if self.is_price() => {
                format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
            }
            Setting::Number(Some(number)) => number.to_string(),
            Setting::Switch(value) => value.to_string(),
            Setting::Agent(None) => "none".into(),
            Setting::Agent(Some(cli)) => cli.to_string(),
        }
    }
}

/// A part of a dollar.
struct Unit {
    in_a_dollar: f64,
    least: f64,
    range: &'static str,
}

const CENT: Unit = Unit {
    in_a_dollar: 100.0,
    least: 0.01,
    range: "a number of dollars, at least 0.01",
};
const MICRO: Unit = Unit {
    in_a_dollar: 1e6,
    least: 0.0,
    range: "a number of dollars, at least 0",
};

/// Dollars, to this part.
fn dollars(at: &At<'_>, node: &Node, unit: Unit) -> Result<Setting, PolicyError> {
    const MOST: f64 = 1e9;
    let dollars = match &node.value {
        Value::Int(whole) => *whole as f64,
        Value::Float(number) => *number,
        Value::Text(text) if text == "none" => return Ok(Setting::Number(None)),
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
            return Err(at.wrong(node, "a number"));
        }
    };
    if !(unit.least..=MOST).contains(&dollars) {
        return Err(at.wrong(node, unit.range));
    }
    Ok(Setting::Number(Some((dollars * unit.in_a_dollar).round() as u64)))
}
