//! The warden in a process of its own: while the supervisor is suspended, what the command left behind may run on.
//!
//! It takes the watch over before the first suspension and keeps it to the end.
//! INVARIANT: it ends with the supervisor, and holds nothing of it but what it watches by; the run ends with it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Lost, Seen, Warden};
use crate::launch::outcome::Appeared;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::{fd, socket};

/// How long its list may take at the end, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(3);
const MOST: usize = 64 << 20;

/// The supervisor's handle on it.
#[derive(Debug)]
pub(in crate::launch) struct Post {
    socket: OwnedFd,
    pid: Pid,
    pidfd: OwnedFd,
    /// If it dies, nobody knows which of these the host has removed.
    names: BTreeSet<PathBuf>,
}

impl Post {
    /// Hands the watch over. It is given back if that cannot be done.
    pub(in crate::launch) fn start(warden: Warden, init: BorrowedFd<'_>) -> Result<Self, Box<Warden>> {
        let Ok((ours, theirs)) = socket::stream_pair() else {
            return Err(Box::new(warden));
        };
        match process::clone_into(0, None) {
            Ok(Side::Parent { pid, pidfd }) => Ok(Self {
                socket: ours,
                pid,
                pidfd,
                names: warden.names.keys().cloned().collect(),
            }),
            Ok(Side::Child) => {
                drop(ours);
                let done = settle(&warden, &theirs, init).and_then(|()| serve(warden, &theirs, init));
                process::exit_now(i32::from(done.is_err()))
            }
            Err(_) => Err(Box::new(warden)),
        }
    }

    /// Readable when it has ended.
    pub(in crate::launch) fn end(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Ends it, and takes what it saw. `None`: it died, or did not answer in time.
    fn ask(&self) -> Option<Seen> {
        socket::send(self.socket.as_fd(), b"d", None).ok()?;
        decode(&socket::last_words(self.socket.as_fd(), PATIENCE, MOST)?)
    }

    pub(in crate::launch) fn finish(mut self) -> Seen {
        self.ask().unwrap_or_else(|| Seen {
            lost: Lost {
                removed: BTreeSet::new(),
                doubtful: std::mem::take(&mut self.names),
            },
            ..Seen::default()
        })
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}

/// We are a copy of the supervisor, with the caller's rights.
fn settle(warden: &Warden, socket: &OwnedFd, init: BorrowedFd<'_>) -> io::Result<()> {
    process::die_with_parent()?;
    process::set_name(c"glee-warden")?;
    process::set_dumpable(false)?;
    // A session of our own: what is typed at the caller's terminal, and who suspends the job, is not for us.
    process::setsid()?;
    event::reset_signals(&[])?;
    let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE];
    ends.into_iter().for_each(event::ignore);
    let fixed = [warden.fd(), socket.as_fd(), init];
    let kept = fixed.into_iter().chain(warden.namespaces.kept());
    let kept = kept.map(|fd| fd.as_raw_fd()).chain(warden.held.iter().copied());
    let kept: BTreeSet<u32> = kept.map(i32::unsigned_abs).collect();
    let mut next = 0;
    for number in kept {
        if number > next {
            fd::close_range(next, number - 1)?;
        }
        next = number + 1;
    }
    fd::close_range(next, fd::LAST)?;
    fd::ensure_stdio()
}

fn serve(mut warden: Warden, socket: &OwnedFd, init: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        let fds = [(Some(warden.fd()), Want::Read), (Some(socket.as_fd()), Want::Read)];
        if let [_, told] = event::poll(&fds, warden.patience())?.as_slice()
            && (told.readable || told.hangup)
        {
            break;
        }
        warden.turn();
        if warden.is_beaten() {
            // The supervisor may be asleep.
            let _ = process::pidfd_kill(init, libc::SIGKILL);
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
    }
    // Unread, it would make the end of the connection an error on the other side.
    fd::read(socket.as_fd(), &mut [0; 1])?;
    fd::write_all(socket.as_fd(), &encode(&warden.finish()))
}

/// A letter, the length, the bytes; after an appearance its clause.
fn put(bytes: &mut Vec<u8>, tag: u8, text: &[u8]) {
    bytes.push(tag);
    bytes.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(text);
}

fn encode(seen: &Seen) -> Vec<u8> {
    let mut bytes = Vec::new();
    for appeared in &seen.appeared {
        let tag = if appeared.covered { b'c' } else { b'o' };
        put(&mut bytes, tag, appeared.path.as_os_str().as_bytes());
        put(&mut bytes, b'r', appeared.clause.as_bytes());
    }
    let unwatched = seen.unwatched.iter().map(|path| (b'u', path));
    let removed = seen.lost.removed.iter().map(|path| (b'l', path));
    let doubtful = seen.lost.doubtful.iter().map(|path| (b'd', path));
    for (tag, path) in unwatched.chain(removed).chain(doubtful) {
        put(&mut bytes, tag, path.as_os_str().as_bytes());
    }
    put(&mut bytes, b'.', b"");
    bytes
}

fn take(bytes: &mut &[u8]) -> Option<(u8, Vec<u8>)> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    *bytes = rest;
    Some((*tag, text.to_vec()))
}

fn decode(bytes: &[u8]) -> Option<Seen> {
    let mut rest = bytes;
    let mut seen = Seen::default();
    loop {
        let (tag, text) = take(&mut rest)?;
        let path = Path::new(&OsString::from_vec(text)).to_owned();
        match tag {
            b'c' | b'o' => seen.appeared.push(Appeared {
                path,
                clause: String::from_utf8(take(&mut rest)?.1).ok()?,
                covered: tag == b'c',
            }),
            b'u' => seen.unwatched.push(path),
            b'l' => drop(seen.lost.removed.insert(path)),
            b'd' => drop(seen.lost.doubtful.insert(path)),
            b'.' => return rest.is_empty().then_some(seen),
            _ => return None,
        }
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
