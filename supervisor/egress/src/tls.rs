//! Reads the first flight of a TLS client: which server does it name?
//!
//! Pure: bytes in, an answer out; nothing is decrypted and nothing is changed. The hello may be spread over many
//! records and many segments; 16 KiB on the wire, record headers included, is the limit.
//! INVARIANT (monotone): once a prefix has an answer, every longer input has the same one, so the answer does not
//! depend on how the bytes were cut.
//! Not seen here: what is said inside the encrypted stream, and a hello after a hello retry request.

use thiserror::Error;

/// The most bytes that a hello may take on the wire.
pub const LIMIT: usize = 16 * 1024;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const RECORD_HEADER: usize = 5;
const MESSAGE_HEADER: usize = 4;
const LONGEST_RECORD: usize = 1 << 14;

const SERVER_NAME: u16 = 0;
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
/// The draft that came before the encrypted client hello.
const ENCRYPTED_SERVER_NAME: u16 = 0xffce;

/// A whole hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// How many bytes of the input it took.
    pub wire: usize,
    pub name: Naming,
}

/// What a hello says about the server it wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Naming {
    /// The one `host_name`, as it was sent.
    Named(Vec<u8>),
    Absent,
    /// Two extensions, or two entries in one: which of them counts is up to the server.
    Doubled,
    /// The name that counts is hidden.
    Encrypted,
}

/// How far the reader came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Nothing wrong yet, but not all there.
    More,
    Done(Hello),
}

/// Why the bytes are not a hello that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HelloProblem {
    #[error("not TLS")]
    NotTls,
    #[error("a TLS record of no known version")]
    Version,
    #[error("a TLS record before the client hello")]
    Early,
    #[error("an SSLv2 hello, which names no server")]
    Sslv2,
    #[error("a malformed TLS client hello")]
    Malformed,
    #[error("a TLS client hello of more than 16 KiB")]
    TooLarge,
}

/// Reads the hello at the start of `bytes`: everything that the client has sent so far.
///
/// # Errors
/// When no further byte can make it a hello that is worth judging.
pub fn read(bytes: &[u8]) -> Result<Progress, HelloProblem> {
    let mut records = bytes;
    let mut message = Vec::new();
    let mut wire = 0;
    loop {
        let Some((header, rest)) = records.split_first_chunk::<RECORD_HEADER>() else {
            check_partial_header(records, wire)?;
            return Ok(Progress::More);
        };
        check_partial_header(header, wire)?;
        let [_, _, _, high, low] = *header;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 || length > LONGEST_RECORD {
            return Err(HelloProblem::Malformed);
        }
        wire += RECORD_HEADER + length;
        if wire > LIMIT {
            return Err(HelloProblem::TooLarge);
        }
        let fragment = rest.get(..length).unwrap_or(rest);
        message.extend_from_slice(fragment);
        // How much of the message lies in the records seen so far, whether or not its bytes have come.
        let announced = message.len() - fragment.len() + length;
        if let Some(whole) = message_length(&message)? {
            if whole + RECORD_HEADER > LIMIT {
                return Err(HelloProblem::TooLarge);
            }
            if announced > whole {
                return Err(HelloProblem::Malformed);
            }
            if message.len() == whole {
                let body = message.get(MESSAGE_HEADER..).unwrap_or_default();
                let name = naming(body).ok_or(HelloProblem::Malformed)?;
                return Ok(Progress::Done(Hello { wire, name }));
            }
        }
        match rest.get(length..) {
            Some(next) if !next.is_empty() => records = next,
            Some(_) | None => return Ok(Progress::More),
        }
    }
}

/// Judges a record header of which perhaps only a part is there. `wire` is what came before it.
fn check_partial_header(header: &[u8], wire: usize) -> Result<(), HelloProblem> {
    let wrong = match wire {
        0 => HelloProblem::NotTls,
        _ => HelloProblem::Malformed,
    };
    match header {
        [] | [HANDSHAKE] | [HANDSHAKE, 3, ..] => Ok(()),
        // Two bytes of length with the high bit set, then the message type.
        [first] | [first, _] if wire == 0 && first & 0x80 != 0 => Ok(()),
        [first, _, CLIENT_HELLO, ..] if wire == 0 && first & 0x80 != 0 => Err(HelloProblem::Sslv2),
        _ => Err(wrong),
    }
}

/// The length of the handshake message, its header included, as soon as that header is there.
fn message_length(message: &[u8]) -> Result<Option<usize>, HelloProblem> {
    match message {
        [] => Ok(None),
        [CLIENT_HELLO, a, b, c, ..] => {
            let length = u32::from_be_bytes([0, *a, *b, *c]);
            let length = usize::try_from(length).map_err(|_| HelloProblem::TooLarge)?;
            Ok(Some(MESSAGE_HEADER + length))
        }
        [CLIENT_HELLO, ..] => Ok(None),
        _ => Err(HelloProblem::Malformed),
    }
}

/// The body of a client hello. `None` when a length does not add up.
fn naming(body: &[u8]) -> Option<Naming> {
    let mut body = Cursor(body);
    body.take(2 + 32)?;
    let session = body.vector8()?;
    let ciphers = body.vector16()?;
    let compressions = body.vector8()?;
    if session.len() > 32 || ciphers.is_empty() || ciphers.len() % 2 != 0 || compressions.is_empty() {
        return None;
    }
    if body.is_empty() {
        return Some(Naming::Absent);
    }
    let mut extensions = Cursor(body.vector16()?);
    if !body.is_empty() {
        return None;
    }
    let (mut names, mut hidden, mut doubled) = (Vec::new(), false, false);
    while !extensions.is_empty() {
        let kind = extensions.u16()?;
        let data = extensions.vector16()?;
        match kind {
            SERVER_NAME => {
                let mut list = Cursor(Cursor(data).only16()?);
                let before = names.len();
                while !list.is_empty() {
                    let sort = list.u8()?;
                    let name = list.vector16()?;
                    names.push((sort, name));
                }
                if names.len() == before {
                    return None;
                }
                doubled |= names.len() > 1;
            }
            ENCRYPTED_CLIENT_HELLO | ENCRYPTED_SERVER_NAME => hidden = true,
            _ => {}
        }
    }
    match names.as_slice() {
        _ if hidden => Some(Naming::Encrypted),
        _ if doubled => Some(Naming::Doubled),
        [] => Some(Naming::Absent),
        [(0, name), ..] if !name.is_empty() => Some(Naming::Named(name.to_vec())),
        _ => None,
    }
}

/// Bytes that are taken from the front.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*first))
    }

    fn vector8(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.take(usize::from(length))
    }

    fn vector16(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    /// A vector with nothing behind it.
    fn only16(mut self) -> Option<&'a [u8]> {
        let vector = self.vector16()?;
        self.is_empty().then_some(vector)
    }
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
