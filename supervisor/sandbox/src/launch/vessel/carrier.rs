//! The carrier, from both sides: a process that speaks to the engine, so that the supervisor has no thread.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::Vessel;
use crate::launch::outcome::LaunchError;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::{self, Wait};
use crate::sys::{fd, path};

/// How long its removal is waited for. The command is dead by then; the carrier goes on without us.
const REMOVAL: Duration = Duration::from_secs(15);

/// The carrier's end of the line to the supervisor.
#[derive(Debug)]
pub struct Line(OwnedFd);

impl Line {
    /// Waits until the supervisor says that all is staged. False if it is gone instead.
    #[must_use]
    pub fn wait(&self) -> bool {
        matches!(socket::receive(self.0.as_fd(), Wait::Block), Ok((word, _)) if word == b"g")
    }

    /// Says why there is no container, and waits until that was heard.
    pub fn fail(&self, why: &str) {
        let mut bytes = vec![b'f'];
        bytes.extend(why.as_bytes().iter().take(3000));
        // Nobody left to tell: then nobody waits.
        let _ = socket::send(self.0.as_fd(), &bytes, None);
        while self.wait() {}
    }

    /// Waits for the end of the run, by a word or by the end of the supervisor.
    pub fn wait_for_end(&self) {
        // Every word, and none, means the same.
        let _ = socket::receive(self.0.as_fd(), Wait::Block);
    }
}

/// The supervisor's handle on the carrier. Dropping it has the container removed, and waits for that.
#[derive(Debug)]
pub(crate) struct Carrier {
    line: OwnedFd,
    pid: Pid,
}

pub(crate) fn start(vessel: &dyn Vessel) -> Result<Carrier, LaunchError> {
    let named = |error| LaunchError::step("carrier", error);
    let (ours, theirs) = socket::pair().map_err(named)?;
    match process::clone_into(0, None).map_err(named)? {
        Side::Parent { pid, .. } => Ok(Carrier { line: ours, pid }),
        Side::Child => {
            drop(ours);
            let line = Line(theirs);
            match settle(&line) {
                Ok(()) => vessel.carry(&line),
                Err(error) => line.fail(&error.to_string()),
            }
            process::exit_now(0)
        }
    }
}

/// We are a copy of the supervisor, with the caller's rights, and outlive it to clean up.
fn settle(line: &Line) -> io::Result<()> {
    process::set_name(c"glee-carrier")?;
    process::setsid()?;
    // The engine's files are not the caller's.
    path::umask(0o022);
    event::reset_signals(&[])?;
    let ignored = [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGPIPE,
        libc::SIGXFSZ,
    ];
    for signal in ignored {
        event::ignore(signal);
    }
    let number = line.0.as_raw_fd().unsigned_abs();
    fd::close_range(0, number.saturating_sub(1))?;
    fd::close_range(number + 1, fd::LAST)?;
    fd::ensure_stdio()
}

impl Carrier {
    /// By which its end can be seen.
    pub(in crate::launch) fn handle(&self) -> io::Result<OwnedFd> {
        process::pidfd_open(self.pid)
    }

    /// All is staged.
    pub(super) fn go(&self) -> io::Result<()> {
        socket::send(self.line.as_fd(), b"g", None)
    }

    /// Readable when it has something to say, or has ended.
    pub(super) fn line(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    /// Its word on why there is no container.
    pub(super) fn why_not(&self) -> String {
        let (word, _) = socket::receive(self.line.as_fd(), Wait::No).unwrap_or_default();
        let text = word
            .strip_prefix(b"f")
            .map(|text| String::from_utf8_lossy(text).into_owned());
        text.unwrap_or_else(|| "it ended without a word".to_owned())
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        let _ = socket::send(self.line.as_fd(), b"d", None);
        let ended = self
            .handle()
            .and_then(|pidfd| event::poll(&[(Some(pidfd.as_fd()), Want::Read)], Some(REMOVAL)))
            .is_ok_and(|ready| ready.first().is_some_and(|r| r.readable));
        if ended {
            let _ = process::wait(self.pid.0, libc::__WALL);
        }
    }
}
