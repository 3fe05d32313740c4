//! A server of the caller's own behind one door, started when somebody first knocks there.
//!
//! A process with the caller's rights, unlike the companion: so it gets the door and nothing else of the sandbox.
//! INVARIANT: it ends with the run. When it has ended its door is closed, and it is not started again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;

use crate::plan::{Doors, Keeper};

pub trait Porter {
    /// Starts the server on this listener. It must see to it that it ends when this process does.
    fn start(&self, door: OwnedFd) -> io::Result<Child>;
}

/// The supervisor's handle on it.
pub(super) struct Lodge<'a> {
    porter: Option<&'a dyn Porter>,
    /// Until somebody knocks.
    door: Option<OwnedFd>,
    server: Option<Child>,
}

impl<'a> Lodge<'a> {
    pub(super) fn new(porter: Option<&'a dyn Porter>) -> Self {
        Self {
            porter,
            door: None,
            server: None,
        }
    }

    /// Takes the porter's door out of those that init has opened. Without a porter it is closed: what knocks is refused.
    pub(super) fn take(&mut self, plan: &Doors, open: &mut [Option<OwnedFd>]) {
        let mut doors = plan.list.iter().zip(open);
        let door = doors.find_map(|(door, open)| (door.keeper == Keeper::Porter).then(|| open.take())?);
        self.door = door.filter(|_| self.porter.is_some());
    }

    pub(super) fn door(&self) -> Option<BorrowedFd<'_>> {
        self.door.as_ref().map(AsFd::as_fd)
    }

    /// Somebody knocked. What cannot be started is told inside by a closed door.
    pub(super) fn open(&mut self) {
        let door = self.porter.zip(self.door.take());
        self.server = door.and_then(|(porter, door)| porter.start(door).ok());
    }
}

impl Drop for Lodge<'_> {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // One that has ended by itself is collected all the same.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
