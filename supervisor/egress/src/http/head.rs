//! The head of one HTTP/1 request: where it ends, and what it says.
//!
//! Pure. `Scan` finds the end as bytes come in and refuses what cannot become a head; `parse` reads a whole one.
//! INVARIANT (bounded): a head has at most 64 KiB and 128 fields.

use super::Bad;
use super::authority::Authority;
use super::body::Body;
use super::line::{Field, check_byte, is_token};

/// The most bytes that a head may take, its last CRLF included.
pub const LIMIT: usize = 64 * 1024;
/// The most fields that a head may have.
pub const MOST_FIELDS: usize = 128;
const LONGEST_METHOD: usize = 32;

/// Looks for the end of a head in a window that grows.
#[derive(Debug, Default)]
pub struct Scan {
    seen: usize,
    last: u8,
    /// Bytes of the current line, without CR and LF.
    line: usize,
    lines: usize,
}

impl Scan {
    /// The length of the head, once `window`, which starts where the head starts, holds all of it.
    ///
    /// # Errors
    /// When no further byte can make it a head.
    pub fn advance(&mut self, window: &[u8]) -> Result<Option<usize>, Bad> {
        for byte in window.get(self.seen..).unwrap_or_default().iter().copied() {
            check_byte(self.last, byte)?;
            self.seen += 1;
            self.last = byte;
            match byte {
                b'\r' => {}
                b'\n' if self.line == 0 && self.lines > 0 => return Ok(Some(self.seen)),
                b'\n' => {
                    if self.lines == 0 {
                        let line = window.get(..self.seen.saturating_sub(2)).unwrap_or_default();
                        RequestLine::parse(line)?;
                    }
                    self.lines += 1;
                    self.line = 0;
                }
                _ => self.line += 1,
            }
            if self.seen >= LIMIT {
                return Err(Bad::HeadTooLarge);
            }
        }
        Ok(None)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Http10,
    Http11,
}

/// The four forms of a request target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    Origin(&'a [u8]),
    /// `path` is empty, or starts with `/` or `?`.
    Absolute {
        scheme: &'a [u8],
        authority: &'a [u8],
        path: &'a [u8],
    },
    /// With `CONNECT` only.
    Authority(&'a [u8]),
    /// With `OPTIONS` only.
    Asterisk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLine<'a> {
    pub method: &'a [u8],
    pub target: Target<'a>,
    pub version: Version,
}

impl<'a> RequestLine<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, Bad> {
        let mut parts = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Bad::RequestLine);
        };
        let version = match version {
            b"HTTP/1.1" => Version::Http11,
            b"HTTP/1.0" => Version::Http10,
            b"HTTP/2.0" | b"HTTP/2" => return Err(Bad::Http2),
            _ => return Err(Bad::RequestLine),
        };
        if !is_token(method) || method.len() > LONGEST_METHOD {
            return Err(Bad::RequestLine);
        }
        let target = Target::parse(method, target)?;
        Ok(Self {
            method,
            target,
            version,
        })
    }
}

impl<'a> Target<'a> {
    fn parse(method: &[u8], target: &'a [u8]) -> Result<Self, Bad> {
        if target.is_empty() || target.contains(&b'\t') {
            return Err(Bad::Target);
        }
        match (method, target) {
            (b"CONNECT", authority) => Ok(Self::Authority(authority)),
            (_, [b'/', ..]) => Ok(Self::Origin(target)),
            (b"OPTIONS", b"*") => Ok(Self::Asterisk),
            (_, target) => Self::absolute(target).ok_or(Bad::Target),
        }
    }

    fn absolute(target: &'a [u8]) -> Option<Self> {
        let colon = target.iter().position(|byte| *byte == b':')?;
        let (scheme, rest) = target.split_at_checked(colon)?;
        let rest = rest.strip_prefix(b"://")?;
        let path = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(path)?;
        let plain = scheme
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
        (plain && !scheme.is_empty() && !path.starts_with(b"#")).then_some(Self::Absolute {
            scheme,
            authority,
            path,
        })
    }
}

/// A whole head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head<'a> {
    pub line: RequestLine<'a>,
    pub fields: Vec<Field<'a>>,
    pub body: Body,
}

impl<'a> Head<'a> {
    /// Reads a head whose end `Scan` has found.
    ///
    /// # Errors
    /// When a field is malformed, or the body's length could be read in two ways.
    pub fn parse(head: &'a [u8]) -> Result<Self, Bad> {
        let text = head.strip_suffix(b"\r\n\r\n").ok_or(Bad::RequestLine)?;
        let mut lines = text
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let line = RequestLine::parse(lines.next().unwrap_or_default())?;
        let mut fields = Vec::new();
        for line in lines {
            if fields.len() == MOST_FIELDS {
                return Err(Bad::TooManyFields);
            }
            fields.push(Field::parse(line)?);
        }
        let body = Body::of(line.version, &fields)?;
        check_connection(&fields)?;
        Ok(Self { line, fields, body })
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &Field<'a>> {
        self.fields.iter().filter(move |field| field.is(name))
    }

    /// The value of the one `Host` field.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn host(&self) -> Result<&'a [u8], Bad> {
        let mut hosts = self.all("host");
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => Ok(host.value),
            (None, _) => Err(Bad::HostMissing),
            (Some(_), Some(_)) => Err(Bad::HostDoubled),
        }
    }

    /// Checks that an absolute target names the host that the `Host` field names.
    ///
    /// # Errors
    /// When it does not, or names another scheme than `http`.
    pub fn check_absolute(&self, host: &[u8]) -> Result<(), Bad> {
        let (scheme, authority) = match self.line.target {
            Target::Absolute { scheme, authority, .. } => (scheme, authority),
            Target::Origin(_) | Target::Authority(_) | Target::Asterisk => return Ok(()),
        };
        if !scheme.eq_ignore_ascii_case(b"http") {
            return Err(Bad::Target);
        }
        let same = match (Authority::parse(authority), Authority::parse(host)) {
            (Ok(one), Ok(other)) => one.host == other.host && one.port.unwrap_or(80) == other.port.unwrap_or(80),
            (Err(_), _) | (_, Err(_)) => false,
        };
        same.then_some(()).ok_or(Bad::TargetOther)
    }
}

/// A server or a proxy behind it may drop the fields that `Connection` lists: never those that frame or route.
fn check_connection(fields: &[Field<'_>]) -> Result<(), Bad> {
    const KEPT: [&str; 3] = ["host", "content-length", "transfer-encoding"];
    let listed = fields
        .iter()
        .filter(|field| field.is("connection"))
        .flat_map(Field::members);
    for member in listed {
        if KEPT.iter().any(|kept| member.eq_ignore_ascii_case(kept.as_bytes())) {
            return Err(Bad::Connection);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "head_tests.rs"]
mod tests;
