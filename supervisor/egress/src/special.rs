//! Addresses that a name must never lead to: special by number, or this machine's own.
//!
//! `special` is pure. `Own` asks the kernel and must be made anew for each dial, since interfaces come and go; it sends
//! nothing. INVARIANT (closed by default): an IPv6 address outside of 2000::/3 is special, whoever may use it one day.
//! The documentation ranges are not special: no service lives there, and tests use them in namespaces of their own.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::block::Block;
use crate::host::canonical;

pub const METADATA: &str = "cloud metadata";
pub const LINK_LOCAL: &str = "link-local";
pub const OWN: &str = "an address of this machine";

/// The kernel's list of IPv6 routes. Absent without IPv6.
const IPV6_ROUTES: &str = "/proc/net/ipv6_route";
const MAX_ROUTES: u64 = 1 << 20;
const RTF_LOCAL: u32 = 0x8000_0000;
const RTF_ANYCAST: u32 = 0x0010_0000;

/// What the address is, if nobody should reach it by a name.
#[must_use]
pub fn special(addr: IpAddr) -> Option<&'static str> {
    match canonical(addr) {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
    }
}

fn special_v4(addr: Ipv4Addr) -> Option<&'static str> {
    Some(match addr.octets() {
        // AWS, Azure, Google and most others; ECS and EKS; Alibaba; Oracle; Azure's host agent, on a public address.
        [169, 254, 169, 254]
        | [169, 254, 170, 2 | 23]
        | [100, 100, 100, 200]
        | [192, 0, 0, 192]
        | [168, 63, 129, 16] => METADATA,
        [0, 0, 0, 0] => "unspecified",
        [0, ..] => "this network",
        [127, ..] => "loopback",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [169, 254, ..] => LINK_LOCAL,
        [100, 64..=127, ..] => "carrier-grade NAT",
        [192, 0, 0, _] => "protocol assignments",
        [192, 88, 99, _] => "6to4 relay",
        [198, 18 | 19, ..] => "benchmarking",
        [224..=239, ..] => "multicast",
        [255, 255, 255, 255] => "broadcast",
        [240..=255, ..] => "reserved",
        _ => return None,
    })
}

fn special_v6(addr: Ipv6Addr) -> Option<&'static str> {
    Some(match addr.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => return special_v4(embedded(addr)?),
        [0x64, 0xff9b, 1, ..] => "local NAT64",
        // AWS, Google, Scaleway.
        [0xfd00, 0xec2, ..] | [0xfd20, 0xce, ..] | [0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42] => METADATA,
        [0xfc00..=0xfdff, ..] => "unique-local",
        [0xfe80..=0xfebf, ..] => LINK_LOCAL,
        [0xfec0..=0xfeff, ..] => "site-local",
        [0xff00..=0xffff, ..] => "multicast",
        [0x2001, 0, ..] => "Teredo",
        [0x2001, 0..=0x1ff, ..] => "protocol assignments",
        [0x2002, ..] => "6to4",
        [0x2000..=0x3fff, ..] => return None,
        _ => "reserved",
    })
}

/// The IPv4 address that a translator or a tunnel would send this one to.
#[must_use]
pub fn embedded(addr: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match addr.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(v4(high, low)),
        // Teredo hides the client's address by flipping its bits.
        [0x2001, 0, .., high, low] => Some(v4(!high, !low)),
        _ => None,
    }
}

/// The addresses of this machine at one moment.
#[derive(Debug)]
pub struct Own {
    interfaces: BTreeSet<IpAddr>,
    routes: Vec<Block>,
}

impl Own {
    pub fn now() -> io::Result<Own> {
        Ok(Own {
            interfaces: own_addresses()?,
            routes: local_routes()?,
        })
    }

    #[must_use]
    pub fn has(&self, addr: IpAddr) -> bool {
        self.interfaces.contains(&addr) || self.routes.iter().any(|block| block.contains(addr)) || is_routed_here(addr)
    }
}

/// What the interfaces of this machine carry.
pub fn own_addresses() -> io::Result<BTreeSet<IpAddr>> {
    let mut own = BTreeSet::new();
    for interface in nix::ifaddrs::getifaddrs()? {
        let Some(address) = interface.address else { continue };
        if let Some(v4) = address.as_sockaddr_in() {
            own.insert(IpAddr::V4(v4.ip()));
        } else if let Some(v6) = address.as_sockaddr_in6() {
            own.insert(canonical(IpAddr::V6(v6.ip())));
        }
    }
    Ok(own)
}

/// A connected UDP socket sends nothing, but the kernel picks its route. To an address of this machine, also one that
/// only a local route names, it leaves from that same address or from loopback.
fn is_routed_here(addr: IpAddr) -> bool {
    let any: IpAddr = match addr {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let leaves_from = UdpSocket::bind(SocketAddr::new(any, 0)).and_then(|socket| {
        socket.connect(SocketAddr::new(addr, 9))?;
        socket.local_addr()
    });
    // No route at all: then no connection either.
    leaves_from.is_ok_and(|from| canonical(from.ip()) == addr || from.ip().is_loopback())
}

/// IPv6 may leave from another address of this machine, so its local routes are read.
fn local_routes() -> io::Result<Vec<Block>> {
    let file = match File::open(IPV6_ROUTES) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(MAX_ROUTES).read_to_string(&mut text)?;
    Ok(text.lines().filter_map(local_route).collect())
}

/// Destination, its length, source, its length, next hop, metric, two counters, flags, device: all but the last in hex.
fn local_route(line: &str) -> Option<Block> {
    let mut fields = line.split_ascii_whitespace();
    let destination = u128::from_str_radix(fields.next()?, 16).ok()?;
    let length = u8::from_str_radix(fields.next()?, 16).ok()?;
    let flags = u32::from_str_radix(fields.nth(6)?, 16).ok()?;
    (flags & (RTF_LOCAL | RTF_ANYCAST) != 0).then(|| Block::new(Ipv6Addr::from(destination).into(), length))
}

#[cfg(test)]
#[path = "special_tests.rs"]
pub(crate) mod tests;
