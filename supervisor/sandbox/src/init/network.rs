//! The network namespace: made by a process of its own while pid 1 builds the root, since each takes as long as the other.
//!
//! The kernel sets up dozens of tables for a network namespace, and whoever asks for one waits. It belongs to our user
//! namespace whichever process in it asks.
//! INVARIANT: when [`Pending::enter`] returns, that process is gone and we are inside.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::sys::net;
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::{self, Wait};

/// A namespace in the making.
pub(super) struct Pending {
    maker: Pid,
    socket: OwnedFd,
}

/// Starts the making. The process must have one thread.
pub(super) fn begin() -> io::Result<Pending> {
    let (ours, theirs) = socket::pair()?;
    match process::clone_into(0, None)? {
        Side::Parent { pid, .. } => Ok(Pending {
            maker: pid,
            socket: ours,
        }),
        Side::Child => {
            drop(ours);
            // We are a copy of pid 1, and end with it: it is what holds the pid namespace.
            let told = match make() {
                Ok(namespace) => socket::send(theirs.as_fd(), b"n", Some(namespace.as_fd())),
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    socket::send(theirs.as_fd(), &errno.to_le_bytes(), None)
                }
            };
            process::exit_now(i32::from(told.is_err()))
        }
    }
}

/// With `lo` up: programs expect 127.0.0.1.
fn make() -> io::Result<OwnedFd> {
    process::unshare(libc::CLONE_NEWNET)?;
    net::loopback_up()?;
    // Not by a path: pid 1 is changing what paths lead to.
    net::own_namespace()
}

impl Pending {
    /// Waits until the namespace is ready, and goes there.
    pub(super) fn enter(self) -> io::Result<()> {
        let answer = socket::receive(self.socket.as_fd(), Wait::Block);
        // It has capabilities, and as root's it has root's uid: it must be gone before anything else runs.
        process::wait(self.maker.0, libc::__WALL)?;
        match answer? {
            (_, Some(namespace)) => process::setns(namespace.as_fd()),
            (word, None) => Err(word.try_into().map_or_else(
                |_| io::ErrorKind::BrokenPipe.into(),
                |errno| io::Error::from_raw_os_error(i32::from_le_bytes(errno)),
            )),
        }
    }
}
