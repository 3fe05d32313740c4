//! Pid 1 after the command was started: reaps, passes orders on, and ends with the command or with the supervisor.
//!
//! INVARIANT: whatever ends this process ends every process of the pid namespace; the kernel sees to it.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use super::tasks::Tasks;
use super::uncounted::Uncounted;
use super::{Inheritance, Walls, keep_only, memory, tie, tree};
use crate::control::{Cause, Order, Report};
use crate::plan::{Containment, SandboxPlan};
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Change, Pid, Usage};
use crate::sys::socket::Wait;
use crate::sys::{caps, fd};

/// How often the watchdog looks.
const WATCH: Duration = Duration::from_millis(100);

/// Never returns.
pub(super) fn main(inheritance: Inheritance<'_>, command: Pid) -> ! {
    let Inheritance {
        plan,
        walls,
        control,
        alive,
        started,
        unheld,
        namespaces,
        ..
    } = inheritance;
    // Set from both sides: whoever is first, the group exists before a signal is sent to it.
    let _ = process::setpgid(command.0, command.0);
    let mut watch = Watch {
        uncounted: None,
        memory: plan.memory_bytes.filter(|_| unheld.memory),
        // The supervisor ends the run; this is for one that was stopped meanwhile.
        end: plan
            .deadline
            .map(|time| started + time + plan.grace + Duration::from_secs(1)),
    };
    let mut tasks = Tasks::new(plan, unheld.pids);
    let kept = harden(plan, walls, control, alive);
    if let Ok((control, alive)) = &kept {
        // Whoever is our parent sees what was used; a supervisor that is not can only be told.
        let told = (walls == Walls::Engine).then(Usage::default);
        watch.uncounted = Uncounted::watch(plan, walls, &namespaces);
        serve(control, alive, command, &mut watch, &mut tasks, told);
    }
    // Nothing may go on without a guardian.
    tree::end();
    process::exit_now(0)
}

struct Watch {
    memory: Option<u64>,
    /// Also where a control group holds the rest.
    uncounted: Option<Uncounted>,
    end: Option<Instant>,
}

fn harden(plan: &SandboxPlan, walls: Walls, control: OwnedFd, alive: OwnedFd) -> std::io::Result<(OwnedFd, OwnedFd)> {
    process::set_name(c"glee-init")?;
    keep_only(&control, &alive)?;
    fd::ensure_stdio()?;
    if plan.containment != Containment::Inherit {
        if plan.identity.from_root && process::geteuid() == 0 {
            process::become_ids(plan.identity.uid, plan.identity.gid)?;
        }
        caps::drop_all()?;
    }
    process::no_new_privs()?;
    tie(plan, walls)?;
    Ok((control, alive))
}

fn serve(
    control: &OwnedFd,
    alive: &OwnedFd,
    command: Pid,
    watch: &mut Watch,
    tasks: &mut Tasks,
    mut usage: Option<Usage>,
) -> Option<()> {
    let children = event::signal_fd(&[libc::SIGCHLD]).ok()?;
    loop {
        let reaped = reap(control, command, tasks, &mut usage)?;
        if reaped == Reaped::Command {
            return Some(());
        }
        let until_end = watch.end.map(|end| end.saturating_duration_since(Instant::now()));
        let uncounted = watch.uncounted.as_ref().map(Uncounted::pause);
        let pauses = [watch.memory.map(|_| WATCH), uncounted, tasks.pause(), until_end];
        let at_once = (reaped == Reaped::Some).then_some(Duration::ZERO);
        let timeout = pauses.into_iter().flatten().chain(at_once).min();
        let fds = [
            (Some(control.as_fd()), Want::Read),
            (Some(alive.as_fd()), Want::Nothing),
            (Some(children.as_fd()), Want::Read),
        ];
        let ready = event::poll(&fds, timeout).ok()?;
        if ready.get(2).is_some_and(|r| r.readable) {
            while event::next_signal(children.as_fd()).ok()?.is_some() {}
        }
        if ready.get(1).is_some_and(|r| r.hangup) {
            return None;
        }
        if ready.first().is_some_and(|r| r.readable || r.hangup) {
            obey(control, command)?;
        }
        if watch.end.is_some_and(|end| Instant::now() >= end) {
            let ended = Report::Ended {
                change: Change::Killed(libc::SIGKILL),
                cause: Some(Cause::Deadline),
            };
            return ended.send(control.as_fd()).ok();
        }
        tasks.look(control.as_fd(), 0);
        if watch.memory.is_some_and(memory::exceeds) || watch.uncounted.as_mut().is_some_and(Uncounted::exceeds) {
            let ended = Report::Ended {
                change: Change::Killed(libc::SIGKILL),
                cause: Some(Cause::Memory),
            };
            return ended.send(control.as_fd()).ok();
        }
    }
}

/// Of those who died, or stopped, before anything else is looked at: they may do so as fast as one collects.
const BATCH: u32 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaped {
    All,
    /// There may be more.
    Some,
    /// The command itself has ended, and the supervisor was told.
    Command,
}

/// Collects the dead.
fn reap(control: &OwnedFd, command: Pid, tasks: &mut Tasks, usage: &mut Option<Usage>) -> Option<Reaped> {
    for _ in 0..BATCH {
        let (pid, change, used) = match process::wait(-1, libc::WNOHANG | libc::WUNTRACED | libc::__WALL) {
            Ok(Some(found)) => found,
            Ok(None) => return Some(Reaped::All),
            // No children at all: the command is gone and was reported, or never was.
            Err(_) => return None,
        };
        if let (Change::Exited(_) | Change::Killed(_), Some(usage)) = (change, usage.as_mut()) {
            usage.add(used);
        }
        if pid != command {
            continue;
        }
        match change {
            Change::Exited(_) | Change::Killed(_) => {
                tasks.look(control.as_fd(), 1);
                if let Some(usage) = *usage {
                    Report::Usage(usage).send(control.as_fd()).ok()?;
                }
                Report::Ended { change, cause: None }.send(control.as_fd()).ok()?;
                return Some(Reaped::Command);
            }
            Change::Stopped => Report::Stopped.send(control.as_fd()).ok()?,
            Change::Continued => {}
        }
    }
    Some(Reaped::Some)
}

fn obey(control: &OwnedFd, command: Pid) -> Option<()> {
    match Order::receive(control.as_fd(), Wait::No).ok()?? {
        Order::Go | Order::Enter(_) | Order::Trees | Order::Mapped | Order::Listed => {}
        Order::Signal(signal) => {
            // What a terminal sends to a job, or one ends a job with, is for all of it; the rest for who was meant. The command
            // may have ended between the order and now.
            let job = [
                libc::SIGINT,
                libc::SIGQUIT,
                libc::SIGHUP,
                libc::SIGTERM,
                libc::SIGTSTP,
                libc::SIGCONT,
                libc::SIGWINCH,
            ];
            let whom = if job.contains(&signal) { -command.0 } else { command.0 };
            let _ = process::kill(whom, signal);
        }
        Order::Terminate => {
            tree::signal(libc::SIGTERM);
            tree::signal(libc::SIGCONT);
        }
        Order::End => return None,
    }
    Some(())
}
