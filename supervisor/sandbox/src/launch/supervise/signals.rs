//! Which signals the supervisor hears of.

use crate::sys::event;

/// Signals that reach the supervisor as events instead of ending it.
const SIGNALS: &[i32] = &[
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGURG,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGXCPU,
];

/// Those of them, and of the real-time ones, that the caller has not ignored.
pub(crate) fn signals(ignored: &[i32]) -> Vec<i32> {
    SIGNALS
        .iter()
        .copied()
        .chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
        .filter(|signal| !ignored.contains(signal) && !event::is_ignored(*signal))
        .collect()
}
