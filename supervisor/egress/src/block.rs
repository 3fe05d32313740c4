//! An address block, as a rule or a route names it. Pure.
//!
//! INVARIANT: the address has no bits beyond the length, and the length fits the family.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    address: IpAddr,
    length: u8,
}

impl Block {
    /// A length beyond the family's is the full length.
    #[must_use]
    pub fn new(address: IpAddr, length: u8) -> Block {
        let length = length.min(full(address));
        let address = match address {
            IpAddr::V4(v4) => Ipv4Addr::from(u32::from(v4) & mask_v4(length)).into(),
            IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) & mask_v6(length)).into(),
        };
        Block { address, length }
    }

    #[must_use]
    pub fn address(self) -> IpAddr {
        self.address
    }

    #[must_use]
    pub fn length(self) -> u8 {
        self.length
    }

    /// The block's one address, if it is only one.
    #[must_use]
    pub fn single(self) -> Option<IpAddr> {
        (self.length == full(self.address)).then_some(self.address)
    }

    #[must_use]
    pub fn last(self) -> IpAddr {
        match self.address {
            IpAddr::V4(v4) => Ipv4Addr::from(u32::from(v4) | !mask_v4(self.length)).into(),
            IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) | !mask_v6(self.length)).into(),
        }
    }

    /// A name's address is never in a block of the other family.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && Block::new(address, self.length).address == self.address
    }

    #[must_use]
    pub fn is_within(self, other: Block) -> bool {
        other.length <= self.length && other.contains(self.address)
    }

    /// As hosts are spelt here: a block of IPv4-mapped addresses is the IPv4 block, one of IPv4-compatible addresses
    /// means both, since `::` and `::1` stay IPv6.
    #[must_use]
    pub fn canonical(self) -> (Block, Option<Block>) {
        let IpAddr::V6(v6) = self.address else {
            return (self, None);
        };
        let Some(length) = self.length.checked_sub(96) else {
            return (self, None);
        };
        let bits = u128::from(v6);
        // The low 32 bits.
        let low = u32::try_from(bits & u128::from(u32::MAX)).unwrap_or_default();
        let v4 = Block::new(Ipv4Addr::from(low).into(), length);
        match bits >> 32 {
            0xffff => (v4, None),
            0 if self.length == 128 && low <= 1 => (self, None),
            0 => (self, Some(v4)),
            _ => (self, None),
        }
    }
}

fn full(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn mask_v4(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0)
}

fn mask_v6(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0)
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
