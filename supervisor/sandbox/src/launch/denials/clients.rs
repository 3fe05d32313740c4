//! Who opened a connection to a door: the door's keeper sees only where it came from, and the listener who asked for it.
//!
//! The caller's socket is borrowed for the moment of the call: its number is the caller's to change, the socket is not.
//! INVARIANT (bounded): `MOST` are remembered, and nobody waits longer than `PATIENCE`.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::people::Person;
use super::row::Client;
use crate::plan::Transport;
use crate::sys::process::{self, Pid};
use crate::sys::socket;

const MOST: usize = 4096;
/// How often and how long to wait until the call has given the socket its address.
const TRIES: u32 = 40;
const PATIENCE: Duration = Duration::from_micros(50);

/// A caller's socket.
#[derive(Debug)]
pub(super) struct Borrowed {
    socket: OwnedFd,
    transport: Transport,
}

/// `None`: it is none of ours to know, or of a kind that no door takes. Linux 5.6.
pub(super) fn borrow(person: &Person, number: u64) -> Option<Borrowed> {
    let process = process::pidfd_open(Pid(i32::try_from(person.outside).ok()?)).ok()?;
    let number = i32::try_from(number & 0xffff_ffff).ok()?;
    let socket = process::pidfd_getfd(process.as_fd(), number).ok()?;
    let transport = match socket::kind(socket.as_fd()).ok()? {
        libc::SOCK_STREAM => Transport::Tcp,
        libc::SOCK_DGRAM => Transport::Udp,
        _ => return None,
    };
    Some(Borrowed { socket, transport })
}

/// Is it known that a call with this descriptor fails, because it is not open or no socket?
pub(super) fn is_no_socket(person: &Person, number: u64) -> bool {
    let kind = asked(person, number, socket::kind);
    kind.is_some_and(|kind| kind.is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EBADF | libc::ENOTSOCK))))
}

/// Is it known to be a socket for other addresses than these?
pub(super) fn is_of_another_family(person: &Person, number: u64, family: libc::c_int) -> bool {
    let found = asked(person, number, socket::family);
    found.is_some_and(|found| found.is_ok_and(|found| found != family))
}

/// Asks a caller's socket. `None`: its owner cannot be asked.
fn asked<T>(person: &Person, number: u64, ask: fn(BorrowedFd<'_>) -> io::Result<T>) -> Option<io::Result<T>> {
    let process = process::pidfd_open(Pid(i32::try_from(person.outside).ok()?)).ok()?;
    let Ok(number) = i32::try_from(number & 0xffff_ffff) else {
        return Some(Err(io::Error::from_raw_os_error(libc::EBADF)));
    };
    Some(process::pidfd_getfd(process.as_fd(), number).and_then(|socket| ask(socket.as_fd())))
}

impl Borrowed {
    pub(super) fn transport(&self) -> Transport {
        self.transport
    }

    /// The port that the socket is connected to.
    pub(super) fn peer_port(&self) -> Option<u16> {
        // Whatever its kind: only its peer is asked for.
        let socket = UdpSocket::from(self.socket.try_clone().ok()?);
        socket.peer_addr().ok().map(|peer| peer.port())
    }
}

#[derive(Debug, Default)]
pub(super) struct Clients(Vec<Client>);

impl Clients {
    /// Notes where the call that has gone on comes from. The socket is given back at once: it ends when its owner closes it.
    pub(super) fn note(&mut self, borrowed: Borrowed, person: &Person) {
        if self.0.len() >= MOST {
            return;
        }
        // Whatever its kind: only its own address is asked for.
        let socket = UdpSocket::from(borrowed.socket);
        for _ in 0..TRIES {
            match socket.local_addr().map(|address| address.port()) {
                Ok(0) => std::thread::sleep(PATIENCE),
                Ok(port) => {
                    let client = Client {
                        transport: borrowed.transport,
                        port,
                        pid: person.pid,
                        program: person.program.clone(),
                    };
                    if !self.0.contains(&client) {
                        self.0.push(client);
                    }
                    return;
                }
                Err(_) => return,
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<Client> {
        self.0
    }
}
