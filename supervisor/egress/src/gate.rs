//! What may pass from a client to the server that its connection is bound to.
//!
//! Pure: it is shown the bytes that have not passed yet and says how many may. On port 443 they must be TLS for the
//! allowed name, on port 80 HTTP for it. On other ports the first bytes tell: TLS and HTTP are held to the same rules,
//! anything else passes, since the connection leads to the allowed host whatever is said on it.

use thiserror::Error;

use crate::bound::Bound;
use crate::host::Host;
use crate::http::Bad;
use crate::http::guard::{Guard, Look};
use crate::http::line::is_tchar;
use crate::tls::{self, HelloProblem, Naming, Progress};
use crate::window::BUFFER;

/// The port on which only TLS passes.
pub const TLS_PORT: u16 = 443;
/// The port on which only HTTP passes.
pub const HTTP_PORT: u16 = 80;

/// Why a connection is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Stop {
    #[error("{0} on a connection that must be TLS")]
    Tls(#[from] HelloProblem),
    #[error("a TLS client hello without a server name")]
    NameAbsent,
    #[error("a TLS client hello with two server names")]
    NameDoubled,
    #[error("an encrypted TLS client hello, whose name cannot be checked")]
    NameHidden,
    #[error("a TLS client hello for `{0}`, another server than the one that was connected to")]
    NameOther(String),
    #[error("{0}")]
    Http(#[from] Bad),
    #[error("its first bytes took too long")]
    Slow(Language),
}

impl Stop {
    /// In which language the client can be told.
    #[must_use]
    pub fn language(&self) -> Language {
        match self {
            Self::Tls(_) | Self::NameAbsent | Self::NameDoubled | Self::NameHidden | Self::NameOther(_) => {
                Language::Tls
            }
            Self::Http(_) => Language::Http,
            Self::Slow(language) => *language,
        }
    }
}

/// What is spoken on a connection, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Tls,
    Http,
    Unknown,
}

impl Language {
    /// What a port promises.
    #[must_use]
    pub fn of_port(port: u16) -> Self {
        match port {
            TLS_PORT => Self::Tls,
            HTTP_PORT => Self::Http,
            _ => Self::Unknown,
        }
    }
}

#[derive(Debug)]
enum State {
    Unknown,
    Hello,
    Http(Guard),
    /// Everything passes.
    Open,
}

/// The gate of one connection.
#[derive(Debug)]
pub struct Gate {
    bound: Bound,
    state: State,
    language: Language,
}

impl Gate {
    #[must_use]
    pub fn new(bound: Bound) -> Self {
        let language = Language::of_port(bound.port);
        let state = match language {
            Language::Tls => State::Hello,
            Language::Http => State::Http(Guard::new(bound.clone())),
            Language::Unknown => State::Unknown,
        };
        Self { bound, state, language }
    }

    /// A gate for the rest of one HTTP request.
    #[must_use]
    pub fn guarded(bound: Bound, guard: Guard) -> Self {
        Self {
            bound,
            state: State::Http(guard),
            language: Language::Http,
        }
    }

    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Judges the front of `window`, as `Guard::look` does.
    ///
    /// # Errors
    /// When the connection must end.
    pub fn look(&mut self, window: &[u8]) -> Result<Look, Stop> {
        if let State::Unknown = self.state {
            (self.state, self.language) = match sniff(window) {
                Sniffed::Unsure if window.len() >= BUFFER => return Err(Stop::Http(Bad::HeadTooLarge)),
                Sniffed::Unsure => return Ok(Look::More),
                Sniffed::Tls => (State::Hello, Language::Tls),
                Sniffed::Http => (State::Http(Guard::new(self.bound.clone())), Language::Http),
                Sniffed::Other => (State::Open, Language::Unknown),
            };
        }
        match &mut self.state {
            State::Http(guard) => return Ok(guard.look(window)?),
            State::Hello => match tls::read(window)? {
                Progress::More => return Ok(Look::More),
                Progress::Done(hello) => {
                    check_name(&self.bound, &hello.name)?;
                    self.state = State::Open;
                }
            },
            State::Unknown | State::Open => {}
        }
        match window.len() {
            0 => Ok(Look::More),
            length => Ok(Look::Pass(length)),
        }
    }

    /// Shows what the server sends. Says whether `look` may answer differently now.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        match &mut self.state {
            State::Http(guard) => guard.hear(bytes),
            // Who speaks first waits for neither a request nor a hello. A web server that gives up waiting says `HTTP/`.
            State::Unknown if !bytes.is_empty() && !bytes.iter().zip(b"HTTP/").all(|(said, web)| said == web) => {
                self.state = State::Open;
                true
            }
            State::Unknown | State::Hello | State::Open => false,
        }
    }

    /// The server says no more.
    pub fn server_closed(&mut self) {
        if let State::Http(guard) = &mut self.state {
            guard.server_closed();
        }
    }

    /// The client says no more, so a first line that could have become a request will not.
    pub fn client_closed(&mut self) {
        if let State::Unknown = self.state {
            self.state = State::Open;
        }
    }
}

fn check_name(bound: &Bound, name: &Naming) -> Result<(), Stop> {
    if !bound.by_name() {
        return Ok(());
    }
    match name {
        Naming::Absent => Err(Stop::NameAbsent),
        Naming::Doubled => Err(Stop::NameDoubled),
        Naming::Encrypted => Err(Stop::NameHidden),
        Naming::Named(said) => match Host::parse(said) {
            Ok(host) if bound.permits(&host, None) => Ok(()),
            Ok(_) | Err(_) => Err(Stop::NameOther(String::from_utf8_lossy(said).into_owned())),
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sniffed {
    Unsure,
    Tls,
    Http,
    Other,
}

/// What the first bytes are. A line that a lenient server could take for a request is one: the guard is strict.
fn sniff(window: &[u8]) -> Sniffed {
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
    match line.windows(5).any(|word| word.eq_ignore_ascii_case(b"HTTP/")) {
        true => Sniffed::Http,
        false => Sniffed::Other,
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
