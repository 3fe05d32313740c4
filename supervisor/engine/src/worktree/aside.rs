//! A command in a sandbox, beside the run proper: what git must do, where it can harm nobody.
//!
//! In a child of its own, which is single-threaded as the sandbox needs it. Nothing of it is in the audit log: it runs no
//! command of the caller's.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use glee_policy::Flags;
use glee_sandbox::launch::{self, End};
use glee_sandbox::sys::event::{self, Ready, Want};
use glee_sandbox::sys::fd;
use glee_sandbox::sys::process::{self, Change, Side};

use crate::options::Options;
use crate::run;
use crate::run_id::run_id;

/// What is read of each stream.
const MOST: usize = 64 << 10;

/// How long git may look. A command can leave a pipe where git reads, for which it would wait for ever.
const PATIENCE: Duration = Duration::from_secs(30);
/// The status of what was not waited for any longer.
const LATE: i32 = 124;
const TOO_LATE: &str =
    "git did not come to an end; a pipe where it expects a file would keep it waiting (find . -type p)";

/// The status of a sandbox that could not be built because something was taken away meanwhile, by a run that ended.
const GONE: i32 = 121;
/// How often it is built anew then.
const AGAIN: usize = 5;

/// What to run, and where.
#[derive(Debug)]
pub(super) struct Errand(Options);

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) status: i32,
    pub(super) stdout: String,
    stderr: String,
}

impl Done {
    /// Its first words of complaint.
    pub(super) fn said(&self, nothing: &str) -> String {
        if self.is_late() {
            return TOO_LATE.to_owned();
        }
        let line = self.stderr.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or(nothing).chars().take(300).collect()
    }

    /// Was it stopped because it took too long?
    pub(super) fn is_late(&self) -> bool {
        self.status == LATE
    }
}

impl Errand {
    /// `words` are `$1`, `$2` and so on in the script, which itself is the same for everybody.
    pub(super) fn shell(policy: &str, project: &Path, script: &'static str, words: &[&str]) -> Self {
        let command = ["/bin/sh", "-c", script, "sh"].into_iter().chain(words.iter().copied());
        let command = command.map(Into::into).collect();
        let flags = Flags::none(project.to_owned());
        let options = Options::to_look(Some(policy.to_owned()), Some(project.to_owned()), flags, command);
        Self(Options {
            observe: run::Observe::Nothing,
            ..options
        })
    }

    /// Does no more than look: not for ever.
    pub(super) fn looks(mut self) -> Self {
        self.0.flags.timeout = Some(PATIENCE);
        self
    }

    pub(super) fn run(self) -> io::Result<Done> {
        for _ in 0..AGAIN {
            let done = self.once()?;
            if done.status != GONE {
                return Ok(done);
            }
        }
        self.once()
    }

    fn once(&self) -> io::Result<Done> {
        let ((out, out_end), (err, err_end)) = (fd::pipe()?, fd::pipe()?);
        let nothing = File::open("/dev/null")?;
        match process::clone_into(0, None)? {
            Side::Child => {
                let ready = fd::put_at(nothing.as_fd(), 0)
                    .and_then(|()| fd::put_at(out_end.as_fd(), 1))
                    .and_then(|()| fd::put_at(err_end.as_fd(), 2));
                drop((out, err, out_end, err_end));
                process::exit_now(if ready.is_ok() { self.carry_out() } else { 125 })
            }
            Side::Parent { pid, .. } => {
                drop((out_end, err_end));
                let [stdout, stderr] = drain([out, err])?;
                let status = match process::wait(pid.0, libc::__WALL)? {
                    Some((_, Change::Exited(status), _)) => status,
                    Some((_, Change::Killed(_) | Change::Stopped | Change::Continued, _)) | None => 125,
                };
                Ok(Done { status, stdout, stderr })
            }
        }
    }

    /// In the child: 0, 1 and 2 are its own.
    fn carry_out(&self) -> i32 {
        let outcome = run::prepare(&self.0, &run_id())
            .map_err(|refusal| (125, refusal.to_string()))
            .and_then(|prepared| {
                let status = |gone| if gone { GONE } else { 125 };
                launch::run_plain(&prepared.plan)
                    .map_err(|error| (status(error.is_of_what_is_gone()), error.to_string()))
            });
        match outcome {
            Ok(outcome) => match outcome.end {
                End::Exited(status) => status,
                End::Timeout => LATE,
                End::Signaled(_) | End::NotExecuted { .. } => 125,
            },
            Err((status, problem)) => {
                // For whoever reads why; there is nobody else to tell.
                let _ = writeln!(io::stderr(), "{problem}");
                status
            }
        }
    }
}

/// Reads both to their ends, and keeps the beginning of each.
fn drain(pipes: [OwnedFd; 2]) -> io::Result<[String; 2]> {
    let mut open = pipes.map(Some);
    let mut kept = [Vec::new(), Vec::new()];
    let mut buffer = vec![0_u8; MOST];
    while open.iter().any(Option::is_some) {
        let wanted: Vec<_> = open
            .iter()
            .map(|pipe| (pipe.as_ref().map(AsFd::as_fd), Want::Read))
            .collect();
        let ready = event::poll(&wanted, None)?;
        for ((pipe, kept), ready) in open.iter_mut().zip(&mut kept).zip(ready) {
            let Some(fd) = pipe.as_ref().filter(|_| ready != Ready::default()) else {
                continue;
            };
            match fd::read(fd.as_fd(), &mut buffer) {
                Ok(0) | Err(_) => *pipe = None,
                Ok(got) => {
                    let room = MOST.saturating_sub(kept.len()).min(got);
                    kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
                }
            }
        }
    }
    Ok(kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
