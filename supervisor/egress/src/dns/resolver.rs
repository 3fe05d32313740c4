//! Finds the addresses of an allowed name, outside of the sandbox, as this machine would.
//!
//! Reads the hosts file and the name servers anew for each lookup, then asks. A fresh connected socket and a random id per
//! question; what does not answer that very question is ignored. INVARIANT (bounded): `MAX_STRAY` packets per question,
//! `MAX_ADDRESSES` kept, and an end after the overall timeout.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use tokio::net::{TcpStream, UdpSocket};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

use super::conf::{Conf, in_hosts, read_text};
use super::frame;
use super::response::{Asked, Kind, MAX_ADDRESSES, Response};
pub use super::wire::WireProblem;
use crate::host::{Name, canonical};

/// Packets that are not our answer, before the server is given up: a flood must not keep us.
const MAX_STRAY: usize = 32;
/// How long the other family is waited for when one has answered (RFC 8305 says 50 ms for IPv6). IPv4 gets longer: without
/// it, a broken IPv6 connection would have nothing to fall back to.
const WAIT_FOR_IPV6: Duration = Duration::from_millis(50);
const WAIT_FOR_IPV4: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Resolver {
    hosts: PathBuf,
    servers: Servers,
}

#[derive(Debug, Clone)]
pub enum Servers {
    /// In the format of `/etc/resolv.conf`.
    File(PathBuf),
    At(Vec<SocketAddr>),
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("name does not exist")]
    NoSuchName,
    #[error("name has no address")]
    NoAddress,
    #[error("no name server answered in time")]
    Timeout,
    #[error("name server {server} answered with code {code}")]
    Server { server: SocketAddr, code: u8 },
    #[error("name server {server} sent a broken answer: {problem}")]
    Broken { server: SocketAddr, problem: WireProblem },
    #[error("cannot ask name server {server}: {error}")]
    Ask { server: SocketAddr, error: io::Error },
    #[error("cannot get random numbers for a question to a name server")]
    Random,
}

impl Resolver {
    #[must_use]
    pub fn system() -> Resolver {
        Resolver::new("/etc/hosts".into(), Servers::File("/etc/resolv.conf".into()))
    }

    #[must_use]
    pub fn new(hosts: PathBuf, servers: Servers) -> Resolver {
        Resolver { hosts, servers }
    }

    /// At most 16, canonical, the families taking turns. Never empty.
    pub async fn lookup(&self, name: &Name) -> Result<Vec<IpAddr>, ResolveError> {
        let listed = in_hosts(&read_text(&self.hosts), name, MAX_ADDRESSES);
        if !listed.is_empty() {
            return Ok(interleave(listed));
        }
        let conf = match &self.servers {
            Servers::File(path) => Conf::parse(&read_text(path)),
            Servers::At(servers) => Conf::new(servers.clone()),
        };
        resolve(&conf, name).await
    }
}

/// IPv6 first, then in turns, each family in the order it came; none twice.
pub(crate) fn interleave(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v6, v4): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().map(canonical).partition(IpAddr::is_ipv6);
    let (mut v6, mut v4) = (v6.into_iter(), v4.into_iter());
    let mut mixed: Vec<IpAddr> = Vec::new();
    loop {
        let pair = [v6.next(), v4.next()];
        if pair == [None, None] {
            return mixed;
        }
        for address in pair.into_iter().flatten() {
            if !mixed.contains(&address) {
                mixed.push(address);
            }
        }
    }
}

type Found = Result<Vec<IpAddr>, ResolveError>;

async fn resolve(conf: &Conf, name: &Name) -> Found {
    let deadline = Instant::now() + conf.overall;
    let mut v6 = pin!(timeout_at(deadline, ask_all(conf, name, Kind::Aaaa)));
    let mut v4 = pin!(timeout_at(deadline, ask_all(conf, name, Kind::A)));
    let has_some = |found: &Found| found.as_ref().is_ok_and(|addresses| !addresses.is_empty());
    let (first, second) = tokio::select! {
        found = &mut v6 => {
            let first = in_time(found);
            let wait = if has_some(&first) { WAIT_FOR_IPV4 } else { conf.overall };
            (first, timeout(wait, v4).await)
        }
        found = &mut v4 => {
            let first = in_time(found);
            let wait = if has_some(&first) { WAIT_FOR_IPV6 } else { conf.overall };
            (first, timeout(wait, v6).await)
        }
    };
    merge(first, second.map_or(Err(ResolveError::Timeout), in_time))
}

fn in_time(found: Result<Found, Elapsed>) -> Found {
    found.unwrap_or(Err(ResolveError::Timeout))
}

fn merge(first: Found, second: Found) -> Found {
    match (first, second) {
        (Ok(one), Ok(other)) => {
            let mut all = interleave(one.into_iter().chain(other).collect());
            all.truncate(MAX_ADDRESSES);
            if all.is_empty() {
                Err(ResolveError::NoAddress)
            } else {
                Ok(all)
            }
        }
        (Ok(some), Err(_)) | (Err(_), Ok(some)) if !some.is_empty() => Ok(interleave(some)),
        (Err(ResolveError::NoSuchName), _) | (_, Err(ResolveError::NoSuchName)) => Err(ResolveError::NoSuchName),
        (Err(ResolveError::Timeout), Err(error)) | (Err(error), _) | (Ok(_), Err(error)) => Err(error),
    }
}

/// Server after server, as often as configured, until one knows.
async fn ask_all(conf: &Conf, name: &Name, kind: Kind) -> Found {
    let mut last = ResolveError::Timeout;
    for _ in 0..conf.attempts {
        for &server in &conf.servers {
            let asked = Asked::new(random_id()?, name, kind);
            last = match timeout(conf.timeout, ask(&asked, server)).await {
                Ok(Ok(Response::Addresses(addresses))) => return Ok(addresses),
                Ok(Ok(Response::NoSuchName)) => return Err(ResolveError::NoSuchName),
                Ok(Ok(Response::Failed(code))) => ResolveError::Server { server, code },
                Ok(Ok(Response::Broken(problem))) => ResolveError::Broken { server, problem },
                Ok(Ok(Response::Truncated)) => {
                    let problem = WireProblem::Short;
                    ResolveError::Broken { server, problem }
                }
                Ok(Err(error)) => ResolveError::Ask { server, error },
                Err(_) => ResolveError::Timeout,
            };
        }
    }
    Err(last)
}

async fn ask(asked: &Asked, server: SocketAddr) -> io::Result<Response> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // The kernel picks a random port; connected, it drops what comes from anywhere else.
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(&asked.write()).await?;
    let mut buffer = [0; 4096];
    for _ in 0..MAX_STRAY {
        let length = socket.recv(&mut buffer).await?;
        match asked.read(buffer.get(..length).unwrap_or_default()) {
            Some(Response::Truncated) => return ask_over_tcp(asked, server).await,
            Some(response) => return Ok(response),
            None => {}
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

async fn ask_over_tcp(asked: &Asked, server: SocketAddr) -> io::Result<Response> {
    let mut stream = TcpStream::connect(server).await?;
    frame::write(&mut stream, &asked.write()).await?;
    let message = frame::read(&mut stream, u16::MAX).await?;
    asked.read(&message).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn random_id() -> Result<u16, ResolveError> {
    let mut bytes = [0; 2];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| ResolveError::Random)?;
    Ok(u16::from_be_bytes(bytes))
}

#[cfg(test)]
#[path = "resolver_tests.rs"]
mod tests;
