//! On which processor a caller goes on after its answer.
//!
//! The kernel can let caller and listener take turns on one processor (Linux 6.6), which spares waking another. To come, that is
//! always right: the caller sleeps at once. To go, it is not: callers of two processors that ask at the same time would both
//! go on on the listener's, and stay together there, each answered where it asked, while the other processor idles. So a
//! caller takes turns only when it has been alone for a while; else the scheduler places it.

use std::os::fd::BorrowedFd;

use crate::sys::seccomp::{self, Wake};

/// Calls that a caller makes before it counts as alone.
const A_WHILE: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct Turns {
    /// What the kernel was last told.
    told: Option<Wake>,
    cannot: bool,
    /// The thread that was last answered, and how often in a row.
    last: u32,
    in_a_row: u32,
}

impl Turns {
    pub(super) fn before_waiting(&mut self, listener: BorrowedFd<'_>) {
        self.tell(listener, Wake::Here);
    }

    pub(super) fn before_answering(&mut self, listener: BorrowedFd<'_>, caller: u32) {
        let wake = self.choose(caller);
        self.tell(listener, wake);
    }

    fn choose(&mut self, caller: u32) -> Wake {
        if self.last != caller {
            (self.last, self.in_a_row) = (caller, 0);
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        if self.in_a_row > A_WHILE {
            Wake::Here
        } else {
            Wake::Anywhere
        }
    }

    fn tell(&mut self, listener: BorrowedFd<'_>, wake: Wake) {
        if self.told != Some(wake) && !self.cannot {
            // Without it only a little slower.
            self.cannot = !seccomp::set_wake(listener, wake);
            self.told = Some(wake);
        }
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
