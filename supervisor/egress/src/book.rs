//! One synthetic address pair for each allowed name, and the way back.
//!
//! Pure. The answerer hands the addresses out; the relay reads from the address that a connection arrived at which name
//! was meant. INVARIANT (one to one): no two names share an address, and a name keeps its own for the whole run.
//! INVARIANT (bounded): names under a wildcard are only entered while there are fewer than `MAX_NAMES`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::host::{Host, Name, canonical};
use crate::rules::Rules;

/// Reserved for benchmarks (RFC 2544): no service has an address in it.
pub const RANGE_V4: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);
/// A unique-local prefix of our own. The low 32 bits are those of the IPv4 address.
pub const RANGE_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0xfd67, 0x6c65, 0x6500, 0, 0, 0, 0, 0), 96);

pub const MAX_NAMES: usize = 4096;
/// All of the IPv4 range but its first and its last address.
const MAX_EXACT: usize = (1 << 17) - 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many names were asked for: at most {MAX_NAMES} have an address")]
pub struct BookFull;

#[derive(Debug)]
pub struct Book {
    by_name: BTreeMap<Name, u32>,
    /// The name of the address that is this many after the range's first.
    names: Vec<Name>,
}

impl Book {
    /// Exact names have theirs from the start, in the order of the rules, so that one policy gives one book.
    #[must_use]
    pub fn new(rules: &Rules) -> Book {
        let mut book = Book {
            by_name: BTreeMap::new(),
            names: Vec::new(),
        };
        for name in rules.exact_names() {
            let reachable = !name.is_localhost() && !rules.ports_of(&Host::Name(name.clone())).is_empty();
            if reachable && book.names.len() < MAX_EXACT && book.address_of(name).is_none() {
                book.add(name);
            }
        }
        book
    }

    /// The book as it was at the end of a run in which these names were entered, in this order.
    #[must_use]
    pub fn after(rules: &Rules, entered: &[String]) -> Book {
        let mut book = Book::new(rules);
        for name in entered {
            // A name that is none would leave the others at wrong places.
            let Ok(Host::Name(name)) = Host::parse(name.as_bytes()) else {
                break;
            };
            if book.enter(&name).is_err() {
                break;
            }
        }
        book
    }

    /// Names that were entered after the first so many.
    #[must_use]
    pub fn entered_after(&self, first: usize) -> Vec<String> {
        self.names.iter().skip(first).map(Name::to_string).collect()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name's addresses, given now if it has none yet. The caller has decided that it is allowed.
    pub fn enter(&mut self, name: &Name) -> Result<(Ipv4Addr, Ipv6Addr), BookFull> {
        if let Some(pair) = self.address_of(name) {
            return Ok(pair);
        }
        if self.names.len() >= MAX_NAMES {
            return Err(BookFull);
        }
        Ok(self.add(name))
    }

    #[must_use]
    pub fn address_of(&self, name: &Name) -> Option<(Ipv4Addr, Ipv6Addr)> {
        self.by_name.get(name).copied().map(pair)
    }

    /// Also for the IPv4-mapped form, which a dual-stack listener reports.
    #[must_use]
    pub fn name_of(&self, addr: IpAddr) -> Option<Name> {
        let low = match canonical(addr) {
            IpAddr::V4(v4) => u32::from(v4),
            IpAddr::V6(v6) => u32::try_from(u128::from(v6).checked_sub(u128::from(RANGE_V6.0))?).ok()?,
        };
        let place = low.checked_sub(u32::from(RANGE_V4.0))?.checked_sub(1)?;
        self.names.get(usize::try_from(place).ok()?).cloned()
    }

    fn add(&mut self, name: &Name) -> (Ipv4Addr, Ipv6Addr) {
        // Cannot saturate: both callers keep the number of names far below.
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let low = u32::from(RANGE_V4.0).saturating_add(1).saturating_add(place);
        self.by_name.insert(name.clone(), low);
        self.names.push(name.clone());
        pair(low)
    }
}

fn pair(low: u32) -> (Ipv4Addr, Ipv6Addr) {
    let v6 = u128::from(RANGE_V6.0) | u128::from(low);
    (Ipv4Addr::from(low), Ipv6Addr::from(v6))
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
