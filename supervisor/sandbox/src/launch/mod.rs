//! From a plan to a running command and back to an outcome: the supervisor's side.
//!
//! INVARIANT: whatever happens, what was made here (processes, cgroups, placeholders) is gone when `run` returns; if this
//! process is killed, the janitor sees to it.

mod changes;
mod companion;
mod covered;
mod denials;
pub(crate) mod idmap;
mod inside;
mod janitor;
mod lent;
pub(crate) mod locks;
mod names;
mod outcome;
pub(crate) mod placeholders;
mod places;
mod porter;
pub(crate) mod quarantine;
mod scout;
mod setids;
mod sources;
mod start;
mod stdio;
mod supervise;
mod terminal;
pub mod vessel;
mod warden;
mod witness;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use changes::{Change, Changed, Changes, Doubt, Found, Judge, Verdict};
pub use companion::Serve;
pub use denials::interpreter;
pub use denials::records::NoRecords;
pub use denials::{Because, Client, Denied, DeniedKind, Refusals, Subject};
pub use janitor::Leaving;
pub use locks::{NoTreeLock, TreeLock, holder};
pub use outcome::{Appeared, End, LaunchError, Layers, Outcome};
pub use placeholders::placeholder_at;
pub use places::Moved;
pub use porter::Porter;
pub use quarantine::{Quarantine, nested};
pub use scout::Scout;

use crate::cgroup;
use crate::plan::{Containment, Kind, SandboxPlan};
use crate::seccomp::{self, Arch, Table};
use crate::sys::event;
use crate::sys::limits::{self, Resource};
use crate::sys::term::{Numbers, Size};
use crate::sys::{fd, socket, term};
use crate::workspace::Layer;
use changes::{Aftermath, Crew, Since, Trees};
use companion::Companion;
use denials::records::Records;
use janitor::Janitor;
use placeholders::Placeholders;
use places::{Places, Whereabouts};
use quarantine::{Ahead, Disarmed};
use start::{Building, Child, Ends};
use vessel::{Carrier, Vessel};
use warden::Lost;
use witness::Seen;

/// What the caller brings besides the plan.
#[expect(missing_debug_implementations, reason = "functions have nothing to show")]
pub struct Aid<'a> {
    /// For a plan with doors.
    pub serve: Option<&'a dyn Serve>,
    /// For a plan with a door of the porter's.
    pub porter: Option<&'a dyn Porter>,
    /// For who wants to know what was changed.
    pub judge: Option<&'a dyn Judge>,
    /// Sent before there was a plan.
    pub scout: Option<Scout>,
    /// Those of a copy that is in place.
    pub layers: &'a [Layer],
    /// A container engine's walls in place of ours.
    pub vessel: Option<&'a dyn Vessel>,
    /// Done while the sandbox is being built, before anything runs in it. `Break` calls the run off.
    pub meanwhile: &'a mut dyn FnMut() -> ControlFlow<()>,
}

/// Numbers read there are killed and given owners: they must be those of our own processes.
fn check_proc() -> Result<(), LaunchError> {
    let own = std::process::id().to_string();
    match std::fs::read_link("/proc/self") {
        Ok(found) if found.as_os_str() == own.as_str() => Ok(()),
        Ok(_) => Err(LaunchError::Proc("belongs to other processes")),
        Err(_) => Err(LaunchError::Proc("does not show this process")),
    }
}

/// Carries out the plan. The process must have one thread.
pub fn run(plan: &SandboxPlan, aid: Aid<'_>) -> Result<(Outcome, Leaving), LaunchError> {
    let Aid {
        serve,
        porter,
        judge,
        scout,
        layers,
        vessel,
        meanwhile,
    } = aid;
    let (started, since) = (Instant::now(), Since::now());
    fd::ensure_stdio().map_err(|error| LaunchError::step("standard files", error))?;
    check_proc()?;
    stdio::check(plan)?;
    let _stand_ins = covered::stand_ins(plan)?;
    if plan.rlimits.iter().any(|(resource, _)| *resource == Resource::Nofile) {
        // For descriptors that we hand over, which count for the user; the command has a limit of its own.
        limits::raise(Resource::Nofile).map_err(|error| LaunchError::step("open files", error))?;
    }
    let terminals = [0, 1, 2].map(|number| term::is_terminal(fd::borrow(number)));
    let _flags = lent::Flags::of(terminals);
    let (table, filter) = compile(plan)?;
    let ignored = event::ignored_signals();
    // Whoever ignores it is not told of the end of its children, nor can it wait for them.
    event::restore(libc::SIGCHLD);
    let signals =
        event::signal_fd(&supervise::signals(&ignored)).map_err(|error| LaunchError::step("signals", error))?;
    let (ours, theirs) = socket::pair().map_err(|error| LaunchError::step("control socket", error))?;
    denials::records::put_back();
    let facts = cgroup::detect();
    let places = Places::hold(plan);
    let janitor = Janitor::new(&facts, plan, since, &places, terminals);
    if vessel.is_some() || janitor.is_needed_first() {
        janitor.hire()?;
    }
    let companion = match serve.filter(|_| !plan.doors.list.is_empty()) {
        Some(serve) => Some(companion::start(plan, serve)?),
        None => None,
    };
    // Last of ours, so that it holds none of their ends.
    let carrier = vessel.map(vessel::carrier).transpose()?;
    if let Some(carrier) = &carrier {
        let entrusted = carrier.handle().and_then(|handle| janitor.entrust_carrier(&handle));
        entrusted.map_err(|error| LaunchError::step("janitor", error))?;
    }
    let size = terminal::size(terminals);
    let modes = terminal::modes(terminals);
    let caller = Caller {
        signals,
        terminals,
        size,
        modes,
        ignored,
        started,
        since,
        facts: &facts,
        janitor: &janitor,
        places: &places,
        companion: companion.as_ref(),
        porter,
        judge: judge.filter(|_| changes::concerns(plan)),
        layers,
    };
    let building = Building { scout, meanwhile };
    let engine = vessel.zip(carrier.as_ref());
    let result = guarded(plan, &table, &filter, Ends { ours, theirs }, caller, building, engine);
    drop(carrier);
    let served = companion.and_then(Companion::finish);
    let (result, groups) = match result {
        Ok((outcome, groups)) => (Ok(outcome), groups),
        Err(error) => (Err(error), Vec::new()),
    };
    let leaving = janitor.dismiss(groups);
    result.map(|outcome| (Outcome { served, ..outcome }, leaving))
}

/// As `run`, for who brings nothing.
pub fn run_plain(plan: &SandboxPlan) -> Result<Outcome, LaunchError> {
    let aid = Aid {
        serve: None,
        porter: None,
        judge: None,
        scout: None,
        layers: &[],
        vessel: None,
        meanwhile: &mut || ControlFlow::Continue(()),
    };
    run(plan, aid).map(|(outcome, _leaving)| outcome)
}

/// The run proper: whatever it makes is gone when it returns, but for the empty groups.
fn guarded(
    plan: &SandboxPlan,
    table: &Table,
    filter: &[seccomp::Instruction],
    ends: Ends,
    caller: Caller<'_>,
    mut building: Building<'_>,
    engine: Option<(&dyn Vessel, &Carrier)>,
) -> Result<(Outcome, Vec<PathBuf>), LaunchError> {
    if plan.identity.from_root {
        lent::open_pipes(plan);
    }
    // A process is born into a v2 group. Those of v1 it enters itself, so they are made while it starts; an engine's are its own.
    let makes = engine.is_none() && cgroup::makes_v2(caller.facts, &plan.cgroup);
    let born_into = makes.then(|| Groups::make(plan, &caller));
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
    let (mut child, groups) = match engine {
        None => start::start(plan, filter, ends, born_into, records.as_ref(), &caller, building)?,
        Some((vessel, carrier)) => {
            drop(ends);
            building.meanwhile()?;
            let child = vessel::start(plan, vessel, carrier, &caller)?;
            let groups = Groups::of_engine(&child, vessel);
            (child, groups)
        }
    };
    let (before, witness) = (child.before.take(), child.witness.take());
    let nested = std::mem::take(&mut child.nested);
    let as_they_are = std::mem::take(&mut child.as_they_are);
    supervise::tell_as_they_are(&as_they_are);
    // While the child builds its root: this takes no time that anybody waits for.
    let denials = denials::start_early(plan, table);
    let ahead = match plan.containment {
        Containment::Namespaces => Ahead::read(&plan.git.repositories, caller.since, plan.git.others()),
        Containment::Landlock | Containment::Inherit => Ahead::default(),
    };
    let (mut outcome, rest) = supervise::watch(plan, child, denials, table, &groups.group, &caller)?;
    if let Some(records) = records {
        records.last_word();
        drop(rest.domain);
        outcome.refusals = records.finish(outcome.refusals);
    }
    let whereabouts = caller.places.look();
    if plan.containment == Containment::Namespaces {
        let found = disarm(plan, &rest.lost, ahead, caller.places, &whereabouts);
        outcome.set_aside = found.aside;
        outcome.not_disarmed = found.armed;
    }
    let asked = before.as_ref().zip(caller.judge);
    let found = match witness.as_ref().map(|witness| witness.ask(plan, rest.asked)) {
        Some(Seen::Nothing) => Aftermath::default(),
        Some(Seen::Perhaps) | None => {
            let here = |(at, kind): (PathBuf, Kind)| Some((whereabouts.now(&at)?, kind));
            let trees = Trees {
                places: caller.places,
                whereabouts: &whereabouts,
                nested: &nested.into_iter().filter_map(here).collect::<Vec<_>>(),
            };
            changes::after(plan, caller.since, trees, asked, Crew::Several)
        }
    };
    supervise::tell_moved(&whereabouts.moved);
    outcome.moved = whereabouts.moved;
    outcome.as_they_are = as_they_are;
    outcome.changes = found.changes;
    outcome.privileges_removed = found.stripped;
    outcome.privileges_unknown = found.not_stripped;
    outcome.layers.missing_limits = match engine {
        None => groups
            .missing
            .iter()
            .map(|m| format!("{}: {}", m.limit, m.reason))
            .collect(),
        Some((vessel, _)) => vessel.missing_limits(),
    };
    Ok((outcome, groups.group.hand_over()))
}

/// Disarms what the run has made, where the trees are now.
fn disarm(plan: &SandboxPlan, lost: &Lost, ahead: Ahead, places: &Places, whereabouts: &Whereabouts) -> Disarmed {
    let present = whereabouts.plan(plan);
    let mut found = Disarmed::default();
    // What the host moved, and with it all that lies in it, is the same as before: its cover went with it.
    let unknown = lost.removed.iter().filter(|at| !places.names.knows(at));
    let mut names: BTreeSet<PathBuf> = unknown.filter_map(|at| whereabouts.now(at)).collect();
    let concerns = |at: &Path| lost.removed.contains(at) || lost.doubtful.contains(at);
    names.extend(places.names.replaced(whereabouts, concerns));
    for path in names {
        quarantine::judge(&present, &path, &mut found);
    }
    let after = quarantine::after(&present, &ahead.moved(|at| whereabouts.now(at)));
    found.aside.extend(after.aside);
    found.armed.extend(after.armed);
    found
}

/// What the caller's side brings to a run.
pub(crate) struct Caller<'a> {
    signals: OwnedFd,
    /// Which of 0, 1 and 2 are terminals.
    terminals: [bool; 3],
    /// The size of the caller's terminal.
    size: Option<Size>,
    modes: Option<Numbers>,
    ignored: Vec<i32>,
    started: Instant,
    since: Since,
    facts: &'a cgroup::Facts,
    janitor: &'a Janitor<'a>,
    places: &'a Places,
    companion: Option<&'a Companion>,
    porter: Option<&'a dyn Porter>,
    judge: Option<&'a dyn Judge>,
    layers: &'a [Layer],
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

    /// An engine's own, which it also removes.
    fn of_engine(child: &Child, vessel: &dyn Vessel) -> Self {
        let group = cgroup::Group::of_process(child.pid, &vessel.limits());
        let missing = Vec::new();
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

fn compile(plan: &SandboxPlan) -> Result<(Table, Vec<seccomp::Instruction>), LaunchError> {
    let table = Table::builtin().map_err(|_| LaunchError::SyscallTable)?;
    let filter = plan
        .seccomp
        .as_ref()
        .map(|spec| seccomp::compile(&table, spec, Arch::NATIVE))
        .unwrap_or_default();
    Ok((table, filter))
}
