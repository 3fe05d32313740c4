//! A small process outside the sandbox that cleans up if the supervisor is killed.
//!
//! It sleeps on a socket. Dismissed, it just ends; if the socket closes without a word, the supervisor is dead: init has ended
//! the tree by then or is about to, and the janitor removes what only someone outside can: cgroups and placeholders. The caller's
//! terminal gets its modes back.

use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::changes::{self, Crew, Since, Trees};
use super::outcome::LaunchError;
use super::places::Places;
use super::quarantine::{Ahead, Disarmed};
use super::setids::Mounts;
use super::{denials, placeholders, quarantine, setids};
use crate::cgroup::{self, Facts};
use crate::plan::{Containment, Records, SandboxPlan};
use crate::sys::event::{self, Want};
use crate::sys::process::{self, Pid, Side};
use crate::sys::socket::Wait;
use crate::sys::term::{self, Modes};
use crate::sys::{fd, socket};
use crate::workspace::Layer;

/// How long a dying tree may take, and how long what its end leaves.
const TREE: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an engine may take to be done with a container that nobody wants any more.
const ENGINE: Duration = Duration::from_secs(300);

/// The supervisor's handle on its janitor, if it has one.
pub(super) struct Janitor<'a> {
    facts: &'a Facts,
    plan: &'a SandboxPlan,
    since: Since,
    places: &'a Places,
    /// Which of 0, 1 and 2 are terminals.
    terminals: [bool; 3],
    hired: OnceCell<Hired>,
}

#[derive(Debug)]
struct Hired {
    socket: OwnedFd,
    pid: Pid,
    pidfd: OwnedFd,
}

impl<'a> Janitor<'a> {
    pub(super) fn new(
        facts: &'a Facts,
        plan: &'a SandboxPlan,
        since: Since,
        places: &'a Places,
        terminals: [bool; 3],
    ) -> Self {
        Self {
            facts,
            plan,
            since,
            places,
            terminals,
            hired: OnceCell::new(),
        }
    }

    /// Is something that could outlive the run made before its first process is? Otherwise there is time while that one starts.
    pub(super) fn is_needed_first(&self) -> bool {
        let plan = self.plan;
        !plan.placeholders.is_empty() || plan.records == Records::Take || cgroup::makes_v2(self.facts, &plan.cgroup)
    }

    /// Starts the janitor if there is none yet, unless this run makes nothing that could outlive it.
    pub(super) fn hire(&self) -> Result<(), LaunchError> {
        let named = |error| LaunchError::step("janitor", error);
        let leaves_names = !self.plan.placeholders.is_empty() || !self.plan.git.trees.is_empty();
        let leaves_audit = self.plan.records == Records::Take;
        let [leaves_modes, ..] = self.terminals;
        let leaves = leaves_audit
            || leaves_modes
            || leaves_names
            || setids::concerns(self.plan)
            || cgroup::may_create(self.facts);
        if !leaves || self.hired.get().is_some() {
            return Ok(());
        }
        let (ours, theirs) = socket::pair().map_err(named)?;
        match process::clone_into(0, None).map_err(named)? {
            Side::Parent { pid, pidfd } => {
                let _ = self.hired.set(Hired {
                    socket: ours,
                    pid,
                    pidfd,
                });
                Ok(())
            }
            Side::Child => {
                drop(ours);
                self.wait_and_clean(&theirs)
            }
        }
    }

    /// The number of our end of the socket, for the child to close.
    pub(super) fn raw_socket(&self) -> Option<RawFd> {
        self.hired.get().map(|hired| hired.socket.as_raw_fd())
    }

    /// Hands over a lock, so that it outlives us: whoever shares it must not think that the tree is gone.
    pub(super) fn entrust_lock(&self, lock: &OwnedFd) -> io::Result<()> {
        self.tell(b"l", Some(lock))
    }

    /// Hands over a handle on init, by which the end of the whole tree can be seen.
    pub(super) fn entrust_tree(&self, init: &OwnedFd) -> io::Result<()> {
        self.tell(b"t", Some(init))
    }

    /// Hands over the mounts: whoever lets go of them last waits until the kernel has taken them all down. The janitor has the
    /// time, and is waited for in the end. Not where we have to remove what they cover: they must be gone first.
    pub(super) fn entrust_mounts(&self, init: Pid, layers: &[Layer]) -> io::Result<()> {
        let plan = self.plan;
        if plan.containment != Containment::Namespaces || !plan.placeholders.is_empty() || !layers.is_empty() {
            return Ok(());
        }
        match self.hired.get().map(|_| File::open(format!("/proc/{}/ns/mnt", init.0))) {
            Some(Ok(mounts)) => self.tell(b"m", Some(&mounts.into())),
            // Then init takes them down itself.
            Some(Err(_)) | None => Ok(()),
        }
    }

    /// Hands over a handle on the carrier. An engine that still works on the container makes, as directories of the host's, the
    /// names that it finds missing: it must be done before placeholders are removed.
    pub(super) fn entrust_carrier(&self, carrier: &OwnedFd) -> io::Result<()> {
        self.tell(b"c", Some(carrier))
    }

    /// Hands over the caller's terminal, which is about to have modes of ours in place of its own.
    pub(super) fn entrust_modes(&self, terminal: BorrowedFd<'_>, own: &Modes, ours: &Modes) -> io::Result<()> {
        let word = [b"r".to_vec(), own.bytes(), ours.bytes()].concat();
        self.hired.get().map_or(Ok(()), |hired| {
            socket::send(hired.socket.as_fd(), &word, Some(terminal))
        })
    }

    /// It has its own again.
    pub(super) fn forget_modes(&self) -> io::Result<()> {
        self.tell(b"r", None)
    }

    /// Everything is clean but for empty groups: those go last, while the janitor still takes down the mounts.
    pub(super) fn dismiss(self, groups: Vec<PathBuf>) -> Leaving {
        let hired = self.hired.into_inner();
        Leaving { hired, groups }
    }

    fn tell(&self, word: &[u8], fd: Option<&OwnedFd>) -> io::Result<()> {
        self.hired.get().map_or(Ok(()), |hired| hired.tell(word, fd))
    }
}

impl Hired {
    fn tell(&self, word: &[u8], fd: Option<&OwnedFd>) -> io::Result<()> {
        socket::send(self.socket.as_fd(), word, fd.map(AsFd::as_fd))
    }

    /// One that was stopped goes on, and one that does not end is ended: everything is clean, and a run waits for nobody for ever.
    fn collect(&self) {
        let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGCONT);
        if !outlive(Some(&self.pidfd), PATIENCE) {
            let _ = process::pidfd_kill(self.pidfd.as_fd(), libc::SIGKILL);
        }
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}

/// The janitor on its way out. Dropping this removes the groups, lets it go and collects it.
#[must_use]
#[derive(Debug)]
pub struct Leaving {
    hired: Option<Hired>,
    groups: Vec<PathBuf>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        // What cannot be removed now (a process in uninterruptible sleep) the next start tries again.
        let _ = cgroup::remove_paths(&self.groups);
        if let Some(hired) = &self.hired {
            // One that was killed is only to be collected.
            let _ = hired.tell(b"d", None);
            hired.collect();
        }
    }
}

/// Waits for the end of the tree, or for a word. True for the end.
fn is_over(socket: &OwnedFd, tree: Option<&OwnedFd>) -> bool {
    let waiting = [(tree.map(AsFd::as_fd), Want::Read), (Some(socket.as_fd()), Want::Read)];
    match event::poll(&waiting, None).as_deref() {
        Ok([end, _word]) => end.readable,
        Ok(_) | Err(_) => false,
    }
}

impl Janitor<'_> {
    /// We are a copy of the supervisor, with the caller's rights.
    fn wait_and_clean(&self, socket: &OwnedFd) -> ! {
        let Self {
            facts,
            plan,
            since,
            places,
            ..
        } = self;
        // A session of our own: what is sent to the supervisor's group or terminal is not for us.
        let _ = process::setsid();
        let _ = process::set_name(c"glee-janitor");
        let of_a_terminal = [libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGTTOU];
        for signal in of_a_terminal.into_iter().chain([libc::SIGTERM, libc::SIGPIPE]) {
            event::ignore(signal);
        }
        keep_only(places.numbers().chain([socket.as_raw_fd()]));
        // A little late perhaps: what the command has changed by then does not count.
        let ahead = match plan.containment {
            Containment::Namespaces => Ahead::glance(&plan.git.repositories, *since, plan.git.others()),
            Containment::Landlock | Containment::Inherit => Ahead::default(),
        };
        let mut locks = Vec::new();
        let (mut tree, mut mounts, mut carrier, mut terminal) = (None, None, None, None);
        loop {
            if mounts.is_some() && is_over(socket, tree.as_ref()) {
                mounts = None;
            }
            match socket::receive(socket.as_fd(), Wait::Block) {
                Ok((word, Some(fd))) if word == b"l" => locks.push(fd),
                Ok((word, Some(fd))) if word == b"t" => tree = Some(fd),
                Ok((word, Some(fd))) if word == b"c" => carrier = Some(fd),
                Ok((word, Some(fd))) if word == b"m" => mounts = Some(fd),
                Ok((word, fd)) if word.starts_with(b"r") => terminal = fd.map(|fd| (fd, word)),
                Ok((word, None)) if word == b"d" => process::exit_now(0),
                // The supervisor is dead.
                Ok(_) | Err(_) => break,
            }
        }
        if let Some((terminal, word)) = terminal {
            // First: somebody sits there.
            give_back(&terminal, word.get(1..).unwrap_or_default());
        }
        // Init ends with the supervisor, and its handle tells when all of the tree has. Removing a placeholder uncovers its
        // name for whoever is left inside, so everybody must be gone first. Without a handle nothing was started.
        let is_gone = outlive_tree(tree.as_ref(), plan.containment);
        if plan.containment == Containment::Namespaces {
            // At once: git on the host may be next.
            self.disarm(ahead);
        }
        drop(mounts);
        outlive(carrier.as_ref(), ENGINE);
        drop(locks);
        denials::records::put_back();
        let end = Instant::now() + PATIENCE;
        while cgroup::any_left(facts) && Instant::now() < end {
            cgroup::sweep_stale(facts);
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_gone {
            placeholders::sweep(&plan.placeholders, places, Duration::from_secs(1));
        }
        process::exit_now(0)
    }

    /// What the supervisor would have done at the end. What the host did with protected names is known to nobody any more.
    fn disarm(&self, ahead: Ahead) {
        let whereabouts = self.places.look();
        let plan = whereabouts.plan(self.plan);
        let mut judged = Disarmed::default();
        for path in self.places.names.replaced(&whereabouts, |_| true) {
            quarantine::judge(&plan, &path, &mut judged);
        }
        quarantine::after(&plan, &ahead.moved(|at| whereabouts.now(at)));
        // Those of now: what root has mounted since then was not seen inside, and a look at it does no harm.
        let nested = Mounts::read().map(|mounts| mounts.nested(&plan)).unwrap_or_default();
        let trees = Trees {
            places: self.places,
            whereabouts: &whereabouts,
            nested: &nested,
        };
        changes::after(self.plan, self.since, trees, None, Crew::Alone);
    }
}

/// Puts a terminal's own modes back, if those in force are still the other half: nobody else has set any since then, such as a shell that
/// saw the supervisor die. It is not our terminal, so the kernel lets us.
fn give_back(terminal: &OwnedFd, modes: &[u8]) {
    let (own, ours) = modes.split_at(modes.len() / 2);
    if let Ok(now) = term::modes(terminal.as_fd())
        && now.bytes() == ours
        && let Some(own) = now.with_bytes(own)
    {
        // One that is gone has no modes.
        let _ = term::set_modes_now(terminal.as_fd(), &own);
    }
}

/// Closes every descriptor but these.
fn keep_only(numbers: impl Iterator<Item = RawFd>) {
    let mut kept: Vec<u32> = numbers.map(i32::unsigned_abs).collect();
    kept.sort_unstable();
    let mut next = 0;
    for number in kept {
        if number > next {
            let _ = fd::close_range(next, number - 1);
        }
        next = number + 1;
    }
    let _ = fd::close_range(next, fd::LAST);
}

/// False if somebody is left even then (in a call that the kernel does not break off): the names stay covered.
fn outlive_tree(tree: Option<&OwnedFd>, containment: Containment) -> bool {
    let Some(tree) = tree else { return true };
    let end = Instant::now() + TREE;
    while !outlive(Some(tree), Duration::from_secs(1)) {
        if Instant::now() >= end {
            return false;
        }
        if containment == Containment::Namespaces {
            // As its parent's death did; without such a namespace it must live to end its descendants.
            let _ = process::pidfd_kill(tree.as_fd(), libc::SIGKILL);
        }
    }
    true
}

/// Waits for an end. False if it did not come.
fn outlive(handle: Option<&OwnedFd>, patience: Duration) -> bool {
    handle.is_none_or(|handle| {
        let ready = event::poll(&[(Some(handle.as_fd()), Want::Read)], Some(patience));
        ready.is_ok_and(|list| list.iter().any(|end| end.readable))
    })
}
