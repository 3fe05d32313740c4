//! What the report says of an agent CLI and its model.

use glee_egress::broker::{BrokerReport, Endpoint};
use glee_egress::record::{Attempt, Outcome as Verdict, Via};
use serde::Serialize;

use crate::agent::overlay::{Overlay, Way};
use crate::agent::profile::InnerSandbox;

/// An agent CLI and its model.
#[derive(Debug, Serialize)]
pub struct ModelReport {
    pub agent: String,
    /// `broker`, `mount`, `host` or `none`.
    pub access: &'static str,
    pub endpoint: Option<String>,
    /// What became of the CLI's own sandbox, and why.
    pub inner_sandbox: InnerSandbox,
    /// Files with a login that the command could read, and variables with a key that it was given.
    pub exposed: Vec<String>,
    /// What the broker counted.
    pub usage: Option<BrokerReport>,
}

impl ModelReport {
    #[must_use]
    pub fn new(overlay: &Overlay) -> Self {
        let (access, endpoint, exposed) = match &overlay.way {
            Way::Broker { endpoint, .. } => ("broker", Some(endpoint.clone()), None),
            Way::Login { file } => ("mount", None, Some(file)),
            Way::Host => ("host", None, None),
            Way::Closed { .. } => ("none", None, None),
        };
        Self {
            agent: overlay.profile.name.clone(),
            access,
            endpoint,
            inner_sandbox: overlay.profile.inner_sandbox.clone(),
            exposed: exposed
                .iter()
                .map(|file| file.to_string_lossy().into_owned())
                .chain(overlay.exposed.iter().cloned())
                .collect(),
            usage: None,
        }
    }
}

/// What the broker sent and received, as one row: it is egress like any other.
pub(super) fn through_the_broker(usage: &BrokerReport) -> Option<Attempt> {
    let endpoint = Endpoint::parse(&usage.endpoint).ok()?;
    let forwarded = usage.requests.saturating_sub(usage.refused);
    (forwarded > 0).then(|| Attempt {
        clients: Vec::new(),
        others: 0,
        host: endpoint.host().to_string(),
        port: endpoint.port(),
        verdict: Verdict::Allowed,
        via: Via::Broker,
        bytes_up: usage.bytes_up,
        bytes_down: usage.bytes_down,
        reason: None,
        rule: Some("model_access: auto".to_owned()),
        hint: None,
        count: forwarded,
    })
}
