//! Decides what the sandbox is told about a name.
//!
//! Pure: nothing is ever forwarded, so nothing can be tunnelled out. An allowed name has its synthetic address, every
//! other does not exist. INVARIANT: the name that gets an address is the canonical one that the rules allow.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::message::{CLASS_IN, Code, Edns, Query, Reject, TYPE_A, TYPE_AAAA};
use crate::book::Book;
use crate::host::{Host, HostProblem, Name};
use crate::rules::{Rules, Verdict};

/// Printed, a name of 255 arbitrary bytes would have a thousand.
const MAX_SHOWN: usize = 255;

/// What the namespace speaks. Without IPv6, an AAAA answer would only be a detour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Families {
    Ipv4,
    Both,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `None`: not worth a reply.
    pub reply: Option<Vec<u8>>,
    /// To be recorded.
    pub refused: Option<RefusedName>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedName {
    /// Canonical if it is a host, else printable; at most 255 characters.
    pub name: String,
    pub why: NameRefusal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameRefusal {
    NotAllowed {
        hint: String,
    },
    Denied {
        rule: String,
        hint: String,
    },
    /// Allowed, but the book is full.
    TooMany,
    NotAHost(HostProblem),
}

/// What to say about a question, before it is a message.
enum Finding {
    /// The name exists; the address for the type asked, if there is one.
    Exists(Option<IpAddr>),
    Absent,
    Refused(RefusedName),
}

#[must_use]
pub fn answer(query: &[u8], rules: &Rules, book: &mut Book, families: Families) -> Answer {
    let plain = |reply| Answer {
        reply: Some(reply),
        refused: None,
    };
    let query = match Query::parse(query) {
        Ok(query) => query,
        Err(Reject::Reply(head, code)) => return plain(head.reply(code)),
        Err(Reject::Drop) => {
            return Answer {
                reply: None,
                refused: None,
            };
        }
    };
    match query.edns {
        Edns::Absent | Edns::Version { version: 0 } => {}
        Edns::Version { .. } => return plain(query.reply(Code::BadVers, None)),
    }
    if query.question.class != CLASS_IN {
        return plain(query.reply(Code::Refused, None));
    }
    match find(&query, rules, book, families) {
        Finding::Exists(address) => plain(query.reply(Code::NoError, address)),
        Finding::Absent => plain(query.reply(Code::NxDomain, None)),
        Finding::Refused(refused) => {
            let code = match refused.why {
                NameRefusal::TooMany => Code::ServFail,
                NameRefusal::NotAllowed { .. } | NameRefusal::Denied { .. } | NameRefusal::NotAHost(_) => {
                    Code::NxDomain
                }
            };
            Answer {
                reply: Some(query.reply(code, None)),
                refused: Some(refused),
            }
        }
    }
}

fn find(query: &Query, rules: &Rules, book: &mut Book, families: Families) -> Finding {
    let name = match query.question.name.to_host() {
        Ok(Host::Name(name)) => name,
        // An address is no name, and asking for it harms nobody. The root has no address.
        Ok(Host::Addr(_)) | Err(HostProblem::Empty) => return Finding::Absent,
        Err(problem) => {
            let name = query.question.name.to_string();
            return refused(name.chars().take(MAX_SHOWN).collect(), NameRefusal::NotAHost(problem));
        }
    };
    let by_type = |v4: Ipv4Addr, v6: Ipv6Addr| match (query.question.kind, families) {
        (TYPE_A, _) => Some(IpAddr::V4(v4)),
        (TYPE_AAAA, Families::Both) => Some(IpAddr::V6(v6)),
        _ => None,
    };
    if name.is_localhost() {
        return Finding::Exists(by_type(Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST));
    }
    if is_reverse(&name) {
        return Finding::Absent;
    }
    let host = Host::Name(name.clone());
    if rules.ports_of(&host).is_empty() {
        let why = match rules.decide(&host, 443) {
            Verdict::Refused { rule: Some(rule), hint } => NameRefusal::Denied { rule, hint },
            Verdict::Refused { rule: None, hint } => NameRefusal::NotAllowed { hint },
            // Not reached: 443 would be one of its ports.
            Verdict::Allowed { .. } => return Finding::Absent,
        };
        return refused(name.to_string(), why);
    }
    match book.enter(&name) {
        Ok((v4, v6)) => Finding::Exists(by_type(v4, v6)),
        Err(_) => refused(name.to_string(), NameRefusal::TooMany),
    }
}

/// Asked for by programs that log names; no attempt to reach anything.
fn is_reverse(name: &Name) -> bool {
    [".in-addr.arpa", ".ip6.arpa"]
        .iter()
        .any(|zone| name.as_str().ends_with(zone))
}

fn refused(name: String, why: NameRefusal) -> Finding {
    Finding::Refused(RefusedName { name, why })
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
