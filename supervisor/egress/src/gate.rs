//! What may pass from a client to the server that its connection is bound to.
//!
//! Pure: it is shown the bytes that have not passed yet and says how many may. On port 443 they must be TLS for the
//! allowed name, on port 80 HTTP for it. On other ports the first bytes tell: TLS and HTTP are held to the same rules,
//! what only a lenient server would take for them is refused, and anything else passes, since the connection leads to the
//! allowed host whatever is said on it.
//! Not seen here: a hello behind a conversation of another protocol (`STARTTLS`). PostgreSQL, which begins with asking for
//! TLS, is followed.

use thiserror::Error;

use crate::bound::Bound;
use crate::host::Host;
use crate::http::Bad;
use crate::http::guard::{Guard, Look};
use crate::sniff::{FRAME_HEADER, Seen, Sniffed, Watch, may_be_web, sniff, sniff_last};
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
    #[error("the PROXY protocol, behind which nothing can be checked")]
    Proxy,
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
            Self::Proxy => Language::Unknown,
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
    /// What the server has said meanwhile.
    Unknown(Vec<u8>),
    /// The same, and the client says no more.
    Last,
    Hello(Nameless),
    Http(Guard),
    /// It passes while it is looked at.
    Watched(Watch),
    /// A protocol of its own asked for TLS.
    Asked,
    /// Everything passes.
    Open,
}

/// What becomes of a hello that names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nameless {
    Stops,
    /// Clients of databases have often none to say, and it picks no other server.
    Passes,
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
            Language::Tls => State::Hello(Nameless::Stops),
            Language::Http => State::Http(Guard::new(bound.clone())),
            Language::Unknown => State::Unknown(Vec::new()),
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
        if window.is_empty() && !matches!(self.state, State::Http(_)) {
            return Ok(Look::More);
        }
        if let Some(begun) = self.begin(window)? {
            (self.state, self.language) = begun;
        }
        match &mut self.state {
            State::Unknown(_) | State::Last | State::Asked if window.len() >= BUFFER => {
                return Err(Stop::Http(Bad::HeadTooLarge));
            }
            State::Unknown(_) | State::Last | State::Asked => return Ok(Look::More),
            State::Http(guard) => return Ok(guard.look(window)?),
            State::Hello(nameless) => match tls::read(window)? {
                Progress::More => return Ok(Look::More),
                Progress::Done(hello) => {
                    check_name(&self.bound, &hello.name, *nameless)?;
                    self.state = State::Open;
                }
            },
            State::Watched(watch) => {
                let passed = match watch.look(window)? {
                    Seen::Pass(count) => return Ok(Look::Pass(count)),
                    Seen::Open(count) => {
                        self.state = State::Open;
                        count
                    }
                    Seen::AskedForTls(count) => {
                        self.state = State::Asked;
                        count
                    }
                };
                return Ok(Look::Pass(passed));
            }
            State::Open => {}
        }
        Ok(Look::Pass(window.len()))
    }

    /// What the connection becomes with the first bytes, or with the first behind a question for TLS.
    fn begin(&self, window: &[u8]) -> Result<Option<(State, Language)>, Stop> {
        let sniffed = match &self.state {
            State::Unknown(_) => sniff(window, &self.bound),
            State::Last => sniff_last(window, &self.bound),
            State::Asked if window.first() == Some(&22) => {
                return Ok(Some((State::Hello(Nameless::Passes), Language::Tls)));
            }
            State::Asked => Sniffed::Other,
            State::Hello(_) | State::Http(_) | State::Watched(_) | State::Open => return Ok(None),
        };
        Ok(match sniffed {
            Sniffed::Unsure => None,
            Sniffed::Tls => Some((State::Hello(Nameless::Stops), Language::Tls)),
            Sniffed::Http => Some((State::Http(Guard::new(self.bound.clone())), Language::Http)),
            Sniffed::Proxy => return Err(Stop::Proxy),
            Sniffed::Other if self.bound.by_name() => Some((State::Watched(Watch::default()), Language::Unknown)),
            Sniffed::Other => Some((State::Open, Language::Unknown)),
        })
    }

    /// Shows what the server sends. Says whether `look` may answer differently now.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        match &mut self.state {
            State::Http(guard) => guard.hear(bytes),
            // Who speaks first waits for neither a request nor a hello.
            State::Unknown(said) => {
                said.extend(bytes.iter().take(FRAME_HEADER.saturating_sub(said.len())));
                if may_be_web(said) {
                    return false;
                }
                self.state = State::Open;
                true
            }
            State::Last | State::Hello(_) | State::Watched(_) | State::Asked | State::Open => false,
        }
    }

    /// The server says no more.
    pub fn server_closed(&mut self) {
        if let State::Http(guard) = &mut self.state {
            guard.server_closed();
        }
    }

    /// The client says no more: its first line is as long as it will be.
    pub fn client_closed(&mut self) {
        if let State::Unknown(_) = self.state {
            self.state = State::Last;
        }
    }
}

fn check_name(bound: &Bound, name: &Naming, nameless: Nameless) -> Result<(), Stop> {
    if !bound.by_name() {
        return Ok(());
    }
    match name {
        Naming::Absent => match nameless {
            Nameless::Stops => Err(Stop::NameAbsent),
            Nameless::Passes => Ok(()),
        },
        Naming::Doubled => Err(Stop::NameDoubled),
        Naming::Encrypted => Err(Stop::NameHidden),
        Naming::Named(said) => match Host::parse(said) {
            Ok(host) if bound.permits(&host, None) => Ok(()),
            Ok(_) | Err(_) => Err(Stop::NameOther(String::from_utf8_lossy(said).into_owned())),
        },
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
