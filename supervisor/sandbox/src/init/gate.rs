//! Holds the second process back until the host's root is gone.
//!
//! The kernel waits for all processors when a mount is detached; the second process uses that time to lock itself in.
//! INVARIANT: it reads from the gate before anything of the command's is tried or run, and goes on only at pid 1's word.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::sys::{fd, mount};

/// The host's root, still there behind the new one: nothing may run before it is let go.
#[must_use]
#[derive(Debug)]
pub(crate) struct OldRoot {
    pub(super) new: OwnedFd,
    pub(super) old: OwnedFd,
    /// Mounts at its place, itself included.
    pub(super) layers: u32,
}

pub(super) struct Gate {
    old: OldRoot,
    waits: OwnedFd,
    opens: OwnedFd,
}

impl Gate {
    pub(super) fn new(old: OldRoot) -> io::Result<Self> {
        let (waits, opens) = fd::pipe()?;
        Ok(Self { old, waits, opens })
    }

    /// For pid 1: lets the host's root go, and then the second process.
    pub(super) fn open(self) -> io::Result<()> {
        let Self { old, waits, opens } = self;
        drop(waits);
        mount::leave_root(old.new.as_fd(), old.old.as_fd(), old.layers)?;
        drop(old);
        // One that is gone has said why.
        let _ = fd::write(opens.as_fd(), b"o");
        Ok(())
    }

    /// For the second process, which keeps nothing else of it: the rest holds a handle on the host's root.
    pub(super) fn before(self) -> OwnedFd {
        self.waits
    }
}
