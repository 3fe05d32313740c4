//! Audit, on while a run reads its records and then as it was.
//!
//! What is on already is left alone: it is somebody's, or another run's. What is off is turned on with bounds that no flood of
//! records gets over, and what it was before is written down first. Runs share a lock while they need it on; the last one, or
//! whoever comes after all were killed, puts back what is written down.
//! INVARIANT: with an audit daemon, nothing is ever set. INVARIANT: what somebody else has set meanwhile stays.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::sys::audit::{self, OnLoss, Status, Tuning};
use crate::sys::fd::{self, Lock};
use crate::sys::path::{self, Own};
use crate::sys::process;

/// Root's own, and gone with the next boot as the state is.
const PLACE: &str = "/run/glee-audit";
const STATE: &str = "state";
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// While a run needs it: nobody on the machine ever waits for room, and a flood ends at this rate.
const OURS: Tuning = Tuning {
    enabled: 1,
    rate_limit: 20_000,
    backlog_limit: 8192,
    backlog_wait: 0,
};

/// The same without an end to the rate, for the moment in which the kernel says how often a sandbox was refused something: a
/// flood would else have used it up.
const OPEN: Tuning = Tuning { rate_limit: 0, ..OURS };

/// Why records cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum NoRecords {
    #[error("the kernel's audit cannot be asked: {0}")]
    Refused(io::Error),
    #[error(
        "this kernel would stop the whole machine if it lost a record (`auditctl -f 2`), and a command could make it"
    )]
    Panics,
    #[error("audit is off, and the daemon with pid {daemon} has registered for it")]
    OffWithDaemon { daemon: u32 },
    #[error("this kernel's Landlock has ABI {abi} and writes no records: they came with ABI 7")]
    TooOld { abi: u32 },
    #[error("this sandbox has no Landlock rules of its own that could be recorded")]
    NoDomain,
    #[error("the state of audit cannot be kept in `{PLACE}`: {0}")]
    Unkept(io::Error),
}

impl NoRecords {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Refused(_) => "run as root, outside of containers, or leave out `--kernel-audit`",
            Self::Panics => "`auditctl -f 1`, or leave out `--kernel-audit`",
            Self::OffWithDaemon { .. } => "`auditctl -e 1` turns it on, or leave out `--kernel-audit`",
            Self::TooOld { .. } => "Linux 6.15, or leave out `--kernel-audit`",
            Self::NoDomain => "use `mode: restricted`, or leave out `--kernel-audit`",
            Self::Unkept(_) => "`/run` must be a directory that root can write, or leave out `--kernel-audit`",
        }
    }
}

/// Held by a run that needs audit on.
#[derive(Debug)]
pub(super) struct Switch {
    held: OwnedFd,
}

impl Switch {
    pub(super) fn on() -> Result<Self, NoRecords> {
        let now = audit::status().map_err(NoRecords::Refused)?;
        if now.on_loss == OnLoss::Panic {
            return Err(NoRecords::Panics);
        }
        let kept = Kept::open().map_err(NoRecords::Unkept)?;
        let held = kept.held().map_err(NoRecords::Unkept)?;
        if fd::flock(held.as_fd(), Lock::TryExclusive).is_ok() {
            kept.put_back().map_err(NoRecords::Unkept)?;
        }
        let now = audit::status().map_err(NoRecords::Refused)?;
        match (now.tuning.enabled, now.daemon) {
            (0, 0) => {
                kept.write_down(&now.tuning).map_err(NoRecords::Unkept)?;
                audit::set(&OURS).map_err(NoRecords::Refused)?;
            }
            (0, daemon) => return Err(NoRecords::OffWithDaemon { daemon }),
            (_, _) => {}
        }
        fd::flock(held.as_fd(), Lock::TryShared).map_err(NoRecords::Unkept)?;
        Ok(Self { held })
    }

    /// Nobody is left inside: what is recorded from now on is not to be lost.
    pub(super) fn lift(&self) {
        set_if_ours(&OPEN);
    }

    /// For whoever must keep it on beyond our own life.
    pub(super) fn lock(&self) -> &OwnedFd {
        &self.held
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = fd::flock(self.held.as_fd(), Lock::Release);
        // What fails is done at the next start.
        put_back();
    }
}

/// Puts back what a run has left behind, if none is left that needs it.
pub(in crate::launch) fn put_back() {
    // The usual case, at every start: nothing is written down.
    let written = || fs::metadata(Path::new(PLACE).join(STATE)).is_ok_and(|file| file.len() > 0);
    if process::geteuid() != 0 || !written() {
        return;
    }
    let attempt = || -> io::Result<()> {
        let kept = Kept::open()?;
        let held = kept.held()?;
        match fd::flock(held.as_fd(), Lock::TryExclusive) {
            Ok(()) => kept.put_back(),
            // Somebody needs it.
            Err(_) => kept.set_if_ours(&OURS),
        }
    };
    // What fails is tried again at the next start.
    let _ = attempt();
}

fn set_if_ours(tuning: &Tuning) {
    // Without it some of what was lost is not counted.
    let _ = Kept::open().and_then(|kept| kept.set_if_ours(tuning));
}

/// The place where the former state is written down, locked.
struct Kept {
    dir: OwnedFd,
    state: File,
}

impl Kept {
    fn open() -> io::Result<Self> {
        let place = Path::new(PLACE);
        let (above, name) = (place.parent().unwrap_or(place), place.file_name().unwrap_or_default());
        let above = path::open_dir_exact(above)?;
        path::mkdir_at(above.as_fd(), Path::new(name), 0o700)?;
        let dir = path::open_dir_beneath(above.as_fd(), Path::new(name))?;
        let stat = path::lstat_at(dir.as_fd(), OsStr::new(""))?;
        if stat.uid != 0 || stat.mode & 0o077 != 0 {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let state = path::open_own_at(dir.as_fd(), OsStr::new(STATE), Own::ReadWrite)?;
        lock(state.as_fd())?;
        Ok(Self {
            dir,
            state: state.into(),
        })
    }

    /// Shared by the runs that need audit on. Only looked at under our lock.
    fn held(&self) -> io::Result<OwnedFd> {
        path::open_own_at(self.dir.as_fd(), OsStr::new("held"), Own::ReadWrite)
    }

    fn write_down(&self, was: &Tuning) -> io::Result<()> {
        let text = format!(
            "{} {} {} {}\n",
            was.enabled, was.rate_limit, was.backlog_limit, was.backlog_wait
        );
        self.state.write_all_at(text.as_bytes(), 0)?;
        self.state.set_len(text.len() as u64)
    }

    fn read(&self) -> io::Result<Option<Tuning>> {
        let mut bytes = [0; 64];
        let length = self.state.read_at(&mut bytes, 0)?;
        let text = std::str::from_utf8(bytes.get(..length).unwrap_or_default()).unwrap_or_default();
        let numbers: Vec<u32> = text
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [enabled, rate_limit, backlog_limit, backlog_wait] = *numbers.as_slice() else {
            return Ok(None);
        };
        Ok(Some(Tuning {
            enabled,
            rate_limit,
            backlog_limit,
            backlog_wait,
        }))
    }

    /// Only if it was us who turned it on.
    fn set_if_ours(&self, tuning: &Tuning) -> io::Result<()> {
        let now = audit::status()?;
        let ours = self.read()?.is_some() && now.daemon == 0 && [OURS, OPEN].contains(&now.tuning);
        if ours && now.tuning != *tuning {
            audit::set(tuning)?;
        }
        Ok(())
    }

    /// Only whoever knows that nobody needs it on.
    fn put_back(&self) -> io::Result<()> {
        if let Some(was) = self.read()? {
            let now = audit::status()?;
            if let Some(next) = next(&now, &was) {
                audit::set(&next)?;
            }
        }
        self.state.set_len(0)
    }
}

/// What to set so that our own values are gone and nobody else's is touched. `None`: nothing.
fn next(now: &Status, was: &Tuning) -> Option<Tuning> {
    // A daemon has come, or it was locked: it is theirs now.
    if now.daemon != 0 || now.tuning.enabled > 1 {
        return None;
    }
    let now = &now.tuning;
    if [OURS, OPEN].contains(now) {
        return Some(*was);
    }
    let ours_or = |ours: u32, now: u32, was: u32| if now == ours { was } else { now };
    Some(Tuning {
        enabled: ours_or(OURS.enabled, now.enabled, was.enabled),
        rate_limit: ours_or(OURS.rate_limit, now.rate_limit, was.rate_limit),
        backlog_limit: ours_or(OURS.backlog_limit, now.backlog_limit, was.backlog_limit),
        backlog_wait: ours_or(OURS.backlog_wait, now.backlog_wait, was.backlog_wait),
    })
    .filter(|next| next != now)
}

fn lock(file: BorrowedFd<'_>) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        match fd::flock(file, Lock::TryExclusive) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

#[cfg(test)]
#[path = "switch_tests.rs"]
mod tests;
