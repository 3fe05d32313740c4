//! One process at a time applies or discards a result, and one puts anything into a tree.
//!
//! Both locks die with their holder. INVARIANT: who holds a result has it whole, and nobody waits for ever.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use glee_sandbox::launch::{NoTreeLock, TreeLock, holder};
use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path::{lstat_at, open_held};

use super::store::{self, Kept};
use super::work;

/// How long another one may take.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    #[error("{} is applying or discarding what that run changed", named(.by))]
    Result { by: Option<u32> },
    #[error("{} is applying what another run changed in the same tree", named(.by))]
    Tree { by: Option<u32> },
    #[error("what that run changed was applied or discarded just now")]
    Gone,
    #[error("cannot lock what is to be applied or discarded: {0}")]
    Lock(io::Error),
}

impl HoldError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Result { .. } | Self::Tree { .. } => "nothing was done; try again when it has ended",
            Self::Gone => "nothing is left of it to be applied or discarded",
            Self::Lock(_) => "nothing was done",
        }
    }
}

fn named(by: &Option<u32>) -> String {
    by.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// A result that nobody else applies or discards meanwhile.
#[derive(Debug)]
pub struct Held {
    kept: Kept,
}

impl Kept {
    /// Takes it for this process. Another one is waited for a little; `waits` hears of it.
    pub fn hold(self, waits: &mut dyn FnMut(&HoldError)) -> Result<Held, HoldError> {
        let try_it = || match flock(self.dir.as_fd(), Lock::TryExclusive) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(HoldError::Result {
                by: holder(self.dir.as_fd()),
            }),
            Err(error) => Err(HoldError::Lock(error)),
        };
        patiently(try_it, waits)?;
        let found = open_held(&self.at).and_then(|found| lstat_at(found.as_fd(), OsStr::new("")));
        match (found, lstat_at(self.dir.as_fd(), OsStr::new(""))) {
            (Ok(found), Ok(ours)) if (found.dev, found.ino) == (ours.dev, ours.ino) => Ok(Held { kept: self }),
            _ => Err(HoldError::Gone),
        }
    }
}

impl Held {
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Forgets it, and what a killed try to apply it has left.
    pub fn discard(self) -> io::Result<()> {
        work::clear_drafts(&self.kept.harvest);
        store::remove(&self.kept.at)
    }
}

/// Takes the trees for this process, in an order on which all agree.
pub(super) fn trees<'d>(
    dirs: impl Iterator<Item = BorrowedFd<'d>>,
    waits: &mut dyn FnMut(&HoldError),
) -> Result<Vec<TreeLock>, HoldError> {
    let known = dirs.map(|dir| lstat_at(dir, OsStr::new("")).map(|of| ((of.dev, of.ino), dir)));
    let mut known: Vec<_> = known.collect::<io::Result<_>>().map_err(HoldError::Lock)?;
    known.sort_by_key(|(of, _)| *of);
    known.dedup_by_key(|(of, _)| *of);
    let take = |dir| match TreeLock::take(dir, Instant::now()) {
        Ok(lock) => Ok(lock),
        Err(NoTreeLock::Held(by)) => Err(HoldError::Tree { by }),
        Err(NoTreeLock::Failed(error)) => Err(HoldError::Lock(error)),
    };
    known
        .into_iter()
        .map(|(_, dir)| patiently(|| take(dir), waits))
        .collect()
}

fn patiently<T>(
    mut try_it: impl FnMut() -> Result<T, HoldError>,
    waits: &mut dyn FnMut(&HoldError),
) -> Result<T, HoldError> {
    let end = Instant::now() + PATIENCE;
    let mut told = false;
    loop {
        match try_it() {
            Err(busy @ (HoldError::Result { .. } | HoldError::Tree { .. })) if Instant::now() < end => {
                if !told {
                    waits(&busy);
                    told = true;
                }
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}
