//! A process beside the sandbox that notes refusals, and the supervisor's handle on it.
//!
//! INVARIANT: it ends with the supervisor, and holds nothing of it but what it is handed.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::row::Refusals;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::{fd, socket};

/// How long its list may take at the end, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(3);
const MOST: usize = 16 << 20;

/// Gets it out of waiting for questions; a kernel before 6.11 leaves it there when nobody is left to ask.
const NUDGE: i32 = libc::SIGUSR1;
const NUDGES: Duration = Duration::from_millis(1);

pub(super) struct Beside {
    socket: OwnedFd,
    pid: Pid,
    pidfd: OwnedFd,
}

impl Beside {
    /// Starts it. `work` runs in a copy of the supervisor, with the caller's rights, and returns what it noted.
    pub(super) fn start(name: &CStr, work: impl FnOnce(&OwnedFd) -> io::Result<Refusals>) -> io::Result<Self> {
        let (ours, theirs) = socket::stream_pair()?;
        match process::clone_into(0, None)? {
            Side::Parent { pid, pidfd } => Ok(Self {
                socket: ours,
                pid,
                pidfd,
            }),
            Side::Child => {
                drop(ours);
                let done = settle(name, &theirs)
                    .and_then(|()| work(&theirs))
                    .and_then(|noted| fd::write_all(theirs.as_fd(), &noted.encode()));
                process::exit_now(i32::from(done.is_err()))
            }
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable when it has ended.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    pub(super) fn hand_over(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        socket::send(self.socket.as_fd(), b"q", Some(fd))
    }

    pub(super) fn tell(&self, word: &[u8]) -> io::Result<()> {
        socket::send(self.socket.as_fd(), word, None)
    }

    /// Ends it, and takes what it noted. Whoever it takes notes of must be gone. `None`: it died, or did not answer in time.
    pub(super) fn finish(self) -> Option<Refusals> {
        let told = socket::send(self.socket.as_fd(), b"d", None).ok();
        let bytes = told.and_then(|()| self.read())?;
        Refusals::decode(&bytes)
    }

    fn read(&self) -> Option<Vec<u8>> {
        let end = Instant::now() + PATIENCE;
        let (mut list, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let ready = event::poll(&[(Some(self.socket.as_fd()), Want::Read)], Some(NUDGES)).ok()?;
            if !ready.first().is_some_and(|r| r.readable || r.hangup) {
                if Instant::now() >= end {
                    return None;
                }
                // It may just have been about to wait, so once is not enough.
                process::pidfd_kill(self.pidfd.as_fd(), NUDGE).ok()?;
                continue;
            }
            match fd::read(self.socket.as_fd(), &mut buffer).ok()? {
                0 => return Some(list),
                n => list.extend(buffer.get(..n).unwrap_or_default()),
            }
            if list.len() > MOST {
                return None;
            }
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}

/// We are a copy of the supervisor, with the caller's rights.
fn settle(name: &CStr, socket: &OwnedFd) -> io::Result<()> {
    process::die_with_parent()?;
    process::set_name(name)?;
    // Without a pid namespace the command sees us, and has our uid.
    process::set_dumpable(false)?;
    // A session of our own: what is typed at the caller's terminal is not for us.
    process::setsid()?;
    event::reset_signals(&[])?;
    event::interrupt_on(NUDGE)?;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        event::ignore(signal);
    }
    let number = socket.as_raw_fd().unsigned_abs();
    fd::close_range(0, number.saturating_sub(1))?;
    fd::close_range(number + 1, fd::LAST)
}
