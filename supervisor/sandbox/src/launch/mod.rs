//! From a plan to a running command and back to an outcome: the supervisor's side.
//!
//! INVARIANT: whatever happens, what was made here (processes, cgroups, placeholders) is gone when `run` returns; if this
//! process is killed, the janitor sees to it.

mod changes;
mod companion;
mod denials;
pub(crate) mod idmap;
mod inside;
mod janitor;
mod locks;
mod outcome;
pub(crate) mod placeholders;
pub(crate) mod quarantine;
mod setids;
mod stdio;
mod supervise;
mod terminal;
mod warden;

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

pub use changes::{Change, Changed, Changes, Doubt, Found, Judge, Verdict};
pub use companion::Serve;
pub use denials::records::NoRecords;
pub use denials::{Because, Client, Denied, DeniedKind, Refusals, Subject};
pub use outcome::{Appeared, End, LaunchError, Layers, Outcome};

use crate::cgroup;
use crate::control::Order;
use crate::init::{self, Inheritance};
use crate::plan::{Containment, Namespace, SandboxPlan};
use crate::receipt::Attempt;
use crate::seccomp::{self, Arch, Table};
use crate::sys::canary::Bait;
use crate::sys::event;
use crate::sys::process::{self, Pid, Side};
use crate::sys::term::Size;
use crate::sys::{fd, path, socket, term};
use changes::{Before, Crew, Since};
use companion::Companion;
use denials::records::Records;
use idmap::{Holders, Trees};
use janitor::Janitor;
use placeholders::Placeholders;
use quarantine::Ahead;
use warden::Warden;

/// Carries out the plan. The process must have one thread. `serve` is for a plan with doors, `judge` for who wants to know
/// what was changed.
pub fn run(plan: &SandboxPlan, serve: Option<&dyn Serve>, judge: Option<&dyn Judge>) -> Result<Outcome, LaunchError> {
    let (started, since) = (Instant::now(), Since::now());
    fd::ensure_stdio().map_err(|error| LaunchError::step("standard files", error))?;
    stdio::check(plan)?;
    let terminals = [0, 1, 2].map(|number| term::is_terminal(fd::borrow(number)));
    let (table, filter) = compile(plan)?;
    let ignored = event::ignored_signals();
    // Whoever ignores it is not told of the end of its children, nor can it wait for them.
    event::restore(libc::SIGCHLD);
    let signals =
        event::signal_fd(&supervise::signals(&ignored)).map_err(|error| LaunchError::step("signals", error))?;
    let (ours, theirs) = socket::pair().map_err(|error| LaunchError::step("control socket", error))?;
    denials::records::put_back();
    let facts = cgroup::detect();
    // Before anything is made that would outlive us.
    let janitor = janitor::start(&facts, plan, since)?;
    let companion = match serve.filter(|_| !plan.doors.list.is_empty()) {
        Some(serve) => Some(companion::start(plan, serve)?),
        None => None,
    };
    let size = terminal::size(terminals);
    let caller = Caller {
        signals,
        terminals,
        size,
        ignored,
        started,
        since,
        facts: &facts,
        janitor: &janitor,
        companion: companion.as_ref(),
        judge: judge.filter(|_| changes::concerns(plan)),
    };
    let result = guarded(plan, &table, &filter, Ends { ours, theirs }, caller);
    let served = companion.and_then(Companion::finish);
    janitor.dismiss();
    result.map(|outcome| Outcome { served, ..outcome })
}

/// The run proper: whatever it makes is gone when it returns.
fn guarded(
    plan: &SandboxPlan,
    table: &Table,
    filter: &[seccomp::Instruction],
    ends: Ends,
    caller: Caller<'_>,
) -> Result<Outcome, LaunchError> {
    if plan.identity.from_root {
        give_pipes(plan);
    }
    // A process is born into a v2 group. Those of v1 it enters itself, so they are made while it starts.
    let born_into = cgroup::makes_v2(caller.facts, &plan.cgroup).then(|| Groups::make(plan, &caller));
    let placeholders = Placeholders::make(&plan.placeholders)?;
    let removal = Removal { placeholders };
    for lock in removal.placeholders.locks() {
        caller
            .janitor
            .entrust_lock(lock)
            .map_err(|error| LaunchError::step("janitor", error))?;
    }
    let records = Records::start(plan, table)?;
    if let Some(records) = &records {
        let held = caller.janitor.entrust_lock(records.lock());
        held.map_err(|error| LaunchError::step("janitor", error))?;
    }
    let (mut child, groups) = start(plan, filter, ends, born_into, records.as_ref(), &caller)?;
    let before = child.before.take();
    // While the child builds its root: this takes no time that anybody waits for.
    let denials = denials::start_early(plan, table)?;
    let ahead = match plan.containment {
        Containment::Namespaces => Ahead::read(&plan.git.repositories, caller.since),
        Containment::Landlock | Containment::Inherit => Ahead::default(),
    };
    let mut outcome = supervise::watch(plan, child, denials, table, &groups.group, &caller)?;
    if let Some(records) = records {
        records.last_word();
        outcome.refusals = records.finish(outcome.refusals);
    }
    if plan.containment == Containment::Namespaces {
        let found = quarantine::after(plan, &ahead);
        outcome.set_aside.extend(found.aside);
        outcome.not_disarmed.extend(found.armed);
    }
    let asked = before.as_ref().zip(caller.judge);
    let found = changes::after(plan, caller.since, asked, Crew::Several);
    outcome.changes = found.changes;
    outcome.privileges_removed = found.stripped;
    outcome.privileges_unknown = found.not_stripped;
    let missing = groups.missing.iter();
    outcome.layers.missing_limits = missing.map(|m| format!("{}: {}", m.limit, m.reason)).collect();
    Ok(outcome)
}

/// Pipes behind 0, 1 and 2 become the sandbox user's, who could else not open them again through `/dev/stdout`.
///
/// They have no name and no other owner that would miss them: root, who made them, may do everything anyway.
fn give_pipes(plan: &SandboxPlan) {
    let is_pipe = |number: &i32| path::lstat_at(fd::borrow(*number), OsStr::new("")).is_ok_and(|stat| stat.is_pipe());
    for number in (0..3).filter(is_pipe) {
        let name = fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_default();
        if name.as_os_str().as_encoded_bytes().starts_with(b"pipe:") {
            // Without it only the reopening fails.
            let _ = std::os::unix::fs::fchown(fd::borrow(number), Some(plan.identity.uid), Some(plan.identity.gid));
        }
    }
}

/// What the caller's side brings to a run.
pub(crate) struct Caller<'a> {
    signals: OwnedFd,
    /// Which of 0, 1 and 2 are terminals.
    terminals: [bool; 3],
    /// The size of the caller's terminal.
    size: Option<Size>,
    ignored: Vec<i32>,
    started: Instant,
    since: Since,
    facts: &'a cgroup::Facts,
    janitor: &'a Janitor,
    companion: Option<&'a Companion>,
    judge: Option<&'a dyn Judge>,
}

/// The control groups, removed on every way out.
struct Groups {
    group: cgroup::Group,
    missing: Vec<cgroup::Missing>,
}

impl Groups {
    fn make(plan: &SandboxPlan, caller: &Caller<'_>) -> Self {
        let (group, missing) = cgroup::create(caller.facts, &plan.cgroup);
        Self { group, missing }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // What cannot be removed now (a process in uninterruptible sleep) the janitor and the next start try again.
        let _ = self.group.remove();
    }
}

struct Removal {
    placeholders: Placeholders,
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.placeholders.remove();
    }
}

/// A sandbox being built, seen from outside.
struct Child {
    pid: Pid,
    pidfd: OwnedFd,
    control: OwnedFd,
    /// While this is open, init knows that we live.
    _alive: OwnedFd,
    namespaces: Vec<Namespace>,
    warden: Option<Warden>,
    /// What the writable trees held before the command started, if anybody asked.
    before: Option<Before>,
    /// What a canary must not reach.
    _bait: Option<Bait>,
}

fn compile(plan: &SandboxPlan) -> Result<(Table, Vec<seccomp::Instruction>), LaunchError> {
    let table = Table::builtin().map_err(|_| LaunchError::SyscallTable)?;
    let filter = plan
        .seccomp
        .as_ref()
        .map(|spec| seccomp::compile(&table, spec, Arch::NATIVE))
        .unwrap_or_default();
    Ok((table, filter))
}

fn start(
    plan: &SandboxPlan,
    filter: &[seccomp::Instruction],
    ends: Ends,
    born_into: Option<Groups>,
    records: Option<&Records>,
    caller: &Caller<'_>,
) -> Result<(Child, Groups), LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    let Ends { ours, theirs } = ends;
    let (alive_read, alive_write) = fd::pipe().map_err(named("liveness pipe"))?;
    let trees = Trees::prepare(plan)?;
    let wants_bait = plan.canaries.iter().any(|canary| canary.attempt == Attempt::HostSocket);
    let bait = wants_bait.then(Bait::lay).transpose().map_err(named("receipt"))?;
    let v2 = born_into.as_ref().and_then(|groups| groups.group.v2_dir());
    let v2 = v2.and_then(|dir| path::open_dir_exact(dir).ok());
    let mut inheritance = Inheritance {
        plan,
        namespaces: plan.namespaces.clone(),
        filter,
        trees,
        bait: bait.as_ref().map(Bait::name),
        control: theirs,
        alive: alive_read,
        terminals: caller.terminals,
        size: caller.size,
        ignored: caller.ignored.clone(),
        started: caller.started,
        listed: caller.judge.is_some(),
        maker: records.map(Records::maker).cloned(),
        watch_memory: false,
    };
    // The cgroup namespace comes later, from inside: its root must be the group that the child has entered by then. So
    // does the network namespace, which would keep us waiting here.
    let wanted: Vec<Namespace> = plan.namespaces.clone();
    let flags = |list: &[Namespace]| {
        list.iter()
            .filter(|n| !matches!(n, Namespace::Cgroup | Namespace::Net))
            .fold(0, |flags, n| flags | n.flag())
    };
    let (side, namespaces) = match process::clone_into(flags(&wanted), v2.as_ref().map(AsFd::as_fd)) {
        Ok(side) => (side, wanted),
        Err(error) if plan.identity.from_root && wanted.contains(&Namespace::User) => {
            // Root needs no user namespace: its own capabilities build the same sandbox, and are given up all the same.
            let without: Vec<Namespace> = wanted.into_iter().filter(|n| *n != Namespace::User).collect();
            let side = process::clone_into(flags(&without), v2.as_ref().map(AsFd::as_fd))
                .map_err(|_| LaunchError::namespaces(error))?;
            (side, without)
        }
        Err(error) => return Err(LaunchError::namespaces(error)),
    };
    match side {
        Side::Child => {
            drop((ours, alive_write, v2, bait));
            if let Some(janitor) = caller.janitor.raw_socket().map(i32::unsigned_abs) {
                // It would keep the janitor from seeing that the supervisor is dead.
                let _ = fd::close_range(janitor, janitor);
            }
            inheritance.namespaces = namespaces;
            init::main(inheritance)
        }
        Side::Parent { pid, pidfd } => {
            let mut child = Child {
                pid,
                pidfd,
                control: ours,
                _alive: alive_write,
                namespaces,
                warden: None,
                before: None,
                _bait: bait,
            };
            if let Some(records) = records {
                // Before there is anything to record. Without it only pids are missing.
                let _ = records.inside(pid);
            }
            // Before the child may go on: whoever cleans up after us must be able to see its end.
            let entrusted = caller.janitor.entrust_tree(&child.pidfd).map_err(named("janitor"));
            let groups = born_into.unwrap_or_else(|| Groups::make(plan, caller));
            let admitted = entrusted
                .and_then(|()| admit(plan, &mut child, &groups))
                .and_then(|()| hand_over(&inheritance.trees, plan, &child));
            // The child's own, closed while it works; the holders are collected at the end of this.
            drop(inheritance);
            if let Err(error) = admitted {
                let _ = process::pidfd_kill(child.pidfd.as_fd(), libc::SIGKILL);
                let _ = process::wait(pid.0, 0);
                return Err(error);
            }
            if caller.judge.is_some() {
                // While the child builds its root, at whose end it waits for this.
                child.before = Some(Before::list(plan));
                // Should it have failed meanwhile, it has said why.
                let _ = Order::Listed.send(child.control.as_fd());
            }
            Ok((child, groups))
        }
    }
}

/// Gives the child its identity and its control groups, and lets it go on.
fn admit(plan: &SandboxPlan, child: &mut Child, groups: &Groups) -> Result<(), LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    if plan.containment == Containment::Namespaces && child.namespaces.contains(&Namespace::User) {
        let (uid, gid) = (plan.identity.uid, plan.identity.gid);
        if !plan.identity.from_root {
            fs::write(format!("/proc/{}/setgroups", child.pid.0), "deny").map_err(named("setgroups"))?;
        }
        idmap::write_maps(child.pid, &format!("{uid} {uid} 1\n"), &format!("{gid} {gid} 1\n"))
            .map_err(named("id maps"))?;
    }
    if plan.containment == Containment::Namespaces {
        // Before the child goes on: nothing may appear between its look and ours, and it can still be looked into.
        child.warden = Warden::start(plan, child.pid).map_err(named("watch"))?;
    }
    let entry = groups.group.entry().map_err(named("cgroup"))?;
    let watch_memory = groups.missing.iter().any(|m| m.limit == cgroup::Controller::Memory);
    Order::Go { watch_memory }
        .send_with(child.control.as_fd(), &entry.files())
        .map_err(named("start"))
}

/// Maps the owners of the trees, while the child builds what lies around them.
fn hand_over(trees: &Trees, plan: &SandboxPlan, child: &Child) -> Result<Holders, LaunchError> {
    let holders = trees.map_owners(plan)?;
    if !holders.is_empty() {
        Order::Mapped
            .send(child.control.as_fd())
            .map_err(|error| LaunchError::step("owners", error))?;
    }
    Ok(holders)
}

/// The two ends of the control socket.
struct Ends {
    ours: OwnedFd,
    theirs: OwnedFd,
}
