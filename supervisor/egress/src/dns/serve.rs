//! Answers on the sockets that were made in the namespace.
//!
//! INVARIANT (bounded): at most `MAX_CONNECTIONS` at once, `MAX_QUERIES` on each, `IDLE` for each message to arrive or
//! leave; a datagram that cannot be sent at once is dropped.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::answer::{Families, RefusedName, answer};
use super::frame;
use super::message::MAX_UDP;
use crate::book::Book;
use crate::record::{CLIENT, Client};
use crate::rules::Rules;

const MAX_CONNECTIONS: usize = 8;
const MAX_QUERIES: usize = 64;
const IDLE: Duration = Duration::from_secs(5);
/// Errors in a row after which a socket is given up.
const MAX_ERRORS: u32 = 64;
const PAUSE: Duration = Duration::from_millis(20);

/// Where refused names go. Called for each question: whoever records them bounds them.
pub trait Sink: Send + Sync + 'static {
    fn refused(&self, name: RefusedName);
}

impl<F: Fn(RefusedName) + Send + Sync + 'static> Sink for F {
    fn refused(&self, name: RefusedName) {
        self(name);
    }
}

#[derive(Debug)]
pub struct Answerer<S> {
    rules: Arc<Rules>,
    book: Arc<Mutex<Book>>,
    families: Families,
    sink: S,
}

impl<S: Sink> Answerer<S> {
    /// The relay reads the same book.
    pub fn new(rules: Arc<Rules>, book: Arc<Mutex<Book>>, families: Families, sink: S) -> Answerer<S> {
        Answerer {
            rules,
            book,
            families,
            sink,
        }
    }

    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        let answer = {
            // A book is whole after every step, so a panic elsewhere does not spoil it.
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            answer(query, &self.rules, &mut book, self.families)
        };
        if let Some(name) = answer.refused {
            self.sink.refused(name);
        }
        answer.reply
    }
}

/// Runs until the socket is of no more use.
pub async fn serve_udp<S: Sink>(socket: UdpSocket, answerer: Arc<Answerer<S>>) -> io::Error {
    // One more than we take, to see that a datagram was longer.
    let mut buffer = [0; MAX_UDP as usize + 1];
    let mut errors = 0;
    loop {
        let (length, from) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            Err(error) if errors >= MAX_ERRORS => return error,
            Err(_) => {
                errors += 1;
                sleep(PAUSE).await;
                continue;
            }
        };
        errors = 0;
        let query = buffer.get(..length).filter(|query| query.len() <= MAX_UDP.into());
        let answer = || query.and_then(|query| answerer.answer(query));
        if let Some(reply) = CLIENT.sync_scope(Client::Udp(from.port()), answer) {
            // Not waited for: who does not read loses the reply, and asks again.
            let _ = socket.try_send_to(&reply, from);
        }
    }
}

/// Runs until the socket is of no more use. Its connections end with it.
pub async fn serve_tcp<S: Sink>(listener: TcpListener, answerer: Arc<Answerer<S>>) -> io::Error {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut errors = 0;
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return io::ErrorKind::Other.into();
        };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, from)) => {
                errors = 0;
                let answerer = Arc::clone(&answerer);
                connections.spawn(CLIENT.scope(Client::Tcp(from.port()), async move {
                    // A connection that fails is over, and that is all.
                    let _ = converse(stream, &answerer).await;
                    drop(permit);
                }));
            }
            Err(error) if errors >= MAX_ERRORS => return error,
            Err(_) => {
                errors += 1;
                sleep(PAUSE).await;
            }
        }
    }
}

async fn converse<S: Sink>(mut stream: TcpStream, answerer: &Answerer<S>) -> io::Result<()> {
    for _ in 0..MAX_QUERIES {
        let query = timeout(IDLE, frame::read(&mut stream, MAX_UDP)).await??;
        let Some(reply) = answerer.answer(&query) else { break };
        timeout(IDLE, frame::write(&mut stream, &reply)).await??;
    }
    Ok(())
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
