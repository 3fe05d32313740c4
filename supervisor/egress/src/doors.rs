//! Which sockets must listen in the namespace, and which local routes make connections arrive at them.
//!
//! Pure: whoever is inside binds what is planned here and hands the sockets out. INVARIANT (no door twice): no two TCP
//! doors want the same port of the same address, a door on every address counting as each of them.
//!
//! Routes of wide blocks are planned as they are, also `0.0.0.0/0` and `::/0`. They do not break loopback: the kernel's
//! own `127.0.0.0/8` and `::1` are longer and stay in the local table, so they win, and what listens on loopback is
//! reached as before. The price is seen only inside: any address can be bound there and answers a ping.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::block::Block;
use crate::book::{Book, RANGE_V4, RANGE_V6};
use crate::host::Host;
use crate::rules::Rules;

pub const DNS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);
pub const DNS_PORT: u16 = 53;
pub const HTTP_PROXY_PORT: u16 = 3128;
pub const SOCKS_PORT: u16 = 1080;
pub const BROKER_PORT: u16 = 9786;
pub const ENDPOINT_PORT: u16 = 9787;

/// So many relay doors at single addresses; beyond, the ports with the most of them get one door for all addresses.
pub const MAX_SINGLE: usize = 128;
/// So many relay doors at all: they are handed out in one message, which takes 253 descriptors. The rest is reached
/// through the proxies only.
pub const MAX_RELAY: usize = 240;

/// A socket in the namespace. On `[::]` it is for both families: the binder clears `IPV6_V6ONLY`. On a synthetic or
/// named IPv6 address, which no interface carries, it needs `IPV6_FREEBIND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Door {
    pub at: SocketAddr,
    pub kind: DoorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DoorKind {
    DnsUdp,
    DnsTcp,
    HttpProxy,
    Socks,
    /// TCP for the address it was meant for; a door on `[::]` learns it from each connection's local address.
    Relay,
    Broker,
    /// Of a task: served by a process of its own.
    Endpoint,
}

/// What a run has of its own on loopback, whatever the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Broker,
    Endpoint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doors {
    /// Ordered, no door twice.
    pub doors: Vec<Door>,
    /// Address and prefix length of each local route to `lo`, ordered, none twice.
    pub routes: Vec<(IpAddr, u8)>,
    /// Relay doors that were beyond `MAX_RELAY`, or whose port on every address another kind of door already has.
    pub left_out: usize,
}

impl Doors {
    #[must_use]
    pub fn plan(rules: Option<&Rules>, book: Option<&Book>, services: &[Service]) -> Doors {
        let mut doors = BTreeSet::new();
        let mut fixed = |at: Ipv4Addr, port, kind| {
            doors.insert(Door {
                at: (at, port).into(),
                kind,
            });
        };
        for service in services {
            let (port, kind) = match service {
                Service::Broker => (BROKER_PORT, DoorKind::Broker),
                Service::Endpoint => (ENDPOINT_PORT, DoorKind::Endpoint),
            };
            fixed(Ipv4Addr::LOCALHOST, port, kind);
        }
        let mut routes = BTreeSet::new();
        let mut left_out = 0;
        if let Some(rules) = rules {
            fixed(DNS, DNS_PORT, DoorKind::DnsUdp);
            fixed(DNS, DNS_PORT, DoorKind::DnsTcp);
            fixed(Ipv4Addr::LOCALHOST, HTTP_PROXY_PORT, DoorKind::HttpProxy);
            fixed(Ipv4Addr::LOCALHOST, SOCKS_PORT, DoorKind::Socks);
            let taken: BTreeSet<SocketAddr> = doors.iter().map(|door| door.at).collect();
            let mut relays = Relays::wanted(rules, book, &taken);
            left_out = relays.reduce(&taken);
            doors.extend(relays.into_doors());
            routes.insert((IpAddr::V4(RANGE_V4.0), RANGE_V4.1));
            routes.insert((IpAddr::V6(RANGE_V6.0), RANGE_V6.1));
            let blocks = rules
                .blocks()
                .map(|(block, _)| block)
                .filter(|block| is_routable(*block));
            routes.extend(blocks.map(|block| (block.address(), block.length())));
        }
        Doors {
            doors: doors.into_iter().collect(),
            routes: routes.into_iter().collect(),
            left_out,
        }
    }
}

/// The transparent doors: at single addresses by port, and the ports for which all addresses have one door.
struct Relays {
    single: BTreeMap<u16, BTreeSet<IpAddr>>,
    every: BTreeSet<u16>,
}

impl Relays {
    fn wanted(rules: &Rules, book: Option<&Book>, taken: &BTreeSet<SocketAddr>) -> Relays {
        let mut single: BTreeMap<u16, BTreeSet<IpAddr>> = BTreeMap::new();
        let mut every = rules.wildcard_ports();
        let mut want = |port, addr| {
            if !taken.contains(&SocketAddr::new(addr, port)) {
                single.entry(port).or_default().insert(addr);
            }
        };
        for name in rules.exact_names() {
            let Some((v4, v6)) = book.and_then(|book| book.address_of(name)) else {
                continue;
            };
            for port in rules.ports_of(&Host::Name(name.clone())) {
                want(port, v4.into());
                want(port, v6.into());
            }
        }
        for (block, ports) in rules.blocks() {
            match block.single() {
                _ if !is_bindable(block) => {}
                None => every.extend(ports),
                Some(addr) => {
                    let allowed = ports
                        .into_iter()
                        .filter(|port| rules.denies_address(addr, *port).is_none());
                    allowed.for_each(|port| want(port, addr));
                }
            }
        }
        Relays { single, every }
    }

    /// Gives how many doors were dropped.
    fn reduce(&mut self, taken: &BTreeSet<SocketAddr>) -> usize {
        let has_door = |port: u16| taken.iter().any(|at| at.port() == port);
        let wished = self.every.len();
        // `[::]:3128` would be in the way of the proxy on 127.0.0.1.
        self.every.retain(|port| !has_door(*port));
        let mut left_out = wished - self.every.len();
        self.single.retain(|port, _| !self.every.contains(port));
        let mut singles: usize = self.single.values().map(BTreeSet::len).sum();
        // A port with one door would gain nothing.
        let sizes = self.single.iter().map(|(port, at)| (*port, at.len()));
        let mut fullest: Vec<_> = sizes.filter(|(port, size)| *size > 1 && !has_door(*port)).collect();
        fullest.sort_by_key(|(port, size)| (Reverse(*size), *port));
        for (port, size) in fullest {
            if singles <= MAX_SINGLE {
                break;
            }
            singles -= size;
            self.single.remove(&port);
            self.every.insert(port);
        }
        let mut beyond = (singles + self.every.len()).saturating_sub(MAX_RELAY);
        left_out += beyond;
        while beyond > 0 {
            beyond -= 1;
            match self.single.last_entry() {
                Some(mut last) if last.get().len() > 1 => drop(last.get_mut().pop_last()),
                Some(last) => drop(last.remove()),
                None => drop(self.every.pop_last()),
            }
        }
        left_out
    }

    fn into_doors(self) -> impl Iterator<Item = Door> {
        let single = self
            .single
            .into_iter()
            .flat_map(|(port, at)| at.into_iter().map(move |addr| SocketAddr::new(addr, port)));
        let every = self
            .every
            .into_iter()
            .map(|port| SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port));
        single.chain(every).map(|at| Door {
            at,
            kind: DoorKind::Relay,
        })
    }
}

/// Not what would listen on every address, nor what no TCP connection goes to; link-local ones need an interface.
fn is_bindable(block: Block) -> bool {
    let nowhere: [(IpAddr, u8); 6] = [
        (Ipv4Addr::UNSPECIFIED.into(), 8),
        (Ipv4Addr::new(224, 0, 0, 0).into(), 4),
        (Ipv4Addr::BROADCAST.into(), 32),
        (Ipv6Addr::UNSPECIFIED.into(), 128),
        (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0).into(), 10),
        (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0).into(), 8),
    ];
    !is_within(block, &nowhere)
}

/// Loopback has its routes already.
fn is_routable(block: Block) -> bool {
    let loopback = [(Ipv4Addr::LOCALHOST.into(), 8), (Ipv6Addr::LOCALHOST.into(), 128)];
    is_bindable(block) && !is_within(block, &loopback)
}

fn is_within(block: Block, others: &[(IpAddr, u8)]) -> bool {
    let mut others = others.iter().map(|(address, length)| Block::new(*address, *length));
    others.any(|other| block.is_within(other))
}

#[cfg(test)]
#[path = "doors_tests.rs"]
mod tests;
