//! Starts workers: processes of our own program that take what is queued and outlive whoever started them.
//!
//! INVARIANT: a worker inherits nothing but the environment: no terminal, no open file. One too many finds nothing to do and ends.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::{FlowId, Ready};

/// The argument by which our own program is a worker.
pub const WORKER: &str = "__worker";

/// The argument by which our own program drives the run of a workflow.
pub const DRIVER: &str = "__workflow";

/// Our own program, also after its file was replaced.
pub(crate) const OWN: &str = "/proc/self/exe";

#[derive(Debug)]
pub(super) struct Crew {
    project: PathBuf,
    sent: Mutex<Sent>,
    /// One task follows another: a worker waits a little for the next.
    more: AtomicBool,
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
            more: AtomicBool::new(false),
        }
    }

    /// From now on workers that this process starts are told to wait for its next task.
    pub(super) fn has_more(&self) {
        self.more.store(true, Ordering::Relaxed);
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
        let patron = std::process::id().to_string();
        let mut arguments = vec![OsStr::new(WORKER), self.project.as_os_str()];
        if self.more.load(Ordering::Relaxed) {
            arguments.push(OsStr::new(&patron));
        }
        for _ in 0..count {
            sent.workers.push(self.own(&arguments)?);
        }
        Ok(())
    }

    /// A process that drives this run.
    pub(super) fn send_driver(&self, run: &FlowId) -> io::Result<()> {
        let driver = self.own(&[DRIVER.as_ref(), self.project.as_os_str(), run.as_str().as_ref()])?;
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.workers.push(driver);
        Ok(())
    }

    fn own(&self, arguments: &[&OsStr]) -> io::Result<Child> {
        Command::new(OWN)
            .arg0("glee-supervisor")
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}
