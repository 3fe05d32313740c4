//! What the sandbox refused: the supervisor's handle on the listener, which answers the filter's questions.
//!
//! INVARIANT: the run ends with its listener. Dead or stuck, it leaves callers waiting and nothing allowed that was not; the
//! supervisor notices and ends the sandbox.

mod address;
mod arguments;
mod attempts;
mod beside;
mod book;
mod clients;
mod climbs;
mod foreign;
mod full;
mod gone;
mod grounds;
mod host;
mod inside;
pub mod interpreter;
mod listen;
mod lookups;
mod loopback;
mod merge;
mod net;
mod noise;
mod own_terms;
mod passed;
mod people;
mod question;
pub(super) mod records;
mod row;
mod thing;
mod tree;
mod turns;
mod want;

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

pub use row::{Because, Client, Denied, DeniedKind, Refusals, Subject};

use super::outcome::LaunchError;
use crate::plan::SandboxPlan;
use crate::seccomp::{Arch, Call, DenialAction, FilterSpec, Observe, Table, Verdict};
use crate::sys::event::{self, Want};
use crate::sys::process::Pid;
use crate::sys::seccomp;
use crate::sys::socket::{self, Wait};
use beside::Beside;
use listen::Listener;

/// How often it is looked after while somebody waits for it, and how long it may do nothing.
const LOOK: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_secs(8);

/// The supervisor's handle on the listener.
pub(super) struct Denials {
    listener: Beside,
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
        Some(Observe::Nothing | Observe::Attributes) | None => Ok(None),
    }
}

/// Starts the listener, for a plan whose filter asks. Its own copy of everything is its own: it holds nothing of the run but
/// what it is handed.
pub(super) fn start(plan: &SandboxPlan, table: &Table) -> Result<Option<Denials>, LaunchError> {
    let named = |error| LaunchError::step("listener", error);
    let Some(spec) = plan.seccomp.filter(|spec| spec.denial == DenialAction::Notify) else {
        return Ok(None);
    };
    let work = |socket: &OwnedFd| serve(plan, spec, table, socket);
    Ok(Some(Denials {
        listener: Beside::start(c"glee-listener", work).map_err(named)?,
        questions: None,
        seen: None,
    }))
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

fn serve(plan: &SandboxPlan, spec: FilterSpec, table: &Table, socket: &OwnedFd) -> io::Result<Refusals> {
    let (_, Some(questions)) = socket::receive(socket.as_fd(), Wait::Block)? else {
        // The run ended before there were any.
        return Ok(Refusals::default());
    };
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
    Ok(listener.into_refusals())
}

impl Denials {
    /// Gives it what it listens on.
    pub(super) fn hand_over(&mut self, questions: OwnedFd) -> io::Result<()> {
        self.listener.hand_over(questions.as_fd())?;
        self.questions = Some(questions);
        Ok(())
    }

    /// Readable when the listener has ended.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.listener.end()
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
        let now = activity(self.listener.pid());
        match &self.seen {
            Some((since, before)) if *before == now => since.elapsed() >= STALL,
            Some(_) | None => {
                self.seen = Some((Instant::now(), now));
                false
            }
        }
    }

    /// Ends it, and takes what it noted. Whoever could have asked must be gone. `None`: what it noted is lost.
    pub(super) fn finish(self) -> Option<Refusals> {
        self.listener.finish()
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
