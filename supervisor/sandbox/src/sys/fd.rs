//! File descriptors: pipes, duplication, closing everything that must not cross into the sandbox.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use super::{check, done};

/// Takes ownership of a descriptor that a system call has just returned.
pub(super) fn own(raw: libc::c_long) -> OwnedFd {
    let raw = RawFd::try_from(raw).unwrap_or(-1);
    // SAFETY: callers pass the fresh, non-negative result of a call that creates a descriptor; nobody else owns it.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

/// A pipe (read end, write end), both close-on-exec.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` is a live array of two ints, which the kernel fills.
    done(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((own(fds[0].into()), own(fds[1].into())))
}

/// A file without a name, for the supervisor to fill and [`seal`].
pub fn memory_file(name: &CStr) -> io::Result<OwnedFd> {
    // Since Linux 6.3, and refused by an older kernel: nothing in it is for executing.
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: `name` is NUL-terminated and the kernel copies it.
    let make = |flags| check(unsafe { libc::memfd_create(name.as_ptr(), flags) }.into()).map(own);
    make(flags | libc::MFD_NOEXEC_SEAL).or_else(|_| make(flags))
}

/// From now on nobody can change its content, whoever opens it again.
pub fn seal(file: BorrowedFd<'_>) -> io::Result<()> {
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: F_ADD_SEALS takes an int and touches no memory.
    done(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })
}

/// Asks for a larger buffer. The kernel may give less; the pipe works as before then.
pub fn grow_pipe(fd: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: F_SETPIPE_SZ takes an integer.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) }.into()).map(drop)
}

/// Makes `target` a copy of `fd` that survives exec. Also right when the two numbers are equal.
pub fn put_at(fd: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    if fd.as_raw_fd() == target {
        // SAFETY: F_SETFD takes an int and touches no memory.
        return done(unsafe { libc::fcntl(target, libc::F_SETFD, 0) });
    }
    // SAFETY: dup2 touches no memory; closing whatever `target` was is the purpose.
    done(unsafe { libc::dup2(fd.as_raw_fd(), target) })
}

/// Another handle on the same thing, for writing without waiting. Flags are shared by all who have the first one.
pub fn reopen_for_writing(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
    Ok(file.into())
}

/// The highest number that a descriptor can have. gVisor takes a larger one for a negative number.
pub const LAST: u32 = i32::MAX as u32;

/// Marks every descriptor from 3 up close-on-exec, so that exec leaves exactly 0, 1 and 2.
pub fn close_on_exec_from_3() -> io::Result<()> {
    // SAFETY: close_range only changes descriptor flags.
    check(unsafe { libc::syscall(libc::SYS_close_range, 3u32, LAST, libc::CLOSE_RANGE_CLOEXEC) }).map(drop)
}

/// Closes every descriptor from `first` to `last`, both included.
pub fn close_range(first: u32, last: u32) -> io::Result<()> {
    if first > last {
        return Ok(());
    }
    // SAFETY: the caller gives up these descriptors; no owned value refers to them afterwards.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0u32) }).map(drop)
}

/// Closes every descriptor from 3 up, but for one.
pub fn close_others(kept: BorrowedFd<'_>) -> io::Result<()> {
    let kept = kept.as_raw_fd().unsigned_abs();
    close_range(3, kept.saturating_sub(1))?;
    close_range(kept.max(2) + 1, LAST)
}

/// Moves a descriptor to the lowest free number from `floor` up, close-on-exec.
pub fn dup_from(fd: BorrowedFd<'_>, floor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC takes an int and touches no memory.
    let raw = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, floor) };
    check(raw.into()).map(own)
}

/// Borrows standard input, output or error by number, or any descriptor the caller knows to be open.
pub fn borrow(raw: RawFd) -> BorrowedFd<'static> {
    // SAFETY: callers name descriptors that stay open for the life of the process (0, 1, 2 are ensured by `ensure_stdio`).
    unsafe { BorrowedFd::borrow_raw(raw) }
}

/// Opens `/dev/null` on every closed number among 0, 1 and 2, so that no later descriptor lands there.
pub fn ensure_stdio() -> io::Result<()> {
    for raw in 0..3 {
        // SAFETY: F_GETFD touches no memory.
        if unsafe { libc::fcntl(raw, libc::F_GETFD) } >= 0 {
            continue;
        }
        // SAFETY: the path is a NUL-terminated literal.
        let opened = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        done(opened)?;
    }
    Ok(())
}

pub fn is_open(raw: RawFd) -> bool {
    // SAFETY: F_GETFD touches no memory.
    unsafe { libc::fcntl(raw, libc::F_GETFD) >= 0 }
}

pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_flags(fd, |flags| flags | libc::O_NONBLOCK)
}

pub fn set_blocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_flags(fd, |flags| flags & !libc::O_NONBLOCK)
}

fn set_flags(fd: BorrowedFd<'_>, change: impl Fn(libc::c_int) -> libc::c_int) -> io::Result<()> {
    status_flags(fd).and_then(|flags| set_status_flags(fd, change(flags)))
}

/// How it is open (`O_NONBLOCK`, `O_APPEND`, …), for all who hold it.
pub fn status_flags(fd: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    // SAFETY: F_GETFL touches no memory.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) }.into())?;
    Ok(libc::c_int::try_from(flags).unwrap_or(0))
}

/// The kernel leaves alone what cannot be changed after opening.
pub fn set_status_flags(fd: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: F_SETFL takes an int and touches no memory.
    done(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags) })
}

pub fn read(fd: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buf` is live and writable for `buf.len()` bytes.
    let n = check(unsafe { libc::read(fd.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len()) } as libc::c_long)?;
    Ok(usize::try_from(n).unwrap_or(0))
}

pub fn write(fd: BorrowedFd<'_>, buf: &[u8]) -> io::Result<usize> {
    // SAFETY: `buf` is live and readable for `buf.len()` bytes.
    let n = check(unsafe { libc::write(fd.as_raw_fd(), buf.as_ptr().cast(), buf.len()) } as libc::c_long)?;
    Ok(usize::try_from(n).unwrap_or(0))
}

/// Writes all of it, or fails.
pub fn write_all(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match write(fd, rest) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes or tries a lock on the open file description. Held until the last copy of the descriptor is closed.
pub fn flock(fd: BorrowedFd<'_>, how: Lock) -> io::Result<()> {
    let op = match how {
        Lock::TryShared => libc::LOCK_SH | libc::LOCK_NB,
        Lock::TryExclusive => libc::LOCK_EX | libc::LOCK_NB,
        Lock::Release => libc::LOCK_UN,
    };
    // SAFETY: flock touches no memory.
    done(unsafe { libc::flock(fd.as_raw_fd(), op) })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    TryShared,
    TryExclusive,
    Release,
}

/// Is the descriptor a mere handle on a path (`O_PATH`)?
pub fn is_path(raw: RawFd) -> bool {
    // SAFETY: F_GETFL touches no memory.
    let flags = unsafe { libc::fcntl(raw, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_PATH != 0
}

/// Did the descriptor come from who started us? What we open ourselves does not pass on.
pub fn is_inherited(raw: RawFd) -> bool {
    // SAFETY: F_GETFD touches no memory.
    let flags = unsafe { libc::fcntl(raw, libc::F_GETFD) };
    flags >= 0 && flags & libc::FD_CLOEXEC == 0
}

/// Is the descriptor open for writing?
pub fn is_writable(raw: RawFd) -> bool {
    // SAFETY: F_GETFL touches no memory.
    let flags = unsafe { libc::fcntl(raw, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}
