//! Copies bytes both ways between a client and its server, past the gate.
//!
//! Reads and writes the two sockets it is given. INVARIANT (bounded): one window of 64 KiB for each way, no queue.
//! INVARIANT: a byte goes to the server only after the gate passed it; nothing is put into the middle of what the
//! server sends.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout, timeout_at};

use crate::closing::reset_on_drop;
use crate::gate::{Gate, Stop};
use crate::http::guard::Look;
use crate::limits::Limits;
use crate::record::{Counts, add};
use crate::window::Window;

/// How a relay ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Both sides said all they had to say.
    Closed,
    /// No byte came for too long.
    Idle,
    /// One side was reset. The other is reset when its stream is dropped.
    Reset,
    /// The gate stopped the client.
    Stopped { stop: Stop, server: Server },
}

/// Where the server's answers stood when the client was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// It sent nothing, or whole answers: the client may be told why.
    Silent,
    /// It may be in the middle of one.
    Speaking,
}

/// A gate with the bytes that have come before the relay starts.
#[derive(Debug)]
pub struct Start {
    pub gate: Gate,
    pub window: Window,
    /// So many bytes of the window have passed the gate already.
    pub passed: usize,
}

/// Copies until both sides are done, or one of the reasons in `End`.
pub async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    start: Start,
    down: Window,
    counts: &Counts,
    limits: &Limits,
) -> End {
    // Small writes must not wait for each other.
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let shared = Shared {
        gate: RefCell::new(start.gate),
        counts,
        limits,
        last: Cell::new(Instant::now()),
        answered: Notify::new(),
        down_ended: Notify::new(),
        stopped: Cell::new(false),
    };
    let end = {
        let (client_read, client_write) = client.split();
        let (server_read, server_write) = server.split();
        let up = shared.up(client_read, server_write, start.window, start.passed);
        let down = shared.down(server_read, client_write, down);
        let both = async { tokio::try_join!(up, down) };
        tokio::select! {
            ended = both => match ended {
                Ok((Finish::Stopped(stop), _)) => End::Stopped { stop, server: Server::Silent },
                Ok((Finish::Ended, Finish::Ended)) => End::Closed,
                Ok((Finish::Ended | Finish::Broken, _)) => End::Reset,
                Err(end) => end,
            },
            () = shared.idle() => End::Idle,
        }
    };
    if end == End::Reset {
        reset_on_drop(client);
        reset_on_drop(server);
    }
    end
}

/// How one direction ended, with the other still at work.
#[derive(Debug)]
enum Finish {
    /// The source said all it had to say.
    Ended,
    /// The other side takes no more. What it still sends is read first.
    Broken,
    Stopped(Stop),
}

struct Shared<'a> {
    gate: RefCell<Gate>,
    counts: &'a Counts,
    limits: &'a Limits,
    last: Cell<Instant>,
    /// The server's answer has changed what the gate says.
    answered: Notify,
    down_ended: Notify,
    stopped: Cell<bool>,
}

impl Shared<'_> {
    async fn up(
        &self,
        mut reader: ReadHalf<'_>,
        mut writer: WriteHalf<'_>,
        mut window: Window,
        passed: usize,
    ) -> Result<Finish, End> {
        let mut look = Ok(Look::Pass(passed));
        // When the bytes in the window must have become a whole piece.
        let mut due = None;
        let mut closed = false;
        loop {
            match look {
                Ok(Look::Pass(count)) => {
                    let bytes = window.bytes().get(..count).unwrap_or_default();
                    if writer.write_all(bytes).await.is_err() {
                        return Ok(Finish::Broken);
                    }
                    add(&self.counts.up, count);
                    window.consume(count);
                    self.touch();
                    due = None;
                }
                Ok(Look::Drop(count)) => window.consume(count),
                Ok(Look::Hold) => self.answered.notified().await,
                Ok(Look::More) if closed => {
                    let _ = writer.shutdown().await;
                    return Ok(Finish::Ended);
                }
                Ok(Look::More) => {
                    let filled = match window.bytes().is_empty() {
                        true => window.fill(&mut reader).await,
                        false => {
                            let due = *due.get_or_insert_with(|| Instant::now() + self.limits.first_bytes);
                            let filled = tokio::select! {
                                filled = timeout_at(due.into(), window.fill(&mut reader)) => filled.ok(),
                                () = self.answered.notified() => {
                                    look = self.gate.borrow_mut().look(window.bytes());
                                    continue;
                                }
                            };
                            match filled {
                                Some(filled) => filled,
                                None => {
                                    let slow = Stop::Slow(self.gate.borrow().language());
                                    return self.stop(slow, &mut writer).await;
                                }
                            }
                        }
                    };
                    match filled {
                        Ok(0) => {
                            closed = true;
                            self.gate.borrow_mut().client_closed();
                        }
                        Ok(_) => self.touch(),
                        Err(_) => return Err(End::Reset),
                    }
                }
                Err(stop) => return self.stop(stop, &mut writer).await,
            }
            look = self.gate.borrow_mut().look(window.bytes());
        }
    }

    async fn down(
        &self,
        mut reader: ReadHalf<'_>,
        mut writer: WriteHalf<'_>,
        mut window: Window,
    ) -> Result<Finish, End> {
        loop {
            let count = window.fill(&mut reader).await.map_err(|_| End::Reset)?;
            if count == 0 {
                self.gate.borrow_mut().server_closed();
                self.answered.notify_one();
                self.down_ended.notify_one();
                if !self.stopped.get() {
                    let _ = writer.shutdown().await;
                }
                return Ok(Finish::Ended);
            }
            self.touch();
            if self.gate.borrow_mut().hear(window.bytes()) {
                self.answered.notify_one();
            }
            if writer.write_all(window.bytes()).await.is_err() {
                self.down_ended.notify_one();
                return Ok(Finish::Broken);
            }
            add(&self.counts.down, count);
            window.consume(count);
            self.touch();
        }
    }

    /// The client must not go on. What it asked for in good order is still answered, for a while.
    async fn stop(&self, stop: Stop, writer: &mut WriteHalf<'_>) -> Result<Finish, End> {
        if self.counts.down.get() == 0 && self.counts.up.get() == 0 {
            let server = Server::Silent;
            return Err(End::Stopped { stop, server });
        }
        self.stopped.set(true);
        let _ = writer.shutdown().await;
        match timeout(self.limits.grace, self.down_ended.notified()).await {
            Ok(()) => Ok(Finish::Stopped(stop)),
            Err(_) => Err(End::Stopped {
                stop,
                server: Server::Speaking,
            }),
        }
    }

    fn touch(&self) {
        self.last.set(Instant::now());
    }

    async fn idle(&self) {
        loop {
            let until = self.last.get() + self.limits.idle;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until.into()).await;
        }
    }
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
