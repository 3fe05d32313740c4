//! One refusal, and many of them as bytes: the listener is a process of its own.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::plan::Transport;

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeniedKind {
    Syscall,
    Read,
    Write,
    Execute,
    /// It exists outside, and not in the sandbox.
    Hidden,
    Unix,
    Network,
    /// A limit of the policy; `why` is its key.
    Limit,
}

const KINDS: [DeniedKind; 8] = [
    DeniedKind::Syscall,
    DeniedKind::Read,
    DeniedKind::Write,
    DeniedKind::Execute,
    DeniedKind::Hidden,
    DeniedKind::Unix,
    DeniedKind::Network,
    DeniedKind::Limit,
];

/// What it was about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The call itself.
    Call,
    /// As it is named on the host.
    Path(PathBuf),
    /// A unix socket without a file, by its name.
    Abstract(Vec<u8>),
    Address(SocketAddr),
    /// An address that datagrams were for.
    Datagram(SocketAddr),
    /// A host, by a name that was to be looked up.
    Host(String),
}

/// What stood in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Because {
    /// The list of system calls.
    Filter,
    /// It is not there inside.
    Absent,
    ReadOnly,
    /// The name is the top of a mount: it cannot be moved or removed.
    Pinned,
    /// Covered by something empty.
    Covered,
    /// Landlock's rules, or a mount that executes nothing.
    NotGranted,
    /// It belongs to somebody else than the sandbox's own user.
    Owner,
    /// There is no way there from this network namespace.
    Unreachable,
    /// The address is one that leads out, but no door carries this port.
    NoDoor,
    /// There was no room.
    Full,
}

const REASONS: [Because; 10] = [
    Because::Filter,
    Because::Absent,
    Because::ReadOnly,
    Because::Pinned,
    Because::Covered,
    Because::NotGranted,
    Because::Owner,
    Because::Unreachable,
    Because::NoDoor,
    Because::Full,
];

/// Something that the sandbox refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    pub kind: DeniedKind,
    pub syscall: String,
    pub subject: Subject,
    pub because: Because,
    /// Why, where the list of system calls says so.
    pub why: String,
    /// As seen inside.
    pub pid: u32,
    pub program: String,
    pub count: u64,
}

/// Everything that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusals {
    pub list: Vec<Denied>,
    /// Refusals beyond the list's bound.
    pub omitted: u64,
    /// Refusals that the kernel counted and nobody could read. 1 also stands for everything that somebody noted and could not tell.
    pub lost: u64,
    /// Calls that were looked at, refused or not.
    pub seen: u64,
    /// Who connected to the doors.
    pub clients: Vec<Client>,
}

/// Who a connection to a door is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub transport: Transport,
    pub port: u16,
    /// As seen inside.
    pub pid: u32,
    pub program: String,
}

impl Refusals {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let lengths = [self.list.len() as u64, self.clients.len() as u64];
        for number in [self.omitted, self.lost, self.seen].into_iter().chain(lengths) {
            out.extend(number.to_le_bytes());
        }
        for row in &self.list {
            let kind = KINDS.iter().position(|kind| *kind == row.kind).unwrap_or(0);
            let because = REASONS.iter().position(|reason| *reason == row.because).unwrap_or(0);
            let (tag, subject) = match &row.subject {
                Subject::Call => (0u8, Vec::new()),
                Subject::Path(path) => (1, path.as_os_str().as_bytes().to_vec()),
                Subject::Abstract(name) => (2, name.clone()),
                Subject::Address(address) => (3, address.to_string().into_bytes()),
                Subject::Host(name) => (4, name.clone().into_bytes()),
                Subject::Datagram(address) => (5, address.to_string().into_bytes()),
            };
            out.extend([kind as u8, because as u8, tag]);
            out.extend(row.pid.to_le_bytes());
            out.extend(row.count.to_le_bytes());
            for text in [
                &subject,
                row.syscall.as_bytes(),
                row.why.as_bytes(),
                row.program.as_bytes(),
            ] {
                out.extend((text.len() as u64).to_le_bytes());
                out.extend(text);
            }
        }
        for client in &self.clients {
            out.push(match client.transport {
                Transport::Tcp => 0,
                Transport::Udp => 1,
            });
            out.extend(client.port.to_le_bytes());
            out.extend(client.pid.to_le_bytes());
            out.extend((client.program.len() as u64).to_le_bytes());
            out.extend(client.program.as_bytes());
        }
        out
    }

    /// `None` for anything that `encode` would not have written.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        let (omitted, lost, seen) = (rest.number()?, rest.number()?, rest.number()?);
        let (count, clients) = (rest.number()?, rest.number()?);
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(rest.row()?);
        }
        let clients: Option<Vec<Client>> = (0..clients).map(|_| rest.client()).collect();
        let clients = clients?;
        rest.0.is_empty().then_some(Self {
            list,
            omitted,
            lost,
            seen,
            clients,
        })
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn client(&mut self) -> Option<Client> {
        let transport = match self.take(1)? {
            [0] => Transport::Tcp,
            [1] => Transport::Udp,
            _ => return None,
        };
        Some(Client {
            transport,
            port: self.take(2)?.try_into().ok().map(u16::from_le_bytes)?,
            pid: self.take(4)?.try_into().ok().map(u32::from_le_bytes)?,
            program: self.text()?,
        })
    }

    fn row(&mut self) -> Option<Denied> {
        let [kind, because, tag] = self.take(3)? else {
            return None;
        };
        let pid = self.take(4)?.try_into().ok().map(u32::from_le_bytes)?;
        let count = self.number()?;
        let subject = self.bytes()?;
        let subject = match tag {
            0 => Subject::Call,
            1 => Subject::Path(OsString::from_vec(subject.to_vec()).into()),
            2 => Subject::Abstract(subject.to_vec()),
            3 => Subject::Address(std::str::from_utf8(subject).ok()?.parse().ok()?),
            5 => Subject::Datagram(std::str::from_utf8(subject).ok()?.parse().ok()?),
            4 => Subject::Host(String::from_utf8(subject.to_vec()).ok()?),
            _ => return None,
        };
        Some(Denied {
            kind: *KINDS.get(usize::from(*kind))?,
            because: *REASONS.get(usize::from(*because))?,
            subject,
            pid,
            count,
            syscall: self.text()?,
            why: self.text()?,
            program: self.text()?,
        })
    }
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
