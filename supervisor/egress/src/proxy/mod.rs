//! The ways in: connections as programs make them, HTTP and SOCKS proxies. They differ in how they learn the
//! destination and how they say no; deciding, dialling, checking and recording are the same for all.
//!
//! INVARIANT: nothing is dialled that was not decided on, and every attempt is in the ledger.

mod answer;
mod forward;
pub mod http;
pub mod socks;
pub mod transparent;
mod tunnel;

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpStream;

use crate::book::Book;
use crate::bound::Bound;
use crate::closing::{farewell, reset_on_drop};
use crate::dial::{DialError, Dialer};
use crate::gate::{Language, Stop};
use crate::host::Host;
use crate::limits::{Limits, Slots};
use crate::record::{Ledger, Track, Via};
use crate::refusal::{Kind, NOT_ALLOWED, Refusal};
use crate::rules::{Rules, Verdict};
use crate::window::Pool;

/// What every connection of a run shares.
#[derive(Debug)]
pub struct Desk {
    pub rules: Arc<Rules>,
    pub book: Arc<Mutex<Book>>,
    pub dialer: Dialer,
    pub ledger: Arc<Ledger>,
    pub limits: Limits,
    pub slots: Rc<Slots>,
    pub pool: Rc<Pool>,
}

impl Desk {
    /// The name that a synthetic address stands for; any other host is itself.
    fn meant(&self, host: Host) -> Host {
        match host {
            Host::Addr(addr) => {
                // A book is whole after every step, so a panic elsewhere does not spoil it.
                let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
                book.name_of(addr).map_or(Host::Addr(addr), Host::Name)
            }
            Host::Name(_) => host,
        }
    }

    /// The rule that allows it.
    fn decide(&self, bound: &Bound) -> Result<String, Refusal> {
        match self.rules.decide(&bound.host, bound.port) {
            Verdict::Allowed { rule } => Ok(rule),
            Verdict::Refused { rule, hint } => {
                let reason = match rule {
                    Some(_) => "a deny rule of the policy forbids it",
                    None => NOT_ALLOWED,
                };
                Err(Refusal {
                    kind: Kind::Forbidden,
                    reason: reason.to_owned(),
                    rule,
                    hint: Some(hint),
                })
            }
        }
    }

    async fn dial(&self, bound: &Bound) -> Result<TcpStream, Refusal> {
        let Some(_slot) = self.slots.dial(self.limits.first_bytes).await else {
            let reason = format!("{} connections are being made already", self.limits.dials);
            return Err(Refusal::new(Kind::Busy, reason));
        };
        match self.dialer.dial(&bound.host, bound.port).await {
            Ok(dialled) => Ok(dialled.stream),
            Err(error) => Err(from_dial(error)),
        }
    }

    fn open(&self, via: Via, bound: &Bound) -> Track {
        self.ledger.open(via, &bound.host.to_string(), bound.port)
    }

    /// Why the gate stopped a connection, and the line that would allow what was asked for instead.
    fn explain(&self, stop: &Stop, bound: &Bound) -> Refusal {
        let (kind, other) = match stop {
            Stop::NameOther(name) => (Kind::OtherName, Host::parse(name.as_bytes()).ok()),
            Stop::NameAbsent | Stop::NameDoubled | Stop::NameHidden => (Kind::OtherName, None),
            Stop::Tls(_) | Stop::Http(_) | Stop::Proxy => (Kind::Forbidden, None),
            Stop::Slow(_) => (Kind::BadRequest, None),
        };
        let hint = other.and_then(|host| match self.rules.decide(&host, bound.port) {
            Verdict::Allowed { .. } => None,
            Verdict::Refused { hint, .. } => Some(hint),
        });
        Refusal {
            hint,
            ..Refusal::new(kind, stop.to_string())
        }
    }

    /// Tells the client why in its own language and closes; where there is none, resets.
    async fn turn_away(&self, client: TcpStream, language: Language, place: &str, refusal: &Refusal) {
        match language {
            Language::Http => farewell(client, &answer::http(place, refusal), &self.limits).await,
            Language::Tls => farewell(client, &answer::tls_alert(refusal.kind), &self.limits).await,
            Language::Unknown => reset_on_drop(&client),
        }
    }
}

fn from_dial(error: DialError) -> Refusal {
    let reason = error.to_string();
    let with = |kind| Refusal::new(kind, reason.clone());
    match error {
        DialError::NotAllowed { hint } | DialError::Refused { hint, .. } => Refusal {
            hint: Some(hint),
            ..with(Kind::Forbidden)
        },
        DialError::Denied { rule } => Refusal {
            hint: Some(format!("remove network.deny \"{rule}\"")),
            rule: Some(rule),
            ..with(Kind::Forbidden)
        },
        DialError::NoSuchName => with(Kind::NoSuchName),
        DialError::ResolveFailed { .. } => with(Kind::Unreachable),
        DialError::ResolveTimeout | DialError::Timeout => with(Kind::Timeout),
        DialError::Connect(error) => match error.kind() == io::ErrorKind::ConnectionRefused {
            true => with(Kind::ConnectRefused),
            false => with(Kind::Unreachable),
        },
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
pub(crate) mod tests;
