//! Questions about connections. Nothing is looked up and nothing is sent.

use std::net::IpAddr;
use std::str::FromStr;

use glee_egress::host::{Host, HostProblem};
use glee_egress::rules::{NoAddress, Rules, Verdict};
use glee_egress::special::Own;
use glee_policy::hint;
use glee_policy::resolved::Network;
use glee_sandbox::plan::Containment;
use glee_sandbox::steps::Step;

use super::Explained;
use crate::run::Prepared;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub host: Host,
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetProblem {
    #[error("`{0}` is not HOST:PORT")]
    Port(String),
    #[error("`{text}` names no host: {problem}")]
    Host { text: String, problem: HostProblem },
}

impl FromStr for Target {
    type Err = TargetProblem;

    /// `example.org:443`, `[2001:db8::1]:443`; without a port 443 is meant.
    fn from_str(text: &str) -> Result<Self, TargetProblem> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, _)) if host.contains(':') && !host.ends_with(']') => (text, None),
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| TargetProblem::Port(text.to_owned()))?,
            None => 443,
        };
        let host = Host::parse(host.as_bytes()).map_err(|problem| TargetProblem::Host {
            text: text.to_owned(),
            problem,
        })?;
        Ok(Self { host, port })
    }
}

pub(super) fn explain(prepared: &Prepared, target: &Target) -> Explained {
    let policy = &prepared.selected.policy;
    let plan = &prepared.plan;
    let (host, port) = (&target.host, target.port);
    let said = |allowed, clause: &str| Explained::new("network", host.with_port(port), allowed, clause.to_owned());
    let whole = policy.origins.get("network");
    match (&policy.network, plan.containment) {
        (Network::Host, _) | (_, Containment::Inherit) => said(true, "network: true").from(whole),
        (Network::Off, contained) => {
            let by = match contained {
                Containment::Landlock => Step::Seccomp,
                Containment::Namespaces | Containment::Inherit => Step::Namespaces,
            };
            let answer = said(false, "network: false").from(whole).by(Some(by));
            let answer = answer.hint(hint::network(&host.to_string(), port));
            if is_loopback(host) {
                answer.note(OWN_LOOPBACK)
            } else {
                answer
            }
        }
        (Network::Names { allow, deny }, _) => match Rules::new(allow, deny) {
            Ok(rules) => by_rules(prepared, &rules, target).by(Some(Step::Companion)),
            // `prepare` has refused such rules.
            Err(problem) => said(false, &problem.to_string()),
        },
    }
}

const OWN_LOOPBACK: &str =
    "the sandbox has a loopback of its own: what listens on it inside can be reached, what listens outside cannot";

/// By its address and only through a proxy: a name never leads there.
fn loopback_hint(port: u16) -> Option<String> {
    (port != 0).then(|| hint::address("127.0.0.1", port))
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Addr(addr) => addr.is_loopback(),
        Host::Name(name) => name.is_localhost(),
    }
}

fn by_rules(prepared: &Prepared, rules: &Rules, target: &Target) -> Explained {
    let policy = &prepared.selected.policy;
    let (host, port) = (&target.host, target.port);
    let said = |allowed, clause: String| Explained::new("network", host.with_port(port), allowed, clause);
    let denied = |rule: &str| {
        let origin = policy.origins.get(&format!("network.deny.{rule}"));
        said(false, format!("network.deny `{rule}`"))
            .from(origin)
            .hint(Some(hint::without("network.deny", rule)))
    };
    let rule = match rules.decide(host, port) {
        Verdict::Allowed { rule } => rule,
        Verdict::Refused { rule: Some(rule), .. } => return denied(&rule),
        Verdict::Refused { rule: None, hint } => {
            let answer = said(false, "network.allow does not name it".to_owned()).from(policy.origins.get("network"));
            return if is_loopback(host) {
                answer.hint(loopback_hint(port)).note(OWN_LOOPBACK)
            } else {
                answer.hint((port != 0).then_some(hint))
            };
        }
    };
    let mut answer = said(true, format!("network.allow `{rule}`"));
    answer = answer.from(policy.origins.get(&format!("network.allow.{rule}")));
    answer.why = policy.whys.get(&format!("network.allow.{rule}")).cloned();
    match host {
        Host::Name(_) => {
            answer.note("if it leads to a public address: a private, local or metadata address must be allowed itself")
        }
        Host::Addr(addr) => match rules.check_address(*addr, port, || is_own(*addr)) {
            Ok(()) if addr.is_loopback() => {
                answer.note("through the proxy: a direct connection reaches the loopback of the sandbox")
            }
            Ok(()) => answer,
            Err(NoAddress::Denied { rule }) => denied(&rule),
            Err(NoAddress::Special { why, hint }) => {
                said(false, format!("{why}: network.allow `{rule}` is too wide to mean it")).hint(Some(hint))
            }
        },
    }
}

/// An address of this machine. If that cannot be asked, it counts as one.
fn is_own(addr: IpAddr) -> bool {
    Own::now().map_or(true, |own| own.has(addr))
}
