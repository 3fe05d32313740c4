//! Something tried in a process of its own, so that neither success nor failure touches ours.

use std::io;
use std::os::fd::AsFd;

use glee_sandbox::sys::fd;
use glee_sandbox::sys::process::{self, Change, Side};

/// There was no process to try it in.
#[derive(Debug, thiserror::Error)]
#[error("not tried")]
struct NotTried;

/// Does the error tell about the thing tried?
pub(super) fn was_tried(error: &io::Error) -> bool {
    !error.get_ref().is_some_and(|inner| inner.is::<NotTried>())
}

fn fork() -> io::Result<Side> {
    process::clone_into(0, None).map_err(|_| io::Error::other(NotTried))
}

/// Runs `attempt` in a child and returns its error, if any. The process must have one thread.
pub(super) fn attempt(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    match fork()? {
        Side::Child => {
            // We are a copy of the supervisor with nothing to lose. The errno is our exit status.
            let errno = match attempt() {
                Ok(()) => 0,
                Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
            };
            process::exit_now(errno)
        }
        Side::Parent { pid, pidfd: _pidfd } => match process::wait(pid.0, 0)? {
            Some((_, Change::Exited(0), _)) => Ok(()),
            Some((_, Change::Exited(errno), _)) => Err(io::Error::from_raw_os_error(errno)),
            Some((_, Change::Killed(signal), _)) => Err(io::Error::other(format!("ended by signal {signal}"))),
            Some((_, Change::Stopped | Change::Continued, _)) | None => Err(io::Error::other("no answer")),
        },
    }
}

/// What was found, or what is wrong and what to do.
pub(super) type Account = Result<String, (String, String)>;

/// Runs `attempt` in a child with nothing on 0, 1 and 2, and returns what it says: fine, or what is wrong and what to do.
pub(super) fn account(attempt: impl FnOnce() -> Account) -> io::Result<Account> {
    let (read, write) = fd::pipe()?;
    match fork()? {
        Side::Child => {
            drop(read);
            let text = match silence() {
                Ok(()) => match attempt() {
                    Ok(found) => format!("+{found}"),
                    Err((problem, remedy)) => format!("-{problem}\0{remedy}"),
                },
                Err(error) => format!("-{error}\0"),
            };
            let mut rest = text.as_bytes();
            while let Ok(written @ 1..) = fd::write(write.as_fd(), rest) {
                rest = rest.get(written..).unwrap_or_default();
            }
            process::exit_now(0)
        }
        Side::Parent { pid, pidfd: _pidfd } => {
            drop(write);
            let mut bytes = Vec::new();
            let mut buffer = [0; 4096];
            while let Ok(got @ 1..) = fd::read(read.as_fd(), &mut buffer) {
                bytes.extend_from_slice(buffer.get(..got).unwrap_or_default());
            }
            process::wait(pid.0, 0)?;
            let text = String::from_utf8_lossy(&bytes);
            Ok(match (text.strip_prefix('+'), text.strip_prefix('-')) {
                (Some(found), _) => Ok(found.to_owned()),
                (None, Some(problem)) => {
                    let (problem, remedy) = problem.split_once('\0').unwrap_or((problem, ""));
                    Err((problem.to_owned(), remedy.to_owned()))
                }
                (None, None) => Err(("the trial ended without a word".to_owned(), String::new())),
            })
        }
    }
}

fn silence() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    (0..3).try_for_each(|number| fd::put_at(null.as_fd(), number))
}
