//! What supervisor and init say to each other over the control socket.
//!
//! Small fixed messages, decoded strictly: what comes from inside is data from a stranger, though only our own init
//! and the command before its exec ever hold the socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::sys::process::{Change, Usage};
use crate::sys::socket::{self, Wait};

/// Why the tree was ended, beyond what the exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The watchdog saw more memory in use than the policy allows.
    Memory,
    /// Init itself noticed that the deadline and the grace time were over.
    Deadline,
}

/// From inside to the supervisor.
#[derive(Debug)]
pub(crate) enum Report {
    /// A step of building the sandbox failed; nothing ran.
    Failed { step: String, errno: i32, detail: String },
    /// Everything was built, but the program could not be executed.
    NotExecuted { errno: i32 },
    /// The controlling side of the pseudo-terminal.
    Terminal(OwnedFd),
    /// The doors of the network namespace, in the plan's order; `None` where this kernel has no such address family.
    Doors(Vec<Option<OwnedFd>>),
    /// Where seccomp's notifications arrive.
    Listener(OwnedFd),
    /// The command was stopped (Ctrl-Z).
    Stopped,
    /// What the tree has used, for a supervisor that is not our parent.
    Usage(Usage),
    /// The command ended.
    Ended { change: Change, cause: Option<Cause> },
}

/// From the supervisor to init.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Identity and cgroup are set: go on.
    Go,
    /// Owners are mapped: trees of other owners may be mounted.
    Mapped,
    /// Pass a signal on to the command.
    Signal(i32),
    /// Ask the whole tree to end (SIGTERM, and wake what is stopped).
    Terminate,
    /// End the whole tree now.
    End,
}

fn word(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn malformed() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADMSG)
}

impl Report {
    pub(crate) fn send(self, socket: BorrowedFd<'_>) -> io::Result<()> {
        match self {
            Self::Failed { step, errno, detail } => {
                let mut bytes = vec![b'F'];
                bytes.extend(errno.to_le_bytes());
                bytes.extend(step.as_bytes());
                bytes.push(0);
                bytes.extend(detail.as_bytes());
                bytes.truncate(4000);
                socket::send(socket, &bytes, None)
            }
            Self::NotExecuted { errno } => {
                let mut bytes = vec![b'N'];
                bytes.extend(errno.to_le_bytes());
                socket::send(socket, &bytes, None)
            }
            Self::Terminal(fd) => socket::send(socket, b"T", Some(fd.as_fd())),
            Self::Doors(doors) => send_doors(socket, &doors),
            Self::Listener(fd) => socket::send(socket, b"L", Some(fd.as_fd())),
            Self::Stopped => socket::send(socket, b"S", None),
            Self::Usage(usage) => {
                let mut bytes = vec![b'U'];
                for value in [usage.user_us, usage.sys_us, usage.max_rss_kb] {
                    bytes.extend(value.to_le_bytes());
                }
                socket::send(socket, &bytes, None)
            }
            Self::Ended { change, cause } => {
                let (kind, value) = match change {
                    Change::Exited(code) => (0u8, code),
                    Change::Killed(signal) => (1, signal),
                    Change::Stopped | Change::Continued => return Ok(()),
                };
                let cause = match cause {
                    None => 0u8,
                    Some(Cause::Memory) => 1,
                    Some(Cause::Deadline) => 2,
                };
                let mut bytes = vec![b'E', kind, cause];
                bytes.extend(value.to_le_bytes());
                socket::send(socket, &bytes, None)
            }
        }
    }

    /// `None`: the other side is gone.
    pub(crate) fn receive(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<Option<Self>> {
        let (bytes, fds) = socket::receive_all(socket, wait)?;
        let Some((tag, body)) = bytes.split_first() else {
            return Ok(None);
        };
        if *tag == b'D' {
            return doors(body, fds)
                .map(|doors| Some(Self::Doors(doors)))
                .ok_or_else(malformed);
        }
        let fd = fds.into_iter().next();
        let report = match (tag, fd) {
            (b'F', None) => {
                let errno = word(body, 0).ok_or_else(malformed)?;
                let text = String::from_utf8_lossy(body.get(4..).unwrap_or_default()).into_owned();
                let (step, detail) = text.split_once('\0').unwrap_or((&text, ""));
                Self::Failed {
                    step: step.to_owned(),
                    errno,
                    detail: detail.to_owned(),
                }
            }
            (b'N', None) => Self::NotExecuted {
                errno: word(body, 0).ok_or_else(malformed)?,
            },
            (b'T', Some(fd)) => Self::Terminal(fd),
            (b'L', Some(fd)) => Self::Listener(fd),
            (b'S', None) => Self::Stopped,
            (b'U', None) => Self::Usage(Usage {
                user_us: long(body, 0).ok_or_else(malformed)?,
                sys_us: long(body, 8).ok_or_else(malformed)?,
                max_rss_kb: long(body, 16).ok_or_else(malformed)?,
            }),
            (b'E', None) => {
                let value = word(body, 2).ok_or_else(malformed)?;
                let change = match body.first() {
                    Some(0) => Change::Exited(value),
                    Some(1) => Change::Killed(value),
                    Some(_) | None => return Err(malformed()),
                };
                let cause = match body.get(1) {
                    Some(0) => None,
                    Some(1) => Some(Cause::Memory),
                    Some(2) => Some(Cause::Deadline),
                    Some(_) | None => return Err(malformed()),
                };
                Self::Ended { change, cause }
            }
            _ => return Err(malformed()),
        };
        Ok(Some(report))
    }
}

/// One byte per door, 1 for those whose descriptor comes along.
pub(crate) fn send_doors(socket: BorrowedFd<'_>, doors: &[Option<OwnedFd>]) -> io::Result<()> {
    let mut bytes = vec![b'D'];
    bytes.extend(doors.iter().map(|door| u8::from(door.is_some())));
    let fds: Vec<BorrowedFd<'_>> = doors.iter().flatten().map(AsFd::as_fd).collect();
    socket::send_all(socket, &bytes, &fds)
}

/// The other side of `send_doors`, without its tag.
pub(crate) fn doors(marks: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<Option<OwnedFd>>> {
    let mut fds = fds.into_iter();
    let doors = marks
        .iter()
        .map(|mark| if *mark == 0 { Some(None) } else { fds.next().map(Some) })
        .collect();
    if fds.next().is_some() { None } else { doors }
}

impl Order {
    pub(crate) fn send(self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(5);
        match self {
            Self::Go => bytes.push(b'G'),
            Self::Mapped => bytes.push(b'M'),
            Self::Signal(signal) => {
                bytes.push(b'K');
                bytes.extend(signal.to_le_bytes());
            }
            Self::Terminate => bytes.push(b'T'),
            Self::End => bytes.push(b'E'),
        }
        socket::send(socket, &bytes, None)
    }

    /// `None`: the supervisor is gone.
    pub(crate) fn receive(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<Option<Self>> {
        let (bytes, _) = socket::receive(socket, wait)?;
        let Some((tag, body)) = bytes.split_first() else {
            return Ok(None);
        };
        match tag {
            b'G' => Ok(Some(Self::Go)),
            b'M' => Ok(Some(Self::Mapped)),
            b'K' => word(body, 0).map(|s| Some(Self::Signal(s))).ok_or_else(malformed),
            b'T' => Ok(Some(Self::Terminate)),
            b'E' => Ok(Some(Self::End)),
            _ => Err(malformed()),
        }
    }
}
