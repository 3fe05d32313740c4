//! Trees of the host that only a privileged supervisor can open, prepared while init begins.
//!
//! Started as root we take on an unprivileged user, who may neither reach the project (`/root` is closed) nor own it.
//! So the supervisor opens every source itself, maps the owner of a granted tree to the sandbox's user
//! (`mount_setattr`, Linux 5.12; the filesystem must support it), and hands them in over the control socket.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use super::sources;
use crate::control::Order;
use crate::init::root::{Failure, prepare};
use crate::plan::{Access, IdMap, Identity, MountStep, SandboxPlan};
use crate::sys::errand::Holder;
use crate::sys::process::Pid;
use crate::sys::{mount, socket};

/// Detached trees by the number of their step.
#[derive(Debug, Default)]
pub(crate) struct Trees(BTreeMap<usize, OwnedFd>);

/// Processes that were needed for their user namespace only. They have been told to end; dropping this collects them.
pub(crate) type Holders = Vec<Holder>;

/// Owners that were mapped.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    pub(crate) holders: Holders,
    /// Trees for reading alone on a filesystem that cannot map owners: shown as they are, what is closed to others stays closed.
    pub(crate) as_they_are: Vec<PathBuf>,
}

impl Trees {
    /// The tree of a step, by its number in the plan.
    pub(crate) fn get(&self, step: usize) -> Option<&OwnedFd> {
        self.0.get(&step)
    }

    pub(crate) fn take(&mut self, step: usize) -> Option<OwnedFd> {
        self.0.remove(&step)
    }

    /// Prepares every source, owners apart. Does nothing for an ordinary user, whose init opens its sources itself.
    pub(crate) fn prepare(plan: &SandboxPlan) -> Result<Self, Failure> {
        let mut trees = Self::default();
        for (number, source) in sources::of(plan) {
            let tree = prepare(&source.from, source.access).map_err(|e| Failure {
                what: format!("{} ({})", source.from.display(), e.what),
                error: e.error,
            })?;
            trees.0.insert(number, tree);
        }
        Ok(trees)
    }

    /// Hands them to init, in the order of their steps.
    pub(crate) fn hand_over(&self, control: BorrowedFd<'_>) -> io::Result<()> {
        let trees: Vec<BorrowedFd<'_>> = self.0.values().map(AsFd::as_fd).collect();
        trees
            .chunks(socket::MOST)
            .try_for_each(|some| Order::Trees.send_with(control, some))
    }

    /// Init's side of `hand_over`: `next` waits for some of them.
    pub(crate) fn receive(plan: &SandboxPlan, next: impl Fn() -> io::Result<Vec<OwnedFd>>) -> io::Result<Self> {
        let numbers: Vec<usize> = sources::of(plan).into_keys().collect();
        let mut received = Vec::with_capacity(numbers.len());
        while received.len() < numbers.len() {
            received.extend(next()?);
        }
        Ok(Self(numbers.into_iter().zip(received).collect()))
    }

    /// Those alone whose owners are mapped, for an engine that binds all others itself.
    pub(crate) fn prepare_mapped(plan: &SandboxPlan) -> Result<Self, Failure> {
        let mut trees = Self::prepare(plan)?;
        trees.0.retain(|number, _| is_mapped(plan, *number));
        Ok(trees)
    }

    /// Has any of them an owner to map?
    pub(crate) fn are_mapped(&self, plan: &SandboxPlan) -> bool {
        self.0.keys().any(|number| is_mapped(plan, *number))
    }

    /// Maps the owners of the trees that need it. Init may hold them, and waits before it mounts one of these.
    pub(crate) fn map_owners(&self, plan: &SandboxPlan) -> Result<Mapped, Failure> {
        let mut mapped = Mapped::default();
        let mut maps: BTreeMap<IdMap, OwnedFd> = BTreeMap::new();
        for (number, source) in sources::of(plan) {
            let (Some(map), Some(tree)) = (source.idmap, self.get(number)) else {
                continue;
            };
            let about = |error| Failure {
                what: format!("{} (id-mapped mount)", source.from.display()),
                error,
            };
            let userns = match maps.entry(map) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let holder = Holder::start().map_err(about)?;
                    let namespace = user_namespace(holder, map, &plan.identity, &mut mapped.holders);
                    place.insert(namespace.map_err(about)?)
                }
            };
            match mount::set_idmap(tree.as_fd(), userns.as_fd()) {
                // What the filesystem answers that does not know it. Nothing is opened by leaving it out.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && source.access == Access::ReadOnly => {
                    mapped.as_they_are.push(source.from.into_owned());
                }
                done => done.map_err(about)?,
            }
        }
        Ok(mapped)
    }
}

fn is_mapped(plan: &SandboxPlan, number: usize) -> bool {
    let step = plan.mounts.get(number);
    matches!(step, Some(MountStep::Bind { idmap: Some(_), .. }))
}

/// Every id as itself, except that `from` on disk is `to` to the kernel; `to` on disk is nobody's.
#[must_use]
pub(crate) fn map_text(from: u32, to: u32) -> String {
    // Lines are "on disk, to the kernel, count". Two ranges around `from` and `to` stay as they are.
    let (low, high) = (from.min(to), from.max(to));
    let mut text = format!("{from} {to} 1\n");
    if low > 0 {
        text.push_str(&format!("0 0 {low}\n"));
    }
    if high > low + 1 {
        text.push_str(&format!("{} {} {}\n", low + 1, low + 1, high - low - 1));
    }
    if high < u32::MAX - 1 {
        text.push_str(&format!("{} {} {}\n", high + 1, high + 1, u32::MAX - 1 - high));
    }
    text
}

/// A user namespace that exists only for its map. The end of its one process is nobody's concern until the sandbox is on
/// its way.
pub(crate) fn user_namespace(
    mut holder: Holder,
    map: IdMap,
    identity: &Identity,
    holders: &mut Holders,
) -> io::Result<OwnedFd> {
    let pid = holder.pid();
    let made = write_maps(
        pid,
        &map_text(map.from_uid, identity.uid),
        &map_text(map.from_gid, identity.gid),
    )
    .and_then(|()| fs::File::open(format!("/proc/{}/ns/user", pid.0)).map(OwnedFd::from));
    holder.release();
    holders.push(holder);
    made
}

/// Writes the id maps of a child's user namespace.
pub(crate) fn write_maps(pid: Pid, uid_map: &str, gid_map: &str) -> io::Result<()> {
    fs::write(format!("/proc/{}/uid_map", pid.0), uid_map)?;
    fs::write(format!("/proc/{}/gid_map", pid.0), gid_map)
}

/// The first of these ids that has no meaning in our own user namespace.
pub(crate) fn unmapped(uid: u32, gid: u32) -> Option<u32> {
    let is_missing = |(file, id): &(&str, u32)| fs::read_to_string(file).is_ok_and(|map| !maps(&map, *id));
    let ids = [("/proc/self/uid_map", uid), ("/proc/self/gid_map", gid)];
    ids.into_iter().find(is_missing).map(|(_, id)| id)
}

/// Lines of `first, first outside, count`.
fn maps(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u32>);
        match (numbers.next(), numbers.nth(1)) {
            (Some(Ok(first)), Some(Ok(count))) => id.checked_sub(first).is_some_and(|at| at < count),
            (Some(_) | None, _) => false,
        }
    })
}
