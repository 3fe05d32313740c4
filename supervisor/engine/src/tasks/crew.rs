//! Starts workers: processes of our own program that take what is queued and outlive whoever started them.
//!
//! INVARIANT: a worker inherits nothing but the environment: no terminal, no open file. One too many finds nothing to do and ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::Ready;

/// The argument by which our own program is a worker.
pub const WORKER: &str = "__worker";

/// Our own program, also after its file was replaced.
pub(super) const OWN: &str = "/proc/self/exe";

#[derive(Debug)]
pub(super) struct Crew {
    project: PathBuf,
    sent: Mutex<Sent>,
}

#[derive(Debug, Default)]
struct Sent {
    /// Not yet collected: a worker that has ended stays in the list of processes until then.
    workers: Vec<Child>,
    last: Option<Instant>,
}

impl Crew {
    pub(super) fn new(project: PathBuf) -> Self {
        Self {
            project,
            sent: Mutex::default(),
        }
    }

    /// Has nobody looked for so long? Then it is the caller's turn.
    pub(super) fn is_due(&self, round: Duration) -> bool {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = sent.last.is_none_or(|last| last.elapsed() >= round);
        if is_due {
            sent.last = Some(Instant::now());
        }
        is_due
    }

    /// As many workers as would find something to do, and no more than `most`.
    pub(super) fn send(&self, ready: Ready, most: u64) -> io::Result<()> {
        let count = match ready {
            Ready::Now(count) => count.min(most),
            // One stays until the minute is over; a second one sees that and ends.
            Ready::Later(_) => 1,
            Ready::Nothing => 0,
        };
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.last = Some(Instant::now());
        sent.workers.retain_mut(|worker| matches!(worker.try_wait(), Ok(None)));
        for _ in 0..count {
            let worker = Command::new(OWN)
                .arg0("glee-supervisor")
                .arg(WORKER)
                .arg(&self.project)
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            sent.workers.push(worker);
        }
        Ok(())
    }
}
