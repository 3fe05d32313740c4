//! Connects to an allowed host, at an address that was looked at first.
//!
//! INVARIANT (what is decided on is what is dialled): the host is decided on again here, resolved once, and only an
//! address that passed is connected to; there is no second lookup. INVARIANT (bounded): at most 16 attempts, 10 s.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::dns::resolver::{ResolveError, Resolver, interleave};
use crate::host::{Host, canonical};
use crate::rules::{NoAddress, Rules, Verdict};
use crate::special::Own;

/// RFC 8305, section 5.
const STAGGER: Duration = Duration::from_millis(250);
const OVERALL: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Dialer {
    rules: Arc<Rules>,
    resolver: Resolver,
}

#[derive(Debug)]
pub struct Dialled {
    pub stream: TcpStream,
    /// The address that was checked and is connected to.
    pub addr: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("no rule allows this host on this port")]
    NotAllowed { hint: String },
    #[error("network.deny `{rule}` forbids it")]
    Denied { rule: String },
    #[error("name does not exist, or has no address")]
    NoSuchName,
    #[error("cannot resolve the name: {error}")]
    ResolveFailed { error: ResolveError },
    #[error("no name server answered in time")]
    ResolveTimeout,
    #[error("name leads to {addr}: {why}")]
    Refused {
        addr: IpAddr,
        why: &'static str,
        hint: String,
    },
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no connection within {} s", OVERALL.as_secs())]
    Timeout,
}

impl From<ResolveError> for DialError {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::NoSuchName | ResolveError::NoAddress => Self::NoSuchName,
            ResolveError::Timeout => Self::ResolveTimeout,
            error @ (ResolveError::Server { .. }
            | ResolveError::Broken { .. }
            | ResolveError::Ask { .. }
            | ResolveError::Random) => Self::ResolveFailed { error },
        }
    }
}

impl Dialer {
    #[must_use]
    pub fn new(rules: Arc<Rules>, resolver: Resolver) -> Self {
        Dialer { rules, resolver }
    }

    pub async fn dial(&self, host: &Host, port: u16) -> Result<Dialled, DialError> {
        match self.rules.decide(host, port) {
            Verdict::Allowed { .. } => {}
            Verdict::Refused { rule: Some(rule), .. } => return Err(DialError::Denied { rule }),
            Verdict::Refused { rule: None, hint } => return Err(DialError::NotAllowed { hint }),
        }
        let found = match host {
            Host::Addr(addr) => vec![canonical(*addr)],
            Host::Name(name) => self.resolver.lookup(name).await?,
        };
        let own = Own::now().map_err(DialError::Connect)?;
        let mut passed = Vec::new();
        let mut first_refusal = None;
        for addr in found {
            match self.check(addr, port, &own) {
                Ok(()) => passed.push(addr),
                Err(refusal) => drop(first_refusal.get_or_insert(refusal)),
            }
        }
        match first_refusal {
            Some(refusal) if passed.is_empty() => return Err(refusal),
            Some(_) | None => {}
        }
        let addresses = interleave(passed).into_iter().map(|addr| SocketAddr::new(addr, port));
        timeout(OVERALL, connect(addresses.collect()))
            .await
            .map_err(|_| DialError::Timeout)?
            .map_err(DialError::Connect)
    }

    fn check(&self, addr: IpAddr, port: u16, own: &Own) -> Result<(), DialError> {
        self.rules
            .check_address(addr, port, || own.has(addr))
            .map_err(|no| match no {
                NoAddress::Denied { rule } => DialError::Denied { rule },
                NoAddress::Special { why, hint } => DialError::Refused { addr, why, hint },
            })
    }
}

/// Happy eyeballs: the next attempt begins when the last one failed, or has taken a while; the first to connect wins.
async fn connect(addresses: Vec<SocketAddr>) -> io::Result<Dialled> {
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = waiting.next();
        if let Some(addr) = next {
            attempts.spawn(attempt(addr));
        } else if attempts.is_empty() {
            return Err(last_error);
        }
        let ended = match next {
            Some(_) => timeout(STAGGER, attempts.join_next()).await.unwrap_or(None),
            None => attempts.join_next().await,
        };
        match ended {
            // The others are dropped, and with that closed.
            Some(Ok(Ok(dialled))) => return Ok(dialled),
            Some(Ok(Err(error))) => last_error = error,
            Some(Err(error)) => last_error = io::Error::other(error),
            None => {}
        }
    }
}

async fn attempt(addr: SocketAddr) -> io::Result<Dialled> {
    settle(TcpStream::connect(addr).await?, addr)
}

fn settle(stream: TcpStream, addr: SocketAddr) -> io::Result<Dialled> {
    // On loopback, a port that nobody listens on can connect to itself.
    if stream.local_addr()? == addr {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    stream.set_nodelay(true)?;
    Ok(Dialled { stream, addr })
}

#[cfg(test)]
#[path = "dial_tests.rs"]
mod tests;
