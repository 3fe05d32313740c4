//! The user's terminal and ours: bytes both ways, modes put back, window size carried over.
//!
//! INVARIANT: the modes of the user's terminal are restored on every way out, suspension included; if we are killed, by the janitor.
//! INVARIANT: nobody waits for a terminal that takes nothing; what it has not taken holds up the command alone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::janitor::Janitor;
use crate::sys::event::{self, Want};
use crate::sys::fd;
use crate::sys::term::{self, Modes};

/// How often one looks whether the terminal is ours again: a shell that brings a running job to the front tells nobody.
const LOOK: Duration = Duration::from_millis(200);

/// How long a terminal that takes nothing is waited for when everything else is over.
const LAST_WORDS: Duration = Duration::from_secs(5);

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

/// The modes of the caller's terminal, if there is one: of that on which one types, before it is ours.
pub(super) fn modes(terminals: [bool; 3]) -> Option<term::Numbers> {
    let [input, ..] = terminals;
    if terminals.contains(&true) {
        let of = if input { fd::borrow(0) } else { shown(terminals) };
        term::modes(of).ok().map(|modes| modes.numbers())
    } else {
        None
    }
}

/// The relay between the user's terminal and the command's.
pub(super) struct Relay<'a> {
    /// Puts the modes back if we cannot.
    janitor: &'a Janitor<'a>,
    master: OwnedFd,
    /// Where the user types, if standard input is a terminal.
    input: Option<BorrowedFd<'static>>,
    /// Where output is shown: the first terminal among 1, 2 and 0.
    output: BorrowedFd<'static>,
    /// The same, opened by us: without waiting, which is not for us to say of what we share with the caller.
    screen: Option<OwnedFd>,
    /// Is it the caller's terminal that translates output, for others who write to it as well?
    translated: bool,
    /// Read from the command's side, but not yet shown.
    unshown: Vec<u8>,
    /// The modes to put back, while ours are in force.
    saved: Option<Modes>,
    /// Typed, but not yet taken by the command's side.
    pending: Vec<u8>,
    /// The command's side has closed.
    closed: bool,
}

impl<'a> Relay<'a> {
    pub(super) fn new(master: OwnedFd, terminals: [bool; 3], janitor: &'a Janitor<'a>) -> io::Result<Self> {
        fd::set_nonblocking(master.as_fd())?;
        let [input, ..] = terminals;
        let output = shown(terminals);
        let mut relay = Self {
            janitor,
            master,
            input: input.then(|| fd::borrow(0)),
            output,
            // Not where it belongs to somebody else (`su`); then one waits.
            screen: fd::reopen_for_writing(output).ok(),
            translated: term::is_translated(terminals),
            unshown: Vec::new(),
            saved: None,
            pending: Vec::new(),
            closed: false,
        };
        relay.resize();
        relay.attach();
        Ok(relay)
    }

    /// Takes the terminal over, if it is ours to take and there is somebody to type to.
    pub(super) fn attach(&mut self) {
        let Some(input) = self.input.filter(|fd| !self.closed && term::in_foreground(*fd)) else {
            return;
        };
        if self.saved.is_none()
            && let Ok(modes) = term::modes(input)
        {
            let taken = self.taken(&modes);
            // Whoever has been told too early finds other modes than ours. Without a janitor one more thing is left if we are killed.
            let _ = self.janitor.entrust_modes(input, &modes, &taken);
            if term::set_modes(input, &taken).is_ok() {
                self.saved = Some(modes);
            }
        }
    }

    fn taken(&self, modes: &Modes) -> Modes {
        if self.translated {
            term::raw_input(modes)
        } else {
            term::raw(modes)
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
            let _ = self.janitor.forget_modes();
        }
    }

    pub(super) fn resize(&self) {
        // A terminal without a size leaves ours without one.
        let _ = term::size(self.output).and_then(|size| term::set_size(self.master.as_fd(), size));
    }

    /// What to wait for: typing (unless the command is slow to take it), the command's side, and a screen that is slow.
    pub(super) fn wants(&self) -> [(Option<BorrowedFd<'_>>, Want); 3] {
        let typing = self
            .input
            .filter(|_| self.saved.is_some() && self.pending.is_empty() && !self.closed);
        let master = if self.closed {
            (None, Want::Nothing)
        } else if !self.pending.is_empty() {
            (Some(self.master.as_fd()), Want::Write)
        } else if self.unshown.is_empty() {
            (Some(self.master.as_fd()), Want::Read)
        } else {
            (None, Want::Nothing)
        };
        let screen = (!self.unshown.is_empty()).then(|| self.screen());
        [(typing, Want::Read), master, (screen, Want::Write)]
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

    fn screen(&self) -> BorrowedFd<'_> {
        self.screen.as_ref().map_or(self.output, AsFd::as_fd)
    }

    fn show(&mut self) {
        self.put();
        if !self.unshown.is_empty() {
            return;
        }
        let mut buffer = vec![0; CHUNK];
        match fd::read(self.master.as_fd(), &mut buffer) {
            Ok(0) => self.close(),
            Ok(n) => {
                buffer.truncate(n);
                self.unshown = buffer;
                self.put();
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => {}
            // EIO: nobody has the other side open (any more).
            Err(_) => self.close(),
        }
    }

    /// The command's side takes no keys any more: those that interrupt are for the caller's terminal again, and reach us as signals.
    fn close(&mut self) {
        self.closed = true;
        self.detach();
    }

    /// Shows what the screen takes now.
    fn put(&mut self) {
        while !self.unshown.is_empty() {
            match fd::write(self.screen(), &self.unshown) {
                Ok(n) => drop(self.unshown.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.unshown.clear(),
            }
        }
    }

    /// After the end: shows what is still on its way, then gives the terminal back.
    pub(super) fn finish(&mut self) {
        for _ in 0..1024 {
            if !self.unshown.is_empty() {
                let ready = event::poll(&[(Some(self.screen()), Want::Write)], Some(LAST_WORDS));
                if !ready.is_ok_and(|list| list.first().is_some_and(|r| r.writable || r.hangup)) {
                    break;
                }
                self.put();
                continue;
            }
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

impl Drop for Relay<'_> {
    fn drop(&mut self) {
        self.detach();
    }
}
