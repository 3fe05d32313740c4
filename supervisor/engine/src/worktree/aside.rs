//! A command in a sandbox, beside the run proper: what git must do, where it can harm nobody.
//!
//! In a child of its own, which is single-threaded as the sandbox needs it. Nothing of it is in the audit log: it runs no
//! command of the caller's.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::Path;

use glee_policy::Flags;
use glee_sandbox::launch::{self, End};
use glee_sandbox::sys::fd;
use glee_sandbox::sys::process::{self, Change, Side};

use crate::options::Options;
use crate::run;

/// What is read of each stream.
const MOST: u64 = 64 << 10;

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
        let line = self.stderr.lines().find(|line| !line.trim().is_empty());
        line.unwrap_or(nothing).chars().take(300).collect()
    }
}

impl Errand {
    pub(super) fn shell(policy: &str, project: &Path, script: &str) -> Self {
        let command = ["/bin/sh", "-c", script].map(Into::into).to_vec();
        let flags = Flags::none(project.to_owned());
        let options = Options::to_look(Some(policy.to_owned()), Some(project.to_owned()), flags, command);
        Self(Options {
            observe: run::Observe::Nothing,
            ..options
        })
    }

    pub(super) fn run(self) -> io::Result<Done> {
        let (mut out, mut err) = (File::from(fd::unnamed()?), File::from(fd::unnamed()?));
        let nothing = File::open("/dev/null")?;
        match process::clone_into(0, None)? {
            Side::Child => {
                let ready = fd::put_at(nothing.as_fd(), 0)
                    .and_then(|()| fd::put_at(out.as_fd(), 1))
                    .and_then(|()| fd::put_at(err.as_fd(), 2));
                process::exit_now(if ready.is_ok() { self.carry_out() } else { 125 })
            }
            Side::Parent { pid, .. } => {
                let status = match process::wait(pid.0, libc::__WALL)? {
                    Some((_, Change::Exited(status), _)) => status,
                    Some((_, Change::Killed(_) | Change::Stopped | Change::Continued, _)) | None => 125,
                };
                Ok(Done {
                    status,
                    stdout: text(&mut out)?,
                    stderr: text(&mut err)?,
                })
            }
        }
    }

    /// In the child: 0, 1 and 2 are its own.
    fn carry_out(&self) -> i32 {
        let outcome = run::prepare(&self.0, "aside")
            .map_err(|refusal| refusal.to_string())
            .and_then(|prepared| launch::run(&prepared.plan, None, None, &[]).map_err(|error| error.to_string()));
        match outcome {
            Ok(outcome) => match outcome.end {
                End::Exited(status) => status,
                End::Signaled(_) | End::Timeout | End::NotExecuted { .. } => 125,
            },
            Err(problem) => {
                // For whoever reads why; there is nobody else to tell.
                let _ = writeln!(io::stderr(), "{problem}");
                125
            }
        }
    }
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
