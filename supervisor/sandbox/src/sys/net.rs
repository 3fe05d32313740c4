//! A new network namespace: its loopback interface, and a handle on it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::fd::own;
use super::{check, done};

/// Not in `libc`.
const SIOCGSKNS: libc::c_ulong = 0x894C;

/// A socket that is there to ask things of its network namespace.
fn socket() -> io::Result<OwnedFd> {
    // SAFETY: socket takes three integers.
    let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(raw.into()).map(own)
}

/// A handle on the network namespace we are in, without a look into `/proc`. Needs CAP_NET_ADMIN in it. Linux 4.9.
pub fn own_namespace() -> io::Result<OwnedFd> {
    let socket = socket()?;
    // SAFETY: SIOCGSKNS takes no argument and returns a new descriptor.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGSKNS) }.into()).map(own)
}

/// Brings `lo` up, with 127.0.0.1 and ::1 as the kernel assigns them.
pub fn loopback_up() -> io::Result<()> {
    let socket = socket()?;
    // SAFETY: ifreq is plain data; all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or(0);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: `request` is live and initialised; SIOCSIFFLAGS reads it.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}
