//! The policy's network rules: which host on which port, and the line that would change the verdict.
//!
//! Pure. An allow rule without a port means 80 and 443 only; a deny rule without a port means every port; deny wins.
//! INVARIANT (names are not addresses): a name rule never matches an address, nor the other way round.
//! INVARIANT (wide blocks name nothing special): `0.0.0.0/0` does not reach loopback, metadata or a private network.

use std::collections::BTreeSet;
use std::net::IpAddr;

use glee_policy::hint;

use crate::block::Block;
use crate::host::{Host, Name};
pub use crate::rule::RuleProblem;
use crate::rule::{Rule, What, parse_all};
use crate::special::{OWN, embedded, special};

#[derive(Debug, Clone)]
pub struct Rules {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allowed { rule: String },
    Refused { rule: Option<String>, hint: String },
}

/// Why an address is not connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAddress {
    Denied {
        rule: String,
    },
    /// Special by number, or this machine's own, and no rule means it.
    Special {
        why: &'static str,
        hint: String,
    },
}

impl Rules {
    pub fn new(allow: &BTreeSet<String>, deny: &BTreeSet<String>) -> Result<Rules, RuleProblem> {
        let allow = parse_all(allow)?;
        allow.iter().try_for_each(Rule::leads_out)?;
        Ok(Rules {
            allow,
            deny: parse_all(deny)?,
        })
    }

    #[must_use]
    pub fn decide(&self, host: &Host, port: u16) -> Verdict {
        if let Some(rule) = self.denied_by(host, port) {
            return Verdict::Refused {
                rule: Some(rule.to_owned()),
                hint: format!("remove network.deny \"{rule}\""),
            };
        }
        match self
            .allow
            .iter()
            .find(|rule| rule.what.is(host) && rule.allows_port(port))
        {
            Some(rule) => Verdict::Allowed {
                rule: rule.text.clone(),
            },
            None => Verdict::Refused {
                rule: None,
                hint: allow_hint(host, port),
            },
        }
    }

    /// Does an IP or CIDR rule (not a name rule) allow this address on this port, and no deny rule forbid it?
    ///
    /// A special address must be meant: the rule's block lies within the special range. So `10.0.0.0/8` names
    /// `10.0.0.5`, while neither `0.0.0.0/0` nor `169.254.0.0/16` names `169.254.169.254`.
    #[must_use]
    pub fn names_address(&self, addr: IpAddr, port: u16) -> bool {
        let reason = special(addr);
        let meant =
            |block: Block| reason.is_none() || (special(block.address()) == reason && special(block.last()) == reason);
        self.named(addr, port, meant)
    }

    /// The same for an address of this machine, which a wide public block does not mean either.
    #[must_use]
    pub fn names_own_address(&self, addr: IpAddr, port: u16) -> bool {
        match special(addr) {
            Some(_) => self.names_address(addr, port),
            None => self.named(addr, port, |block| block.single().is_some()),
        }
    }

    /// May this address be connected to, whichever name led to it? `is_own` is asked only if it matters.
    pub fn check_address(&self, addr: IpAddr, port: u16, is_own: impl FnOnce() -> bool) -> Result<(), NoAddress> {
        if let Some(rule) = self.denies_address(addr, port) {
            return Err(NoAddress::Denied { rule: rule.to_owned() });
        }
        let why = match special(addr) {
            Some(_) if self.names_address(addr, port) => return Ok(()),
            Some(why) => why,
            None if is_own() && !self.names_own_address(addr, port) => OWN,
            None => return Ok(()),
        };
        let hint = hint::address(&addr.to_string(), port);
        Err(NoAddress::Special { why, hint })
    }

    /// The deny rule for an address block that forbids this address; also for what a name resolves to, and for the IPv4
    /// address within an IPv6 one.
    #[must_use]
    pub fn denies_address(&self, addr: IpAddr, port: u16) -> Option<&str> {
        let within = match addr {
            IpAddr::V4(_) => None,
            IpAddr::V6(v6) => embedded(v6).map(IpAddr::V4),
        };
        let denies = |rule: &&Rule| {
            rule.denies_port(port)
                && match &rule.what {
                    What::Block(block) => block.contains(addr) || within.is_some_and(|v4| block.contains(v4)),
                    What::Exact(_) | What::Below(_) => false,
                }
        };
        self.deny.iter().find(denies).map(|rule| rule.text.as_str())
    }

    /// Every port that some allow rule names; 80 and 443 for those without one.
    #[must_use]
    pub fn ports(&self) -> BTreeSet<u16> {
        self.allow.iter().flat_map(Rule::allowed_ports).collect()
    }

    /// The ports on which this very host is allowed.
    #[must_use]
    pub fn ports_of(&self, host: &Host) -> BTreeSet<u16> {
        self.allow
            .iter()
            .filter(|rule| rule.what.is(host))
            .flat_map(Rule::allowed_ports)
            .filter(|port| self.denied_by(host, *port).is_none())
            .collect()
    }

    /// The names that stand in allow rules as they are, in the order of the rules.
    pub fn exact_names(&self) -> impl Iterator<Item = &Name> {
        self.allow.iter().filter_map(|rule| match &rule.what {
            What::Exact(name) => Some(name),
            What::Below(_) | What::Block(_) => None,
        })
    }

    /// The address blocks of the allow rules with the ports of each.
    pub fn blocks(&self) -> impl Iterator<Item = (Block, BTreeSet<u16>)> {
        self.allow.iter().filter_map(|rule| match &rule.what {
            What::Block(block) => Some((*block, rule.allowed_ports().collect())),
            What::Exact(_) | What::Below(_) => None,
        })
    }

    /// The ports of the `*.host` rules.
    #[must_use]
    pub fn wildcard_ports(&self) -> BTreeSet<u16> {
        let wildcards = self.allow.iter().filter(|rule| matches!(rule.what, What::Below(_)));
        wildcards.flat_map(Rule::allowed_ports).collect()
    }

    fn denied_by(&self, host: &Host, port: u16) -> Option<&str> {
        match host {
            Host::Addr(addr) => self.denies_address(*addr, port),
            Host::Name(_) => self
                .deny
                .iter()
                .find(|rule| rule.what.is(host) && rule.denies_port(port))
                .map(|rule| rule.text.as_str()),
        }
    }

    fn named(&self, addr: IpAddr, port: u16, meant: impl Fn(Block) -> bool) -> bool {
        let allows = |rule: &Rule| match &rule.what {
            What::Block(block) => block.contains(addr) && rule.allows_port(port) && meant(*block),
            What::Exact(_) | What::Below(_) => false,
        };
        self.denies_address(addr, port).is_none() && self.allow.iter().any(allows)
    }
}

pub const NO_PORT: &str = "port 0 cannot be allowed";

/// The smallest line that would allow it.
#[must_use]
pub fn allow_hint(host: &Host, port: u16) -> String {
    hint::network(&host.to_string(), port).unwrap_or_else(|| NO_PORT.to_owned())
}

#[cfg(test)]
#[path = "rules_tests.rs"]
pub(crate) mod tests;
