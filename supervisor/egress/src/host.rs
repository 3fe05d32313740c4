//! The one canonical host: what a client asked for, as the rules see it and as it is dialled.
//!
//! Pure. Reads bytes that hostile code wrote: a SOCKS domain, a CONNECT target, an SNI, a `Host` header, a DNS name.
//! INVARIANT (one spelling): two spellings of one host give equal values, and `parse(display(h)) == h`.
//! INVARIANT (no address in disguise): nothing that `inet_aton` reads as an address is ever a `Name`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// A name before IDNA may be longer than after it, but not without end.
const MAX_WRITTEN: usize = 1024;
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    Name(Name),
    Addr(IpAddr),
}

/// Lower case ASCII letters, digits, `-` and `_`; labels of 1 to 63, at most 253 in all, no final dot. Only `Host::parse`
/// makes one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostProblem {
    #[error("host is empty")]
    Empty,
    #[error("host is too long")]
    TooLong,
    #[error("host is not UTF-8")]
    NotUtf8,
    #[error("host has a space or a control character")]
    Control,
    #[error("host has a `%`")]
    Percent,
    #[error("host has a user name before it")]
    UserInfo,
    #[error("host is neither a name nor an address")]
    Syntax,
    #[error("host is an address in an odd spelling")]
    OddAddress,
}

impl Name {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `*.parent` in a rule: one or more labels before `parent`, never `parent` itself.
    #[must_use]
    pub fn is_below(&self, parent: &Name) -> bool {
        self.0
            .strip_suffix(parent.as_str())
            .is_some_and(|head| head.len() > 1 && head.ends_with('.'))
    }

    /// `localhost` and what is below it never leave the machine (RFC 6761).
    #[must_use]
    pub fn is_localhost(&self) -> bool {
        self.as_str() == "localhost" || self.as_str().ends_with(".localhost")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Host {
    /// Case folded, one final dot gone, IDNA done, IPv4 in IPv6 unwrapped. No port.
    pub fn parse(bytes: &[u8]) -> Result<Host, HostProblem> {
        let text = checked(bytes)?;
        if text.is_ascii() {
            return parse_ascii(text);
        }
        // The final dot stays on until after the mapping: `a。.` must not pass for `a.`.
        let mapped = Uts46::new()
            .to_ascii(
                text.as_bytes(),
                AsciiDenyList::STD3,
                Hyphens::Check,
                DnsLength::VerifyAllowRootDot,
            )
            .map_err(|_| HostProblem::Syntax)?;
        let mapped = checked(mapped.as_bytes())?;
        if !mapped.is_ascii() {
            return Err(HostProblem::Syntax);
        }
        parse_ascii(mapped)
    }

    /// `host:port`, with brackets around an IPv6 address.
    #[must_use]
    pub fn with_port(&self, port: u16) -> String {
        match self {
            Self::Addr(IpAddr::V6(v6)) => format!("[{v6}]:{port}"),
            Self::Addr(IpAddr::V4(_)) | Self::Name(_) => format!("{self}:{port}"),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(addr: IpAddr) -> Self {
        Self::Addr(canonical(addr))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Addr(addr) => addr.fmt(f),
        }
    }
}

/// IPv4-mapped and IPv4-compatible addresses are the IPv4 address; `::` and `::1` are not.
#[must_use]
pub fn canonical(addr: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = addr else { return addr };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return IpAddr::V4(v4);
    }
    match u32::try_from(u128::from(v6)) {
        Ok(low) if low > 1 => IpAddr::V4(Ipv4Addr::from(low)),
        Ok(_) | Err(_) => addr,
    }
}

fn checked(bytes: &[u8]) -> Result<&str, HostProblem> {
    if bytes.is_empty() {
        return Err(HostProblem::Empty);
    }
    if bytes.len() > MAX_WRITTEN {
        return Err(HostProblem::TooLong);
    }
    for byte in bytes {
        match byte {
            0..=b' ' | 0x7f => return Err(HostProblem::Control),
            b'%' => return Err(HostProblem::Percent),
            b'@' => return Err(HostProblem::UserInfo),
            b'/' | b'\\' | b'?' | b'#' => return Err(HostProblem::Syntax),
            _ => {}
        }
    }
    std::str::from_utf8(bytes).map_err(|_| HostProblem::NotUtf8)
}

fn parse_ascii(text: &str) -> Result<Host, HostProblem> {
    if let Some(rest) = text.strip_prefix('[') {
        return ipv6(rest.strip_suffix(']').ok_or(HostProblem::Syntax)?);
    }
    if text.contains(':') {
        return ipv6(text);
    }
    if let Ok(v4) = text.parse::<Ipv4Addr>() {
        return Ok(Host::Addr(IpAddr::V4(v4)));
    }
    name(text).map(Host::Name)
}

fn ipv6(text: &str) -> Result<Host, HostProblem> {
    let v6: Ipv6Addr = text.parse().map_err(|_| HostProblem::Syntax)?;
    Ok(Host::from(IpAddr::V6(v6)))
}

fn name(text: &str) -> Result<Name, HostProblem> {
    let lower = text.to_ascii_lowercase();
    let lower = lower.strip_suffix('.').unwrap_or(&lower);
    if lower.is_empty() {
        return Err(HostProblem::Empty);
    }
    for label in lower.split('.') {
        let spelt = label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if label.is_empty() || !spelt || label.starts_with('-') || label.ends_with('-') {
            return Err(HostProblem::Syntax);
        }
        if label.len() > MAX_LABEL {
            return Err(HostProblem::TooLong);
        }
    }
    if lower.len() > MAX_NAME {
        return Err(HostProblem::TooLong);
    }
    // Every odd spelling of an address ends in a number: `127.1`, `0x7f.1`, `017700000001`, `1.2.3.4.`.
    let last = lower.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x") {
        return Err(HostProblem::OddAddress);
    }
    Ok(Name(lower.into()))
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
