//! The walls of a container engine in place of our own: starts the container from a process of its own, meets our pid 1 in
//! it, looks at what the engine has mounted, and goes on as with any other sandbox.
//!
//! INVARIANT: the supervisor has one thread and speaks to no engine; a *carrier*, forked before anything else exists, does, and
//! removes the container when it is told to or when the supervisor is gone.

mod carrier;
mod staging;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use carrier::Line;
pub(super) use carrier::{Carrier, start as carrier};
pub use staging::{detach_trees, stage_trees};

use super::Caller;
use super::changes::Before;
use super::outcome::LaunchError;
use super::setids::Mounts;
use super::start::{Child, lay_bait};
use super::warden::Warden;
use crate::cgroup;
use crate::control::{Order, Unheld};
use crate::init::contained::{HANDED, Inside, Kernel};
use crate::init::doors;
use crate::plan::{Doors, Namespace, SandboxPlan};
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::{self, Wait};
use crate::sys::term::Size;
use crate::sys::{fd, net, path};

/// How long an engine may take to start a container.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a container engine does for a run.
pub trait Vessel {
    /// Runs in the carrier. Prepares what needs no container, waits for the supervisor's word, starts the container, and says so;
    /// removes it when told, or when the line is closed without a word.
    fn carry(&self, line: &Line);

    /// Makes what is mounted, now that the host's side is ready: called in the supervisor, before the carrier goes on.
    fn stage(&self) -> Result<(), LaunchError>;

    /// The socket that is mounted at [`crate::init::contained::SOCKET`].
    fn socket(&self) -> PathBuf;

    /// What pid 1 is to do.
    fn inside(&self) -> &Inside;

    /// What must lie where, seen from inside: the host's path, and the path in the container.
    fn expected(&self) -> Vec<(PathBuf, PathBuf)>;

    /// Is there a network namespace of the container's own that we can enter?
    fn has_network(&self) -> bool;

    fn namespaces(&self) -> Vec<Namespace>;

    /// The limits that the engine's own group carries.
    fn limits(&self) -> cgroup::Request;

    /// Those that only something else enforces, in words.
    fn missing_limits(&self) -> Vec<String>;
}

/// Binds the meeting point. Before the container exists: the socket is mounted into it.
pub(super) fn listen(vessel: &dyn Vessel) -> Result<UnixListener, LaunchError> {
    let at = vessel.socket();
    let named = |error| LaunchError::step("meeting point", error);
    let listener = UnixListener::bind(&at).map_err(named)?;
    // Its directory is closed to everybody else; inside, pid 1 has another user.
    fs::set_permissions(&at, fs::Permissions::from_mode(0o666)).map_err(named)?;
    Ok(listener)
}

/// From a staged run to a container whose pid 1 waits for our word, with everything looked at.
pub(super) fn start(
    plan: &SandboxPlan,
    vessel: &dyn Vessel,
    carrier: &Carrier,
    caller: &Caller<'_>,
) -> Result<Child, LaunchError> {
    let named = |step: &'static str| move |error| LaunchError::step(step, error);
    if vessel.inside().kernel == Kernel::Gvisor && caller.terminals.contains(&true) {
        return Err(LaunchError::Engine(
            "gVisor has no terminal for us: redirect standard input, output and error".to_owned(),
        ));
    }
    if vessel.inside().kernel == Kernel::Gvisor && (0..3).any(is_regular) {
        // It would write over what others write there, or have written.
        return Err(LaunchError::Engine(
            "gVisor keeps a place of its own in a file: put a pipe in between (`cat FILE |`, `| cat >> FILE`)"
                .to_owned(),
        ));
    }
    // What is staged is for the sandbox's user, whatever the caller's own files are for.
    let umask = path::umask(0o022);
    let staged = vessel.stage().and_then(|()| listen(vessel));
    path::umask(umask);
    let listener = staged?;
    carrier.go().map_err(named("carrier"))?;
    // While the engine is at work.
    let before = caller.judge.map(|_| Before::list(plan));
    let bait = lay_bait(plan)?;
    let stream = meet(&listener, carrier)?;
    // Nobody else meets us, least of all the command.
    drop(listener);
    let _ = fs::remove_file(vessel.socket());
    let (pid, _) = socket::peer(stream.as_fd()).map_err(named("meeting point"))?;
    let pidfd = process::pidfd_open(pid).map_err(named("meeting point"))?;
    if !is_init(pid) {
        return Err(LaunchError::Engine(
            "somebody else than pid 1 of the container answered".to_owned(),
        ));
    }
    let (control, theirs) = socket::pair().map_err(named("control socket"))?;
    let (alive_read, alive_write) = fd::pipe().map_err(named("liveness pipe"))?;
    let mut child = Child {
        pid,
        pidfd,
        control,
        alive: Some(alive_write),
        namespaces: vessel.namespaces(),
        warden: None,
        begun: Instant::now(),
        before,
        nested: Mounts::read().map(|mounts| mounts.nested(plan)).unwrap_or_default(),
        as_they_are: Vec::new(),
        witness: None,
        _bait: bait,
    };
    caller.janitor.entrust_tree(&child.pidfd).map_err(named("janitor"))?;
    let inside = Inside {
        umask: path::callers_umask().unwrap_or(umask),
        bait: child._bait.as_ref().map(|bait| bait.name().bytes()),
        terminals: caller.terminals,
        size: caller.size.map(Size::numbers),
        modes: caller.modes,
        ignored: caller.ignored.clone(),
        ..vessel.inside().clone()
    };
    hand_over(vessel, &inside, &stream, [theirs, alive_read])?;
    look(vessel, pid)?;
    limits_hold(vessel, pid)?;
    if vessel.has_network() {
        let open = doors_in(pid, &plan.doors).map_err(named("doors"))?;
        if let Some(companion) = caller.companion {
            companion.hand_over(&open).map_err(named("doors"))?;
        }
    }
    child.warden = Warden::start(plan, pid, &[]).map_err(named("watch"))?;
    // What an engine takes to start is not the command's time.
    child.begun = Instant::now();
    let unheld = Unheld {
        memory: inside.watched_memory.is_some(),
        // If the engine's group holds them, its plan has no such limit.
        pids: true,
    };
    // The engine has put it into a group.
    for order in [Order::Go, Order::Enter(unheld)] {
        order.send(child.control.as_fd()).map_err(named("start"))?;
    }
    Ok(child)
}

fn is_regular(number: i32) -> bool {
    path::lstat_at(fd::borrow(number), "".as_ref()).is_ok_and(|stat| stat.is_file())
}

/// Waits for pid 1, or for the carrier's word that there will be none.
fn meet(listener: &UnixListener, carrier: &Carrier) -> Result<OwnedFd, LaunchError> {
    let named = |error| LaunchError::step("meeting point", error);
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let waiting = [(Some(listener.as_fd()), Want::Read), (Some(carrier.line()), Want::Read)];
        let ready = event::poll(&waiting, Some(left)).map_err(named)?;
        let [knocked, said] = ready.as_slice() else { continue };
        if knocked.readable {
            return listener.accept().map(|(stream, _)| stream.into()).map_err(named);
        }
        if said.readable || said.hangup {
            return Err(LaunchError::Engine(carrier.why_not()));
        }
        if left.is_zero() {
            return Err(LaunchError::Engine(format!("no container after {PATIENCE:?}")));
        }
    }
}

/// Pid 1 of a pid namespace below ours.
fn is_init(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.0)).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let mut pids = line.unwrap_or_default().split_ascii_whitespace();
    pids.next().is_some() && pids.next_back() == Some("1")
}

fn hand_over(vessel: &dyn Vessel, inside: &Inside, stream: &OwnedFd, own: [OwnedFd; 2]) -> Result<(), LaunchError> {
    let named = |error| LaunchError::step("hand over", error);
    let text = serde_json::to_vec(inside).map_err(|error| named(error.into()))?;
    let at = vessel.socket().with_file_name("inside");
    fs::write(&at, text).map_err(named)?;
    let file = fs::File::open(&at).map_err(named)?;
    fs::remove_file(&at).map_err(named)?;
    let [control, alive] = &own;
    let fds: [_; HANDED] = [
        control.as_fd(),
        alive.as_fd(),
        fd::borrow(0),
        fd::borrow(1),
        fd::borrow(2),
        file.as_fd(),
    ];
    socket::send_all(stream.as_fd(), b"h", &fds).map_err(named)
}

/// The engine follows names, and somebody may have changed what they lead to: what it has mounted must be what was meant.
fn look(vessel: &dyn Vessel, pid: Pid) -> Result<(), LaunchError> {
    let root = PathBuf::from(format!("/proc/{}/root", pid.0));
    let root = fs::File::open(&root).map_err(|error| LaunchError::step("look inside", error))?;
    for (from, at) in vessel.expected() {
        let about = |error| LaunchError::Step {
            step: "look inside".to_owned(),
            detail: at.display().to_string(),
            error,
        };
        let meant = identity(&path::open_exact(&from).map_err(about)?).map_err(about)?;
        let relative = at.strip_prefix("/").unwrap_or(&at);
        let seen = path::open_beneath(root.as_fd(), relative).map_err(about)?;
        if identity(&seen).map_err(about)? != meant {
            return Err(LaunchError::Engine(format!(
                "`{}` is not what lies there on the host: it was replaced while the container was made",
                at.display()
            )));
        }
    }
    Ok(())
}

/// An engine may ignore a limit with a mere warning: then the container is in no group of its own.
fn limits_hold(vessel: &dyn Vessel, pid: Pid) -> Result<(), LaunchError> {
    let ignored =
        cgroup::Group::not_apart(pid, &vessel.limits()).map_err(|error| LaunchError::step("limits", error))?;
    match ignored.first() {
        None => Ok(()),
        Some(controller) => Err(LaunchError::Engine(format!(
            "it ignores the limit on {controller}: the container has no control group of its own for it"
        ))),
    }
}

fn identity(file: &OwnedFd) -> io::Result<(u64, u64)> {
    path::lstat_at(file.as_fd(), "".as_ref()).map(|stat| (stat.dev, stat.ino))
}

/// Opens the doors in the container's network namespace, from a process that enters it: nothing inside needs a right for it.
fn doors_in(pid: Pid, plan: &Doors) -> io::Result<Vec<Option<OwnedFd>>> {
    let (ours, theirs) = socket::pair()?;
    let open = |name: &str| fs::File::open(format!("/proc/{}/ns/{name}", pid.0)).map(OwnedFd::from);
    let same_user = fs::read_link("/proc/self/ns/user")? == fs::read_link(format!("/proc/{}/ns/user", pid.0))?;
    let (user, network) = (if same_user { None } else { Some(open("user")?) }, open("net")?);
    match process::clone_into(0, None)? {
        Side::Child => {
            let entered = user.map_or(Ok(()), |user| process::setns(user.as_fd()));
            let done = entered
                .and_then(|()| process::setns(network.as_fd()))
                .and_then(|()| net::loopback_up())
                .and_then(|()| doors::open(plan))
                .and_then(|doors| crate::control::send_doors(theirs.as_fd(), &doors));
            let errno = done.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
            process::exit_now(errno.min(255))
        }
        Side::Parent { pid, .. } => {
            drop(theirs);
            let received = socket::receive_all(ours.as_fd(), Wait::Block);
            let ended = process::wait(pid.0, libc::__WALL)?;
            if let Some((_, process::Change::Exited(errno @ 1..), _)) = ended {
                return Err(io::Error::from_raw_os_error(errno));
            }
            let (bytes, fds) = received?;
            let doors = bytes
                .split_first()
                .and_then(|(_, marks)| crate::control::doors(marks, fds));
            doors.ok_or_else(|| io::Error::from_raw_os_error(libc::EBADMSG))
        }
    }
}
