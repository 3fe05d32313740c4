//! Sockets that listen in the sandbox's network namespace, made while its capabilities are still there.
//!
//! Whoever accepts on them lives outside. A door for IPv6 on a kernel without it is left out; every other failure is one.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use crate::plan::{Doors, Transport};
use crate::sys::net;

/// In the plan's order.
pub(crate) fn open(doors: &Doors) -> io::Result<Vec<Option<OwnedFd>>> {
    for (address, length) in &doors.local {
        match net::local_route(*address, *length) {
            Err(error) if address.is_ipv6() && is_absent(&error) => {}
            other => other?,
        }
    }
    doors
        .list
        .iter()
        .map(|door| {
            let made = match door.transport {
                Transport::Tcp => net::listen(door.at),
                Transport::Udp => net::datagram(door.at),
            };
            match (made, door.at) {
                (Ok(fd), _) => Ok(Some(fd)),
                (Err(error), SocketAddr::V6(v6)) if is_absent(&error) => {
                    if v6.ip().is_unspecified() {
                        // It was to take IPv4 as well.
                        let v4 = SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, v6.port()));
                        return net::listen(v4).map(Some);
                    }
                    Ok(None)
                }
                (Err(error), SocketAddr::V4(_) | SocketAddr::V6(_)) => Err(error),
            }
        })
        .collect()
}

/// The kernel has no IPv6, or it is switched off.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::EAFNOSUPPORT
                | libc::EADDRNOTAVAIL
                | libc::EOPNOTSUPP
                | libc::ENETUNREACH
                | libc::EACCES
                | libc::ENODEV
        )
    )
}
