//! What this machine says about names: `/etc/hosts` and `/etc/resolv.conf`.
//!
//! Written by the machine's owner and trusted, but read with a limit. There is no search list: names are absolute.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::Path;
use std::time::Duration;

use crate::host::{Name, canonical};

const MAX_FILE: u64 = 4 << 20;
const PORT: u16 = 53;
/// As many as the C library uses.
const MAX_SERVERS: usize = 3;
const MAX_ATTEMPTS: u32 = 3;
const MAX_TIMEOUT: u64 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conf {
    /// Never empty.
    pub(crate) servers: Vec<SocketAddr>,
    /// For one question to one server.
    pub(crate) timeout: Duration,
    pub(crate) attempts: u32,
    /// For all of a lookup.
    pub(crate) overall: Duration,
}

impl Conf {
    /// Without a name server, the one on this machine.
    pub(crate) fn new(mut servers: Vec<SocketAddr>) -> Conf {
        servers.truncate(MAX_SERVERS);
        if servers.is_empty() {
            servers.push((Ipv4Addr::LOCALHOST, PORT).into());
        }
        Conf {
            servers,
            timeout: Duration::from_secs(2),
            attempts: 2,
            overall: Duration::from_secs(5),
        }
    }

    pub(crate) fn parse(text: &str) -> Conf {
        let mut conf = Conf::new(text.lines().filter_map(nameserver).collect());
        let options = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("options"));
        for option in options.flat_map(str::split_ascii_whitespace) {
            match option.split_once(':').map(|(key, number)| (key, number.parse::<u32>())) {
                Some(("timeout", Ok(seconds))) => {
                    conf.timeout = Duration::from_secs(u64::from(seconds).clamp(1, MAX_TIMEOUT));
                }
                Some(("attempts", Ok(attempts))) => conf.attempts = attempts.clamp(1, MAX_ATTEMPTS),
                Some(_) | None => {}
            }
        }
        conf
    }
}

fn nameserver(line: &str) -> Option<SocketAddr> {
    let mut words = line.split_ascii_whitespace();
    let address = words.next().filter(|key| *key == "nameserver").and(words.next())?;
    if let Ok(address) = address.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, PORT));
    }
    // A link-local server is only found on its interface.
    let (address, zone) = address.split_once('%')?;
    let address: Ipv6Addr = address.parse().ok()?;
    let index = zone.parse().or_else(|_| nix::net::if_::if_nametoindex(zone)).ok()?;
    Some(SocketAddrV6::new(address, PORT, 0, index).into())
}

/// The addresses that a hosts file gives the name, in its order, at most `most`.
pub(crate) fn in_hosts(text: &str, name: &Name, most: usize) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(Ok(address)) = words.next().map(str::parse) else {
            continue;
        };
        let mut names = words.map(|word| word.strip_suffix('.').unwrap_or(word));
        let address = canonical(address);
        if names.any(|word| word.eq_ignore_ascii_case(name.as_str())) && !found.contains(&address) {
            found.push(address);
        }
        if found.len() >= most {
            break;
        }
    }
    found
}

/// A file that is not there or cannot be read says nothing. Of one that is too long, the whole lines up to the limit.
pub(crate) fn read_text(path: &Path) -> String {
    read_capped(path, MAX_FILE).unwrap_or_default()
}

fn read_capped(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        bytes.truncate(whole);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "conf_tests.rs"]
mod tests;
