//! Addresses of sockets as a call gives them.
//!
//! Pure.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::plan::Doors;

/// The longest that is looked at: a unix socket's.
pub(super) const LONGEST: usize = 110;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    File(PathBuf),
    /// A name without a file.
    Abstract(Vec<u8>),
    Internet(SocketAddr),
}

/// `None`: another family, or not an address.
pub(super) fn parse(bytes: &[u8]) -> Option<Address> {
    let (family, rest) = bytes.split_first_chunk()?;
    match i32::from(u16::from_ne_bytes(*family)) {
        libc::AF_UNIX => match rest.split_first()? {
            (0, name) => Some(Address::Abstract(name.to_vec())),
            _ => {
                let name = rest.split(|byte| *byte == 0).next()?;
                Some(Address::File(OsString::from_vec(name.to_vec()).into()))
            }
        },
        libc::AF_INET => {
            let (port, rest) = rest.split_first_chunk()?;
            let (address, _) = rest.split_first_chunk::<4>()?;
            let address = IpAddr::V4(Ipv4Addr::from(*address));
            Some(Address::Internet(SocketAddr::new(address, u16::from_be_bytes(*port))))
        }
        libc::AF_INET6 => {
            let (port, rest) = rest.split_first_chunk()?;
            let (address, _) = rest.get(4..)?.split_first_chunk::<16>()?;
            let address = IpAddr::V6(Ipv6Addr::from(*address)).to_canonical();
            Some(Address::Internet(SocketAddr::new(address, u16::from_be_bytes(*port))))
        }
        _ => None,
    }
}

/// Does it lead anywhere in a network namespace that has loopback and these doors?
pub(super) fn is_local(address: IpAddr, doors: &Doors) -> bool {
    let within = |(base, bits): &(IpAddr, u8)| match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => same(u32::from(*base).into(), address.to_bits().into(), 32, *bits),
        (IpAddr::V6(base), IpAddr::V6(address)) => same(base.to_bits(), address.to_bits(), 128, *bits),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    };
    address.is_loopback() || address.is_unspecified() || doors.local.iter().any(within)
}

/// Where a connection to an address goes: to no address in particular, it goes to loopback.
pub(super) fn meant(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) | IpAddr::V6(_) => address,
    }
}

/// Are the first `bits` of two addresses equal?
fn same(one: u128, other: u128, width: u32, bits: u8) -> bool {
    let shift = width.saturating_sub(bits.into());
    (one ^ other).checked_shr(shift).unwrap_or(0) == 0
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
