//! The sandbox's side of DNS: reads a query, writes its reply. `response` is the other side.
//!
//! Pure. INVARIANT (small): a reply is at most 512 bytes, whatever was asked: header, the question of at most 259,
//! one record, one OPT. INVARIANT (no echo but the question): nothing else of the query comes back.

use std::net::IpAddr;

use super::wire::{Reader, WireName, WireProblem};

pub(crate) const TYPE_A: u16 = 1;
pub(crate) const TYPE_CNAME: u16 = 5;
const TYPE_SOA: u16 = 6;
pub(crate) const TYPE_AAAA: u16 = 28;
const TYPE_OPT: u16 = 41;
pub(crate) const CLASS_IN: u16 = 1;

pub(crate) const QR: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
pub(crate) const TC: u16 = 0x0200;
pub(crate) const RD: u16 = 0x0100;
const RA: u16 = 0x0080;

/// Short, so that nothing inside holds on to a synthetic address after the run.
const TTL: u32 = 5;
/// What we say we can take, and what no reply exceeds (RFC 9715).
pub(crate) const MAX_UDP: u16 = 1232;
/// A query needs none; OPT, a signature and a cookie are what is seen.
const MAX_ADDITIONAL: u16 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    NoError,
    FormErr,
    ServFail,
    NxDomain,
    NotImp,
    Refused,
    /// The only one that needs the extended part, in OPT.
    BadVers,
}

impl Code {
    fn number(self) -> u16 {
        match self {
            Self::NoError => 0,
            Self::FormErr => 1,
            Self::ServFail => 2,
            Self::NxDomain => 3,
            Self::NotImp => 4,
            Self::Refused => 5,
            Self::BadVers => 16,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub head: Head,
    pub question: Question,
    pub edns: Edns,
}

/// What every reply repeats: the id, the opcode and RD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub id: u16,
    flags: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub name: WireName,
    pub kind: u16,
    pub class: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edns {
    Absent,
    Version { version: u8 },
}

/// Why there is no query to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reject {
    /// Not worth a reply: no header, or itself a reply, which could go back and forth for ever.
    Drop,
    Reply(Head, Code),
}

impl Query {
    /// Exactly one question, no answers, at most one OPT. Other additional records are skipped.
    pub fn parse(message: &[u8]) -> Result<Query, Reject> {
        let mut reader = Reader::new(message);
        let mut header = [0; 6];
        for field in &mut header {
            *field = reader.u16().map_err(|_| Reject::Drop)?;
        }
        let [id, flags, questions, answers, authority, additional] = header;
        if flags & QR != 0 {
            return Err(Reject::Drop);
        }
        let head = Head { id, flags };
        if flags & OPCODE != 0 {
            return Err(Reject::Reply(head, Code::NotImp));
        }
        if questions != 1 || answers != 0 || authority != 0 || additional > MAX_ADDITIONAL {
            return Err(Reject::Reply(head, Code::FormErr));
        }
        Self::body(head, &mut reader, additional).map_err(|_| Reject::Reply(head, Code::FormErr))
    }

    fn body(head: Head, reader: &mut Reader<'_>, additional: u16) -> Result<Query, WireProblem> {
        let question = Question::read(reader)?;
        let mut edns = Edns::Absent;
        for _ in 0..additional {
            let owner = reader.name()?;
            let (kind, _size) = (reader.u16()?, reader.u16()?);
            let [_, version, _, _] = reader.array()?;
            let length = reader.u16()?;
            reader.take(length.into())?;
            if kind == TYPE_OPT {
                if edns != Edns::Absent || !owner.as_bytes().is_empty() {
                    return Err(WireProblem::TooMany);
                }
                edns = Edns::Version { version };
            }
        }
        Ok(Query { head, question, edns })
    }

    /// An address, or nothing and the SOA that makes nothing a correct answer.
    #[must_use]
    pub fn reply(&self, code: Code, address: Option<IpAddr>) -> Vec<u8> {
        let soa = address.is_none() && matches!(code, Code::NoError | Code::NxDomain);
        let opt = self.edns != Edns::Absent;
        let mut out = self
            .head
            .start(code, [1, address.is_some().into(), soa.into(), opt.into()]);
        self.question.write(&mut out);
        if let Some(address) = address {
            // A pointer to the question's name.
            out.extend_from_slice(&[0xc0, 0x0c]);
            match address {
                IpAddr::V4(v4) => record(&mut out, TYPE_A, &v4.octets()),
                IpAddr::V6(v6) => record(&mut out, TYPE_AAAA, &v6.octets()),
            }
        }
        if soa {
            // Owner, primary server and mailbox are all the root; then serial, refresh, retry, expire, minimum.
            out.push(0);
            let mut data = vec![0, 0];
            [1, TTL, TTL, TTL, TTL]
                .iter()
                .for_each(|number| data.extend_from_slice(&number.to_be_bytes()));
            record(&mut out, TYPE_SOA, &data);
        }
        if opt {
            let extended = u8::try_from(code.number() >> 4).unwrap_or_default();
            out.push(0);
            out.extend_from_slice(&TYPE_OPT.to_be_bytes());
            out.extend_from_slice(&MAX_UDP.to_be_bytes());
            out.extend_from_slice(&[extended, 0, 0, 0, 0, 0]);
        }
        out
    }
}

impl Head {
    /// A reply to what could not be read as a question.
    #[must_use]
    pub fn reply(self, code: Code) -> Vec<u8> {
        self.start(code, [0; 4])
    }

    fn start(self, code: Code, counts: [u16; 4]) -> Vec<u8> {
        let flags = QR | RA | (self.flags & (OPCODE | RD)) | (code.number() & 0xf);
        [self.id, flags]
            .into_iter()
            .chain(counts)
            .flat_map(u16::to_be_bytes)
            .collect()
    }
}

impl Question {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Question, WireProblem> {
        Ok(Question {
            name: reader.name()?,
            kind: reader.u16()?,
            class: reader.u16()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name.as_bytes());
        out.push(0);
        out.extend_from_slice(&self.kind.to_be_bytes());
        out.extend_from_slice(&self.class.to_be_bytes());
    }
}

fn record(out: &mut Vec<u8>, kind: u16, data: &[u8]) {
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
    out.extend_from_slice(&TTL.to_be_bytes());
    // The longest is an SOA of 22.
    out.extend_from_slice(&u16::try_from(data.len()).unwrap_or_default().to_be_bytes());
    out.extend_from_slice(data);
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
