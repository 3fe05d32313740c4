//! From a plan to a child that builds its sandbox: the supervisor's side of it, up to the moment when only the child works.

use std::fs;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::changes::Before;
use super::denials::records::Records;
use super::idmap::{self, Holders, Mapped, Trees};
use super::outcome::LaunchError;
use super::scout::{Abroad, Scout};
use super::setids::Mounts;
use super::warden::Warden;
use super::witness::Witness;
use super::{Caller, Groups, setids};
use crate::cgroup;
use crate::control::{Order, Unheld};
use crate::init::{self, Inheritance, Walls};
use crate::plan::{Containment, Kind, Namespace, SandboxPlan};
use crate::receipt::Attempt;
use crate::seccomp;
use crate::sys::canary::Bait;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::{fd, path, processors};
use crate::workspace::Layer;

/// How long an engine's container may take to end at our word.
const ENGINE: Duration = Duration::from_secs(10);

/// What is of use until the sandbox is built.
pub(super) struct Building<'a> {
    pub(super) scout: Option<Scout>,
    pub(super) meanwhile: &'a mut dyn FnMut() -> ControlFlow<()>,
}

impl Building<'_> {
    /// The caller's own part.
    pub(super) fn meanwhile(&mut self) -> Result<(), LaunchError> {
        match (self.meanwhile)() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(LaunchError::CalledOff),
        }
    }
}

/// A sandbox being built, seen from outside.
pub(super) struct Child {
    pub(super) pid: Pid,
    pub(super) pidfd: OwnedFd,
    pub(super) control: OwnedFd,
    /// While this is open, init knows that we live.
    pub(super) alive: Option<OwnedFd>,
    pub(super) namespaces: Vec<Namespace>,
    pub(super) warden: Option<Warden>,
    /// From here on the deadline counts.
    pub(super) begun: Instant,
    /// What the writable trees held before the command started, if anybody asked.
    pub(super) before: Option<Before>,
    /// Mounts that lie in what the command writes as another owner.
    pub(super) nested: Vec<(PathBuf, Kind)>,
    /// Trees whose owners could not be mapped.
    pub(super) as_they_are: Vec<PathBuf>,
    /// Sees what the command opens for writing, if only that is to be known.
    pub(super) witness: Option<Witness>,
    /// What a canary must not reach.
    pub(super) _bait: Option<Bait>,
}

impl Child {
    /// Ends the sandbox, and returns when nothing of it is left.
    pub(super) fn end(&mut self) {
        // Without a pid namespace init must live to end its descendants: it sees that we are gone.
        self.alive = None;
        if self.namespaces.contains(&Namespace::Pid) {
            let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        } else {
            // Unless somebody has stopped it.
            let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGCONT);
        }
        // An engine's child is not ours to collect, nor always to kill: then its carrier removes it.
        let is_engines = process::wait(self.pid.0, libc::WNOHANG | libc::__WALL)
            .is_err_and(|error| error.raw_os_error() == Some(libc::ECHILD));
        let patience = is_engines.then_some(ENGINE);
        while self.waits_for_end(patience) && !is_engines {}
        let _ = process::wait(self.pid.0, libc::WNOHANG | libc::__WALL);
    }

    /// True if it is still there after that time.
    fn waits_for_end(&self, patience: Option<Duration>) -> bool {
        let end = [(Some(self.pidfd.as_fd()), Want::Read)];
        event::poll(&end, patience).is_ok_and(|ready| !ready.iter().any(|ready| ready.readable))
    }
}

impl Drop for Child {
    /// On every way out nothing runs on: what comes next uncovers names.
    fn drop(&mut self) {
        if self.waits_for_end(Some(Duration::ZERO)) {
            self.end();
        }
    }
}

/// Makes the child, its janitor and its groups, and lets it go.
pub(super) fn start(
    plan: &SandboxPlan,
    filter: &[seccomp::Instruction],
    ends: Ends,
    born_into: Option<Groups>,
    records: Option<&Records>,
    caller: &Caller<'_>,
    mut building: Building<'_>,
) -> Result<(Child, Groups), LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    let Ends { ours, theirs } = ends;
    let (alive_read, alive_write) = fd::pipe().map_err(named("liveness pipe"))?;
    let bait = lay_bait(plan)?;
    let v2 = born_into.as_ref().and_then(|groups| groups.group.v2_dir());
    let v2 = v2.and_then(|dir| path::open_dir_exact(dir).ok());
    let mut inheritance = Inheritance {
        plan,
        walls: Walls::Ours,
        namespaces: plan.namespaces.clone(),
        filter,
        bait: bait.as_ref().map(Bait::name),
        control: theirs,
        alive: alive_read,
        terminals: caller.terminals,
        size: caller.size,
        modes: caller.modes,
        ignored: caller.ignored.clone(),
        started: caller.started,
        listed: caller.judge.is_some(),
        unheld: Unheld::default(),
        has_network: false,
        maker: records.map(Records::maker).cloned(),
    };
    let network = building.scout.take().and_then(|scout| scout.report(plan));
    let abroad = network.as_ref().and_then(Abroad::go);
    inheritance.has_network = abroad.is_some();
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
            drop((ours, alive_write, v2, bait, abroad));
            if let Some(janitor) = caller.janitor.raw_socket().map(i32::unsigned_abs) {
                // It would keep the janitor from seeing that the supervisor is dead.
                let _ = fd::close_range(janitor, janitor);
            }
            inheritance.namespaces = namespaces;
            init::main(inheritance)
        }
        Side::Parent { pid, pidfd } => {
            processors::part_from(pid);
            let mut child = Child {
                pid,
                pidfd,
                control: ours,
                alive: Some(alive_write),
                namespaces,
                warden: None,
                begun: caller.started,
                before: None,
                nested: Vec::new(),
                as_they_are: Vec::new(),
                witness: None,
                _bait: bait,
            };
            if let Some(records) = records {
                // Before there is anything to record. Without it only pids are missing.
                let _ = records.inside(pid);
            }
            let admitted = abroad
                .map_or(Ok(()), Abroad::come_home)
                .map_err(named("network namespace"))
                .and_then(|()| admit(plan, &mut child, caller.layers))
                .and_then(|()| hand_over(plan, &mut child, caller))
                .and_then(|holders| {
                    building.meanwhile()?;
                    entrust(&child, caller).map(|()| holders)
                });
            let groups = born_into.unwrap_or_else(|| Groups::make(plan, caller));
            let admitted = admitted.and_then(|holders| {
                check_limits(plan, &groups)?;
                group(&child, &groups).map(|()| holders)
            });
            // The child's own, closed while it works; the holders are collected at the end of this.
            drop(inheritance);
            // If not, the child ends with its handle.
            admitted?;
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

/// For the canary that looks for it.
pub(super) fn lay_bait(plan: &SandboxPlan) -> Result<Option<Bait>, LaunchError> {
    let wanted = plan.canaries.iter().any(|canary| canary.attempt == Attempt::HostSocket);
    let laid = wanted.then(Bait::lay).transpose();
    laid.map_err(|error| LaunchError::step("receipt", error))
}

/// Gives the child its identity, and lets it go on.
fn admit(plan: &SandboxPlan, child: &mut Child, layers: &[Layer]) -> Result<(), LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    if plan.containment == Containment::Namespaces && child.namespaces.contains(&Namespace::User) {
        let (uid, gid) = (plan.identity.uid, plan.identity.gid);
        if !plan.identity.from_root {
            fs::write(format!("/proc/{}/setgroups", child.pid.0), "deny").map_err(named("setgroups"))?;
        }
        idmap::write_maps(child.pid, &format!("{uid} {uid} 1\n"), &format!("{gid} {gid} 1\n")).map_err(|error| {
            match idmap::unmapped(uid, gid) {
                Some(id) => LaunchError::Unmapped { id },
                None => LaunchError::step("id maps", error),
            }
        })?;
    }
    if plan.containment == Containment::Namespaces {
        // Before the child goes on: nothing may appear between its look and ours, and it can still be looked into.
        child.warden = Warden::start(plan, child.pid, layers).map_err(named("watch"))?;
    }
    Order::Go.send(child.control.as_fd()).map_err(named("start"))
}

/// A limit that somebody wrote holds, or nothing runs.
fn check_limits(plan: &SandboxPlan, groups: &Groups) -> Result<(), LaunchError> {
    for insisted in &plan.insisted {
        if let Some(missing) = groups.missing.iter().find(|missing| missing.limit == insisted.limit) {
            return Err(LaunchError::Unlimited {
                clause: insisted.clause.clone(),
                origin: insisted.origin.clone(),
                reason: missing.reason.to_string(),
            });
        }
    }
    Ok(())
}

/// Lets the child enter its control groups, which were made while it built its root.
fn group(child: &Child, groups: &Groups) -> Result<(), LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    let entry = groups.group.entry().map_err(named("cgroup"))?;
    let is_missing = |limit| groups.missing.iter().any(|missing| missing.limit == limit);
    let unheld = Unheld {
        memory: is_missing(cgroup::Controller::Memory),
        pids: is_missing(cgroup::Controller::Pids),
    };
    Order::Enter(unheld)
        .send_with(child.control.as_fd(), &entry.files())
        .map_err(named("start"))
}

/// Before there is a command: whoever cleans up after us must be able to see the end of the tree.
fn entrust(child: &Child, caller: &Caller<'_>) -> Result<(), LaunchError> {
    caller.janitor.hire()?;
    let told = caller.janitor.entrust_tree(&child.pidfd);
    let told = told.and_then(|()| caller.janitor.entrust_mounts(child.pid, caller.layers));
    told.map_err(|error| LaunchError::step("janitor", error))
}

/// Opens what only we can, for a child that has begun meanwhile.
fn hand_over(plan: &SandboxPlan, child: &mut Child, caller: &Caller<'_>) -> Result<Holders, LaunchError> {
    let named = |error| LaunchError::step("sources", error);
    let trees = Trees::prepare(plan)?;
    trees.hand_over(child.control.as_fd()).map_err(named)?;
    // It has others to mount before it needs these.
    let Mapped { holders, as_they_are } = trees.map_owners(plan)?;
    child.as_they_are = as_they_are;
    if trees.are_mapped(plan) {
        Order::Mapped.send(child.control.as_fd()).map_err(named)?;
    }
    // Nobody waits for this, and nothing runs before a later order. With a list of what was changed all files are looked at.
    if setids::concerns(plan)
        && let Ok(mounts) = Mounts::read()
    {
        child.nested = mounts.nested(plan);
        if caller.judge.is_none() {
            child.witness = Witness::post(plan, &trees, &mounts);
        }
    }
    Ok(holders)
}

/// The two ends of the control socket.
pub(super) struct Ends {
    pub(super) ours: OwnedFd,
    pub(super) theirs: OwnedFd,
}
