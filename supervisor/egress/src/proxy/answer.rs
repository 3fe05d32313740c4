//! How each protocol says no.
//!
//! Pure. What is quoted came from hostile bytes: it is made visible first, and only ever stands in a plain-text body.

use crate::record::visible;
use crate::refusal::{Kind, Refusal};

const LONGEST: usize = 1024;

/// A whole HTTP/1.1 response about `place`, which closes the connection.
pub(super) fn http(place: &str, refusal: &Refusal) -> Vec<u8> {
    let status = match refusal.kind {
        Kind::Forbidden | Kind::OtherName => "403 Forbidden",
        Kind::BadRequest => "400 Bad Request",
        Kind::Busy => "503 Service Unavailable",
        Kind::NoSuchName | Kind::ConnectRefused | Kind::Unreachable => "502 Bad Gateway",
        Kind::Timeout => "504 Gateway Timeout",
    };
    let (place, reason) = (visible(place, LONGEST), visible(&refusal.reason, LONGEST));
    let hint = match &refusal.hint {
        Some(hint) => format!("to allow it: {}\n", visible(hint, LONGEST)),
        None => String::new(),
    };
    let body = format!("glee-supervisor: no connection to {place}: {reason}\n{hint}");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=us-ascii\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head, body].concat().into_bytes()
}

/// A fatal TLS alert in a record of its own.
pub(super) fn tls_alert(kind: Kind) -> [u8; 7] {
    const ALERT: u8 = 21;
    const FATAL: u8 = 2;
    const ACCESS_DENIED: u8 = 49;
    const INTERNAL_ERROR: u8 = 80;
    const UNRECOGNIZED_NAME: u8 = 112;
    let description = match kind {
        Kind::OtherName | Kind::NoSuchName => UNRECOGNIZED_NAME,
        Kind::Forbidden | Kind::BadRequest => ACCESS_DENIED,
        Kind::Busy | Kind::ConnectRefused | Kind::Unreachable | Kind::Timeout => INTERNAL_ERROR,
    };
    [ALERT, 3, 3, 0, 2, FATAL, description]
}

/// The reply code of SOCKS5 (RFC 1928, section 6).
pub(super) fn socks_code(kind: Kind) -> u8 {
    match kind {
        Kind::Busy | Kind::BadRequest => 1,
        Kind::Forbidden | Kind::OtherName => 2,
        Kind::NoSuchName | Kind::Unreachable | Kind::Timeout => 4,
        Kind::ConnectRefused => 5,
    }
}
