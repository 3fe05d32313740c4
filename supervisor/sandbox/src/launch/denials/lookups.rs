//! Which connections to a resolver that is not there are explained by a name that was asked for on them.
//!
//! Pure. INVARIANT (bounded): `MOST` sockets and programs are remembered. INVARIANT: a row of another address than the resolver's
//! own stays, and so does each connection on which no name was read.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::people::Person;
use super::row::{Denied, Subject};

const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// By process and number of the socket: where it was connected to, and nothing was asked yet.
    open: HashMap<(u32, u64), SocketAddr>,
    /// Connections on which a name was asked for.
    named: HashMap<(String, SocketAddr), u64>,
}

impl Lookups {
    /// A socket is about to be connected to a resolver.
    pub(super) fn connect(&mut self, person: &Person, socket: u64, to: SocketAddr) {
        if self.open.len() >= MOST {
            self.open.clear();
        }
        self.open.insert((person.outside, socket), to);
    }

    /// A name is asked for on it.
    pub(super) fn ask(&mut self, person: &Person, socket: u64) {
        let Some(to) = self.open.remove(&(person.outside, socket)) else {
            return;
        };
        let key = (person.program.clone(), to);
        if self.named.len() < MOST || self.named.contains_key(&key) {
            *self.named.entry(key).or_default() += 1;
        }
    }

    /// Who asked a resolver for a name that is known wanted the name, and not the resolver.
    pub(super) fn settle(&self, rows: &mut Vec<Denied>) {
        for row in rows.iter_mut().filter(|row| row.syscall == "connect") {
            let (Subject::Address(to) | Subject::Datagram(to)) = row.subject else {
                continue;
            };
            let named = self.named.get(&(row.program.clone(), to)).copied();
            row.count = row.count.saturating_sub(named.unwrap_or(0));
        }
        rows.retain(|row| row.count > 0);
    }
}

#[cfg(test)]
#[path = "lookups_tests.rs"]
mod tests;
