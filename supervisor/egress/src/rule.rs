//! One line of the policy's network rules, and what it matches. Pure.

use std::collections::BTreeSet;

use glee_policy::names::{HostPattern, NamePattern, NameProblem, WEB_PORTS};

use crate::block::Block;
use crate::host::{Host, HostProblem, Name};

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// As the policy prints it.
    pub(crate) text: String,
    pub(crate) what: What,
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Exact(Name),
    Below(Name),
    Block(Block),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    #[error("network rule `{rule}` {problem}")]
    Pattern { rule: String, problem: NameProblem },
    #[error("network rule `{rule}` names no host: {problem}")]
    Host { rule: String, problem: HostProblem },
    #[error("`{rule}` leads nowhere: inside, `localhost` is the sandbox's own; write `{instead}` for the host's")]
    Localhost { rule: String, instead: String },
    #[error(
        "`{rule}` leads nowhere: nobody has that address, and inside it means the sandbox itself; write `{instead}` for the host"
    )]
    Nobody { rule: String, instead: String },
}

impl RuleProblem {
    /// As the policy prints it.
    #[must_use]
    pub fn rule(&self) -> &str {
        match self {
            Self::Pattern { rule, .. }
            | Self::Host { rule, .. }
            | Self::Localhost { rule, .. }
            | Self::Nobody { rule, .. } => rule,
        }
    }
}

impl Rule {
    pub(crate) fn allows_port(&self, port: u16) -> bool {
        match self.port {
            Some(only) => only == port,
            None => WEB_PORTS.contains(&port),
        }
    }

    /// A rule that nothing can come of is no rule: inside, `localhost` is always the sandbox's own loopback, and so is what
    /// the kernel makes of `0.0.0.0`.
    pub(crate) fn leads_out(&self) -> Result<(), RuleProblem> {
        let instead = |address: &str| {
            self.port
                .map_or_else(|| format!("{address}:PORT"), |port| format!("{address}:{port}"))
        };
        match &self.what {
            What::Exact(name) | What::Below(name) if name.is_localhost() => Err(RuleProblem::Localhost {
                rule: self.text.clone(),
                instead: instead("127.0.0.1"),
            }),
            What::Block(block) if block.single().is_some_and(|one| one.is_unspecified()) => Err(RuleProblem::Nobody {
                rule: self.text.clone(),
                instead: instead(if block.address().is_ipv4() {
                    "127.0.0.1"
                } else {
                    "[::1]"
                }),
            }),
            What::Exact(_) | What::Below(_) | What::Block(_) => Ok(()),
        }
    }

    pub(crate) fn denies_port(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }

    pub(crate) fn allowed_ports(&self) -> impl Iterator<Item = u16> + use<> {
        let defaults = if self.port.is_none() { WEB_PORTS.as_slice() } else { &[] };
        self.port.into_iter().chain(defaults.iter().copied())
    }
}

impl What {
    pub(crate) fn is(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Exact(rule), Host::Name(name)) => rule == name,
            (Self::Below(parent), Host::Name(name)) => name.is_below(parent),
            (Self::Block(block), Host::Addr(addr)) => block.contains(*addr),
            (Self::Exact(_) | Self::Below(_), Host::Addr(_)) | (Self::Block(_), Host::Name(_)) => false,
        }
    }
}

pub(crate) fn parse_all(texts: &BTreeSet<String>) -> Result<Vec<Rule>, RuleProblem> {
    let mut rules = Vec::new();
    for text in texts {
        let pattern: NamePattern = text.parse().map_err(|problem| RuleProblem::Pattern {
            rule: text.clone(),
            problem,
        })?;
        let mut add = |what| {
            rules.push(Rule {
                text: text.clone(),
                what,
                port: pattern.port,
            });
        };
        match &pattern.host {
            HostPattern::Exact(host) => add(What::Exact(name(text, host)?)),
            HostPattern::Below(parent) => add(What::Below(name(text, parent)?)),
            HostPattern::Block(address, length) => {
                let (block, also) = Block::new(*address, *length).canonical();
                add(What::Block(block));
                also.into_iter().for_each(|block| add(What::Block(block)));
            }
        }
    }
    Ok(rules)
}

fn name(rule: &str, host: &str) -> Result<Name, RuleProblem> {
    let problem = |problem| RuleProblem::Host {
        rule: rule.to_owned(),
        problem,
    };
    match Host::parse(host.as_bytes()).map_err(problem)? {
        Host::Name(name) => Ok(name),
        Host::Addr(_) => Err(problem(HostProblem::OddAddress)),
    }
}
