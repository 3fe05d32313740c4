//! `host[:port]`, as it stands in a `Host` header, a request target or a `CONNECT`.
//!
//! Pure. User information (`user@host`) is no part of it.

use crate::host::Host;

use super::Bad;

/// A canonical host, and the port if one was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    pub host: Host,
    pub port: Option<u16>,
}

impl Authority {
    /// # Errors
    /// When it is not one host with at most one port from 1 to 65535.
    pub fn parse(bytes: &[u8]) -> Result<Self, Bad> {
        let (host, port) = match bytes.strip_prefix(b"[") {
            Some(inner) => {
                let end = inner.iter().position(|byte| *byte == b']').ok_or(Bad::HostOdd)?;
                let (address, rest) = inner.split_at_checked(end).ok_or(Bad::HostOdd)?;
                let rest = rest.strip_prefix(b"]").unwrap_or_default();
                if !address.contains(&b':') {
                    return Err(Bad::HostOdd);
                }
                let port = match rest {
                    [] => None,
                    rest => Some(rest.strip_prefix(b":").ok_or(Bad::HostOdd)?),
                };
                (address, port)
            }
            None => match bytes.iter().position(|byte| *byte == b':') {
                Some(colon) => {
                    let (host, port) = bytes.split_at_checked(colon).ok_or(Bad::HostOdd)?;
                    (host, port.strip_prefix(b":"))
                }
                None => (bytes, None),
            },
        };
        Ok(Self {
            host: Host::parse(host).map_err(|_| Bad::HostOdd)?,
            port: port.map(parse_port).transpose()?,
        })
    }
}

/// Digits only: no sign, no blank, not empty, not zero.
fn parse_port(digits: &[u8]) -> Result<u16, Bad> {
    if digits.len() > 5 || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Bad::HostOdd);
    }
    let text = str::from_utf8(digits).map_err(|_| Bad::HostOdd)?;
    text.parse().ok().filter(|port| *port != 0).ok_or(Bad::HostOdd)
}
