//! Landlock's own account of what it refused: records in the kernel's audit, read by a process beside the sandbox.
//!
//! For those who ask, as root: see docs/decisions/0023. Costs nothing for a call that is allowed.
//! INVARIANT (only reads): an audit daemon keeps its records and its settings; we take a copy of what is sent to a group.

mod collect;
mod parse;
mod switch;

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

pub use switch::NoRecords;
pub(in crate::launch) use switch::put_back;

use super::beside::Beside;
use super::merge::merge;
use super::row::Refusals;
use crate::plan::{Records as Wish, SandboxPlan};
use crate::seccomp::Table;
use crate::sys::audit::{self, Arrival};
use crate::sys::event::{self, Want};
use crate::sys::landlock;
use crate::sys::process::Pid;
use crate::sys::socket::{self, Wait};
use collect::Collector;
use switch::Switch;

/// Landlock's first with records.
const ABI: u32 = 7;
/// The longest record: the kernel's own bound is below.
const LONGEST: usize = 9000;
/// Records taken at once, before the supervisor is listened to again.
const AT_ONCE: usize = 4096;
/// How long the kernel may take to say that the domain is gone, and how long silence means that nothing comes.
const LAST_WORD: Duration = Duration::from_millis(1500);
const SILENCE: Duration = Duration::from_millis(30);

/// The supervisor's handle on the reader.
pub(in crate::launch) struct Records {
    reader: Beside,
    /// Makes our domain known among all others. At most 15 bytes, as names of threads are.
    maker: CString,
    switch: Switch,
}

impl Records {
    /// Turns audit on if it is off and starts the reader, for a plan that wants it.
    pub(in crate::launch) fn start(plan: &SandboxPlan, table: &Table) -> Result<Option<Self>, NoRecords> {
        match plan.records {
            Wish::Leave => return Ok(None),
            Wish::Take => {}
        }
        if plan.landlock.is_none() {
            return Err(NoRecords::NoDomain);
        }
        let abi = landlock::abi();
        if abi < ABI {
            return Err(NoRecords::TooOld { abi });
        }
        let maker = maker().map_err(NoRecords::Refused)?;
        // Before anything is refused, and even before it is on.
        let records = audit::follow().map_err(NoRecords::Refused)?;
        let switch = Switch::on()?;
        let name = maker.as_bytes().to_vec();
        let work = |socket: &OwnedFd| serve(Collector::new(table, name), socket);
        let reader = Beside::start(c"glee-records", work).map_err(NoRecords::Refused)?;
        reader.hand_over(records.as_fd()).map_err(NoRecords::Refused)?;
        Ok(Some(Self { reader, maker, switch }))
    }

    /// The name that the maker of the sandbox's Landlock domain takes on.
    pub(in crate::launch) fn maker(&self) -> &CString {
        &self.maker
    }

    pub(in crate::launch) fn lock(&self) -> &OwnedFd {
        self.switch.lock()
    }

    /// Tells the reader whose pids are meant.
    pub(in crate::launch) fn inside(&self, init: Pid) -> io::Result<()> {
        self.reader.tell(&init.0.to_le_bytes())
    }

    /// Nobody is left inside, and nothing holds the domain any more: the kernel will say how often it refused something.
    pub(in crate::launch) fn last_word(&self) {
        self.switch.lift();
    }

    /// Adds what the kernel recorded to what the listener noted. The sandbox must be gone.
    pub(in crate::launch) fn finish(self, noted: Refusals) -> Refusals {
        match self.reader.finish() {
            Some(recorded) => merge(noted, recorded),
            None => Refusals {
                lost: noted.lost + 1,
                ..noted
            },
        }
    }
}

/// A name that nobody else has or can guess.
fn maker() -> io::Result<CString> {
    let mut bytes = [0; 7];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    CString::new(format!("g{digits}")).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// We are a copy of the supervisor, with the caller's rights.
fn serve(mut collector: Collector<'_>, socket: &OwnedFd) -> io::Result<Refusals> {
    let (_, Some(records)) = socket::receive(socket.as_fd(), Wait::Block)? else {
        // The run ended before there were any.
        return Ok(Refusals::default());
    };
    let before = audit::status().map_or(0, |status| status.lost);
    loop {
        let fds = [(Some(records.as_fd()), Want::Read), (Some(socket.as_fd()), Want::Read)];
        let ready = event::poll(&fds, None)?;
        if ready.get(1).is_some_and(|told| told.readable || told.hangup) {
            let (word, _) = socket::receive(socket.as_fd(), Wait::Block)?;
            match word.as_chunks::<4>() {
                ([init], []) => collector.inside(Pid(i32::from_le_bytes(*init))),
                _ => break,
            }
        }
        drain(&records, &mut collector)?;
    }
    // Whoever was refused something is gone; what was recorded of it may still be on its way.
    let end = Instant::now() + LAST_WORD;
    loop {
        let came = drain(&records, &mut collector)?;
        let quiet = event::poll(&[(Some(records.as_fd()), Want::Read)], Some(SILENCE))?;
        let silent = !quiet.first().is_some_and(|r| r.readable || r.hangup);
        if Instant::now() >= end || (came == 0 && silent && collector.is_complete()) {
            let after = audit::status().map_or(before, |status| status.lost);
            return Ok(collector.into_refusals(after.wrapping_sub(before).into()));
        }
    }
}

/// Takes what has arrived, and says how much.
fn drain(records: &OwnedFd, collector: &mut Collector<'_>) -> io::Result<usize> {
    let mut buffer = vec![0; LONGEST];
    for count in 0..AT_ONCE {
        match audit::next(records.as_fd(), &mut buffer)? {
            Arrival::Record(kind, bytes) => collector.take(kind, bytes),
            Arrival::Overflow => collector.missed(),
            Arrival::Nothing => return Ok(count),
        }
    }
    Ok(AT_ONCE)
}
