//! Questions about connections. Nothing is looked up and nothing is sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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
            match loopback(host).first() {
                Some(addr) => answer.hint(loopback_hint(*addr, port)).note(OWN_LOOPBACK),
                None => answer.hint(hint::network(&host.to_string(), port)),
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

/// By its address: a name never leads there.
fn loopback_hint(addr: IpAddr, port: u16) -> Option<String> {
    (port != 0).then(|| hint::address(&addr.to_string(), port))
}

/// The addresses of loopback that a connection is tried at, in this order. None, if it goes elsewhere.
fn loopback(host: &Host) -> Vec<IpAddr> {
    let (four, six) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
    match host {
        Host::Name(name) if name.is_localhost() => vec![four, six],
        Host::Name(_) => Vec::new(),
        // No address in particular is loopback's first.
        Host::Addr(addr) if addr.is_unspecified() => vec![if addr.is_ipv4() { four } else { six }],
        Host::Addr(addr) if addr.is_loopback() => vec![*addr],
        Host::Addr(_) => Vec::new(),
    }
}

/// A host of loopback is reached by the rule for one of its addresses; any other by its own.
fn by_rules(prepared: &Prepared, rules: &Rules, target: &Target) -> Explained {
    let tried = loopback(&target.host);
    let Some(first) = tried.first() else {
        return by_rule(prepared, rules, target, &target.host);
    };
    let mut answers = tried
        .iter()
        .map(|addr| by_rule(prepared, rules, target, &Host::Addr(*addr)));
    match answers.find(|answer| answer.allowed) {
        Some(answer) => answer,
        None => by_rule(prepared, rules, target, &Host::Addr(*first)),
    }
}

/// `host`: what the rules are asked about.
fn by_rule(prepared: &Prepared, rules: &Rules, target: &Target, host: &Host) -> Explained {
    let policy = &prepared.selected.policy;
    let port = target.port;
    let said = |allowed, clause: String| Explained::new("network", target.host.with_port(port), allowed, clause);
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
            return match host {
                Host::Addr(addr) if addr.is_loopback() => answer.hint(loopback_hint(*addr, port)).note(OWN_LOOPBACK),
                Host::Addr(_) | Host::Name(_) => answer.hint((port != 0).then_some(hint)),
            };
        }
    };
    let mut answer = said(true, format!("network.allow `{rule}`"));
    answer = answer.from(policy.origins.get(&format!("network.allow.{rule}")));
    answer.why = policy.whys.get(&format!("network.allow.{rule}")).cloned();
    match host {
        Host::Name(_) => {
            answer.note("if it leads to a public address that is not denied: a private, local or metadata address must be allowed itself")
        }
        Host::Addr(addr) => match rules.check_address(*addr, port, || is_own(*addr)) {
            Ok(()) if addr.is_loopback() => {
                answer.note("of the host: at this port, the sandbox's own loopback leads there")
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
