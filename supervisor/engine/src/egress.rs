//! The ways out of a run: which doors its network namespace has, what the sandbox finds in `/etc` because of them, and who
//! serves them.
//!
//! Decided before anything starts; `serve` runs in the companion process. What is decided on is the egress room's business.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

use glee_egress::book::Book;
use glee_egress::broker;
use glee_egress::doors::{self, DoorKind};
use glee_egress::rules::{RuleProblem, Rules};
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::Network;
use glee_sandbox::launch::Serve;
use glee_sandbox::plan::{Door, Doors, MadeFile, Transport};

use crate::agent::overlay::{Overlay, PLACEHOLDER, Way};
use crate::agent::profile::Style;

/// Everything that leaves the sandbox goes through this.
#[derive(Debug)]
pub struct Egress {
    plan: doors::Doors,
    rules: Option<Rules>,
    broker: Option<broker::Config>,
}

#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    #[error(transparent)]
    Rule(#[from] RuleProblem),
    #[error("`model_endpoint`: {0}")]
    Endpoint(#[from] broker::EndpointProblem),
}

/// The broker's address inside.
#[must_use]
pub fn broker_url() -> String {
    format!("http://127.0.0.1:{}", doors::BROKER_PORT)
}

/// `None`: nothing leaves.
pub fn plan(policy: &ResolvedPolicy, overlay: Option<&Overlay>) -> Result<Option<Egress>, EgressError> {
    let rules = match &policy.network {
        Network::Names { allow, deny } => Some(Rules::new(allow, deny)?),
        Network::Off | Network::Host => None,
    };
    let broker = overlay.map(broker).transpose()?.flatten();
    if rules.is_none() && broker.is_none() {
        return Ok(None);
    }
    let book = rules.as_ref().map(Book::new);
    let plan = doors::Doors::plan(rules.as_ref(), book.as_ref(), broker.is_some());
    Ok(Some(Egress { plan, rules, broker }))
}

fn broker(overlay: &Overlay) -> Result<Option<broker::Config>, broker::EndpointProblem> {
    let Way::Broker { endpoint, key } = &overlay.way else {
        return Ok(None);
    };
    let api = match overlay.profile.api.style {
        Style::Claude => broker::Api::Claude,
        Style::Codex => broker::Api::Codex,
        Style::Gemini => broker::Api::Gemini,
    };
    Ok(Some(broker::Config {
        endpoint: endpoint.parse()?,
        // The vendor's host is found by name like any other; an endpoint that the caller wrote is the caller's word.
        own_endpoint: *endpoint != overlay.profile.api.endpoint,
        api,
        key: key.as_ref().map(|key| broker::Secret::new(key.reveal())),
        placeholder: PLACEHOLDER.to_owned(),
    }))
}

impl Egress {
    /// For the sandbox, which makes them.
    #[must_use]
    pub fn doors(&self) -> Doors {
        let door = |door: &doors::Door| Door {
            at: door.at,
            transport: match door.kind {
                DoorKind::DnsUdp => Transport::Udp,
                DoorKind::DnsTcp | DoorKind::HttpProxy | DoorKind::Socks | DoorKind::Relay | DoorKind::Broker => {
                    Transport::Tcp
                }
            },
            purpose: match door.kind {
                DoorKind::DnsUdp | DoorKind::DnsTcp => "answers for the names allowed",
                DoorKind::HttpProxy => "HTTP proxy",
                DoorKind::Socks => "SOCKS proxy",
                DoorKind::Relay => "carries connections to what is allowed",
                DoorKind::Broker => "the model's API, without its key",
            },
        };
        Doors {
            list: self.plan.doors.iter().map(door).collect(),
            local: self.plan.routes.clone(),
        }
    }

    /// Files that make names lead to the doors.
    #[must_use]
    pub fn files(&self) -> Vec<MadeFile> {
        if self.rules.is_none() {
            return Vec::new();
        }
        let file = |at: &str, text: String| MadeFile {
            at: at.into(),
            contents: text.into_bytes(),
        };
        vec![
            file(
                "/etc/resolv.conf",
                format!("nameserver {}\noptions timeout:2 attempts:2\n", doors::DNS),
            ),
            file(
                "/etc/hosts",
                "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n".to_owned(),
            ),
            file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
        ]
    }

    /// Variables for programs that know proxies.
    #[must_use]
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        if self.rules.is_none() {
            return Vec::new();
        }
        let http = format!("http://127.0.0.1:{}", doors::HTTP_PROXY_PORT);
        let socks = format!("socks5h://127.0.0.1:{}", doors::SOCKS_PORT);
        let none = "localhost,127.0.0.1,::1".to_owned();
        let both = |name: &str, value: &str| {
            [
                (name.to_owned().into(), value.to_owned().into()),
                (name.to_lowercase().into(), value.to_owned().into()),
            ]
        };
        [
            both("HTTP_PROXY", &http),
            both("HTTPS_PROXY", &http),
            both("ALL_PROXY", &socks),
            both("NO_PROXY", &none),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Serve for Egress {
    fn serve(
        &self,
        sockets: Vec<Option<OwnedFd>>,
        control: OwnedFd,
        settle: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        // Doors of an address family that this kernel does not have are not there.
        let open = self.plan.doors.iter().zip(sockets);
        let (doors, sockets): (Vec<doors::Door>, Vec<OwnedFd>) =
            open.filter_map(|(door, socket)| Some((*door, socket?))).unzip();
        let config = glee_egress::serve::Config::new(doors, self.rules.clone(), self.broker.clone())?;
        settle()?;
        glee_egress::serve::serve(config, sockets, control)
    }
}
