//! Calls about sockets: which of them lead nowhere because of the sandbox.
//!
//! INVARIANT (bounded): of what was bound inside, `MOST_NAMES` names are remembered, and ports.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use super::address::{self, Address};
use super::arguments::{self, Datagram};
use super::clients::{self, Borrowed};
use super::listen::Listener;
use super::loopback::Lists;
use super::people::Person;
use super::row::{Because, DeniedKind, Subject};
use super::want::Want;
use crate::plan::{Door, Namespace, Transport};
use crate::sys::look::Last;
use crate::sys::seccomp::{self, Notice};

/// Sockets without a file that were made inside.
const MOST_NAMES: usize = 4096;
/// Where resolvers listen.
const DNS_PORT: u16 = 53;

/// What somebody inside gave a socket as its own address.
#[derive(Debug, Default)]
pub(super) struct Bound {
    names: HashSet<Vec<u8>>,
    ports: HashSet<u16>,
}

/// Where an address leads from a network namespace of its own.
enum Way {
    /// Nowhere.
    Closed,
    /// To a resolver that is not there.
    Lookup,
    /// To an address of the doors, at a port that none of them carries.
    NoDoor,
    /// To loopback, where nobody inside is known to listen.
    Own,
    /// To a door, or to somebody inside.
    Open,
}

/// What a connection was for. A socket that is not known counts as a stream.
fn subject(to: SocketAddr, transport: Option<Transport>) -> Subject {
    match transport {
        Some(Transport::Udp) => Subject::Datagram(to),
        Some(Transport::Tcp) | None => Subject::Address(to),
    }
}

impl Listener<'_> {
    pub(super) fn connect(&mut self, notice: &Notice, call: (u32, &str), to: Option<Address>) -> io::Result<()> {
        match to {
            Some(Address::File(path)) => {
                let path = arguments::absolute(notice, None, path);
                let foreseen = path.and_then(|path| self.foresee(notice, path, Want::Connect, Last::Follow));
                let foreseen = foreseen.filter(|_| self.has_unix_socket(notice));
                self.conclude(notice, call, foreseen.into_iter().collect(), None)
            }
            Some(Address::Abstract(socket)) => self.connect_abstract(notice, call, socket),
            Some(Address::Internet(to)) => self.connect_to(notice, call, to),
            None => self.proceed(notice),
        }
    }

    fn connect_to(&mut self, notice: &Notice, call: (u32, &str), to: SocketAddr) -> io::Result<()> {
        // Without doors it is the same for both.
        if self.plan.doors.list.is_empty() && matches!(self.way(to, Transport::Tcp), Way::Open) {
            return self.proceed(notice);
        }
        let [number, ..] = notice.args;
        let person = self.people.who(notice.pid);
        let socket = clients::borrow(&person, number);
        let transport = socket.as_ref().map(Borrowed::transport);
        let way = self.way(to, transport.unwrap_or(Transport::Tcp));
        // Given back at once where it is not needed: it ends when its owner closes it.
        let socket = socket.filter(|_| matches!(way, Way::Open));
        match way {
            Way::Closed => self.closed(notice, call, vec![subject(to, transport)]),
            Way::Lookup => {
                self.lookups.connect(&person, number, to);
                self.closed(notice, call, vec![subject(to, transport)])
            }
            Way::Own => self.connect_to_own(notice, call, to, (person, transport)),
            // A stream is refused there. A datagram socket is not by `connect`: the C library asks so which address it would
            // have.
            Way::NoDoor => {
                let refused = (transport == Some(Transport::Tcp)).then_some(Subject::Address(to));
                self.refused(notice, call, refused.into_iter().collect(), Because::NoDoor)
            }
            Way::Open => self.connect_to_door(notice, person, socket),
        }
    }

    /// Messages, each with an address or on a connected socket.
    pub(super) fn send(&mut self, notice: &Notice, call: (u32, &str), datagrams: Vec<Datagram>) -> io::Result<()> {
        let mut subjects = BTreeSet::new();
        for datagram in datagrams {
            match datagram.to {
                Some(to @ (Address::File(_) | Address::Abstract(_))) => return self.connect(notice, call, Some(to)),
                Some(Address::Internet(to)) => {
                    let asked = (to.port() == DNS_PORT)
                        .then(|| arguments::question(notice, &datagram))
                        .flatten();
                    match self.way(to, Transport::Udp) {
                        Way::Open | Way::Own => continue,
                        Way::Lookup => {
                            subjects.insert(asked.map_or(Subject::Datagram(to), Subject::Host));
                        }
                        // Whom to ask is a part of what was wanted.
                        Way::Closed => {
                            subjects.extend(asked.map(Subject::Host));
                            subjects.insert(Subject::Datagram(to));
                        }
                        Way::NoDoor => {
                            return self.refused(notice, call, vec![Subject::Datagram(to)], Because::NoDoor);
                        }
                    }
                }
                None => subjects.extend(self.asks(notice, &datagram).map(Subject::Host)),
            }
        }
        self.closed(notice, call, subjects.into_iter().collect())
    }

    pub(super) fn bind(&mut self, notice: &Notice, call: (u32, &str), at: Option<Address>) -> io::Result<()> {
        match at {
            Some(Address::File(path)) => {
                let path = arguments::absolute(notice, None, path);
                let foreseen = path.and_then(|path| self.foresee(notice, path, Want::Make, Last::Itself));
                let foreseen = foreseen.filter(|_| self.has_unix_socket(notice));
                return self.conclude(notice, call, foreseen.into_iter().collect(), None);
            }
            Some(Address::Abstract(socket)) if self.bound.names.len() < MOST_NAMES => {
                self.bound.names.insert(socket);
            }
            Some(Address::Internet(at)) => {
                self.bound.ports.insert(at.port());
            }
            Some(Address::Abstract(_)) | None => {}
        }
        self.proceed(notice)
    }

    fn way(&self, to: SocketAddr, transport: Transport) -> Way {
        let doors = &self.plan.doors;
        if !self.plan.namespaces.contains(&Namespace::Net) {
            return Way::Open;
        }
        if !address::is_local(to.ip(), doors) {
            return Way::Closed;
        }
        let ip = address::meant(to.ip());
        let carries = |door: &Door| {
            let at = door.at;
            door.transport == transport && at.port() == to.port() && (at.ip() == ip || at.ip().is_unspecified())
        };
        if doors.list.iter().any(carries) || self.bound.ports.contains(&to.port()) {
            Way::Open
        } else if !ip.is_loopback() {
            Way::NoDoor
        } else if to.port() == DNS_PORT && !self.has_resolver() {
            Way::Lookup
        } else {
            Way::Own
        }
    }

    /// Is the call's first argument a socket, as far as can be known?
    fn has_socket(&mut self, notice: &Notice) -> bool {
        let [number, ..] = notice.args;
        !clients::is_no_socket(&self.people.who(notice.pid), number)
    }

    /// The same, and one that takes the name of a file.
    fn has_unix_socket(&mut self, notice: &Notice) -> bool {
        let [number, ..] = notice.args;
        let person = self.people.who(notice.pid);
        !clients::is_no_socket(&person, number) && !clients::is_of_another_family(&person, number, libc::AF_UNIX)
    }

    fn has_resolver(&self) -> bool {
        self.plan.doors.list.iter().any(|door| door.at.port() == DNS_PORT)
    }

    /// The name that is asked for on a socket that is connected to a resolver, where there is none.
    fn asks(&mut self, notice: &Notice, datagram: &Datagram) -> Option<String> {
        if !self.plan.namespaces.contains(&Namespace::Net) || self.has_resolver() {
            return None;
        }
        let asked = arguments::question(notice, datagram)?;
        let [number, ..] = notice.args;
        let person = self.people.who(notice.pid);
        let socket = clients::borrow(&person, number)?;
        let open = self.bound.ports.contains(&DNS_PORT);
        let lookup = !open && socket.peer_port() == Some(DNS_PORT);
        if lookup {
            self.lookups.ask(&person, number);
        }
        lookup.then_some(asked)
    }

    fn closed(&mut self, notice: &Notice, call: (u32, &str), subjects: Vec<Subject>) -> io::Result<()> {
        self.refused(notice, call, subjects, Because::Unreachable)
    }

    fn refused(
        &mut self,
        notice: &Notice,
        call: (u32, &str),
        subjects: Vec<Subject>,
        because: Because,
    ) -> io::Result<()> {
        if subjects.is_empty() {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        let meant = self.has_socket(notice) && seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        for subject in subjects.into_iter().filter(|_| meant) {
            self.note(DeniedKind::Network, subject, because, call, person.clone());
        }
        Ok(())
    }

    fn connect_abstract(&mut self, notice: &Notice, call: (u32, &str), socket: Vec<u8>) -> io::Result<()> {
        if self.bound.names.contains(&socket) {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        let meant = self.has_socket(notice);
        self.proceed(notice)?;
        if meant && self.host().has_abstract(&socket) {
            let subject = Subject::Abstract(socket);
            self.note(DeniedKind::Unix, subject, Because::Unreachable, call, person);
        }
        Ok(())
    }

    /// To the sandbox's own loopback. Where nobody listens, but outside somebody does, it was the host's that was meant.
    fn connect_to_own(
        &mut self,
        notice: &Notice,
        call: (u32, &str),
        to: SocketAddr,
        (person, transport): (Person, Option<Transport>),
    ) -> io::Result<()> {
        let stream = transport == Some(Transport::Tcp);
        let inside = Lists::of(&notice.pid.to_string());
        let meant = stream && seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        let at = SocketAddr::new(address::meant(to.ip()), to.port());
        let missing = meant && self.loopback.serves(at) && inside.read().is_some_and(|inside| !inside.take(at));
        if missing {
            self.note(
                DeniedKind::Network,
                Subject::Address(at),
                Because::Unreachable,
                call,
                person,
            );
        }
        Ok(())
    }

    /// Perhaps to a door, which may refuse it without knowing who asks.
    fn connect_to_door(&mut self, notice: &Notice, person: Person, borrowed: Option<Borrowed>) -> io::Result<()> {
        let meant = seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        if let Some(borrowed) = borrowed.filter(|_| meant) {
            self.clients.note(borrowed, &person);
        }
        Ok(())
    }
}
