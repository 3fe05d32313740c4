//! The resolver's side of DNS: writes a query, reads what a server answered.
//!
//! Pure. The server, or whoever forges its packets, is not trusted. INVARIANT (ours or nothing): an answer counts only
//! with our id and our question, and an address only if the chain of aliases from that question leads to it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::message::{CLASS_IN, QR, Question, RD, TC, TYPE_A, TYPE_AAAA, TYPE_CNAME};
use super::wire::{Reader, WireName, WireProblem};
use crate::host::Name;

pub(crate) const MAX_ADDRESSES: usize = 16;
const MAX_RECORDS: u16 = 256;
const MAX_ALIASES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    A,
    Aaaa,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    id: u16,
    question: Question,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Empty: the name exists, without an address of this kind.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// Ask again over TCP.
    Truncated,
    /// The server says that it cannot: its code.
    Failed(u8),
    Broken(WireProblem),
}

impl Asked {
    pub(crate) fn new(id: u16, name: &Name, kind: Kind) -> Asked {
        let kind = match kind {
            Kind::A => TYPE_A,
            Kind::Aaaa => TYPE_AAAA,
        };
        Asked {
            id,
            question: Question {
                name: name.into(),
                kind,
                class: CLASS_IN,
            },
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let header = [self.id, RD, 1, 0, 0, 0];
        let mut out: Vec<u8> = header.into_iter().flat_map(u16::to_be_bytes).collect();
        self.question.write(&mut out);
        out
    }

    /// `None`: this is not the answer to our question. Somebody else's packet must not end the wait for ours.
    pub(crate) fn read(&self, message: &[u8]) -> Option<Response> {
        let mut reader = Reader::new(message);
        let (id, flags, questions, answers) = (
            reader.u16().ok()?,
            reader.u16().ok()?,
            reader.u16().ok()?,
            reader.u16().ok()?,
        );
        reader.take(4).ok()?;
        if id != self.id || flags & QR == 0 || questions != 1 {
            return None;
        }
        let question = Question::read(&mut reader).ok()?;
        let same = question.name.is(&self.question.name)
            && (question.kind, question.class) == (self.question.kind, self.question.class);
        if !same {
            return None;
        }
        if flags & TC != 0 {
            return Some(Response::Truncated);
        }
        Some(match (flags & 0xf) as u8 {
            0 => match self.addresses(&mut reader, answers) {
                Ok(addresses) => Response::Addresses(addresses),
                Err(problem) => Response::Broken(problem),
            },
            3 => Response::NoSuchName,
            code => Response::Failed(code),
        })
    }

    fn addresses(&self, reader: &mut Reader<'_>, answers: u16) -> Result<Vec<IpAddr>, WireProblem> {
        if answers > MAX_RECORDS {
            return Err(WireProblem::TooMany);
        }
        let mut aliases: Vec<(WireName, WireName)> = Vec::new();
        let mut found: Vec<(WireName, IpAddr)> = Vec::new();
        for _ in 0..answers {
            let owner = reader.name()?;
            let (kind, class) = (reader.u16()?, reader.u16()?);
            reader.take(4)?;
            let length = usize::from(reader.u16()?);
            let end = reader.at() + length;
            match kind {
                TYPE_CNAME if class == CLASS_IN => aliases.push((owner, reader.name()?)),
                TYPE_A if class == CLASS_IN && kind == self.question.kind => {
                    found.push((owner, Ipv4Addr::from(reader.array::<4>()?).into()));
                }
                TYPE_AAAA if class == CLASS_IN && kind == self.question.kind => {
                    found.push((owner, Ipv6Addr::from(reader.array::<16>()?).into()));
                }
                _ => drop(reader.take(length)?),
            }
            if reader.at() != end {
                return Err(WireProblem::Data);
            }
        }
        let mut name = &self.question.name;
        for _ in 0..=MAX_ALIASES {
            let own = found.iter().filter(|(owner, _)| owner.is(name)).map(|(_, addr)| *addr);
            let own: Vec<IpAddr> = own.take(MAX_ADDRESSES).collect();
            if !own.is_empty() {
                return Ok(own);
            }
            match aliases.iter().find(|(owner, _)| owner.is(name)) {
                Some((_, target)) => name = target,
                None => return Ok(Vec::new()),
            }
        }
        Err(WireProblem::Chain)
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
pub(crate) mod tests;
