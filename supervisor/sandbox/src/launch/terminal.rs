//! The user's terminal and ours: bytes both ways, modes put back, window size carried over.
//!
//! INVARIANT: the modes of the user's terminal are restored on every way out, suspension included.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::sys::event::{self, Want};
use crate::sys::fd;
use crate::sys::term::{self, Modes};

/// How often one looks whether the terminal is ours again: a shell that brings a running job to the front tells nobody.
const LOOK: Duration = Duration::from_millis(200);

/// How much is moved at once.
const CHUNK: usize = 16 * 1024;

/// Where output is shown: the first terminal among 1, 2 and 0.
fn shown(terminals: [bool; 3]) -> BorrowedFd<'static> {
    let [_, output, error] = terminals;
    fd::borrow(if output {
        1
    } else if error {
        2
    } else {
        0
    })
}

/// The size of the caller's terminal, if there is one.
pub(super) fn size(terminals: [bool; 3]) -> Option<term::Size> {
    if terminals.contains(&true) {
        term::size(shown(terminals)).ok()
    } else {
        None
    }
}

/// The relay between the user's terminal and the command's.
#[derive(Debug)]
pub(super) struct Relay {
    master: OwnedFd,
    /// Where the user types, if standard input is a terminal.
    input: Option<BorrowedFd<'static>>,
    /// Where output is shown: the first terminal among 1, 2 and 0.
    output: BorrowedFd<'static>,
    /// The modes to put back, while ours are in force.
    saved: Option<Modes>,
    /// Typed, but not yet taken by the command's side.
    pending: Vec<u8>,
    /// The command's side has closed.
    closed: bool,
}

impl Relay {
    pub(super) fn new(master: OwnedFd, terminals: [bool; 3]) -> io::Result<Self> {
        fd::set_nonblocking(master.as_fd())?;
        let [input, ..] = terminals;
        let mut relay = Self {
            master,
            input: input.then(|| fd::borrow(0)),
            output: shown(terminals),
            saved: None,
            pending: Vec::new(),
            closed: false,
        };
        relay.resize();
        relay.attach();
        Ok(relay)
    }

    /// Takes the terminal over, if it is ours to take.
    pub(super) fn attach(&mut self) {
        let Some(input) = self.input.filter(|fd| term::in_foreground(*fd)) else {
            return;
        };
        if self.saved.is_none()
            && let Ok(modes) = term::modes(input)
            && term::set_modes(input, &term::raw(&modes)).is_ok()
        {
            self.saved = Some(modes);
        }
    }

    /// How long until the terminal is to be asked for again, if it is somebody else's now.
    pub(super) fn patience(&self) -> Option<Duration> {
        (self.input.is_some() && self.saved.is_none() && !self.closed).then_some(LOOK)
    }

    /// Gives the terminal back as it was.
    pub(super) fn detach(&mut self) {
        if let (Some(input), Some(modes)) = (self.input, self.saved.take()) {
            // A terminal that is gone has no modes to restore.
            let _ = term::set_modes(input, &modes);
        }
    }

    pub(super) fn resize(&self) {
        // A terminal without a size leaves ours without one.
        let _ = term::size(self.output).and_then(|size| term::set_size(self.master.as_fd(), size));
    }

    /// What to wait for: typing (unless the command is slow to take it), and output.
    pub(super) fn wants(&self) -> [(Option<BorrowedFd<'_>>, Want); 2] {
        let typing = self
            .input
            .filter(|_| self.saved.is_some() && self.pending.is_empty() && !self.closed);
        let output = if self.closed {
            (None, Want::Nothing)
        } else if self.pending.is_empty() {
            (Some(self.master.as_fd()), Want::Read)
        } else {
            (Some(self.master.as_fd()), Want::Write)
        };
        [(typing, Want::Read), output]
    }

    /// Moves what there is, in both directions, without waiting.
    pub(super) fn turn(&mut self, typed: bool) {
        if typed && let Some(input) = self.input {
            let mut buffer = [0; 4096];
            match fd::read(input, &mut buffer) {
                Ok(0) => self.input = None,
                Ok(n) => self.pending.extend(buffer.get(..n).unwrap_or_default()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.input = None,
            }
        }
        if !self.pending.is_empty() {
            match fd::write(self.master.as_fd(), &self.pending) {
                Ok(n) => drop(self.pending.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.pending.clear(),
            }
        }
        self.show();
    }

    fn show(&mut self) {
        let mut buffer = vec![0; CHUNK];
        match fd::read(self.master.as_fd(), &mut buffer) {
            Ok(0) => self.closed = true,
            Ok(n) => self.put(buffer.get(..n).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => {}
            // EIO: nobody has the other side open (any more).
            Err(_) => self.closed = true,
        }
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match fd::write(self.output, bytes) {
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    let _ = event::poll(&[(Some(self.output), Want::Write)], Some(Duration::from_secs(1)));
                }
                Err(_) => return,
            }
        }
    }

    /// After the end: shows what is still on its way, then gives the terminal back.
    pub(super) fn finish(&mut self) {
        for _ in 0..1024 {
            if self.closed {
                break;
            }
            let ready = event::poll(&[(Some(self.master.as_fd()), Want::Read)], Some(Duration::ZERO));
            if !ready.is_ok_and(|list| list.first().is_some_and(|r| r.readable)) {
                break;
            }
            self.show();
        }
        self.detach();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.detach();
    }
}
