//! What a client begins to speak on a port that promises nothing.
//!
//! Pure. `sniff` tells TLS and HTTP, which are then held to their rules, from the rest. The rest passes as it comes, since it
//! may wait for an answer, and `Watch` looks on until it can no longer become a hello or a request for a server more lenient
//! than our readers. INVARIANT: the verdict does not depend on how the bytes were cut.

use crate::bound::Bound;
use crate::gate::Stop;
use crate::http::Bad;
use crate::http::line::is_tchar;
use crate::tls::HelloProblem;
use crate::window::BUFFER;

const HTTP: &[u8] = b"HTTP/";
/// What is longer is no version.
const LONGEST_VERSION: usize = 16;
/// Where RTSP is spoken and no web server is expected.
const RTSP_PORTS: [u16; 2] = [554, 8554];
/// What PROXY, version 2, begins with.
const PROXY_2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// By so many bytes every pattern of `check_start` is decided.
const START: usize = 12;
/// How PostgreSQL asks for TLS, and for GSSAPI: a length, a number in the place of a version, nothing more.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
const GSS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sniffed {
    Unsure,
    Tls,
    Http,
    /// The PROXY protocol, version 1: what follows is another protocol.
    Proxy,
    Other,
}

/// What the first bytes are. A line that a lenient server could take for a request is one: the guard is strict.
pub(crate) fn sniff(window: &[u8], bound: &Bound) -> Sniffed {
    match window {
        [] | [22] => return Sniffed::Unsure,
        [22, 3, ..] => return Sniffed::Tls,
        _ => {}
    }
    let blank = |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t');
    let text = window.iter().position(|byte| !blank(byte));
    let Some(text) = text.and_then(|start| window.get(start..)) else {
        return Sniffed::Unsure;
    };
    // Every method that is in use begins with a letter. Others are not waited for: `Watch` sees to them.
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return Sniffed::Other;
    }
    match text.iter().find(|byte| !is_tchar(**byte)) {
        None => return Sniffed::Unsure,
        // Any blank may part a method from its target; the end of the line, NUL and the rest do not.
        Some(b'\t' | 0x0b | 0x0c | 0x1c..=b' ') => {}
        Some(_) => return Sniffed::Other,
    }
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return Sniffed::Unsure;
    };
    let line = text.get(..end).unwrap_or_default();
    if line.windows(HTTP.len()).any(|word| word.eq_ignore_ascii_case(HTTP)) {
        return Sniffed::Http;
    }
    match line {
        _ if !bound.by_name() => Sniffed::Other,
        [b'P', b'R', b'O', b'X', b'Y', b' ', ..] => Sniffed::Proxy,
        [b'G', b'E', b'T', b'\t'..=b' ', rest @ ..] if is_oldest_target(rest.trim_ascii()) => Sniffed::Http,
        line if is_kin(line, bound) => Sniffed::Http,
        _ => Sniffed::Other,
    }
}

/// The same where no further byte will come.
pub(crate) fn sniff_last(window: &[u8], bound: &Bound) -> Sniffed {
    match sniff(&[window, b"\n"].concat(), bound) {
        Sniffed::Unsure => Sniffed::Other,
        known @ (Sniffed::Tls | Sniffed::Http | Sniffed::Proxy | Sniffed::Other) => known,
    }
}

/// Web servers built on llhttp (Node.js) take RTSP and Icecast for HTTP as well.
fn is_kin(line: &[u8], bound: &Bound) -> bool {
    let holds = |word: &[u8]| line.windows(word.len()).any(|part| part == word);
    !RTSP_PORTS.contains(&bound.port) && (holds(b" RTSP/") || holds(b" ICE/"))
}

/// HTTP/0.9 has no version. A whole URL picks the site there as well, and some servers read header fields behind it.
fn is_oldest_target(target: &[u8]) -> bool {
    target.starts_with(b"/") || target.windows(3).any(|part| part == b"://")
}

/// Whether a server that speaks first may be a web server all the same: it gives up waiting with `HTTP/`, or it speaks
/// HTTP/2 in the clear and sends its settings at once (a frame of type 4 on stream 0).
pub(crate) fn may_be_web(said: &[u8]) -> bool {
    let begins = |web: &[u8]| said.iter().zip(web).all(|(said, web)| said == web);
    let settings = |at: usize| match at {
        2 => None,
        3 => Some(4),
        _ => Some(0),
    };
    let frame = said.iter().take(FRAME_HEADER).enumerate();
    begins(b"HTTP/")
        || frame
            .map(|(at, byte)| (settings(at), byte))
            .all(|(must, byte)| must.is_none_or(|must| must == *byte))
}

/// The bytes by which `may_be_web` decides.
pub(crate) const FRAME_HEADER: usize = 9;

/// What `Watch` says of the bytes that it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Pass(usize),
    /// So many pass, and everything from now on.
    Open(usize),
    /// So many pass. Then comes a TLS hello, if the server agrees.
    AskedForTls(usize),
}

/// Looks on while what seems to be neither TLS nor HTTP passes to a host that was allowed by name.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    start: Vec<u8>,
    line: Line,
    passed: usize,
}

impl Watch {
    /// Judges `window`: the bytes behind those that have passed.
    ///
    /// # Errors
    /// When a server could take it for a hello or a request.
    pub(crate) fn look(&mut self, window: &[u8]) -> Result<Seen, Stop> {
        let known = self.start.len();
        let missing = START.saturating_sub(known);
        self.start.extend(window.iter().take(missing));
        check_start(&self.start)?;
        if known < SSL_REQUEST.len()
            && let Some((&(SSL_REQUEST | GSS_REQUEST), _)) = self.start.split_first_chunk()
        {
            return Ok(Seen::AskedForTls(SSL_REQUEST.len() - known));
        }
        self.line.follow(window)?;
        self.passed = self.passed.saturating_add(window.len());
        match self.start.len() == START && (self.line.at == At::End || self.passed > BUFFER) {
            true => Ok(Seen::Open(window.len())),
            false => Ok(Seen::Pass(window.len())),
        }
    }
}

/// The first line that is not blank, as servers read it that take any bytes for a method and any blanks around it.
#[derive(Debug, Default)]
struct Line {
    /// Words that have begun.
    words: usize,
    /// The beginning of the last of them.
    word: Vec<u8>,
    at: At,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    #[default]
    Blank,
    Word,
    End,
}

impl Line {
    /// A third word that begins with a version makes it a request. So does a later one that is the last, and a version: some
    /// servers take blanks in a target.
    fn follow(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        for byte in bytes {
            self.at = match (self.at, byte) {
                (At::End, _) => return Ok(()),
                (At::Blank, b'\n') if self.words == 0 => At::Blank,
                (At::Blank | At::Word, b'\n') if self.words > 3 && is_version(&self.word) => {
                    return Err(Stop::Http(Bad::RequestLine));
                }
                (At::Blank | At::Word, b'\n') => At::End,
                (At::Blank | At::Word, b'\t'..=b'\r' | 0x1c..=b' ' | 0x85 | 0xa0) => At::Blank,
                (At::Blank, _) => {
                    self.words = self.words.saturating_add(1);
                    self.word = vec![*byte];
                    At::Word
                }
                (At::Word, _) => {
                    if self.word.len() < LONGEST_VERSION {
                        self.word.push(*byte);
                    }
                    At::Word
                }
            };
            if self.words == 3 && self.word.eq_ignore_ascii_case(HTTP) {
                return Err(Stop::Http(Bad::RequestLine));
            }
        }
        Ok(())
    }
}

fn is_version(word: &[u8]) -> bool {
    let number = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    word.split_at_checked(HTTP.len())
        .is_some_and(|(name, rest)| name.eq_ignore_ascii_case(HTTP) && number(rest))
}

/// Beginnings that some TLS server takes, or that change what is read behind them.
fn check_start(start: &[u8]) -> Result<(), Stop> {
    match start {
        // A hello in a record of another version.
        [22, 0..=15, _, _, _, 1, ..] => Err(Stop::Tls(HelloProblem::Version)),
        // Records before the hello: a change of ciphers, alerts, heartbeats, empty ones.
        [20, 0..=15, _, 0, 1, 1, ..]
        | [21, 0..=15, _, 0, _, 0..=2, ..]
        | [24, 3, 0..=4, _, _, 1 | 2, ..]
        | [20 | 21 | 23 | 24, 3, 0..=4, 0, 0, ..] => Err(Stop::Tls(HelloProblem::Early)),
        [0x80..=0xff, _, 1, 3, 0..=4, ..] | [0x80..=0xff, _, 1, 0, 2, ..] => Err(Stop::Tls(HelloProblem::Sslv2)),
        start if start.starts_with(PROXY_2) => Err(Stop::Proxy),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
