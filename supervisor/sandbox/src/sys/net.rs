//! The loopback interface of a new network namespace.

use std::io;
use std::os::fd::AsRawFd;

use super::fd::own;
use super::{check, done};

/// Brings `lo` up, with 127.0.0.1 and ::1 as the kernel assigns them.
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: socket takes three integers.
    let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    let socket = own(check(raw.into())?);
    // SAFETY: ifreq is plain data; all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or(0);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: `request` is live and initialised; SIOCSIFFLAGS reads it.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}
