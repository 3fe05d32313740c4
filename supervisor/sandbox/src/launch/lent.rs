//! What becomes of the caller's pipes and of the state of its standard files, which others hold as well.
//!
//! INVARIANT: a pipe of root's stays root's. The sandbox's user may open it again in the direction in which it was lent, no other.

use std::fs;
use std::os::fd::RawFd;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use crate::plan::SandboxPlan;
use crate::sys::fd::{self, Lock};
use crate::sys::path;

/// Lets the sandbox's user open root's pipes behind 0, 1 and 2 again, through `/dev/stdout` and its kin.
///
/// By what everybody may: they have no name, so that only who holds one comes near it. It is not put back, since a run that ends
/// sooner would shut out another on the same pipe.
pub(super) fn open_pipes(plan: &SandboxPlan) {
    for number in 0..3 {
        let link = format!("/proc/self/fd/{number}");
        let name = fs::read_link(&link).unwrap_or_default();
        let owner = path::lstat_at(fd::borrow(number), "".as_ref()).map(|stat| stat.uid);
        // Its own it can open anyway.
        if !name.as_os_str().as_encoded_bytes().starts_with(b"pipe:") || owner.is_ok_and(|uid| uid == plan.identity.uid)
        {
            continue;
        }
        let right = if fd::is_writable(number) { 0o002 } else { 0o004 };
        // In `run … | run …` both ends are given at once.
        let held = Held::take(number);
        if let Ok(facts) = fs::metadata(&link) {
            let mode = facts.permissions().mode() & 0o777 | right;
            // Without it only the reopening fails.
            let _ = fs::set_permissions(&link, fs::Permissions::from_mode(mode));
        }
        drop(held);
    }
}

/// A lock on a pipe, or none if somebody keeps it: who holds the pipe can.
struct Held(RawFd);

impl Held {
    fn take(number: RawFd) -> Option<Self> {
        const TRIES: u32 = 10;
        let is_taken = |_| {
            let taken = fd::flock(fd::borrow(number), Lock::TryExclusive).is_ok();
            if !taken {
                thread::sleep(Duration::from_millis(1));
            }
            taken
        };
        (0..TRIES).any(is_taken).then_some(Self(number))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fd::flock(fd::borrow(self.0), Lock::Release);
    }
}

/// The flags of 0, 1 and 2 (`O_NONBLOCK`, `O_APPEND`, …) as they were: everybody who holds the same file has the same ones.
pub(super) struct Flags([Option<libc::c_int>; 3]);

impl Flags {
    /// Of those that are no terminals: in place of these the command gets one of its own.
    pub(super) fn of(terminals: [bool; 3]) -> Self {
        let [input, output, error] = terminals;
        Self([(0, input), (1, output), (2, error)].map(|(number, is_terminal)| {
            let lent = (!is_terminal).then(|| fd::borrow(number))?;
            fd::status_flags(lent).ok()
        }))
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        for (number, before) in (0..).zip(self.0) {
            let file = fd::borrow(number);
            if let Some(before) = before
                && fd::status_flags(file).is_ok_and(|now| now != before)
            {
                let _ = fd::set_status_flags(file, before);
            }
        }
    }
}
