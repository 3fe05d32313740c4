//! A process beside the sandbox that serves what its policy lets out: it accepts on the doors of the network namespace.
//!
//! Forked before anything of the sandbox exists, so it holds nothing of it but the doors, which come over a socket. It gives
//! up what it does not need: another user if we are root, no capability, Landlock, the system call filter.
//! INVARIANT: it ends with the supervisor, and when it ends the doors are closed: what it served fails, and stays inside.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use super::outcome::LaunchError;
use crate::control;
use crate::plan::SandboxPlan;
use crate::seccomp::{self, Arch, DenialAction, FilterSpec, NetworkRule, Observe, SocketRule, Table};
use crate::sys::event;
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::{self, Wait};
use crate::sys::{fd, landlock, path};

/// Nobody's on a usual system, and not the sandbox's either.
const COMPANION_ID: u32 = crate::lower::SANDBOX_ID + 1;

/// What resolving names, checking certificates and knowing this host's own addresses reads.
const READS: &[&str] = &[
    "/etc",
    "/proc/self/net",
    "/usr",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/var/lib/ca-certificates",
];

/// How long its report may take, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(3);
const MOST: usize = 4 << 20;

/// What the companion does. Runs in its process.
pub trait Serve {
    /// Serves the doors (in the plan's order) until `control` says `d` or closes, then writes its report to it.
    ///
    /// `settle` gives up every privilege that serving does not need; it is called when all was read that may need one.
    fn serve(
        &self,
        doors: Vec<Option<OwnedFd>>,
        control: OwnedFd,
        settle: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()>;
}

/// The supervisor's handle on it.
pub(super) struct Companion {
    socket: OwnedFd,
    pid: Pid,
    pidfd: OwnedFd,
}

pub(super) fn start(plan: &SandboxPlan, serve: &dyn Serve) -> Result<Companion, LaunchError> {
    let named = |error| LaunchError::step("companion", error);
    let (ours, theirs) = socket::stream_pair().map_err(named)?;
    match process::clone_into(0, None).map_err(named)? {
        Side::Parent { pid, pidfd } => Ok(Companion {
            socket: ours,
            pid,
            pidfd,
        }),
        Side::Child => {
            drop(ours);
            let done = main(plan, theirs, serve);
            process::exit_now(i32::from(done.is_err()))
        }
    }
}

/// We are a copy of the supervisor, with the caller's rights.
fn main(plan: &SandboxPlan, socket: OwnedFd, serve: &dyn Serve) -> io::Result<()> {
    process::die_with_parent()?;
    process::set_name(c"glee-egress")?;
    // A session of our own: what is typed at the caller's terminal is not for us.
    process::setsid()?;
    event::reset_signals(&[])?;
    let ignored = [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGPIPE,
        libc::SIGXFSZ,
    ];
    for signal in ignored {
        event::ignore(signal);
    }
    process::set_dumpable(false)?;
    let number = socket.as_raw_fd().unsigned_abs();
    fd::close_range(0, number.saturating_sub(1))?;
    fd::close_range(number + 1, fd::LAST)?;
    fd::ensure_stdio()?;
    let (bytes, fds) = socket::receive_all(socket.as_fd(), Wait::Block)?;
    let doors = bytes.split_first().and_then(|(_, marks)| control::doors(marks, fds));
    let Some(doors) = doors else {
        // The run ended before there were any.
        return Ok(());
    };
    serve.serve(doors, socket, &|| settle(plan))
}

fn settle(plan: &SandboxPlan) -> io::Result<()> {
    if plan.identity.from_root {
        process::drop_groups()?;
        process::become_ids(COMPANION_ID, COMPANION_ID)?;
        // Both are lost by a change of ids.
        process::die_with_parent()?;
        process::set_dumpable(false)?;
    }
    process::no_new_privs()?;
    let ruleset = landlock::create(landlock::handled_fs(landlock::abi()), 0, 0)?;
    for dir in READS {
        if let Ok(dir) = path::open_path(Path::new(dir)) {
            let rights = landlock::READ_FILE | landlock::READ_DIR;
            landlock::allow_beneath(ruleset.as_fd(), dir.as_fd(), rights)?;
        }
    }
    landlock::restrict_self(ruleset.as_fd(), 0)?;
    let spec = FilterSpec {
        network: NetworkRule::Host,
        sockets: SocketRule::Namespaced,
        denial: DenialAction::Errno,
        observe: Observe::Nothing,
        debug: false,
    };
    let table = Table::builtin().map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    crate::sys::seccomp::install(&seccomp::compile(&table, &spec, Arch::NATIVE))
}

impl Companion {
    /// Gives it the doors.
    pub(super) fn hand_over(&self, doors: &[Option<OwnedFd>]) -> io::Result<()> {
        control::send_doors(self.socket.as_fd(), doors)
    }

    /// Asks for its report and ends it. `None`: it gave none, because it died or never had doors.
    pub(super) fn finish(self) -> Option<Vec<u8>> {
        let report = socket::send(self.socket.as_fd(), b"d", None)
            .ok()
            .and_then(|()| socket::last_words(self.socket.as_fd(), PATIENCE, MOST));
        drop(self);
        report.filter(|bytes| !bytes.is_empty())
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}
