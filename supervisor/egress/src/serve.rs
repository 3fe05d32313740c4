//! The companion's loop: accepts at every door, and answers for what happened when it is told to end.
//!
//! Runs in a process of its own, outside of the namespace that the doors are in. Touches the sockets it is given, the
//! network, and nothing else. INVARIANT: when the supervisor is gone, so is this.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::{TcpListener as StdListener, UdpSocket as StdUdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use crate::book::Book;
use crate::closing::reset_on_drop;
use crate::dial::Dialer;
use crate::dns::{Answerer, Families, Resolver, serve_tcp, serve_udp};
use crate::doors::{Door, DoorKind};
use crate::limits::{Limits, Slots};
use crate::names::NameSink;
use crate::proxy::{Desk, http, socks, transparent};
use crate::record::{CLIENT, Client, Ledger, Via};
use crate::refusal::{Kind, Refusal};
use crate::report::Report;
use crate::rules::Rules;
use crate::window::Pool;

/// The word on the control socket that asks for the report.
pub const DONE: u8 = b'd';
/// How long the supervisor may take to read the report.
const REPORTING: Duration = Duration::from_secs(10);
/// After an accept that failed: usually for want of descriptors, which come back.
const PAUSE: Duration = Duration::from_millis(50);

/// What answers at a broker door.
pub trait Model: Debug {
    /// Serves one connection to its end.
    fn serve(self: Rc<Self>, stream: TcpStream) -> Pin<Box<dyn Future<Output = ()>>>;
    /// What it did, for the report.
    fn report(&self) -> serde_json::Value;
}

/// What the companion is to do.
#[derive(Debug)]
pub struct Config {
    /// In the order of the sockets.
    pub doors: Vec<Door>,
    /// Without rules there is no door but the broker's.
    pub rules: Option<Rules>,
    /// The book that the doors were planned with; made from the rules when absent.
    pub book: Option<Book>,
    /// Whether the namespace has IPv6, so that names get addresses of both families.
    pub ipv6: bool,
    pub resolver: Resolver,
    pub broker: Option<Rc<dyn Model>>,
    pub limits: Limits,
}

/// Runs until `control`, a connected Unix stream socket, says `d` or closes; then open connections get no more time.
/// After `d` the report is written to `control` as JSON, and its end is the end of the stream. A close without a word
/// means that the supervisor is dead: nobody is left to report to.
///
/// # Errors
/// When doors and sockets do not match, or the runtime cannot be had, or the report cannot be written.
pub fn serve(config: Config, sockets: Vec<OwnedFd>, control: OwnedFd) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(config, sockets, control))
}

async fn run(config: Config, sockets: Vec<OwnedFd>, control: OwnedFd) -> io::Result<()> {
    let control = StdUnixStream::from(control);
    control.set_nonblocking(true)?;
    let mut control = UnixStream::from_std(control)?;
    let ledger = Ledger::new();
    let broker = config.broker.clone();
    let local = LocalSet::new();
    let word = local.run_until(async {
        let names = open_doors(config, sockets, &ledger)?;
        Ok::<_, io::Error>((wait_for_word(&mut control).await?, names))
    });
    let (word, names) = word.await?;
    // Ends every connection, which enters it in the ledger.
    drop(local);
    match word {
        Word::Gone => Ok(()),
        Word::Done => {
            let entered = names.map(|names| names.entered()).unwrap_or_default();
            let report = Report::new(&ledger, broker.map(|broker| broker.report())).with_names(entered);
            let json = report.to_json();
            timeout(REPORTING, control.write_all(&json)).await??;
            control.shutdown().await
        }
    }
}

enum Word {
    Done,
    Gone,
}

async fn wait_for_word(control: &mut UnixStream) -> io::Result<Word> {
    loop {
        match control.read_u8().await {
            Ok(DONE) => return Ok(Word::Done),
            Ok(_) => {}
            Err(_) => return Ok(Word::Gone),
        }
    }
}

/// What a connection at a door is for.
#[derive(Debug, Clone)]
enum Room {
    Transparent(Rc<Desk>),
    Http(Rc<Desk>),
    Socks(Rc<Desk>),
    Broker(Rc<dyn Model>),
}

/// The book of a run, and how many names were in it from the start.
struct Names {
    book: Arc<Mutex<Book>>,
    first: usize,
}

impl Names {
    fn entered(&self) -> Vec<String> {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.entered_after(self.first)
    }
}

fn open_doors(config: Config, sockets: Vec<OwnedFd>, ledger: &Arc<Ledger>) -> io::Result<Option<Names>> {
    if config.doors.len() != sockets.len() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "as many sockets as doors are needed",
        ));
    }
    let slots = Rc::new(Slots::new(&config.limits));
    let rules = config.rules.map(Arc::new);
    let mut names = None;
    let named = rules.map(|rules| {
        let book = config.book.unwrap_or_else(|| Book::new(&rules));
        let first = book.len();
        let book = Arc::new(Mutex::new(book));
        names = Some(Names {
            book: Arc::clone(&book),
            first,
        });
        let families = match config.ipv6 {
            true => Families::Both,
            false => Families::Ipv4,
        };
        let sink = NameSink(Arc::clone(ledger));
        let answerer = Answerer::new(Arc::clone(&rules), Arc::clone(&book), families, sink);
        let desk = Desk {
            dialer: Dialer::new(Arc::clone(&rules), config.resolver),
            rules,
            book,
            ledger: Arc::clone(ledger),
            limits: config.limits,
            slots: Rc::clone(&slots),
            pool: Pool::new(),
        };
        (Rc::new(desk), Arc::new(answerer))
    });
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "a door has nothing behind it");
    for (door, socket) in config.doors.iter().zip(sockets) {
        let desk = || named.as_ref().map(|(desk, _)| Rc::clone(desk)).ok_or_else(missing);
        let answerer = || {
            named
                .as_ref()
                .map(|(_, answerer)| Arc::clone(answerer))
                .ok_or_else(missing)
        };
        let room = match door.kind {
            DoorKind::DnsUdp => {
                let socket = StdUdpSocket::from(socket);
                socket.set_nonblocking(true)?;
                spawn_local(serve_udp(UdpSocket::from_std(socket)?, answerer()?));
                continue;
            }
            DoorKind::DnsTcp => {
                spawn_local(serve_tcp(listener(socket)?, answerer()?));
                continue;
            }
            DoorKind::HttpProxy => Room::Http(desk()?),
            DoorKind::Socks => Room::Socks(desk()?),
            DoorKind::Relay => Room::Transparent(desk()?),
            DoorKind::Broker => Room::Broker(config.broker.clone().ok_or_else(missing)?),
            // Not the companion's: whoever gave it this one has nothing behind it.
            DoorKind::Endpoint => return Err(missing()),
        };
        spawn_local(accept(listener(socket)?, room, Rc::clone(&slots), config.limits));
    }
    Ok(names)
}

fn listener(socket: OwnedFd) -> io::Result<TcpListener> {
    let listener = StdListener::from(socket);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn accept(listener: TcpListener, room: Room, slots: Rc<Slots>, limits: Limits) {
    loop {
        let Ok((client, from)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let room = room.clone();
        if let Some(slot) = slots.connection() {
            spawn_local(CLIENT.scope(Client::Tcp(from.port()), async move {
                enter(room, client).await;
                drop(slot);
            }));
        } else if let Some(slot) = slots.farewell() {
            spawn_local(CLIENT.scope(Client::Tcp(from.port()), async move {
                turn_away(room, client, limits).await;
                drop(slot);
            }));
        } else {
            reset_on_drop(&client);
        }
    }
}

async fn enter(room: Room, client: TcpStream) {
    match room {
        Room::Transparent(desk) => transparent::serve(&desk, client).await,
        Room::Http(desk) => http::serve(&desk, client).await,
        Room::Socks(desk) => socks::serve(&desk, client).await,
        Room::Broker(broker) => broker.serve(client).await,
    }
}

async fn turn_away(room: Room, client: TcpStream, limits: Limits) {
    let reason = format!("{} connections are open already", limits.connections);
    let busy = Refusal::new(Kind::Busy, reason);
    match room {
        Room::Transparent(desk) => transparent::turn_away(&desk, client, &busy).await,
        Room::Http(desk) => http::turn_away(&desk, client, Via::Http, &busy).await,
        Room::Socks(desk) => socks::turn_away(&desk, &client, &busy),
        Room::Broker(_) => reset_on_drop(&client),
    }
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
