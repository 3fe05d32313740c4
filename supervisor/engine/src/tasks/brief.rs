//! A task as the store keeps it: the request, and what was decided when it was taken.
//!
//! What follows from it (`Plan`) is worked out twice by the same code: when the task is taken, to refuse or to ask, and when
//! it starts, since much may have changed meanwhile. INVARIANT: what was approved is what starts, or nothing does.

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cli;
use super::layers::{self, Layer};
use super::refusal::Refusal;
use super::request::Request;
use crate::definitions::tool::{Argument, restrict};
use crate::definitions::{Cli, Definition, view};
use crate::endpoint::{self, Endpoint};
use crate::project::Scene;
use crate::settings::Settings;
use crate::settings::bounds::{Bounds, bounds};
use crate::store::{FlowId, Millis};
use crate::trust::Standing;

/// Where files that hold a CLI to its tools lie in the sandbox: made for the run, and read-only.
const TOOLS_FILE: &str = "/etc/glee/tools.toml";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brief {
    pub request: Request,
    /// The agent's file as it was.
    pub agent_sha256: Option<String>,
    /// Those of the tasks above it first.
    pub layers: Vec<Layer>,
    /// The policy that somebody has approved of, or is asked to.
    pub policy_sha256: Option<String>,
    /// The step of a workflow that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<OfStep>,
}

/// Which step, and when the whole workflow ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfStep {
    pub flow: FlowId,
    pub node: usize,
    pub until: Millis,
}

impl Brief {
    pub fn read(stored: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(stored)
    }

    #[must_use]
    pub fn json(&self) -> Value {
        // Strings, numbers and lists of them: serialising them cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The agent, as it was when the task was asked for.
    pub fn agent(&self, scene: &Scene) -> Result<Option<(Definition, Standing)>, Refusal> {
        let (Some(name), Some(sha256)) = (&self.request.agent, &self.agent_sha256) else {
            return Ok(None);
        };
        let agent = layers::definition(name, sha256, scene)?;
        let standing = view::standing(&agent)?;
        Ok(Some((agent, standing)))
    }

    /// What follows from it, here and now.
    pub fn plan(&self, cli: Cli, settings: &Settings, scene: &Scene) -> Result<Plan, Refusal> {
        let agent = self.agent(scene)?;
        let policy = layers::policy(&self.layers, scene)?;
        if self.policy_sha256.as_ref().is_some_and(|seen| *seen != policy.sha256()) {
            return Err(Refusal::OtherPolicy);
        }
        let held = match agent.as_ref().and_then(|(agent, _)| agent.tools.as_deref()) {
            Some(tools) => restrict(cli, tools)?,
            None => Vec::new(),
        };
        let needs_file = held.iter().any(|argument| matches!(argument, Argument::File(_)));
        if needs_file && (policy.mode, policy.isolation) != (Mode::Restricted, Isolation::Namespaces) {
            return Err(Refusal::ToolsNeedNamespaces(cli));
        }
        let mut bounds = bounds(
            agent.as_ref().map(|(agent, standing)| (agent, *standing)),
            settings,
            &policy,
        );
        if let Some(asked) = self.request.timeout {
            bounds.timeout = policy.max_runtime.map_or(asked, |most| most.min(asked));
        }
        // An agent that is held to its tools has no others.
        let endpoint = match agent.as_ref().and_then(|(agent, _)| agent.tools.as_ref()) {
            Some(_) => Endpoint::Absent,
            None => Endpoint::under(&policy),
        };
        Ok(Plan {
            policy,
            bounds,
            held,
            endpoint,
        })
    }
}

/// What a task comes to.
#[derive(Debug)]
pub struct Plan {
    pub policy: ResolvedPolicy,
    pub bounds: Bounds,
    pub endpoint: Endpoint,
    held: Vec<Argument>,
}

/// A file that is made in the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    pub at: String,
    pub text: String,
}

impl Plan {
    /// What is run in the sandbox, and the files that takes.
    #[must_use]
    pub fn command(&self, cli: Cli, resume: Option<&crate::sessions::ConversationId>) -> (Vec<String>, Vec<Made>) {
        let mut files = Vec::new();
        let mut held: Vec<String> = self
            .held
            .iter()
            .map(|argument| match argument {
                Argument::Word(word) => word.clone(),
                Argument::File(text) => {
                    files.push(Made {
                        at: TOOLS_FILE.to_owned(),
                        text: text.clone(),
                    });
                    TOOLS_FILE.to_owned()
                }
            })
            .collect();
        if self.endpoint == Endpoint::Offered {
            held.extend(endpoint::words(cli));
        }
        let program = cli::program(cli);
        let command = std::iter::once(program).chain(cli::arguments(cli, resume, &held));
        (command.collect(), files)
    }
}
