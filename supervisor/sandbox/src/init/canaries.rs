//! Tries the canaries, in the second process, right before it becomes the command.
//!
//! We are the command's process with the command's rights: every lock is in place. Nothing here keeps a descriptor.

use std::io;
use std::path::Path;
use std::time::Instant;

use crate::control::Report;
use crate::receipt::{Answer, Attempt, Canary, Fact, Family, judge};
use crate::sys::canary::{self, BaitName};
use crate::sys::{caps, process};

/// Tries them all. The report, and whether the sandbox holds.
pub(super) fn attempt_all(canaries: &[Canary], bait: Option<&BaitName>) -> (Report, bool) {
    let started = Instant::now();
    let answers: Vec<Answer> = canaries
        .iter()
        .map(|canary| attempt(&canary.attempt, bait).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)))
        .collect();
    let holds = judge(canaries, &answers).iter().all(crate::receipt::Tried::holds);
    let duration = started.elapsed();
    (Report::Receipt { answers, duration }, holds)
}

fn attempt(attempt: &Attempt, bait: Option<&BaitName>) -> io::Result<u64> {
    let allowed = match attempt {
        Attempt::Read(path) => canary::open_for_reading(path),
        Attempt::Write(path) => canary::open_for_writing(path),
        Attempt::Unprotected(path) => canary::is_writable_mount(path),
        Attempt::Connect(address) => canary::route_to(*address),
        Attempt::HostSocket => match bait {
            Some(bait) => bait.take(),
            None => Err(io::Error::from_raw_os_error(libc::ENOTSOCK)),
        },
        Attempt::Socket(Family::Unix) => canary::unix_socket(),
        Attempt::Socket(Family::Internet) => canary::internet_socket(),
        Attempt::UserNamespace => canary::user_namespace(),
        Attempt::ReadParent => canary::open_for_reading(Path::new(&format!("/proc/{}/mem", canary::parent()))),
        Attempt::IoUring => canary::io_uring(),
        Attempt::Mount => canary::new_mount(),
        Attempt::BecomeRoot => canary::become_root(),
        Attempt::Fact(fact) => return ask(*fact),
    };
    allowed.map(|()| 1)
}

fn ask(fact: Fact) -> io::Result<u64> {
    match fact {
        Fact::NoNewPrivs => canary::has_no_new_privs(),
        Fact::SeccompMode => canary::seccomp_mode(),
        Fact::Capabilities => caps::held(),
        Fact::BoundingSet => canary::bounding_set(),
        Fact::Uid => Ok(u64::from(process::geteuid())),
    }
}
