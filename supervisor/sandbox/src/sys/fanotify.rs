//! What was opened for writing through a mount, as the kernel reports it: files by their handles, nothing kept open for it.
//!
//! Handles in events are Linux 5.1, and need `CAP_SYS_ADMIN` and a filesystem that can decode them; without, `mark` fails.
//! INVARIANT: bounded. The kernel keeps so many events (`fs.fanotify.max_queued_events`), and says when there were more.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::fd::own;
use super::{check, cpath, done, socket};

/// A queue of what happened through the mounts that are marked.
#[derive(Debug)]
pub struct Fanotify(OwnedFd);

impl Drop for Fanotify {
    /// As with `Inotify`: whoever closes the last handle waits, so the kernel gets one to close.
    fn drop(&mut self) {
        let _ = socket::abandon(self.0.as_fd());
    }
}

/// The number by which a filesystem tells itself from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FsId([u8; 8]);

impl FsId {
    /// That of the filesystem an open file lies on.
    pub fn of(file: BorrowedFd<'_>) -> io::Result<Self> {
        let mut facts = std::mem::MaybeUninit::<libc::statfs>::zeroed();
        // SAFETY: `facts` has room for the kernel's answer.
        done(unsafe { libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
        let facts = unsafe { facts.assume_init() };
        // SAFETY: `fsid_t` is two ints in a row, whose names are private.
        Ok(Self(unsafe {
            std::mem::transmute::<libc::fsid_t, [u8; 8]>(facts.f_fsid)
        }))
    }
}

/// A file, as its filesystem finds it again whatever its name is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle(Vec<u8>);

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The last handle of a file that was open for writing is closed, mappings included.
    Closed { on: FsId, file: Handle },
    /// There were more events than the kernel keeps.
    Overflow,
    /// A message that this program does not understand.
    Unknown,
}

/// As the kernel wants it: the length and the kind, four bytes each, and at most 128 bytes.
const HANDLE: usize = 8 + 128;

#[repr(C, align(8))]
struct Raw([u8; HANDLE]);

impl Handle {
    /// The file itself, not opened. `dir` is open for reading, on the same filesystem. `ESTALE`: the file is gone.
    pub fn open(&self, dir: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let mut raw = Raw([0; HANDLE]);
        let room = raw.0.get_mut(..self.0.len());
        room.ok_or_else(|| io::Error::from_raw_os_error(libc::EOVERFLOW))?
            .copy_from_slice(&self.0);
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        // SAFETY: `raw` is a live handle as the kernel made it, at least as long as the length it begins with (`handle`).
        check(unsafe { libc::syscall(libc::SYS_open_by_handle_at, dir.as_raw_fd(), &raw const raw, flags) }).map(own)
    }
}

impl Fanotify {
    /// A user may have a certain number of them (`EMFILE`).
    pub fn new() -> io::Result<Self> {
        let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | libc::FAN_REPORT_FID;
        let read = libc::O_RDONLY.unsigned_abs();
        // SAFETY: fanotify_init takes two integers.
        check(unsafe { libc::fanotify_init(flags, read) }.into()).map(|raw| Self(own(raw)))
    }

    /// Asks for every file that is opened for writing through the one mount that `tree` is the top of.
    pub fn mark(&self, tree: BorrowedFd<'_>) -> io::Result<()> {
        // The call takes no handle on a path alone.
        let path = cpath(Path::new(&format!("/proc/self/fd/{}", tree.as_raw_fd())))?;
        let (flags, mask) = (libc::FAN_MARK_ADD | libc::FAN_MARK_MOUNT, libc::FAN_CLOSE_WRITE);
        // SAFETY: `path` is NUL-terminated.
        done(unsafe { libc::fanotify_mark(self.0.as_raw_fd(), flags, mask, libc::AT_FDCWD, path.as_ptr()) })
    }

    /// How many marked mounts there are. One that is gone, and with it every file that was opened through it, has none.
    pub fn marks(&self) -> io::Result<usize> {
        let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", self.0.as_raw_fd()))?;
        Ok(text.lines().filter(|line| line.starts_with("fanotify mnt_id:")).count())
    }

    /// The next events, none when there are no more.
    pub fn read(&self) -> io::Result<Vec<Event>> {
        let mut buffer = vec![0; 64 * 1024];
        match super::fd::read(self.0.as_fd(), &mut buffer) {
            Ok(got) => Ok(events(buffer.get(..got).unwrap_or_default())),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }
}

/// Each: length (4 bytes), version (1), reserved (1), length of this head (2), mask (8), descriptor (4), pid (4), then details.
fn events(mut rest: &[u8]) -> Vec<Event> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let Some((event, after)) = number(rest, 0).and_then(|length| rest.split_at_checked(length)) else {
            found.push(Event::Unknown);
            break;
        };
        if event.is_empty() {
            found.push(Event::Unknown);
            break;
        }
        found.push(one(event).unwrap_or(Event::Unknown));
        rest = after;
    }
    found
}

fn one(event: &[u8]) -> Option<Event> {
    if *event.get(4)? != libc::FANOTIFY_METADATA_VERSION {
        return None;
    }
    let head = usize::from(u16::from_ne_bytes(event.get(6..8)?.try_into().ok()?));
    let mask = u64::from_ne_bytes(event.get(8..16)?.try_into().ok()?);
    if mask & libc::FAN_Q_OVERFLOW != 0 {
        return Some(Event::Overflow);
    }
    // A kind (1), padding (1), the length (2), a filesystem (8), a handle.
    let detail = event.get(head..)?;
    if *detail.first()? != libc::FAN_EVENT_INFO_TYPE_FID {
        return None;
    }
    let on = FsId(detail.get(4..12)?.try_into().ok()?);
    let file = handle(detail.get(12..)?)?;
    Some(Event::Closed { on, file })
}

/// The length (4 bytes), the kind (4), as many bytes as the length says.
fn handle(bytes: &[u8]) -> Option<Handle> {
    let length = number(bytes, 0)?;
    let whole = bytes.get(..length.checked_add(8)?)?;
    (whole.len() <= HANDLE && length > 0).then(|| Handle(whole.to_vec()))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    usize::try_from(number).ok()
}

#[cfg(test)]
#[path = "fanotify_tests.rs"]
mod tests;
