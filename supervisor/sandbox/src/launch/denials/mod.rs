//! What the sandbox refused: the supervisor's handle on the listener, which answers the filter's questions.
//!
//! INVARIANT: the run ends with its listener. Dead or stuck, it leaves callers waiting and nothing allowed that was not; the
//! supervisor notices and ends the sandbox.

mod address;
mod book;
mod host;
mod inside;
mod listen;
mod noise;
mod people;
mod row;
mod want;

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

pub use row::{Because, Denied, DeniedKind, Refusals, Subject};

use super::outcome::LaunchError;
use crate::plan::SandboxPlan;
use crate::seccomp::{Arch, Call, DenialAction, FilterSpec, Observe, Table, Verdict};
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::{self, Wait};
use crate::sys::{fd, seccomp};
use listen::Listener;

/// How long its list may take at the end, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(3);
const MOST: usize = 16 << 20;

/// Gets it out of waiting for questions; a kernel before 6.11 leaves it there when nobody is left to ask.
const NUDGE: i32 = libc::SIGUSR1;
const NUDGES: Duration = Duration::from_millis(1);

/// How often it is looked after while somebody waits for it, and how long it may do nothing.
const LOOK: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_secs(8);

/// The supervisor's handle on the listener.
pub(super) struct Denials {
    socket: OwnedFd,
    pid: Pid,
    pidfd: OwnedFd,
    /// A copy of what it listens on: shows whether somebody waits, and keeps callers waiting if it dies.
    questions: Option<OwnedFd>,
    /// What it looked like when somebody was first seen waiting.
    seen: Option<(Instant, String)>,
}

/// Starts the listener if the plan wants to be told of what is allowed, too: most commands do nothing that the filter refuses, and
/// for those nobody is needed.
pub(super) fn start_early(plan: &SandboxPlan, table: &Table) -> Result<Option<Denials>, LaunchError> {
    match plan.seccomp.map(|spec| spec.observe) {
        Some(Observe::Attempts | Observe::Everything) => start(plan, table),
        Some(Observe::Nothing) | None => Ok(None),
    }
}

/// Starts the listener, for a plan whose filter asks. Its own copy of everything is its own: it holds nothing of the run but
/// what it is handed.
pub(super) fn start(plan: &SandboxPlan, table: &Table) -> Result<Option<Denials>, LaunchError> {
    let named = |error| LaunchError::step("listener", error);
    let Some(spec) = plan.seccomp.filter(|spec| spec.denial == DenialAction::Notify) else {
        return Ok(None);
    };
    let (ours, theirs) = socket::stream_pair().map_err(named)?;
    match process::clone_into(0, None).map_err(named)? {
        Side::Parent { pid, pidfd } => Ok(Some(Denials {
            socket: ours,
            pid,
            pidfd,
            questions: None,
            seen: None,
        })),
        Side::Child => {
            drop(ours);
            let done = serve(plan, spec, table, &theirs);
            process::exit_now(i32::from(done.is_err()))
        }
    }
}

/// Takes one call of a canary and answers it as the listener would, but notes nothing. True if it was refused.
pub(super) fn answer_canary(questions: &OwnedFd, spec: &FilterSpec, table: &Table) -> io::Result<bool> {
    let Some(notice) = seccomp::receive(questions.as_fd())? else {
        return Ok(false);
    };
    let call = Call {
        nr: notice.nr.unsigned_abs(),
        args: notice.args,
    };
    let errno = match table.decide(spec, Arch::NATIVE, &call) {
        Verdict::Observe => return seccomp::proceed(questions.as_fd(), notice.id).map(|()| false),
        Verdict::Deny(denial) => denial.errno.into(),
        Verdict::Errno(errno) => errno.into(),
        Verdict::Allow | Verdict::Kill => libc::EPERM,
    };
    seccomp::refuse(questions.as_fd(), notice.id, errno).map(|()| true)
}

/// We are a copy of the supervisor, with the caller's rights.
fn serve(plan: &SandboxPlan, spec: FilterSpec, table: &Table, socket: &OwnedFd) -> io::Result<()> {
    process::die_with_parent()?;
    process::set_name(c"glee-listener")?;
    // Without a pid namespace the command sees us, and has our uid.
    process::set_dumpable(false)?;
    // A session of our own: what is typed at the caller's terminal is not for us.
    process::setsid()?;
    event::reset_signals(&[])?;
    event::interrupt_on(NUDGE)?;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        event::ignore(signal);
    }
    let number = socket.as_raw_fd().unsigned_abs();
    fd::close_range(0, number.saturating_sub(1))?;
    fd::close_range(number + 1, fd::LAST)?;
    let (_, Some(questions)) = socket::receive(socket.as_fd(), Wait::Block)? else {
        // The run ended before there were any.
        return Ok(());
    };
    // Without it only a little slower.
    seccomp::wake_in_turn(questions.as_fd());
    let mut listener = Listener::new(questions, plan, spec, table);
    loop {
        if listener.turn()? {
            continue;
        }
        let fds = [
            (Some(listener.fd().as_fd()), Want::Read),
            (Some(socket.as_fd()), Want::Read),
        ];
        match event::poll(&fds, Some(Duration::ZERO))?.as_slice() {
            // Nobody is left who could ask, or the supervisor has heard enough.
            [asked, told] if asked.hangup || told.readable || told.hangup => break,
            _ => {}
        }
    }
    // Unread, it would make the end of the connection an error on the other side.
    socket::receive(socket.as_fd(), Wait::Block)?;
    let bytes = listener.into_refusals().encode();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match fd::write(socket.as_fd(), rest) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl Denials {
    /// Gives it what it listens on.
    pub(super) fn hand_over(&mut self, questions: OwnedFd) -> io::Result<()> {
        socket::send(self.socket.as_fd(), b"q", Some(questions.as_fd()))?;
        self.questions = Some(questions);
        Ok(())
    }

    /// Readable when the listener has ended.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// When it wants to be looked after.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.questions.as_ref().map(|_| LOOK)
    }

    /// Has somebody waited for long while the listener did nothing at all?
    pub(super) fn is_stuck(&mut self) -> bool {
        let Some(questions) = &self.questions else {
            return false;
        };
        if !seccomp::is_asked(questions.as_fd()) {
            self.seen = None;
            return false;
        }
        let now = activity(self.pid);
        match &self.seen {
            Some((since, before)) if *before == now => since.elapsed() >= STALL,
            Some(_) | None => {
                self.seen = Some((Instant::now(), now));
                false
            }
        }
    }

    /// Ends it, and takes what it noted. Whoever could have asked must be gone.
    pub(super) fn finish(self) -> Option<Refusals> {
        let told = socket::send(self.socket.as_fd(), b"d", None).ok();
        let bytes = told.and_then(|()| self.read())?;
        Refusals::decode(&bytes)
    }

    fn read(&self) -> Option<Vec<u8>> {
        let end = Instant::now() + PATIENCE;
        let (mut list, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let ready = event::poll(&[(Some(self.socket.as_fd()), Want::Read)], Some(NUDGES)).ok()?;
            if !ready.first().is_some_and(|r| r.readable || r.hangup) {
                if Instant::now() >= end {
                    return None;
                }
                // It may just have been about to wait, so once is not enough.
                process::pidfd_kill(self.pidfd.as_fd(), NUDGE).ok()?;
                continue;
            }
            match fd::read(self.socket.as_fd(), &mut buffer).ok()? {
                0 => return Some(list),
                n => list.extend(buffer.get(..n).unwrap_or_default()),
            }
            if list.len() > MOST {
                return None;
            }
        }
    }
}

/// What changes whenever a process runs at all: its time on a processor, and how often it left one.
fn activity(pid: Pid) -> String {
    let read = |name: &str| {
        let text = fs::read(format!("/proc/{}/{name}", pid.0)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    let (stat, status) = (read("stat"), read("status"));
    // The name may hold anything; the fields after it are numbers, and the twelfth and thirteenth the times.
    let times = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    times.chain(switches).collect()
}

impl Drop for Denials {
    fn drop(&mut self) {
        let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}
