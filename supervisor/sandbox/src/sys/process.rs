//! Processes: clone into namespaces, wait, signal, identity, exec.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use super::fd::own;
use super::{check, done};

/// Not in `libc` as a 64-bit value yet.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// A process id as this process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pid(pub libc::pid_t);

/// What `clone_into` returned: which side of the fork we are.
#[derive(Debug)]
pub enum Side {
    Child,
    Parent { pid: Pid, pidfd: OwnedFd },
}

#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks into new namespaces (`CLONE_NEW*` bits), and into a v2 cgroup if one is given.
///
/// `clone3` is Linux 5.3, `CLONE_INTO_CGROUP` 5.7. The process must have one thread: the child is an ordinary fork.
pub fn clone_into(namespaces: libc::c_int, cgroup: Option<BorrowedFd<'_>>) -> io::Result<Side> {
    let mut pidfd: libc::c_int = -1;
    let mut args = CloneArgs {
        flags: u64::from(namespaces.unsigned_abs()) | libc::CLONE_PIDFD as u64,
        pidfd: &raw mut pidfd as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    if let Some(cgroup) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = cgroup.as_raw_fd() as u64;
    }
    // SAFETY: `args` is live and of the size given; `pidfd` outlives the call; no stack is given, so the child goes on
    // with a copy of this one, as after fork.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone3, &raw mut args, size_of::<CloneArgs>()) })?;
    if pid == 0 {
        return Ok(Side::Child);
    }
    Ok(Side::Parent {
        pid: Pid(libc::pid_t::try_from(pid).unwrap_or(-1)),
        pidfd: own(pidfd.into()),
    })
}

/// Forks where nobody knows `clone3`: the older call, without a flag. `None` in the child.
pub fn fork() -> io::Result<Option<Pid>> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: no stack is given and no flag asks for memory to be written, so the child goes on with a copy of this stack, as
    // after fork.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, none, none, none, none) })?;
    Ok((pid != 0).then(|| Pid(libc::pid_t::try_from(pid).unwrap_or(-1))))
}

/// A handle on a process; one that is a child of ours and not yet waited for cannot be confused with another.
pub fn pidfd_open(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes two integers.
    check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.0, 0) }).map(own)
}

/// A copy of a descriptor of another process. Linux 5.6; needs the right to trace it.
pub fn pidfd_getfd(pidfd: BorrowedFd<'_>, number: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_getfd takes three integers. The new descriptor closes on exec.
    check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0) }).map(own)
}

pub fn pidfd_kill(pidfd: BorrowedFd<'_>, signal: libc::c_int) -> io::Result<()> {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: no siginfo is given.
    check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, none, 0) }).map(drop)
}

/// `pid` as for kill(2): negative for a group, -1 for everything that may be signalled.
pub fn kill(pid: libc::pid_t, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: kill touches no memory.
    done(unsafe { libc::kill(pid, signal) })
}

/// How a child changed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Exited(i32),
    Killed(i32),
    Stopped,
    Continued,
}

/// What a process tree used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub user_us: u64,
    pub sys_us: u64,
    pub max_rss_kb: u64,
}

impl Usage {
    /// Two trees together.
    pub fn add(&mut self, other: Self) {
        self.user_us = self.user_us.saturating_add(other.user_us);
        self.sys_us = self.sys_us.saturating_add(other.sys_us);
        self.max_rss_kb = self.max_rss_kb.max(other.max_rss_kb);
    }
}

/// Waits for a child (`-1`: any). `None`: nothing has changed and `how` said not to wait.
pub fn wait(pid: libc::pid_t, how: libc::c_int) -> io::Result<Option<(Pid, Change, Usage)>> {
    let mut status: libc::c_int = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let got = loop {
        // SAFETY: both out-pointers are live locals.
        match check(unsafe { libc::wait4(pid, &raw mut status, how, usage.as_mut_ptr()) }.into()) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if got == 0 {
        return Ok(None);
    }
    // SAFETY: zeroed before the call and filled by it; every bit pattern is valid.
    let usage = unsafe { usage.assume_init() };
    let change = if libc::WIFEXITED(status) {
        Change::Exited(libc::WEXITSTATUS(status))
    } else if libc::WIFSIGNALED(status) {
        Change::Killed(libc::WTERMSIG(status))
    } else if libc::WIFSTOPPED(status) {
        Change::Stopped
    } else {
        Change::Continued
    };
    let micros = |t: libc::timeval| u64::try_from(t.tv_sec * 1_000_000 + t.tv_usec).unwrap_or(0);
    let usage = Usage {
        user_us: micros(usage.ru_utime),
        sys_us: micros(usage.ru_stime),
        max_rss_kb: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    };
    Ok(Some((Pid(libc::pid_t::try_from(got).unwrap_or(-1)), change, usage)))
}

/// Ends this process at once: no destructors, no buffers, nothing inherited is flushed twice.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit does not return.
    unsafe { libc::_exit(code) }
}

pub fn getpid() -> Pid {
    // SAFETY: getpid cannot fail.
    Pid(unsafe { libc::getpid() })
}

pub fn geteuid() -> u32 {
    // SAFETY: geteuid cannot fail.
    unsafe { libc::geteuid() }
}

pub fn getegid() -> u32 {
    // SAFETY: getegid cannot fail.
    unsafe { libc::getegid() }
}

/// Real, effective and saved ids, groups first.
pub fn become_ids(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: setresgid takes three integers. The raw call: the process has one thread.
    check(unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) })?;
    // SAFETY: setresuid takes three integers.
    check(unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) }).map(drop)
}

/// Gives up every supplementary group.
pub fn drop_groups() -> io::Result<()> {
    // SAFETY: an empty list needs no memory.
    check(unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) }).map(drop)
}

fn prctl(option: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take integers only.
    done(unsafe { libc::prctl(option, value, 0, 0, 0) })
}

pub fn die_with_parent() -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)
}

/// Goes on when its parent dies, even if it was stopped: it has to end what it started.
pub fn wake_with_parent() -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT as libc::c_ulong)
}

pub fn set_dumpable(on: bool) -> io::Result<()> {
    prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(on))
}

pub fn no_new_privs() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Orphans below this process become its children, so that it can end them.
pub fn child_subreaper() -> io::Result<()> {
    prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
}

pub fn set_name(name: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: `name` is NUL-terminated; the kernel copies at most 16 bytes.
    done(unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0) })
}

pub fn unshare(namespaces: libc::c_int) -> io::Result<()> {
    // SAFETY: unshare takes one integer.
    done(unsafe { libc::unshare(namespaces) })
}

pub fn setns(ns: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: setns takes two integers.
    done(unsafe { libc::setns(ns.as_raw_fd(), 0) })
}

/// The kernel's version, as it says it itself; nothing if it does not.
#[must_use]
pub fn kernel_release() -> String {
    // SAFETY: an all-zero `utsname` is a valid one: arrays of characters.
    let mut name: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `name` is writable and as large as the kernel's.
    if unsafe { libc::uname(&raw mut name) } != 0 {
        return String::new();
    }
    let bytes = name.release.iter().map(|byte| byte.to_ne_bytes()[0]);
    String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<u8>>()).into_owned()
}

pub fn setsid() -> io::Result<()> {
    // SAFETY: setsid takes nothing.
    done(unsafe { libc::setsid() })
}

pub fn setpgid(pid: libc::pid_t, group: libc::pid_t) -> io::Result<()> {
    // SAFETY: setpgid takes two integers.
    done(unsafe { libc::setpgid(pid, group) })
}

pub fn set_hostname(name: &str) -> io::Result<()> {
    // SAFETY: the name is live and readable for its length.
    done(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) })
}

/// Replaces this process. Returns only on failure.
pub fn exec(program: &CString, argv: &[CString], env: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter()
            .map(|s| s.as_ptr())
            .chain(std::iter::once(std::ptr::null()))
            .collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: all strings are NUL-terminated and outlive the call; both arrays end in a null pointer.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// A string for exec. `None` if it holds a NUL, which no argument can.
pub fn cstring(text: OsString) -> Option<CString> {
    CString::new(text.into_vec()).ok()
}

/// The ids by which files are made and judged, while all other privileges stay.
pub fn set_fs_ids(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: setfsgid takes an integer. It reports no errors; the calls below would show the old id if it failed.
    unsafe { libc::setfsgid(gid) };
    // SAFETY: setfsuid takes an integer.
    unsafe { libc::setfsuid(uid) };
    // SAFETY: an invalid id changes nothing and returns the current one.
    let now = unsafe { libc::setfsuid(u32::MAX) };
    if u32::try_from(now).ok() == Some(uid) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EPERM))
    }
}

/// Puts `text` where the kernel laid the arguments of this process, cut or filled with zeroes to their length.
///
/// Done in memory: by way of `/proc` it takes ten times as long.
pub fn overwrite_arguments(text: &[u8]) {
    unsafe extern "C" {
        /// The C library's own: the first argument, where the kernel put it.
        static program_invocation_name: *mut libc::c_char;
    }
    // One after the other, each with a zero at its end.
    let length: usize = std::env::args_os().map(|argument| argument.len() + 1).sum();
    // SAFETY: set by the C library before `main`, and nobody of ours changes it.
    let first = unsafe { program_invocation_name }.cast::<u8>();
    if first.is_null() || length == 0 {
        return;
    }
    let kept = text.len().min(length - 1);
    // SAFETY: the kernel laid `length` bytes of arguments there, on the stack, which lives as long as the process; the process
    // has one thread, and nobody holds a reference to them (`args_os` gives copies).
    unsafe { std::ptr::write_bytes(first, 0, length) };
    // SAFETY: `kept` is less than `length`, see above; `text` is a live slice of ours and no part of the stack's arguments.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), first, kept) };
}
