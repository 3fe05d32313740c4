//! Watches what a client says on one HTTP/1 connection, request by request.
//!
//! Pure: it is shown the bytes that have not passed yet and says how many may. It changes none of them.
//! INVARIANT: nothing of a head passes before all of it is known to be good. INVARIANT: what passes, and what stops
//! the connection, does not depend on how the bytes were cut.

use crate::bound::Bound;

use super::Bad;
use super::answer::{Answer, Said};
use super::authority::Authority;
use super::body::{Body, Place, Step};
use super::head::{Head, Scan, Version};

/// What may happen to the bytes at the front of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// So many may pass.
    Pass(usize),
    /// None yet: the piece is not whole.
    More,
    /// None until the server has answered.
    Hold,
    /// So many lead nowhere: the one request has been made.
    Drop(usize),
}

#[derive(Debug)]
enum State {
    Head(Scan),
    Body(Place),
    /// A WebSocket was asked for.
    Asked(Answer),
    /// The server agreed to it.
    Switched,
    /// The one request is complete.
    Over,
    Bad(Bad),
}

/// What comes after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Another,
    Nothing,
}

/// The watcher of one connection.
#[derive(Debug)]
pub struct Guard {
    bound: Bound,
    state: State,
    after: After,
    /// Whole heads that have passed.
    heads: u64,
}

impl Guard {
    /// Watches requests for what is bound, as many as come.
    #[must_use]
    pub fn new(bound: Bound) -> Self {
        Self {
            bound,
            state: State::Head(Scan::default()),
            after: After::Another,
            heads: 0,
        }
    }

    /// Watches the body of one request, whose head the caller has judged; nothing passes after it.
    #[must_use]
    pub fn one_body(bound: Bound, body: Body) -> Self {
        Self {
            bound,
            state: Place::start(body).map_or(State::Over, State::Body),
            after: After::Nothing,
            heads: 1,
        }
    }

    /// Judges the front of `window`: the bytes that came and have neither passed nor been dropped.
    ///
    /// # Errors
    /// When the next piece must not pass. Then it never passes: the same error comes again.
    pub fn look(&mut self, window: &[u8]) -> Result<Look, Bad> {
        let mut passed = 0;
        loop {
            let rest = window.get(passed..).unwrap_or_default();
            match self.piece(rest) {
                Ok(Look::Pass(count)) => passed += count,
                Ok(other) if passed == 0 => return Ok(other),
                Ok(Look::More | Look::Hold | Look::Drop(_)) => return Ok(Look::Pass(passed)),
                Err(bad) => {
                    self.state = State::Bad(bad);
                    return if passed == 0 { Err(bad) } else { Ok(Look::Pass(passed)) };
                }
            }
        }
    }

    /// Shows what the server sends. Says whether `look` may answer differently now.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        let State::Asked(answer) = &mut self.state else {
            return false;
        };
        match answer.hear(bytes) {
            Some(Said::Switched) => self.state = State::Switched,
            Some(Said::Other) => self.state = State::Head(Scan::default()),
            None => return false,
        }
        true
    }

    /// The server says no more.
    pub fn server_closed(&mut self) {
        if let State::Asked(_) = self.state {
            self.state = State::Head(Scan::default());
        }
    }

    fn piece(&mut self, window: &[u8]) -> Result<Look, Bad> {
        if let State::Asked(_) = self.state {
            return Ok(Look::Hold);
        }
        if let State::Bad(bad) = self.state {
            return Err(bad);
        }
        if window.is_empty() {
            return Ok(Look::More);
        }
        match &mut self.state {
            State::Head(scan) => {
                let Some(length) = scan.advance(window)? else {
                    return Ok(Look::More);
                };
                let head = Head::parse(window.get(..length).unwrap_or_default())?;
                self.state = judge(&head, &self.bound, self.heads)?;
                self.heads += 1;
                Ok(Look::Pass(length))
            }
            State::Body(place) => match place.step(window)? {
                Step::Pass(count) => Ok(Look::Pass(count)),
                Step::More => Ok(Look::More),
                Step::End(count) => {
                    self.state = match self.after {
                        After::Another => State::Head(Scan::default()),
                        After::Nothing => State::Over,
                    };
                    Ok(Look::Pass(count))
                }
            },
            State::Asked(_) => Ok(Look::Hold),
            State::Switched => Ok(Look::Pass(window.len())),
            State::Over => Ok(Look::Drop(window.len())),
            State::Bad(bad) => Err(*bad),
        }
    }
}

/// Judges a head, and says what follows it.
fn judge(head: &Head<'_>, bound: &Bound, heads_before: u64) -> Result<State, Bad> {
    if head.line.method == b"CONNECT" {
        return Err(Bad::Connect);
    }
    let host = head.host()?;
    if bound.by_name() {
        let said = Authority::parse(host)?;
        if !bound.permits(&said.host, said.port) {
            return Err(Bad::HostOther);
        }
    }
    head.check_absolute(host)?;
    let after = Place::start(head.body).map_or_else(|| State::Head(Scan::default()), State::Body);
    match wants_websocket(head)? {
        false => Ok(after),
        true if heads_before == 0 && head.body == Body::None && head.line.version == Version::Http11 => {
            Ok(State::Asked(Answer::default()))
        }
        true => Err(Bad::UpgradeLate),
    }
}

/// Whether a head asks for a WebSocket.
fn wants_websocket(head: &Head<'_>) -> Result<bool, Bad> {
    let names = || head.all("upgrade").flat_map(super::line::Field::members);
    if names().any(|name| name.eq_ignore_ascii_case(b"h2c")) || head.all("http2-settings").next().is_some() {
        return Err(Bad::UpgradeH2c);
    }
    let mut names = names();
    match (names.next(), names.next()) {
        (None, _) => Ok(false),
        (Some(name), None) if name.eq_ignore_ascii_case(b"websocket") => Ok(true),
        (Some(_), _) => Err(Bad::UpgradeOther),
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
