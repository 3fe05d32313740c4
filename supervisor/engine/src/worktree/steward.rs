//! A process that waits for the end of the supervisor, whatever it is, and then decides what becomes of the worktree.
//!
//! It was there before the project's path meant something else, so it sees the host as it is. In a session of its own: what
//! a terminal sends to the supervisor does not reach it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use glee_sandbox::sys::fd;
use glee_sandbox::sys::process::{self, Pid, Side};
use glee_sandbox::sys::socket::{self, Wait};

use super::Plot;
use super::finish::{Ended, finish};
use super::make;

/// What it says when it has made the run's own directory.
const READY: &[u8] = b"ready";

#[derive(Debug)]
pub(super) struct Steward {
    socket: OwnedFd,
    pid: Pid,
    dismissed: bool,
}

impl Drop for Steward {
    fn drop(&mut self) {
        // On a way out that nobody foresaw: it must be through before we are.
        self.dismiss();
    }
}

impl Steward {
    /// The process must have one thread.
    pub(super) fn hire(plot: &Plot) -> io::Result<Self> {
        let (ours, theirs) = socket::pair()?;
        match process::clone_into(0, None)? {
            Side::Child => {
                drop(ours);
                let served = serve(&theirs, plot);
                process::exit_now(i32::from(served.is_err()))
            }
            Side::Parent { pid, .. } => {
                drop(theirs);
                // It holds the lock now: whoever sweeps passes by.
                let (word, _) = socket::receive(ours.as_fd(), Wait::Block)?;
                if word == READY {
                    return Ok(Self {
                        socket: ours,
                        pid,
                        dismissed: false,
                    });
                }
                let _ = process::wait(pid.0, libc::__WALL);
                Err(io::Error::other(String::from_utf8_lossy(&word).into_owned()))
            }
        }
    }

    /// The run is over. Returns what became of the worktree; `None` if the steward was killed.
    pub(super) fn dismiss(&mut self) -> Option<Ended> {
        if std::mem::replace(&mut self.dismissed, true) {
            return None;
        }
        let told = socket::send(self.socket.as_fd(), b"over", None);
        let answer = told.and_then(|()| socket::receive(self.socket.as_fd(), Wait::Block));
        let _ = process::wait(self.pid.0, libc::__WALL);
        serde_json::from_slice(&answer.ok()?.0).ok()
    }
}

fn serve(socket: &OwnedFd, plot: &Plot) -> io::Result<()> {
    process::setsid()?;
    fd::close_others(socket.as_fd())?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    for number in 0..3 {
        fd::put_at(nothing.as_fd(), number)?;
    }
    let lock = match make::own_directory(plot) {
        Ok(lock) => lock,
        Err(error) => {
            finish(plot);
            return socket::send(socket.as_fd(), error.to_string().as_bytes(), None);
        }
    };
    // If nobody is there to hear it, the end of this follows at once.
    let _ = socket::send(socket.as_fd(), READY, None);
    // A word, or the end of whoever would have said it.
    let _ = socket::receive(socket.as_fd(), Wait::Block);
    let ended = finish(plot);
    drop(lock);
    // Nobody may be there to hear it.
    let _ = socket::send(socket.as_fd(), &serde_json::to_vec(&ended)?, None);
    Ok(())
}
