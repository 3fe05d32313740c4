//! Where the model's API is: the one place that a broker speaks to.
//!
//! Pure. INVARIANT (one spelling): two spellings of one endpoint give equal values, and `parse(display(e)) == e`.

use std::fmt;

use crate::host::{Host, HostProblem};

/// `scheme://host[:port][/base]`, nothing else: no user, no query, no fragment, no escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    host: Host,
    port: u16,
    base: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The user's own server in the clear, on this machine or in a network that they trust.
    Http,
    Https,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointProblem {
    #[error("a model endpoint begins with `https://` or `http://`")]
    Scheme,
    #[error("a model endpoint has no user name in it; the key is given apart")]
    UserInfo,
    #[error(transparent)]
    Host(#[from] HostProblem),
    #[error("the port of a model endpoint is a number from 1 to 65535")]
    Port,
    #[error("a model endpoint has no `?` and no `#`")]
    Query,
    #[error("the path of a model endpoint is made of letters, digits, `-`, `_`, `.` and `~` between single slashes")]
    Path,
}

impl Scheme {
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }
}

impl Endpoint {
    pub fn parse(url: &str) -> Result<Self, EndpointProblem> {
        let (scheme, rest) = [Scheme::Https, Scheme::Http]
            .into_iter()
            .find_map(|scheme| Some((scheme, strip_prefix_folded(url, scheme.prefix())?)))
            .ok_or(EndpointProblem::Scheme)?;
        if rest.contains(['?', '#']) {
            return Err(EndpointProblem::Query);
        }
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(EndpointProblem::UserInfo);
        }
        let (host, port) = split_port(authority);
        let port = match port {
            Some(text) => parse_port(text).ok_or(EndpointProblem::Port)?,
            None => scheme.port(),
        };
        // Only brackets tell an IPv6 address from a port.
        if host.contains(':') && !host.starts_with('[') {
            return Err(EndpointProblem::Port);
        }
        Ok(Self {
            scheme,
            host: Host::parse(host.as_bytes())?,
            port,
            base: parse_base(path)?,
        })
    }

    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path that every request begins with: empty, or `/a/b` without a final slash.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// What the `Host` header says.
    #[must_use]
    pub(super) fn authority(&self) -> String {
        if self.port == self.scheme.port() {
            let with_port = self.host.with_port(self.port);
            return with_port
                .strip_suffix(&format!(":{}", self.port))
                .unwrap_or(&with_port)
                .to_owned();
        }
        self.host.with_port(self.port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.scheme.prefix(), self.authority(), self.base)
    }
}

fn strip_prefix_folded<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rfind([':', ']']).map(|at| authority.split_at(at)) {
        Some((host, port)) if port.starts_with(':') => (host, port.get(1..)),
        Some(_) | None => (authority, None),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

fn parse_base(path: &str) -> Result<String, EndpointProblem> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let Some(inner) = path.strip_prefix('/') else {
        return Ok(String::new());
    };
    inner
        .split('/')
        .all(is_segment)
        .then(|| path.to_owned())
        .ok_or(EndpointProblem::Path)
}

/// A part of a path that means the same to every server.
pub(super) fn is_segment(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    !matches!(text, "" | "." | "..") && text.bytes().all(plain)
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
