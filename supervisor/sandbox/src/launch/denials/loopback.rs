//! Servers on the host's own loopback: a sandbox has another, where they are not.
//!
//! Read from the kernel's lists, never found out by connecting. INVARIANT (bounded): of a list `MOST` bytes are read, where what
//! listens stands first; the host's once in `GOOD_FOR`.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

const MOST: u64 = 1 << 20;
const GOOD_FOR: Duration = Duration::from_millis(500);
/// `TCP_LISTEN`, as the lists write it.
const LISTENS: &str = "0A";

/// The lists of one network namespace, opened and not yet read.
#[derive(Debug)]
pub(super) struct Lists(Vec<File>);

impl Lists {
    /// Of the namespace that a thread is in.
    pub(super) fn of(thread: &str) -> Self {
        let open = |name| File::open(format!("/proc/{thread}/net/{name}")).ok();
        Self(["tcp", "tcp6"].into_iter().filter_map(open).collect())
    }

    /// `None`: they cannot be read.
    pub(super) fn read(self) -> Option<Servers> {
        let mut servers = HashSet::new();
        if self.0.is_empty() {
            return None;
        }
        for list in self.0 {
            let mut text = String::new();
            list.take(MOST).read_to_string(&mut text).ok()?;
            servers.extend(text.lines().filter_map(listening));
        }
        Some(Servers(servers))
    }
}

/// What listens in a network namespace.
#[derive(Debug, Default)]
pub(super) struct Servers(HashSet<SocketAddr>);

impl Servers {
    /// Would a connection to this address of loopback be taken?
    pub(super) fn take(&self, to: SocketAddr) -> bool {
        let any: IpAddr = match to.ip() {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        // One that listens on every address of IPv6 mostly takes IPv4, too.
        [to.ip(), any, Ipv6Addr::UNSPECIFIED.into()]
            .iter()
            .any(|ip| self.0.contains(&SocketAddr::new(*ip, to.port())))
    }
}

/// The host's own, remembered for a moment.
#[derive(Debug, Default)]
pub(super) struct Loopback(Option<(Instant, Servers)>);

impl Loopback {
    /// Does the host serve this?
    pub(super) fn serves(&mut self, to: SocketAddr) -> bool {
        let fresh = self.0.as_ref().is_some_and(|(read, _)| read.elapsed() < GOOD_FOR);
        if !fresh {
            let servers = Lists::of("self").read().unwrap_or_default();
            self.0 = Some((Instant::now(), servers));
        }
        self.0.as_ref().is_some_and(|(_, servers)| servers.take(to))
    }
}

/// The address of a line about somebody who listens.
fn listening(line: &str) -> Option<SocketAddr> {
    let mut fields = line.split_ascii_whitespace();
    let (local, _, state) = (fields.nth(1)?, fields.next()?, fields.next()?);
    let (address, port) = local.split_once(':')?;
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(address)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, place) in bytes.chunks_exact_mut(4).enumerate() {
                place.copy_from_slice(&word(address.get(8 * at..8 * at + 8)?)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTENS).then_some(SocketAddr::new(ip, port))
}

/// Four bytes of an address, written as a number of this machine's.
fn word(digits: &str) -> Option<[u8; 4]> {
    u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
}

#[cfg(test)]
#[path = "loopback_tests.rs"]
mod tests;
