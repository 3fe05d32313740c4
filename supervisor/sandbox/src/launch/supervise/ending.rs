//! How a run is ended, and how it ended, from what was heard of it.

use std::fmt;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Supervisor, Timeout};
use crate::control::{Cause, Order};
use crate::init::tree;
use crate::launch::outcome::End;
use crate::launch::places::Moved;
use crate::plan::Containment;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Change};
use crate::sys::term;

/// How long init may take to end everything.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// How long one that was told to go on may take, before its tree is ended from here.
const LAST_WORD: Duration = Duration::from_secs(3);

/// A word to the caller while the command runs. Where nobody reads, nobody is told: that holds up nothing.
pub(super) fn tell(words: fmt::Arguments<'_>) {
    let stderr = std::io::stderr();
    let ready = event::poll(&[(Some(stderr.as_fd()), Want::Write)], Some(Duration::ZERO));
    if ready.is_ok_and(|list| list.iter().any(|end| end.writable)) {
        // The command's modes may not return to the left by themselves.
        let end = if term::is_terminal(stderr.as_fd()) {
            "\r\n"
        } else {
            "\n"
        };
        // In one piece: the command writes there too.
        let text = format!("glee-supervisor: {words}{end}");
        let _ = stderr.lock().write_all(text.as_bytes());
    }
}

/// The host moved what the command worked on: what was to be done there at the end was done, or not, somewhere else.
pub(in crate::launch) fn tell_moved(moved: &[Moved]) {
    for Moved { from, to } in moved {
        let from = from.display();
        match to {
            Some(to) => tell(format_args!(
                "`{from}` was moved to `{}` while the command ran: what the command left was looked for there",
                to.display()
            )),
            None => tell(format_args!(
                "`{from}` was moved or removed while the command ran, and is not found: hooks, configuration and links that the \
                 command may have left for git were not looked for"
            )),
        }
    }
}

/// Said before the command's own errors explain themselves badly.
pub(in crate::launch) fn tell_as_they_are(trees: &[PathBuf]) {
    for tree in trees {
        tell(format_args!(
            "the filesystem of `{}` cannot map owners: what is closed to others there is closed to the command",
            tree.display()
        ));
    }
}

impl Supervisor<'_> {
    pub(super) fn keep_time(&mut self) {
        match self.timeout {
            Timeout::At(time) if Instant::now() >= time => {
                let minutes = self.plan.deadline.unwrap_or_default();
                self.order(Order::Terminate);
                self.timeout = Timeout::Grace(Instant::now() + self.plan.grace);
                tell(format_args!(
                    "the time limit of {minutes:?} is over; the command is asked to end and killed in {:?}",
                    self.plan.grace
                ));
            }
            Timeout::Grace(time) if Instant::now() >= time => {
                self.timeout = Timeout::Over;
                self.kill();
            }
            Timeout::At(_) | Timeout::Grace(_) | Timeout::Never | Timeout::Over => {}
        }
        if self.killed_at.is_some_and(|time| Instant::now() >= time) {
            self.killed_at = None;
            self.kill_init();
        }
    }

    /// Ends the sandbox. Init does it, so that what its processes have used is counted.
    pub(super) fn kill(&mut self) {
        self.order(Order::End);
        self.killed_at.get_or_insert_with(|| Instant::now() + LAST_MOMENT);
    }

    /// Ends init, and with it everything in its namespace; the group's own switch for what has no namespace.
    fn kill_init(&mut self) {
        let init = self.child.pidfd.as_fd();
        match self.plan.containment {
            Containment::Namespaces => {
                let _ = process::pidfd_kill(init, libc::SIGKILL);
            }
            // Init must live to end its descendants. One that was stopped goes on.
            Containment::Landlock | Containment::Inherit if !self.is_roused => {
                self.is_roused = true;
                let _ = process::pidfd_kill(init, libc::SIGCONT);
                self.killed_at = Some(Instant::now() + LAST_WORD);
            }
            // The command has init's uid here, and may have stopped it again.
            Containment::Landlock | Containment::Inherit => tree::end_of(self.child.pid.0),
        }
        // Not every machine has such a switch.
        let _ = self.group.kill();
    }

    /// Init is dead and not yet collected. Where no namespace died with it, and it has not said that the command ended, somebody
    /// killed it: what it leaves is ended here.
    pub(super) fn follow_init(&self) {
        match self.plan.containment {
            Containment::Namespaces => {}
            Containment::Landlock | Containment::Inherit if self.ended.is_some() => {}
            Containment::Landlock | Containment::Inherit => tree::end_of(self.child.pid.0),
        }
    }

    pub(super) fn ending(&self) -> (End, Option<Cause>) {
        let timed_out = matches!(self.timeout, Timeout::Grace(_) | Timeout::Over);
        match (self.not_executed, self.ended) {
            (Some(errno), _) => (End::NotExecuted { errno }, None),
            (None, Some((_, Some(Cause::Deadline)))) => (End::Timeout, Some(Cause::Deadline)),
            (None, _) if timed_out => (End::Timeout, None),
            (None, _) if self.unheard => (End::Signaled(libc::SIGKILL), Some(Cause::Listener)),
            (None, _) if self.unguarded => (End::Signaled(libc::SIGKILL), Some(Cause::Warden)),
            (None, Some((Change::Exited(code), cause))) => (End::Exited(code), cause),
            (None, Some((Change::Killed(signal), cause))) => (End::Signaled(signal), cause),
            // Init was killed: by us at the caller's wish, by the kernel for memory, or by somebody else outside.
            (None, Some((Change::Stopped | Change::Continued, _)) | None) => {
                (End::Signaled(self.ended_by.unwrap_or(libc::SIGKILL)), None)
            }
        }
    }
}
