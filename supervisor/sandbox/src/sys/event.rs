//! Waiting: poll, and signals as a readable descriptor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::fd::own;
use super::{check, done};

/// What became of each descriptor, in the order asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready {
    pub readable: bool,
    pub writable: bool,
    /// The other side is gone, or the descriptor is bad.
    pub hangup: bool,
}

/// What to wait for on one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Read,
    Write,
    /// Only hang-ups and errors.
    Nothing,
}

/// Waits until something is ready or `timeout` has passed (`None`: for ever). An interruption is "nothing yet".
pub fn poll(fds: &[(Option<BorrowedFd<'_>>, Want)], timeout: Option<Duration>) -> io::Result<Vec<Ready>> {
    let mut list: Vec<libc::pollfd> = fds
        .iter()
        .map(|(fd, want)| libc::pollfd {
            fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
            events: match want {
                Want::Read => libc::POLLIN,
                Want::Write => libc::POLLOUT,
                Want::Nothing => 0,
            },
            revents: 0,
        })
        .collect();
    let time = timeout.map(|t| libc::timespec {
        tv_sec: libc::time_t::try_from(t.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(t.subsec_nanos()),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = libc::nfds_t::try_from(list.len()).unwrap_or(0);
    // SAFETY: `list` is live for `count` entries; the timeout is null or a live local; no signal mask is given.
    match done(unsafe { libc::ppoll(list.as_mut_ptr(), count, time, std::ptr::null()) }) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
        other => other?,
    }
    Ok(list
        .iter()
        .map(|p| Ready {
            readable: p.revents & libc::POLLIN != 0,
            writable: p.revents & libc::POLLOUT != 0,
            hangup: p.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0,
        })
        .collect())
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: sigset_t is plain data; it is made empty below.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a live local.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: `set` is a live, initialised local.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}

/// Blocks `signals` and makes them readable instead.
pub fn signal_fd(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = set_of(signals);
    let none = std::ptr::null_mut();
    // SAFETY: `set` is a live, initialised local; the old mask is not wanted.
    done(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, none) })?;
    // SAFETY: `set` is a live, initialised local; -1 asks for a new descriptor.
    check(unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) }.into()).map(own)
}

/// The next signal that arrived, and who sent it (0: the kernel).
pub fn next_signal(fd: BorrowedFd<'_>) -> io::Result<Option<libc::c_int>> {
    let mut info = std::mem::MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    let size = size_of::<libc::signalfd_siginfo>();
    // SAFETY: `info` has room for one record.
    match check(unsafe { libc::read(fd.as_raw_fd(), info.as_mut_ptr().cast(), size) } as libc::c_long) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock || e.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(e) => Err(e),
        Ok(_) => {
            // SAFETY: zeroed before and filled by the kernel; every bit pattern is valid.
            let info = unsafe { info.assume_init() };
            Ok(libc::c_int::try_from(info.ssi_signo).ok())
        }
    }
}

/// Back to an empty signal mask and default actions, as a fresh program expects, but for what its caller ignored.
pub fn reset_signals(ignored: &[libc::c_int]) -> io::Result<()> {
    for signal in 1..32 {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        if ignored.contains(&signal) {
            ignore(signal);
            continue;
        }
        restore(signal);
    }
    let set = set_of(&[]);
    // SAFETY: `set` is a live, initialised local; the old mask is not wanted.
    done(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) })
}

/// Gives a signal its default effect in this process.
pub fn restore(signal: libc::c_int) {
    // SAFETY: SIG_DFL is always a valid disposition; no handler of ours is replaced while it runs.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Ignores a signal in this process.
pub fn ignore(signal: libc::c_int) {
    // SAFETY: SIG_IGN is always a valid disposition.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Makes a signal interrupt whatever call it meets, and do nothing else.
pub fn interrupt_on(signal: libc::c_int) -> io::Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: sigaction is plain data; all zeroes is a valid value: no flags (no restarting) and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int) = nothing;
    action.sa_sigaction = handler as libc::sighandler_t;
    // SAFETY: `action` is a live, initialised local; its handler touches nothing and lives as long as the program.
    done(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })
}

/// Is the signal ignored in this process (as `nohup` leaves SIGHUP)?
pub fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: sigaction is plain data; all zeroes is a valid value.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: `now` is a live local the kernel fills; no new action is given.
    let ok = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) } == 0;
    ok && now.sa_sigaction == libc::SIG_IGN
}

/// The time by the clock with which the kernel stamps inodes, since 1970, and no later than any stamp that it gives from now on. It may
/// be a tick behind the precise one, by which some inodes are stamped since Linux 6.13.
pub fn inode_clock() -> io::Result<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local the kernel fills.
    done(unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) })?;
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Ok(Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0)))
}

/// Time since the machine was started, sleep included. Nobody can set this clock.
pub fn boot_clock() -> io::Result<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local the kernel fills.
    done(unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) })?;
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Ok(Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0)))
}

/// Stops this process as Ctrl-Z would. A process whose group no shell looks after is not stopped: nobody could wake it.
pub fn stop_self() -> io::Result<()> {
    let set = set_of(&[libc::SIGTSTP]);
    // SAFETY: raise sends a signal to this process, where it is still blocked.
    done(unsafe { libc::raise(libc::SIGTSTP) })?;
    // SAFETY: `set` is a live, initialised local. The signal takes its default effect here; we go on when continued.
    done(unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) })?;
    // SAFETY: `set` is a live, initialised local.
    done(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })
}

/// Signals that the caller of this program had ignored (as `nohup` does), and that must stay so.
///
/// SIGPIPE and SIGXFSZ are left out: we ignore them ourselves, whatever the caller wanted.
#[must_use]
pub fn ignored_signals() -> Vec<libc::c_int> {
    (1..32)
        .filter(|signal| !matches!(*signal, libc::SIGPIPE | libc::SIGXFSZ) && is_ignored(*signal))
        .collect()
}
