//! The kernel's audit: its state, and the group on which its records are sent to whoever listens.
//!
//! `AUDIT_GET` and `AUDIT_SET` need CAP_AUDIT_CONTROL, listening (`AUDIT_NLGRP_READLOG`, Linux 3.16) CAP_AUDIT_READ, both in
//! the first user and pid namespace. Listening takes nothing away from an audit daemon: that one has a channel of its own.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::event::{self, Want};
use super::fd::{self, own};
use super::{check, done};

const GET: u16 = 1000;
const SET: u16 = 1001;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const ACK: u16 = 4;
/// `AUDIT_NLGRP_READLOG`, as a mask of groups.
const READLOG: u32 = 1;
/// `NETLINK_AUDIT`.
const PROTOCOL: libc::c_int = 9;
/// Of `nlmsghdr`.
const HEADER: usize = 16;
/// `AUDIT_STATUS_` of what `set` changes: enabled, rate limit, backlog limit, backlog wait time.
const CHANGED: u32 = 0x1 | 0x8 | 0x10 | 0x20;
/// How long the kernel may take for an answer; it answers while it is asked.
const PATIENCE: Duration = Duration::from_secs(1);
/// Room for records that wait for us.
const ROOM: libc::c_int = 8 << 20;

/// What the kernel says of its audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    pub tuning: Tuning,
    pub on_loss: OnLoss,
    /// The audit daemon's; 0 if none is registered.
    pub daemon: u32,
    /// Records that the kernel lost since it started.
    pub lost: u32,
}

/// What can be set, and put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// 0: off, 1: on, 2: on until the next boot.
    pub enabled: u32,
    /// Records in a second; 0: no limit.
    pub rate_limit: u32,
    /// Records that may wait.
    pub backlog_limit: u32,
    /// How long (in ticks) a process waits that has a record to write and finds no room.
    pub backlog_wait: u32,
}

/// What the kernel does when it loses a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLoss {
    Silence,
    Say,
    /// The machine stops.
    Panic,
}

/// The state of audit on this machine.
pub fn status() -> io::Result<Status> {
    let socket = open(0)?;
    let body = ask(socket.as_fd(), GET, &[])?;
    let word = |at: usize| {
        let bytes = body.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_ne_bytes)
    };
    let known = || {
        Some(Status {
            tuning: Tuning {
                enabled: word(1)?,
                rate_limit: word(4)?,
                backlog_limit: word(5)?,
                backlog_wait: word(9)?,
            },
            on_loss: match word(2)? {
                0 => OnLoss::Silence,
                1 => OnLoss::Say,
                _ => OnLoss::Panic,
            },
            daemon: word(3)?,
            lost: word(6)?,
        })
    };
    known().ok_or_else(|| io::Error::from_raw_os_error(libc::EBADMSG))
}

/// Sets it.
pub fn set(tuning: &Tuning) -> io::Result<()> {
    let mut words = [0u32; 11];
    let values = [
        (0, CHANGED),
        (1, tuning.enabled),
        (4, tuning.rate_limit),
        (5, tuning.backlog_limit),
        (9, tuning.backlog_wait),
    ];
    for (at, value) in values {
        if let Some(word) = words.get_mut(at) {
            *word = value;
        }
    }
    let body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    ask(open(0)?.as_fd(), SET, &body).map(drop)
}

/// A socket on which every record of the machine arrives from now on. Does not block.
pub fn follow() -> io::Result<OwnedFd> {
    let socket = open(READLOG)?;
    let (room, size) = (ROOM, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: `room` is a live local of the size given. That it is refused only means less room.
    let _ = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            (&raw const room).cast(),
            size,
        )
    };
    fd::set_nonblocking(socket.as_fd())?;
    Ok(socket)
}

/// What arrived on such a socket.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// A record of this type.
    Record(u16, &'a [u8]),
    /// There was no room for some.
    Overflow,
    Nothing,
}

/// The next record. `buffer` takes the longest: 9,000 bytes are enough.
pub fn next<'a>(socket: BorrowedFd<'_>, buffer: &'a mut [u8]) -> io::Result<Arrival<'a>> {
    let length = match fd::read(socket, buffer) {
        Ok(length) => length,
        Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => return Ok(Arrival::Overflow),
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            return Ok(Arrival::Nothing);
        }
        Err(e) => return Err(e),
    };
    let message = buffer.get(..length).and_then(split);
    Ok(message.map_or(Arrival::Overflow, |(kind, body)| Arrival::Record(kind, body)))
}

/// Type and contents of a message.
fn split(message: &[u8]) -> Option<(u16, &[u8])> {
    let kind = message.get(4..6)?.try_into().ok().map(u16::from_ne_bytes)?;
    Some((kind, message.get(HEADER..)?))
}

fn open(groups: u32) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes three integers.
    let socket = check(unsafe { libc::socket(libc::AF_NETLINK, kind, PROTOCOL) }.into()).map(own)?;
    // SAFETY: sockaddr_nl is plain data; all zeroes is a valid value.
    let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    address.nl_groups = groups;
    let size = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
    // SAFETY: `address` is a live, initialised local of the size given.
    done(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    Ok(socket)
}

/// Sends a request and returns what comes back: the answer, or nothing more than "done".
fn ask(socket: BorrowedFd<'_>, kind: u16, body: &[u8]) -> io::Result<Vec<u8>> {
    let flags = if kind == SET { REQUEST | ACK } else { REQUEST };
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // A sequence number and our address, which the kernel fills in.
    message.extend([0; 8]);
    message.extend(body);
    fd::write(socket, &message)?;
    let mut buffer = vec![0; 1024];
    for _ in 0..8 {
        let ready = event::poll(&[(Some(socket), Want::Read)], Some(PATIENCE))?;
        if !ready.first().is_some_and(|r| r.readable) {
            break;
        }
        let length = fd::read(socket, &mut buffer)?;
        let Some((answered, body)) = buffer.get(..length).and_then(split) else {
            continue;
        };
        if answered == ERROR {
            let errno = body
                .first_chunk()
                .map_or(-libc::EBADMSG, |word| i32::from_ne_bytes(*word));
            return match errno {
                0 => Ok(Vec::new()),
                errno => Err(io::Error::from_raw_os_error(-errno)),
            };
        }
        if answered == kind {
            return Ok(body.to_vec());
        }
    }
    Err(io::Error::from(io::ErrorKind::TimedOut))
}
