//! Seccomp: installing a filter, and answering its notifications.
//!
//! USER_NOTIF is Linux 5.0, WAIT_KILLABLE_RECV 5.19. Without a listener a denied call gets a plain error.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::fd::own;
use super::{check, done};
use crate::seccomp::Instruction;

const SET_MODE_FILTER: libc::c_uint = 1;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;

#[repr(C)]
struct Program {
    length: libc::c_ushort,
    filter: *const Instruction,
}

fn load(program: &[Instruction], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = Program {
        length,
        filter: program.as_ptr(),
    };
    // SAFETY: the program is live for `length` instructions whose layout is the kernel's `sock_filter`.
    check(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const program) })
}

/// Installs a filter whose denials are plain errors.
pub fn install(program: &[Instruction]) -> io::Result<()> {
    load(program, 0).map(drop)
}

/// Installs a filter and returns the descriptor on which its notifications arrive.
pub fn install_with_listener(program: &[Instruction]) -> io::Result<OwnedFd> {
    match load(program, NEW_LISTENER | WAIT_KILLABLE_RECV) {
        // Linux before 5.19 knows no WAIT_KILLABLE_RECV; without it a signal may restart a denied call, no more.
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => load(program, NEW_LISTENER).map(own),
        other => other.map(own),
    }
}

/// One denied call.
#[derive(Debug, Clone, Copy)]
pub struct Notice {
    pub id: u64,
    /// As seen from the process that reads the listener.
    pub pid: u32,
    pub nr: i32,
    pub args: [u64; 6],
}

/// Receives a notification. `None`: the caller was killed meanwhile.
pub fn receive(listener: BorrowedFd<'_>) -> io::Result<Option<Notice>> {
    let mut notif = std::mem::MaybeUninit::<libc::seccomp_notif>::zeroed();
    let request = ioc(3, 0, size_of::<libc::seccomp_notif>());
    // SAFETY: zeroed, as the kernel demands, and of the size encoded in the request.
    match done(unsafe { libc::ioctl(listener.as_raw_fd(), request, notif.as_mut_ptr()) }) {
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => return Ok(None),
        other => other?,
    }
    // SAFETY: zeroed before and filled by the kernel.
    let notif = unsafe { notif.assume_init() };
    Ok(Some(Notice {
        id: notif.id,
        pid: notif.pid,
        nr: notif.data.nr,
        args: notif.data.args,
    }))
}

/// Answers with an error. That the caller is gone by now is no error.
pub fn refuse(listener: BorrowedFd<'_>, id: u64, errno: i32) -> io::Result<()> {
    answer(listener, id, -errno, 0)
}

/// Answers that the kernel carries the call out, as if nobody had asked. Linux 5.5.
///
/// Never for a call that must not happen: what its pointers lead to may have changed since it was looked at.
pub fn proceed(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    /// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
    const CONTINUE: u32 = 1;
    answer(listener, id, 0, CONTINUE)
}

/// Is the caller still waiting? If so, what was just looked up by its pid was its own.
pub fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    let request = ioc(1, 2, size_of::<u64>());
    // SAFETY: `id` is a live local of the size encoded in the request.
    done(unsafe { libc::ioctl(listener.as_raw_fd(), request, &raw const id) }).is_ok()
}

/// Does anybody wait, to be heard or to be answered?
pub fn is_asked(listener: BorrowedFd<'_>) -> bool {
    let mut poll = libc::pollfd {
        fd: listener.as_raw_fd(),
        events: libc::POLLIN | libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one live entry; a timeout of zero returns at once.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    ready > 0 && poll.revents & (libc::POLLIN | libc::POLLOUT) != 0
}

/// Where whoever is woken goes on: a caller by its answer, the listener by a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Where the scheduler puts it.
    Anywhere,
    /// On the processor of whoever wakes it.
    Here,
}

/// Chooses for everything that is woken from now on. Linux 6.6; false where it cannot.
pub fn set_wake(listener: BorrowedFd<'_>, wake: Wake) -> bool {
    /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`.
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    let request = ioc(1, 4, size_of::<u64>());
    let flags = match wake {
        Wake::Anywhere => 0,
        Wake::Here => SYNC_WAKE_UP,
    };
    // SAFETY: this request takes its flags as a plain number.
    done(unsafe { libc::ioctl(listener.as_raw_fd(), request, flags) }).is_ok()
}

fn answer(listener: BorrowedFd<'_>, id: u64, error: i32, flags: u32) -> io::Result<()> {
    let answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error,
        flags,
    };
    let request = ioc(3, 1, size_of::<libc::seccomp_notif_resp>());
    // SAFETY: `answer` is a live, initialised local of the size encoded in the request.
    match done(unsafe { libc::ioctl(listener.as_raw_fd(), request, &raw const answer) }) {
        Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        other => other,
    }
}

/// `_IOC(dir, '!', nr, size)`.
fn ioc(dir: u64, nr: u64, size: usize) -> libc::c_ulong {
    (dir << 30) | ((size as u64) << 16) | (u64::from(b'!') << 8) | nr
}
