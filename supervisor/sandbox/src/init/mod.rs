//! Pid 1 of the sandbox: builds it from inside, starts the command, reaps, and ends everything when it is time.
//!
//! The command is never pid 1, and pid 1 is never dumpable: nothing inside can look into it or stop it.

mod agent;
mod canaries;
pub mod contained;
mod counters;
pub(crate) mod doors;
mod gate;
mod memory;
mod name;
mod reap;
pub(crate) mod root;
mod tasks;
pub(crate) mod tree;
mod uncounted;

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;
use std::{fs, io};

use gate::Gate;

use crate::cgroup;
use crate::control::{Order, Report, Unheld};
use crate::launch::idmap::Trees;
use crate::plan::{Containment, Namespace, SandboxPlan};
use crate::seccomp::Instruction;
use crate::sys::canary::BaitName;
use crate::sys::errand::NetworkMaker;
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Side};
use crate::sys::socket::Wait;
use crate::sys::{fd, mount, net, path, processors, term};

/// Who has built what stands around us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walls {
    /// We do it ourselves.
    Ours,
    /// A container engine has, and we are pid 1 of its container, without any capability.
    Engine,
}

/// What the supervisor hands to its child. Everything else inherited is closed before the command starts.
#[derive(Debug)]
pub(crate) struct Inheritance<'a> {
    pub(crate) plan: &'a SandboxPlan,
    pub(crate) walls: Walls,
    /// Those we are in: the plan's, or one less where root could not have a user namespace.
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) filter: &'a [Instruction],
    /// A socket of the host, for one of the canaries.
    pub(crate) bait: Option<BaitName>,
    pub(crate) control: OwnedFd,
    /// Readable end of a pipe whose other end only the supervisor holds.
    pub(crate) alive: OwnedFd,
    /// Which of 0, 1 and 2 are terminals, and get our own instead.
    pub(crate) terminals: [bool; 3],
    /// The size of the caller's terminal.
    pub(crate) size: Option<term::Size>,
    pub(crate) modes: Option<term::Numbers>,
    /// Signals that the caller ignores, and the command too.
    pub(crate) ignored: Vec<i32>,
    pub(crate) started: Instant,
    /// The supervisor lists what the command could change, and says when it has.
    pub(crate) listed: bool,
    /// What no cgroup counts.
    pub(crate) unheld: Unheld,
    /// We were born into our network namespace.
    pub(crate) has_network: bool,
    /// The name under which the Landlock domain is made, if its records are read.
    pub(crate) maker: Option<CString>,
}

/// The step that failed, for the report.
struct Failed {
    step: &'static str,
    detail: String,
    error: io::Error,
}

trait Named<T> {
    fn step(self, step: &'static str) -> Result<T, Failed>;
}

impl<T> Named<T> for io::Result<T> {
    fn step(self, step: &'static str) -> Result<T, Failed> {
        self.map_err(|error| Failed {
            step,
            detail: String::new(),
            error,
        })
    }
}

/// Tells the supervisor what failed, and ends this process. Nothing of the command has run.
fn give_up(control: &OwnedFd, failed: Failed) -> ! {
    let errno = failed.error.raw_os_error().unwrap_or(libc::EIO);
    let report = Report::Failed {
        step: failed.step.to_owned(),
        errno,
        detail: failed.detail,
    };
    // If the supervisor is gone there is nobody left to tell.
    let _ = report.send(control.as_fd());
    process::exit_now(125)
}

/// Runs as the child of the supervisor. Never returns.
pub(crate) fn main(mut inheritance: Inheritance<'_>) -> ! {
    // What stays readable tells of flags and paths, and opens none of them.
    name::hide_arguments(&inheritance.plan.command.argv);
    let Prepared { terminal, gate } = match prepare(&mut inheritance) {
        Ok(prepared) => prepared,
        Err(failed) => give_up(&inheritance.control, failed),
    };
    let second = match inheritance.walls {
        Walls::Ours => process::clone_into(0, None).map(|side| match side {
            Side::Child => None,
            Side::Parent { pid, .. } => {
                processors::part_from(pid);
                Some(pid)
            }
        }),
        Walls::Engine => process::fork(),
    };
    match second.step("second process") {
        Ok(None) => agent::main(inheritance, terminal, gate.map(Gate::before)),
        Ok(Some(pid)) => {
            drop(terminal);
            // While the second process locks itself in: each of them has a processor to wait for.
            if let Err(failed) = gate.map_or(Ok(()), Gate::open).step("old root") {
                give_up(&inheritance.control, failed);
            }
            reap::main(inheritance, pid)
        }
        Err(failed) => give_up(&inheritance.control, failed),
    }
}

/// What is left to do when there are two processes.
struct Prepared {
    /// What the command gets for a terminal, if anything.
    terminal: Option<OwnedFd>,
    /// None if we have no root of our own.
    gate: Option<Gate>,
}

/// Everything that init does before the second process.
fn prepare(inheritance: &mut Inheritance<'_>) -> Result<Prepared, Failed> {
    let plan = inheritance.plan;
    // We are a copy of the supervisor in new namespaces: nobody in our user namespace yet, outside still the caller.
    tie(plan, inheritance.walls).step("die with parent")?;
    if plan.containment != Containment::Inherit {
        go_first();
        processors::leave_real_time();
    }
    // None in a container, where it came with the rest.
    if let Some(mask) = path::callers_umask() {
        path::umask(mask);
    }
    // Beside the mounts: the kernel sets up dozens of tables for it, and whoever asks waits as long as for a whole root.
    let makes_network = inheritance.namespaces.contains(&Namespace::Net) && !inheritance.has_network;
    let network = makes_network
        .then(NetworkMaker::start)
        .transpose()
        .step("network namespace")?;
    wait_for(Order::Go, inheritance).step("wait for supervisor")?;
    let gate = match plan.containment {
        Containment::Namespaces if inheritance.walls == Walls::Engine => None,
        Containment::Namespaces => Some(enter(inheritance, network)?),
        // No pid namespace holds the tree together: orphans come to us, and we end them.
        Containment::Landlock | Containment::Inherit => {
            process::child_subreaper().step("subreaper")?;
            None
        }
    };
    join_groups(inheritance)?;
    if inheritance.listed {
        wait_for(Order::Listed, inheritance).step("wait for the list of files")?;
    }
    // PDEATHSIG is lost by a change of ids, and never fires for a parent that died before it was set.
    tie(plan, inheritance.walls).step("die with parent")?;
    if event::poll(
        &[(Some(inheritance.alive.as_fd()), Want::Nothing)],
        Some(std::time::Duration::ZERO),
    )
    .step("liveness")?
    .first()
    .is_some_and(|ready| ready.hangup)
    {
        process::exit_now(125);
    }
    // Before the command exists: it has our uid, and nothing of us may be open to it for a moment.
    process::set_dumpable(false).step("not dumpable")?;
    // A session of our own: no terminal of the host is ours, and its signals do not reach us.
    match process::setsid() {
        // The engine has done it for its pid 1.
        Err(error) if inheritance.walls == Walls::Ours => return Err(error).step("session"),
        Ok(()) | Err(_) => {}
    }
    if !inheritance.terminals.contains(&true) {
        return Ok(Prepared { terminal: None, gate });
    }
    let master = term::open_master().step("pseudo-terminal")?;
    let slave = term::open_slave(master.as_fd()).step("pseudo-terminal")?;
    if let Some(size) = inheritance.size {
        term::set_size(master.as_fd(), size).step("pseudo-terminal")?;
    }
    let mut modes = term::modes(slave.as_fd()).step("pseudo-terminal")?;
    if let Some(callers) = inheritance.modes {
        modes = modes.like(callers);
    }
    if term::is_translated(inheritance.terminals) {
        modes = term::plain_output(&modes);
    }
    term::set_modes(slave.as_fd(), &modes).step("pseudo-terminal")?;
    // Without a pid namespace a child can join our group; if it used the terminal then, the kernel would stop us with it.
    for signal in [libc::SIGTTIN, libc::SIGTTOU] {
        event::ignore(signal);
    }
    term::make_controlling(slave.as_fd()).step("controlling terminal")?;
    Report::Terminal(master)
        .send(inheritance.control.as_fd())
        .step("pseudo-terminal")?;
    Ok(Prepared {
        terminal: Some(slave),
        gate,
    })
}

/// How much more likely than others we are to be ended where the whole machine is out of memory: of half of it.
const FIRST: i32 = 500;

/// If the machine runs out of memory, the sandbox is ended before the caller's other programs. Everybody may say so of themselves;
/// inside, where `/proc` is read-only, nobody can take it back. Without it the kernel chooses as always.
fn go_first() {
    let at = "/proc/self/oom_score_adj";
    let now = fs::read_to_string(at)
        .ok()
        .and_then(|text| text.trim().parse::<i32>().ok());
    if now.is_some_and(|now| now < FIRST) {
        let _ = fs::write(at, FIRST.to_string());
    }
}

/// Our death is the death of our pid namespace, so we go with the supervisor. Without such a namespace we must outlive it:
/// nobody else knows our descendants, and the liveness pipe tells us when to end them, if nobody has stopped us. In a container
/// the supervisor is not our parent, and the pipe is all there is.
fn tie(plan: &SandboxPlan, walls: Walls) -> io::Result<()> {
    match plan.containment {
        Containment::Namespaces if walls == Walls::Ours => process::die_with_parent(),
        Containment::Namespaces => Ok(()),
        Containment::Landlock | Containment::Inherit => process::wake_with_parent(),
    }
}

/// Enters the groups, which were made while we built our root, and makes them the root of what can be seen of them.
fn join_groups(inheritance: &mut Inheritance<'_>) -> Result<(), Failed> {
    match next_order(inheritance).step("wait for supervisor")? {
        Some((Order::Enter(unheld), files)) => {
            inheritance.unheld = unheld;
            // Their numbers are free again at the end of this: they are needed below a limit that may be low.
            cgroup::Entry::from_files(files).enter().step("cgroup")?;
        }
        Some(_) | None => process::exit_now(125),
    }
    if inheritance.walls == Walls::Ours && inheritance.namespaces.contains(&Namespace::Cgroup) {
        process::unshare(libc::CLONE_NEWCGROUP).step("cgroup namespace")?;
    }
    Ok(())
}

/// Waits for this order, which brings nothing with it.
fn wait_for(order: Order, inheritance: &Inheritance<'_>) -> io::Result<()> {
    match next_order(inheritance)? {
        Some((given, _)) if given == order => Ok(()),
        Some(_) | None => process::exit_now(125),
    }
}

/// Waits for trees that only the supervisor could open.
fn next_trees(inheritance: &Inheritance<'_>) -> io::Result<Vec<OwnedFd>> {
    match next_order(inheritance)? {
        Some((Order::Trees, trees)) if !trees.is_empty() => Ok(trees),
        Some(_) | None => process::exit_now(125),
    }
}

/// Waits for an order of the supervisor. Whatever comes but the one expected, its end included, ends us: nothing has run.
fn next_order(inheritance: &Inheritance<'_>) -> io::Result<Option<(Order, Vec<OwnedFd>)>> {
    // Its own death would not wake us on the control socket alone: the janitor holds the other end, too.
    let waiting = [
        (Some(inheritance.control.as_fd()), Want::Read),
        (Some(inheritance.alive.as_fd()), Want::Nothing),
    ];
    while !event::poll(&waiting, None)?.iter().any(|r| r.readable || r.hangup) {}
    Order::receive_with(inheritance.control.as_fd(), Wait::No)
}

/// From a fresh clone to a finished root, behind which the host's still stands.
fn enter(inheritance: &Inheritance<'_>, network: Option<NetworkMaker>) -> Result<Gate, Failed> {
    let plan = inheritance.plan;
    let identity = &plan.identity;
    let in_user_namespace = inheritance.namespaces.contains(&Namespace::User);
    if identity.from_root {
        process::drop_groups().step("groups")?;
        if in_user_namespace {
            // Kernel uid 0 ends here: from now on we are the sandbox's user, with capabilities in our namespace only.
            process::become_ids(identity.uid, identity.gid).step("identity")?;
        } else {
            // Still root, but what we create in the new root belongs to the sandbox's user.
            process::set_fs_ids(identity.uid, identity.gid).step("identity")?;
            mount::make_all_private().step("private mounts")?;
        }
    }
    if in_user_namespace {
        counters::bound();
    }
    // The new root shows no settings that could be changed.
    let settings = network.as_ref().and_then(|_| net::Settings::open().ok());
    let umask = path::umask(0);
    let sources = root::Sources {
        trees: &|| Trees::receive(plan, || next_trees(inheritance)),
        mapped: &|| wait_for(Order::Mapped, inheritance),
    };
    let old = root::build(plan, sources).map_err(|failure| Failed {
        step: "mounts",
        detail: failure.what,
        error: failure.error,
    })?;
    path::umask(umask);
    if inheritance.namespaces.contains(&Namespace::Uts) {
        process::set_hostname("sandbox").step("hostname")?;
    }
    if let Some(network) = network {
        // Its maker has capabilities, and as root's it has root's uid: it is gone when this returns.
        let namespace = network.finish().step("network namespace")?;
        process::setns(namespace.as_fd()).step("network namespace")?;
        // One bound among several, and not every kernel has it: docs/threat-model.md.
        let _ = settings.map(|settings| settings.keep_no_copies());
    }
    if !plan.doors.list.is_empty() {
        let open = doors::open(&plan.doors).step("doors")?;
        Report::Doors(open).send(inheritance.control.as_fd()).step("doors")?;
    }
    Gate::new(old).step("old root")
}

/// Closes everything but the two descriptors pid 1 needs.
fn keep_only(control: &OwnedFd, alive: &OwnedFd) -> io::Result<()> {
    let (a, b) = (control.as_raw_fd().unsigned_abs(), alive.as_raw_fd().unsigned_abs());
    let (low, high) = (a.min(b), a.max(b));
    fd::close_range(0, low.saturating_sub(1))?;
    fd::close_range(low + 1, high.saturating_sub(1))?;
    fd::close_range(high + 1, fd::LAST)
}
