//! The supervisor while the command runs: one loop over signals, the control socket, the terminal, denials and the deadline.

mod ending;
mod guarding;
mod listening;
mod signals;

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

pub(super) use ending::{tell_as_they_are, tell_moved};
use listening::Domain;
pub(super) use listening::{Asked, Rest};
pub(super) use signals::signals;

use super::Caller;
use super::companion::Companion;
use super::denials::{Denials, Refusals};
use super::janitor::Janitor;
use super::outcome::{LaunchError, Layers, Outcome};
use super::porter::Lodge;
use super::start::Child;
use super::terminal::Relay;
use super::warden::{Lost, Post, Warden};
use crate::cgroup::Group;
use crate::control::{Cause, Order, Report};
use crate::plan::{Records, SandboxPlan};
use crate::receipt::Receipt;
use crate::seccomp::Table;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Change, Usage};
use crate::sys::socket::Wait;
use crate::sys::{landlock, seccomp};

/// How long a command may take to stop when it is asked for a pause; who stops later does it for itself.
const PAUSE: Duration = Duration::from_secs(2);

struct Supervisor<'a> {
    plan: &'a SandboxPlan,
    child: Child,
    group: &'a Group,
    companion: Option<&'a Companion>,
    lodge: Lodge<'a>,
    janitor: &'a Janitor<'a>,
    terminals: [bool; 3],
    relay: Option<Relay<'a>>,
    table: &'a Table,
    /// What the filter asks on, until the listener takes over: when the command starts, or when it first asks.
    questions: Option<OwnedFd>,
    denials: Option<Denials>,
    domain: Option<Domain>,
    /// The listener is gone or stuck: nobody answers the command any more.
    unheard: bool,
    /// The warden, once it has a process of its own.
    post: Option<Post>,
    /// The warden could not keep up, or is gone.
    unguarded: bool,
    /// Calls that the filter refused before the receipt: those of the canaries.
    notified: u32,
    /// The last word before the command: from here on it is the command that ends, and whose calls are denied.
    receipt: Option<Receipt>,
    /// Signals of the ending kind that were passed on. The second one ends the run.
    asked_to_end: u32,
    /// When the caller's terminal, or somebody in its place, asked for a pause.
    pause: Option<Instant>,
    /// The signal with which the run was ended at the caller's wish.
    ended_by: Option<i32>,
    timeout: Timeout,
    /// Init was told to end everything; at this time it is killed itself.
    killed_at: Option<Instant>,
    /// Init has no pid namespace, and was told to go on, in case that somebody stopped it.
    is_roused: bool,
    failure: Option<LaunchError>,
    not_executed: Option<i32>,
    ended: Option<(Change, Option<Cause>)>,
    /// Init saw no room for one process more, where we cannot ask the kernel.
    out_of_pids: bool,
    /// What init says was used, where we cannot ask the kernel.
    usage: Usage,
    /// The other end of the control socket is closed: nothing more to hear, only the end to wait for.
    silent: bool,
}

/// How far the deadline has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timeout {
    Never,
    At(Instant),
    /// SIGTERM was sent; SIGKILL follows at this time.
    Grace(Instant),
    /// Killed.
    Over,
}

/// Watches until nothing of the sandbox is left. An error means that the command was never started.
pub(super) fn watch(
    plan: &SandboxPlan,
    child: Child,
    denials: Result<Option<Denials>, LaunchError>,
    table: &Table,
    group: &Group,
    caller: &Caller<'_>,
) -> Result<(Outcome, Rest), LaunchError> {
    let (denials, doomed) = match denials {
        Ok(denials) => (denials, None),
        Err(error) => (None, Some(error)),
    };
    let (started, begun) = (caller.started, child.begun);
    let mut supervisor = Supervisor {
        plan,
        child,
        group,
        companion: caller.companion,
        lodge: Lodge::new(caller.porter),
        janitor: caller.janitor,
        terminals: caller.terminals,
        relay: None,
        table,
        questions: None,
        denials,
        domain: None,
        unheard: false,
        post: None,
        unguarded: false,
        notified: 0,
        receipt: None,
        asked_to_end: 0,
        pause: None,
        ended_by: None,
        timeout: plan
            .deadline
            .and_then(|time| begun.checked_add(time))
            .map_or(Timeout::Never, Timeout::At),
        killed_at: None,
        is_roused: false,
        failure: None,
        not_executed: None,
        ended: None,
        out_of_pids: false,
        usage: Usage::default(),
        silent: false,
    };
    let usage = match doomed.map_or_else(|| supervisor.serve(&caller.signals), Err) {
        Ok(usage) => usage,
        Err(error) => supervisor.break_off(error).map(|()| supervisor.usage)?,
    };
    let (domain, asked) = supervisor.rest();
    let (outcome, lost) = supervisor.finish(usage, started)?;
    Ok((outcome, Rest { domain, asked, lost }))
}

impl Supervisor<'_> {
    fn serve(&mut self, signals: &OwnedFd) -> Result<Usage, LaunchError> {
        let lost = |error| LaunchError::step("supervise", error);
        loop {
            let [typing, output, screen] = match &self.relay {
                Some(relay) => relay.wants(),
                None => [(None, Want::Nothing); 3],
            };
            let fds = [
                (Some(self.child.pidfd.as_fd()), Want::Read),
                (Some(self.child.control.as_fd()).filter(|_| !self.silent), Want::Read),
                (Some(signals.as_fd()), Want::Read),
                typing,
                output,
                screen,
                (self.questions.as_ref().map(AsFd::as_fd), Want::Read),
                (
                    self.denials.as_ref().map(Denials::end).filter(|_| !self.unheard),
                    Want::Read,
                ),
                (self.child.warden.as_ref().map(Warden::fd), Want::Read),
                (self.lodge.door(), Want::Read),
                (
                    self.post.as_ref().map(Post::end).filter(|_| !self.unguarded),
                    Want::Read,
                ),
            ];
            let ready = event::poll(&fds, self.patience()).map_err(lost)?;
            let [gone, said, signal, typed, shown, free, asked, deaf, change, knock, left] = ready.as_slice() else {
                continue;
            };
            if said.readable || said.hangup {
                self.hear().map_err(lost)?;
            }
            if signal.readable {
                while let Some(number) = event::next_signal(signals.as_fd()).map_err(lost)? {
                    self.signal(number);
                }
            }
            if let Some(relay) = self.relay.as_mut().filter(|relay| relay.patience().is_some()) {
                relay.attach();
            }
            if let Some(relay) = &mut self.relay
                && [typed, shown, free]
                    .iter()
                    .any(|end| end.readable || end.writable || end.hangup)
            {
                relay.turn(typed.readable || typed.hangup);
            }
            if asked.readable {
                self.answer()?;
            } else if asked.hangup {
                self.questions = None;
            }
            self.look_after_listener(deaf.readable || deaf.hangup);
            self.look_after_warden(change.readable, left.readable);
            if knock.readable {
                self.lodge.open();
            }
            self.keep_time();
            if gone.readable {
                // What was said before the end is still in the socket.
                while let Ok(true) = self.hear() {}
                self.follow_init();
                return match process::wait(self.child.pid.0, libc::__WALL) {
                    Ok(waited) => Ok(waited.map(|(_, _, usage)| usage).unwrap_or_default()),
                    // The engine's child, not ours.
                    Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(self.usage),
                    Err(error) => Err(lost(error)),
                };
            }
        }
    }

    fn patience(&self) -> Option<Duration> {
        let deadline = match self.timeout {
            Timeout::Never | Timeout::Over => None,
            Timeout::At(time) | Timeout::Grace(time) => Some(time.saturating_duration_since(Instant::now())),
        };
        let listener = self
            .denials
            .as_ref()
            .filter(|_| !self.unheard)
            .and_then(Denials::patience);
        let terminal = self.relay.as_ref().and_then(Relay::patience);
        let end = self
            .killed_at
            .map(|time| time.saturating_duration_since(Instant::now()));
        let warden = self.child.warden.as_ref().filter(|_| !self.unguarded);
        let warden = warden.and_then(Warden::patience);
        [deadline, listener, warden, terminal, end].into_iter().flatten().min()
    }

    /// Takes one message from inside. False when there is none.
    fn hear(&mut self) -> std::io::Result<bool> {
        let report = match Report::receive(self.child.control.as_fd(), Wait::No) {
            Ok(Some(report)) => report,
            Ok(None) => {
                self.silent = true;
                return Ok(false);
            }
            Err(e) if e.raw_os_error() == Some(libc::ECONNRESET) => {
                self.silent = true;
                return Ok(false);
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Ok(false),
            Err(e) => return Err(e),
        };
        match report {
            Report::Failed { step, errno, detail } => {
                let error = std::io::Error::from_raw_os_error(errno);
                // What follows from it is not the reason.
                self.failure.get_or_insert(LaunchError::Step { step, detail, error });
            }
            Report::NotExecuted { errno } => self.not_executed = Some(errno),
            Report::Terminal(master) => self.relay = Some(Relay::new(master, self.terminals, self.janitor)?),
            Report::Doors(mut doors) => {
                self.lodge.take(&self.plan.doors, &mut doors);
                // Without a companion nobody opens them: what knocks is refused.
                if let Some(companion) = self.companion {
                    companion.hand_over(&doors)?;
                }
            }
            Report::Listener(questions) => {
                // A canary waits for the answer. Without it, a little longer.
                let _ = seccomp::set_wake(questions.as_fd(), seccomp::Wake::Here);
                if self.plan.records == Records::Take {
                    self.domain = questions.try_clone().ok().map(Domain::new);
                }
                self.questions = Some(questions);
            }
            Report::Receipt { answers, duration } => {
                self.file_receipt(&answers, duration);
                self.hand_over()?;
            }
            // Without a terminal somebody must have asked for a pause: a command that stops itself does not stop its guardian.
            Report::Stopped => {
                let asked = self.pause.take().is_some_and(|asked| asked.elapsed() < PAUSE);
                if asked || self.relay.is_some() {
                    self.suspend();
                }
            }
            Report::OutOfPids => self.out_of_pids = true,
            Report::Usage(usage) => self.usage = usage,
            Report::Ended { change, cause } => {
                self.ended = Some((change, cause));
                // The last word: what is left is init's end, which its handle tells.
                self.silent = true;
            }
        }
        Ok(true)
    }

    fn order(&self, order: Order) {
        // Init may have ended meanwhile; the pidfd tells.
        let _ = order.send(self.child.control.as_fd());
    }

    fn signal(&mut self, number: i32) {
        match number {
            libc::SIGWINCH => match &self.relay {
                Some(relay) => relay.resize(),
                None => self.order(Order::Signal(number)),
            },
            libc::SIGTSTP => {
                self.order(Order::Signal(libc::SIGTSTP));
                // If it does not stop for it, neither do we.
                self.pause = Some(Instant::now());
            }
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT => {
                self.asked_to_end += 1;
                if self.asked_to_end > 1 {
                    self.ended_by = Some(number);
                    self.kill();
                } else {
                    self.order(Order::Signal(number));
                }
            }
            _ => self.order(Order::Signal(number)),
        }
    }

    fn finish(mut self, usage: Usage, started: Instant) -> Result<(Outcome, Lost), LaunchError> {
        if let Some(relay) = &mut self.relay {
            relay.finish();
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let ours = self.ended_by.is_some() || self.timeout == Timeout::Over || self.unheard || self.unguarded;
        if self.receipt.is_none() && self.ended.is_none() && self.not_executed.is_none() && !ours {
            return Err(LaunchError::Lost);
        }
        let verdict = self.group.cause_of_death();
        let (end, cause) = self.ending();
        let seen = self.relieve();
        // One that is dead or stuck already is not waited for again.
        let noted = match self.denials.take() {
            Some(denials) if !self.unheard => denials.finish(),
            Some(_) => None,
            None => Some(Refusals::default()),
        };
        let cause = cause.or(noted.is_none().then_some(Cause::Listener));
        let refusals = noted.unwrap_or_else(|| Refusals {
            lost: 1,
            ..Refusals::default()
        });
        let outcome = Outcome {
            end,
            appeared: seen.appeared,
            unwatched: seen.unwatched,
            set_aside: Vec::new(),
            not_disarmed: Vec::new(),
            served: None,
            privileges_removed: Vec::new(),
            privileges_unknown: Vec::new(),
            moved: Vec::new(),
            as_they_are: Vec::new(),
            changes: None,
            cause,
            out_of_memory: verdict.out_of_memory() || cause == Some(Cause::Memory),
            out_of_pids: verdict.out_of_pids() || self.out_of_pids,
            duration: started.elapsed(),
            usage,
            receipt: self.receipt,
            refusals,
            layers: Layers {
                landlock_abi: if self.plan.landlock.is_some() {
                    landlock::abi()
                } else {
                    0
                },
                seccomp: self.plan.seccomp.is_some(),
                namespaces: self.child.namespaces.iter().map(|n| n.name()).collect(),
                cgroup: self.group.holds().map(|c| c.name()).collect(),
                missing_limits: Vec::new(),
            },
        };
        Ok((outcome, seen.lost))
    }
}
