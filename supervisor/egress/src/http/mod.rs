//! HTTP/1 in the clear, read strictly enough that we and the server cannot disagree about it.
//!
//! Pure: bytes in, verdicts out. `head` reads a request's head, `body` follows its body, `guard` watches a whole
//! connection. INVARIANT: what two parsers could read in two ways is refused, not repaired.

pub mod answer;
pub mod authority;
pub mod body;
pub mod guard;
pub mod head;
pub mod line;

use thiserror::Error;

/// Why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Bad {
    #[error("a line that ends in a bare LF")]
    BareLf,
    #[error("a CR that no LF follows")]
    BareCr,
    #[error("a control character in the request's head")]
    Control,
    #[error("a request head of more than 64 KiB")]
    HeadTooLarge,
    #[error("more than 128 header fields")]
    TooManyFields,
    #[error("not an HTTP/1 request line")]
    RequestLine,
    #[error("HTTP/2 in the clear, which cannot be checked")]
    Http2,
    #[error("a request target in no known form")]
    Target,
    #[error("a header field continued on the next line")]
    Folded,
    #[error("a malformed header field")]
    Field,
    #[error("no `Host` header")]
    HostMissing,
    #[error("two `Host` headers")]
    HostDoubled,
    #[error("a `Host` header that is no host")]
    HostOdd,
    #[error("a `Host` header for another host than the one that was connected to")]
    HostOther,
    #[error("a request target for another host than the `Host` header")]
    TargetOther,
    #[error("both `Content-Length` and `Transfer-Encoding`")]
    LengthAndEncoding,
    #[error("two `Content-Length` headers")]
    LengthDoubled,
    #[error("a `Content-Length` that is not a plain number")]
    LengthOdd,
    #[error("a `Transfer-Encoding` other than `chunked`")]
    Encoding,
    #[error("a `Connection` header that takes away a header others rely on")]
    Connection,
    #[error("a malformed chunk")]
    Chunk,
    #[error("a chunk extension that is too long or malformed")]
    ChunkExtension,
    #[error("malformed or too many trailers")]
    Trailer,
    #[error("an upgrade to HTTP/2 in the clear, which cannot be checked")]
    UpgradeH2c,
    #[error("an upgrade to something other than WebSocket")]
    UpgradeOther,
    #[error("a WebSocket upgrade that is not the first request on its connection, or has a body")]
    UpgradeLate,
    #[error("`CONNECT` on a connection that is not to a proxy")]
    Connect,
}
