//! Names that a network rule allows or denies: `host`, `*.host`, an address, a CIDR, each with an optional `:port`.
//!
//! Pure; no lookup. Canonical: lower case, ASCII (IDNA), no final dot, addresses as the standard library prints them (an
//! IPv4-mapped one as IPv4), host bits of a CIDR cleared. `*.host` is every name below `host`, at any depth, and not `host`
//! itself; a name never matches an address. Without a port a rule that denies means every port; one that allows means
//! the two of the web, which `allowed` spells out.
//! LAW: `meet` is commutative, associative and idempotent, and what it gives is within both.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamePattern {
    pub host: HostPattern,
    /// `None` is every port, or of a rule that allows `WEB_PORTS`.
    pub port: Option<u16>,
}

/// What a rule allows that names no port.
pub const WEB_PORTS: [u16; 2] = [80, 443];

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostPattern {
    Exact(String),
    /// Everything below this name.
    Below(String),
    /// An address block; a single address has the full prefix length.
    Block(IpAddr, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    #[error("is not a host name")]
    Syntax,
    #[error("is a URL, and only its host is wanted")]
    Url,
    #[error("has a `*` where none may stand")]
    Wildcard,
    #[error("has characters that no host name has")]
    Unicode,
    #[error("looks like an address but is not one")]
    OddAddress,
    #[error("has a port that is not between 1 and 65535")]
    Port,
    #[error("has a prefix length that is too long")]
    Prefix,
}

impl NameProblem {
    /// `value`: what was written.
    pub(crate) fn help(self, value: &str) -> Cow<'static, str> {
        let words = match self {
            Self::Url => return host_of(value).map_or(Self::Syntax.help(""), |host| format!("write `{host}`").into()),
            Self::Syntax => "write `host`, `*.host`, `host:port`, an address or a CIDR; no scheme and no path",
            Self::Wildcard => {
                "a `*` may only stand alone before the first dot: `*.host`; for everything write `network: true`"
            }
            Self::Unicode => "write the name in its ASCII form (`xn--…`)",
            Self::OddAddress => "write an IPv4 address as four decimal numbers",
            Self::Port => "write a number between 1 and 65535",
            Self::Prefix => "at most /32 for IPv4 and /128 for IPv6",
        };
        words.into()
    }
}

/// The host of a URL, with its port.
fn host_of(url: &str) -> Option<NamePattern> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit('@').next()?.parse().ok()
}

impl FromStr for NamePattern {
    type Err = NameProblem;

    fn from_str(text: &str) -> Result<Self, NameProblem> {
        if text.contains("://") {
            return Err(NameProblem::Url);
        }
        let text = &*ascii(text)?;
        if let Some(rest) = text.strip_prefix('[') {
            let (inside, after) = rest.split_once(']').ok_or(NameProblem::Syntax)?;
            let port = match after.strip_prefix(':') {
                Some(port) => Some(parse_port(port)?),
                None if after.is_empty() => None,
                None => return Err(NameProblem::Syntax),
            };
            let host = block(inside).ok_or(NameProblem::Syntax)??;
            return Ok(Self { host, port });
        }
        // An IPv6 address has colons of its own.
        if let Some(host) = block(text).filter(|_| text.matches(':').count() != 1) {
            return Ok(Self {
                host: host?,
                port: None,
            });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(parse_port(port)?)),
            None => (text, None),
        };
        let host = match block(host) {
            Some(host) => host?,
            None => name(host)?,
        };
        Ok(Self { host, port })
    }
}

/// International names in the form in which they are looked up.
fn ascii(text: &str) -> Result<Cow<'_, str>, NameProblem> {
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text));
    }
    let (star, name) = match text.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", text),
    };
    let (name, port) = match name.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (name, None),
    };
    let name = idna::domain_to_ascii_strict(name).map_err(|_| NameProblem::Unicode)?;
    Ok(Cow::Owned(match port {
        Some(port) => format!("{star}{name}:{port}"),
        None => format!("{star}{name}"),
    }))
}

fn parse_port(text: &str) -> Result<u16, NameProblem> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NameProblem::Port);
    }
    text.parse().ok().filter(|p| *p > 0).ok_or(NameProblem::Port)
}

/// `None` if it is not an address at all.
fn block(text: &str) -> Option<Result<HostPattern, NameProblem>> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let full = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => full,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => match digits.parse::<u8>() {
            Ok(length) if length <= full => length,
            Ok(_) | Err(_) => return Some(Err(NameProblem::Prefix)),
        },
        Some(_) => return Some(Err(NameProblem::Prefix)),
    };
    let (address, length) = match address {
        IpAddr::V6(v6) if length >= 96 => v6
            .to_ipv4_mapped()
            .map_or((address, length), |v4| (IpAddr::V4(v4), length - 96)),
        IpAddr::V6(_) | IpAddr::V4(_) => (address, length),
    };
    Some(Ok(HostPattern::Block(masked(address, length), length)))
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(v4) & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
            IpAddr::V6((u128::from(v6) & mask).into())
        }
    }
}

fn name(text: &str) -> Result<HostPattern, NameProblem> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.strip_suffix('.').unwrap_or(&lower);
    let (host, below) = match lower.strip_prefix("*.") {
        Some(host) => (host, true),
        None => (lower, false),
    };
    if host.contains('*') {
        return Err(NameProblem::Wildcard);
    }
    let label_ok = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.len() > 253 || !host.split('.').all(label_ok) {
        return Err(NameProblem::Syntax);
    }
    // `127.1` and `0x7f000001` are addresses to some resolvers.
    let last = host.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        return Err(NameProblem::OddAddress);
    }
    Ok(if below {
        HostPattern::Below(host.to_owned())
    } else {
        HostPattern::Exact(host.to_owned())
    })
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bracket = self.port.is_some() && matches!(self.host, HostPattern::Block(IpAddr::V6(_), _));
        if bracket {
            f.write_str("[")?;
        }
        match &self.host {
            HostPattern::Exact(name) => f.write_str(name)?,
            HostPattern::Below(name) => write!(f, "*.{name}")?,
            HostPattern::Block(address, length) => {
                write!(f, "{address}")?;
                if *length < if address.is_ipv4() { 32 } else { 128 } {
                    write!(f, "/{length}")?;
                }
            }
        }
        if bracket {
            f.write_str("]")?;
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl HostPattern {
    fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a == b,
            (Self::Below(a), Self::Exact(b)) => is_below(b, a),
            (Self::Below(a), Self::Below(b)) => a == b || is_below(b, a),
            (Self::Block(a, la), Self::Block(b, lb)) => la <= lb && a.is_ipv4() == b.is_ipv4() && masked(*b, *la) == *a,
            (Self::Exact(_), Self::Below(_) | Self::Block(..))
            | (Self::Below(_), Self::Block(..))
            | (Self::Block(..), Self::Exact(_) | Self::Below(_)) => false,
        }
    }
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .is_some_and(|head| head.len() > 1 && head.ends_with('.'))
}

impl NamePattern {
    /// What a rule that allows stands for: each pattern with its port.
    pub fn allowed(&self) -> impl Iterator<Item = Self> + use<> {
        let (host, port) = (self.host.clone(), self.port);
        let ports: Vec<u16> = port.map_or(WEB_PORTS.to_vec(), |port| vec![port]);
        ports.into_iter().map(move |port| Self {
            host: host.clone(),
            port: Some(port),
        })
    }

    /// Is everything that `other` matches matched by this one?
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.host.contains(&other.host) && (self.port.is_none() || self.port == other.port)
    }

    /// What both match, if anything.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let host = if self.host.contains(&other.host) {
            &other.host
        } else if other.host.contains(&self.host) {
            &self.host
        } else {
            return None;
        };
        let port = match (self.port, other.port) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        Some(Self {
            host: host.clone(),
            port,
        })
    }

    /// Does a connection to `host` (a name or an address, in any case) and `port` match?
    #[must_use]
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let Ok(asked) = host.parse::<Self>() else { return false };
        let exact = match &asked.host {
            HostPattern::Exact(_) => true,
            HostPattern::Below(_) => false,
            HostPattern::Block(address, length) => *length == if address.is_ipv4() { 32 } else { 128 },
        };
        exact
            && asked.port.is_none()
            && self.contains(&Self {
                host: asked.host,
                port: Some(port),
            })
    }
}

/// The shortest way to write what these allow: `host` where both ports of the web are among them.
#[must_use]
pub fn joined(patterns: &BTreeSet<NamePattern>) -> BTreeSet<NamePattern> {
    let at = |p: &NamePattern, port| NamePattern {
        host: p.host.clone(),
        port,
    };
    let both = |p: &NamePattern| {
        p.port.is_some_and(|port| WEB_PORTS.contains(&port))
            && WEB_PORTS.iter().all(|port| patterns.contains(&at(p, Some(*port))))
    };
    patterns
        .iter()
        .map(|p| if both(p) { at(p, None) } else { p.clone() })
        .collect()
}

#[cfg(test)]
#[path = "names_tests.rs"]
pub(crate) mod tests;
