//! Which names may be spoken of on a connection, given where it leads.
//!
//! Pure. INVARIANT: a connection that a name allowed speaks of that name only. One that an address rule allowed may
//! speak of any: its author named the machine, and with it every site that the machine serves.

use crate::host::Host;

/// What was allowed: the name or address that the connection leads to, and its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    pub host: Host,
    pub port: u16,
}

impl Bound {
    /// Whether names count at all.
    #[must_use]
    pub fn by_name(&self) -> bool {
        match self.host {
            Host::Name(_) => true,
            Host::Addr(_) => false,
        }
    }

    /// Whether a client may ask for `said` here: a host, and a port if it gave one.
    #[must_use]
    pub fn permits(&self, said: &Host, port: Option<u16>) -> bool {
        !self.by_name() || (*said == self.host && port.is_none_or(|port| port == self.port))
    }
}
