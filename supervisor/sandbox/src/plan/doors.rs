//! The ways out of a sandbox's network, as data.
//!
//! Pure.

use std::net::{IpAddr, SocketAddr};

/// How a door is spoken through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    Tcp,
    Udp,
}

/// Who serves a door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    Companion,
    /// A server of the caller's own, started when somebody knocks. At most one door has it.
    Porter,
}

/// A socket that listens in the sandbox's network namespace and is served outside of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    /// `[::]` takes IPv4 too.
    pub at: SocketAddr,
    pub transport: Transport,
    pub keeper: Keeper,
    /// What it is for, for the plan's reader.
    pub purpose: &'static str,
}

/// The ways out of a network namespace that has nothing but loopback.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doors {
    pub list: Vec<Door>,
    /// Addresses that are local in there, so that a connection to them arrives at a door.
    pub local: Vec<(IpAddr, u8)>,
}
