//! What may stand behind 0, 1 and 2 of the command: files, pipes, devices, and sockets that lead to one place for good.
//!
//! A directory, or a handle on a path, leads wherever the host's own tree leads: every name below and above it can be
//! looked up, its sockets connected to, its files' modes and times changed. A socket stays in the network in which it was
//! made: one of the host's can be sent from, disconnected and connected elsewhere, whatever namespace holds it. A handle
//! on a process, a namespace or a mount is none of a command's business.
//! INVARIANT: what is not known here is refused.

use std::fmt;
use std::fs;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::PathBuf;

use crate::plan::{Containment, Namespace, SandboxPlan};
use crate::sys::path::Stat;
use crate::sys::{dir, fd, path, socket};

use super::outcome::LaunchError;

pub(super) const NAMES: [&str; 3] = ["standard input", "standard output", "standard error"];

/// Nameless kinds that lead nowhere: a counter and a clock.
const HARMLESS: [&str; 2] = ["anon_inode:[eventfd]", "anon_inode:[timerfd]"];

/// File systems whose regular files are handles on namespaces, processes and other objects of the kernel.
const HANDLES: [u32; 3] = [
    0x6e73_6673, // nsfs
    0x5049_4446, // pidfs
    0x0904_1934, // anon_inodefs
];

/// `/dev/net/tun`: an end of a network of the host's.
const TUN: u64 = libc::makedev(10, 200);

/// A standard file that would be a way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayOut {
    Directory,
    /// A socket of the host's network, of this address family.
    Socket(libc::c_int),
    /// One that makes packets of its own.
    RawSocket,
    /// A unix socket that can be sent from, or connected, by address.
    LooseSocket,
    NetworkDevice,
    /// As the kernel calls it.
    Handle(String),
    /// Open for writing, and hidden or read-only inside.
    CoveredOutput(PathBuf),
    /// The same, open for reading and too large for a copy.
    CoveredInput(PathBuf),
    /// The kernel does not say what it is.
    Unknown,
}

impl WayOut {
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Directory | Self::NetworkDevice | Self::Handle(_) | Self::Unknown => {
                "redirect it from or to a file, or `/dev/null`"
            }
            Self::CoveredOutput(_) => "put a pipe between: `glee-supervisor run … | cat >> FILE`",
            Self::CoveredInput(_) => "put a pipe between: `cat FILE | glee-supervisor run …`",
            Self::Socket(_) | Self::RawSocket | Self::LooseSocket => {
                "put pipes between: `cat | glee-supervisor run … 2>&1 | cat`"
            }
        }
    }
}

impl fmt::Display for WayOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NETWORK: &str = "through which the command could reach this machine's network";
        match self {
            Self::Directory => f.write_str("a directory, through which the command could reach the whole machine"),
            Self::Socket(libc::AF_INET | libc::AF_INET6) => write!(f, "an internet socket, {NETWORK}"),
            Self::Socket(libc::AF_NETLINK) => write!(f, "a netlink socket, {NETWORK}"),
            Self::Socket(libc::AF_PACKET) => write!(f, "a packet socket, {NETWORK}"),
            Self::Socket(libc::AF_VSOCK) => write!(f, "a socket of virtual machines, {NETWORK}"),
            Self::Socket(family) => write!(f, "a socket of address family {family}, {NETWORK}"),
            Self::RawSocket => write!(f, "a raw socket, {NETWORK}"),
            Self::LooseSocket => f.write_str(
                "a unix socket that is not connected for good, through which the command could reach other sockets",
            ),
            Self::NetworkDevice => write!(f, "a network device, {NETWORK}"),
            Self::Handle(what) => write!(f, "a handle (`{what}`), not a file, a pipe or a device"),
            Self::CoveredOutput(path) => write!(
                f,
                "`{}`, which is hidden or read-only inside: the command could open it again, to read or change what it holds",
                path.display()
            ),
            Self::CoveredInput(path) => write!(
                f,
                "`{}`, which is hidden or read-only inside, and too large to be copied: the command could open it again, to change it",
                path.display()
            ),
            Self::Unknown => f.write_str("of a kind that cannot be told"),
        }
    }
}

/// Whose network a socket of the caller's may be used in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The policy grants the host's.
    Host,
    /// The sandbox has its own, or none.
    Own,
}

/// Refuses a standard file that would be a way out.
pub(super) fn check(plan: &SandboxPlan) -> Result<(), LaunchError> {
    let reach = match plan.containment {
        Containment::Inherit => return Ok(()),
        Containment::Landlock => Reach::Own,
        Containment::Namespaces if plan.namespaces.contains(&Namespace::Net) => Reach::Own,
        Containment::Namespaces => Reach::Host,
    };
    for (number, name) in (0..3).zip(NAMES) {
        if let Some(way) = way_out(number, reach) {
            return Err(LaunchError::StandardFile { name, way });
        }
    }
    Ok(())
}

fn way_out(number: RawFd, reach: Reach) -> Option<WayOut> {
    if fd::is_path(number) {
        return Some(WayOut::Directory);
    }
    let file = fd::borrow(number);
    let Ok(stat) = path::lstat_at(file, "".as_ref()) else {
        return Some(WayOut::Unknown);
    };
    match stat.kind() {
        libc::S_IFIFO | libc::S_IFBLK => None,
        libc::S_IFCHR => (stat.rdev == TUN && reach == Reach::Own).then_some(WayOut::NetworkDevice),
        libc::S_IFDIR => Some(WayOut::Directory),
        libc::S_IFSOCK => socket_out(file, reach),
        libc::S_IFREG | NAMELESS => handle(number, &stat),
        _ => Some(WayOut::Unknown),
    }
}

/// The kind of what has no name in any file system.
const NAMELESS: u32 = 0;

fn socket_out(file: BorrowedFd<'_>, reach: Reach) -> Option<WayOut> {
    let (Ok(family), Ok(kind)) = (socket::family(file), socket::kind(file)) else {
        return Some(WayOut::Unknown);
    };
    let is_stream = matches!(kind, libc::SOCK_STREAM | libc::SOCK_SEQPACKET);
    match (family, reach) {
        (libc::AF_UNIX, Reach::Host) => None,
        // Whom a datagram goes to is said with each; abstract names are those of the socket's network, not the sandbox's.
        (libc::AF_UNIX, Reach::Own) => (!(is_stream && socket::is_connected(file))).then_some(WayOut::LooseSocket),
        (libc::AF_INET | libc::AF_INET6, Reach::Host) => {
            (!matches!(kind, libc::SOCK_STREAM | libc::SOCK_DGRAM)).then_some(WayOut::RawSocket)
        }
        (_, Reach::Own | Reach::Host) => Some(WayOut::Socket(family)),
    }
}

/// A namespace of `ip netns` has a path, and a process none: the file system tells.
fn handle(number: RawFd, stat: &Stat) -> Option<WayOut> {
    let is_handle = || dir::filesystem(fd::borrow(number)).is_ok_and(|kind| HANDLES.contains(&kind));
    if stat.is_file() && !is_handle() {
        return None;
    }
    let Ok(link) = fs::read_link(format!("/proc/self/fd/{number}")) else {
        return Some(WayOut::Unknown);
    };
    let name = link.to_string_lossy().into_owned();
    (!HARMLESS.contains(&name.as_str())).then_some(WayOut::Handle(name))
}
