//! What supervisor and init say to each other over the control socket.
//!
//! Small fixed messages, decoded strictly: what comes from inside is data from a stranger, though only our own init
//! and the command before its exec ever hold the socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::receipt::{self, Answer};
use crate::sys::process::{Change, Usage};
use crate::sys::socket::{self, Wait};

/// Why the tree was ended, beyond what the exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The watchdog saw more memory in use than the policy allows.
    Memory,
    /// Init itself noticed that the deadline and the grace time were over.
    Deadline,
    /// Whoever answers the filter died or got stuck; the supervisor ended the run, or it was over and the notes are lost.
    Listener,
    /// Names that must be covered came faster than they could be; the supervisor ended the run.
    Warden,
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
    /// What came of the canaries, in the order of the plan's, or none if they were not wanted. The next thing is the command,
    /// unless one of them was a surprise.
    Receipt { answers: Vec<Answer>, duration: Duration },
    /// The command was stopped (Ctrl-Z).
    Stopped,
    /// The tree has come up to the number of processes that it may have. Said once.
    OutOfPids,
    /// What the tree has used, for a supervisor that is not our parent.
    Usage(Usage),
    /// The command ended.
    Ended { change: Change, cause: Option<Cause> },
}

/// Limits that no group holds, and that init sees to itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unheld {
    pub(crate) memory: bool,
    pub(crate) pids: bool,
}

/// From the supervisor to init.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The identity is set: go on.
    Go,
    /// The groups are made: enter them, whose files come along.
    Enter(Unheld),
    /// Trees of the host that only the supervisor could open come along, as many as fit in a message.
    Trees,
    /// Their owners are mapped: those that need it may be mounted.
    Mapped,
    /// What the command can change has been listed: it may start.
    Listed,
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
            Self::Receipt { answers, duration } => {
                let mut bytes = vec![b'R'];
                let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
                bytes.extend(micros.to_le_bytes());
                bytes.extend(
                    answers
                        .into_iter()
                        .flat_map(|answer| receipt::encode(answer).to_le_bytes()),
                );
                socket::send(socket, &bytes, None)
            }
            Self::Stopped => socket::send(socket, b"S", None),
            Self::OutOfPids => socket::send(socket, b"P", None),
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
                    Some(Cause::Listener) => 3,
                    Some(Cause::Warden) => 4,
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
            (b'R', None) => receipt_of(body).ok_or_else(malformed)?,
            (b'S', None) => Self::Stopped,
            (b'P', None) => Self::OutOfPids,
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
                    Some(3) => Some(Cause::Listener),
                    Some(4) => Some(Cause::Warden),
                    Some(_) | None => return Err(malformed()),
                };
                Self::Ended { change, cause }
            }
            _ => return Err(malformed()),
        };
        Ok(Some(report))
    }
}

/// A duration in microseconds, then the answers: eight bytes each.
fn receipt_of(body: &[u8]) -> Option<Report> {
    let (numbers, []) = body.as_chunks::<8>() else {
        return None;
    };
    let (micros, answers) = numbers.split_first()?;
    Some(Report::Receipt {
        answers: answers
            .iter()
            .map(|bytes| receipt::decode(i64::from_le_bytes(*bytes)))
            .collect(),
        duration: Duration::from_micros(u64::try_from(i64::from_le_bytes(*micros)).ok()?),
    })
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
        self.send_with(socket, &[])
    }

    pub(crate) fn send_with(self, socket: BorrowedFd<'_>, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(5);
        match self {
            Self::Go => bytes.push(b'G'),
            Self::Enter(Unheld { memory, pids }) => bytes.extend([b'C', u8::from(memory), u8::from(pids)]),
            Self::Trees => bytes.push(b'B'),
            Self::Mapped => bytes.push(b'M'),
            Self::Listed => bytes.push(b'L'),
            Self::Signal(signal) => {
                bytes.push(b'K');
                bytes.extend(signal.to_le_bytes());
            }
            Self::Terminate => bytes.push(b'T'),
            Self::End => bytes.push(b'E'),
        }
        socket::send_all(socket, &bytes, fds)
    }

    /// `None`: the supervisor is gone.
    pub(crate) fn receive(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<Option<Self>> {
        Ok(Self::receive_with(socket, wait)?.map(|(order, _)| order))
    }

    /// As `receive`, with the descriptors that came along.
    pub(crate) fn receive_with(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<Option<(Self, Vec<OwnedFd>)>> {
        let (bytes, fds) = socket::receive_all(socket, wait)?;
        let Some((tag, body)) = bytes.split_first() else {
            return Ok(None);
        };
        let order = match (tag, body) {
            (b'G', []) => Self::Go,
            (b'C', [memory, pids]) => Self::Enter(Unheld {
                memory: *memory != 0,
                pids: *pids != 0,
            }),
            (b'B', []) => Self::Trees,
            (b'M', []) => Self::Mapped,
            (b'L', []) => Self::Listed,
            (b'K', _) => Self::Signal(word(body, 0).ok_or_else(malformed)?),
            (b'T', []) => Self::Terminate,
            (b'E', []) => Self::End,
            _ => return Err(malformed()),
        };
        Ok(Some((order, fds)))
    }
}
