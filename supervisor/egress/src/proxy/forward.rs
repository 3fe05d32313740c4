//! One request in the clear through the proxy: `GET http://host/path`.
//!
//! The head is written anew for the server, without what concerns only the client and us; the body passes as it comes.
//! INVARIANT: one request for each connection; what a client sends behind it goes nowhere.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::bound::Bound;
use crate::closing::reset_on_drop;
use crate::gate::{Gate, HTTP_PORT, Language, TLS_PORT};
use crate::host::Host;
use crate::http::Bad;
use crate::http::authority::Authority;
use crate::http::body::Body;
use crate::http::guard::Guard;
use crate::http::head::{Head, Target, Version};
use crate::http::line::Field;
use crate::record::{Via, add};
use crate::refusal::{Kind, Refusal};
use crate::relay::Start;
use crate::window::Window;

use super::Desk;
use super::tunnel::{carry, refuse};

/// Fields that concern one connection only, and the one that we write ourselves.
const DROPPED: [&str; 9] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "te",
    "upgrade",
    "http2-settings",
    "proxy-authorization",
    "proxy-authenticate",
    "host",
];

/// A request that the proxy can make.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    authority: Authority,
    /// Method and path.
    line: Vec<u8>,
    version: Version,
    /// Whole lines.
    fields: Vec<u8>,
    body: Body,
}

impl Request {
    /// Reads a head with an absolute target.
    pub(super) fn read(head: &Head<'_>) -> Result<Self, Refusal> {
        let bad = |bad: Bad| Refusal::new(Kind::BadRequest, bad.to_string());
        let (scheme, authority, path) = match head.line.target {
            Target::Absolute {
                scheme,
                authority,
                path,
            } => (scheme, authority, path),
            Target::Origin(_) | Target::Authority(_) | Target::Asterisk => return Err(bad(Bad::Target)),
        };
        if scheme.eq_ignore_ascii_case(b"https") {
            let reason = "an `https://` URL cannot be asked for in the clear: use `CONNECT`";
            return Err(Refusal::new(Kind::BadRequest, reason));
        }
        match head.host() {
            Ok(host) => head.check_absolute(host).map_err(bad)?,
            // The target says it, and we write the field.
            Err(Bad::HostMissing) => head.check_absolute(authority).map_err(bad)?,
            Err(other) => return Err(bad(other)),
        }
        let path = match (head.line.method, path) {
            (b"OPTIONS", b"") => b"*".to_vec(),
            (_, [b'/', ..]) => path.to_vec(),
            (_, path) => [b"/", path].concat(),
        };
        Ok(Self {
            authority: Authority::parse(authority).map_err(bad)?,
            line: [head.line.method, b" ", &path].concat(),
            version: head.line.version,
            fields: kept_fields(head),
            body: head.body,
        })
    }

    /// The head as the server gets it.
    fn head(&self, bound: &Bound) -> Vec<u8> {
        let version = match self.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        };
        let host = match (&bound.host, bound.port) {
            (Host::Name(name), HTTP_PORT) => name.to_string(),
            (host, port) => host.with_port(port),
        };
        let rest = format!(" {version}\r\nHost: {host}\r\n");
        [&self.line, rest.as_bytes(), &self.fields, b"Connection: close\r\n\r\n"].concat()
    }
}

fn kept_fields(head: &Head<'_>) -> Vec<u8> {
    let listed: Vec<&[u8]> = head.all("connection").flat_map(Field::members).collect();
    let is_dropped = |field: &Field<'_>| {
        DROPPED.iter().any(|name| field.is(name)) || listed.iter().any(|name| name.eq_ignore_ascii_case(field.name))
    };
    let kept = head.fields.iter().filter(|field| !is_dropped(field));
    kept.flat_map(|field| [field.name, b": ", field.value, b"\r\n"].concat())
        .collect()
}

/// Makes the request and serves the connection to its end.
pub(super) async fn serve(desk: &Desk, client: TcpStream, window: Window, request: Request) {
    let bound = Bound {
        host: desk.meant(request.authority.host.clone()),
        port: request.authority.port.unwrap_or(HTTP_PORT),
    };
    let track = desk.open(Via::Http, &bound);
    let decided = match bound.port {
        TLS_PORT => Err(Refusal::new(Kind::Forbidden, "port 443 is for TLS only")),
        _ => desk.decide(&bound),
    };
    let reached = match decided {
        Ok(rule) => desk.dial(&bound).await.map(|server| (rule, server)),
        Err(refusal) => Err(refusal),
    };
    let (rule, mut server) = match reached {
        Ok(reached) => reached,
        Err(refusal) => return refuse(desk, client, &bound, &track, Language::Http, &refusal).await,
    };
    track.allowed(&rule);
    let head = request.head(&bound);
    if server.write_all(&head).await.is_err() {
        return reset_on_drop(&client);
    }
    add(&track.counts.up, head.len());
    let guard = Guard::one_body(bound.clone(), request.body);
    let start = Start {
        gate: Gate::guarded(bound.clone(), guard),
        window,
        passed: 0,
    };
    carry(desk, client, server, start, &bound, &track).await;
}

#[cfg(test)]
#[path = "forward_tests.rs"]
mod tests;
