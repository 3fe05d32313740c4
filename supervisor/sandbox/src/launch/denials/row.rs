//! One refusal, and many of them as bytes: the listener is a process of its own.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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
}

const KINDS: [DeniedKind; 7] = [
    DeniedKind::Syscall,
    DeniedKind::Read,
    DeniedKind::Write,
    DeniedKind::Execute,
    DeniedKind::Hidden,
    DeniedKind::Unix,
    DeniedKind::Network,
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
}

const REASONS: [Because; 8] = [
    Because::Filter,
    Because::Absent,
    Because::ReadOnly,
    Because::Pinned,
    Because::Covered,
    Because::NotGranted,
    Because::Owner,
    Because::Unreachable,
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
}

impl Refusals {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.omitted.to_le_bytes());
        out.extend((self.list.len() as u64).to_le_bytes());
        for row in &self.list {
            let kind = KINDS.iter().position(|kind| *kind == row.kind).unwrap_or(0);
            let because = REASONS.iter().position(|reason| *reason == row.because).unwrap_or(0);
            let (tag, subject) = match &row.subject {
                Subject::Call => (0u8, Vec::new()),
                Subject::Path(path) => (1, path.as_os_str().as_bytes().to_vec()),
                Subject::Abstract(name) => (2, name.clone()),
                Subject::Address(address) => (3, address.to_string().into_bytes()),
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
        out
    }

    /// `None` for anything that `encode` would not have written.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        let omitted = rest.number()?;
        let count = rest.number()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(rest.row()?);
        }
        rest.0.is_empty().then_some(Self { list, omitted })
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
