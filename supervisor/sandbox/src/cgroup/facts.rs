//! Finds which controller is where, and our own cgroup in it.
//!
//! Reads five to seven small files, once. Whether a group can be made there is only known by trying: see `create`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::owner::Owner;
use super::proc_text::{Access, Membership, Mount, Version, controllers, membership, mounts};
use super::{Controller, Reason, files};
use crate::sys::path::is_writable;

/// Where a controller is, seen from our own cgroup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "version")]
pub enum Place {
    V1 {
        #[serde(serialize_with = "files::lossy")]
        dir: PathBuf,
    },
    /// In the hierarchy of [`Facts::v2`].
    V2,
    None {
        reason: Reason,
    },
}

/// The v2 cgroup below which a run gets its own: ours, or the nearest above it that hands controllers down and is ours to
/// write. A cgroup with processes in it (ours has at least us) hands none down; on a desktop the user's slice above does.
/// Worth having without any controller: it gives `CLONE_INTO_CGROUP` and `cgroup.kill`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unified {
    #[serde(serialize_with = "files::lossy")]
    pub dir: PathBuf,
    /// `cgroup.controllers`: what limits ourselves.
    pub available: BTreeSet<Controller>,
    /// `cgroup.subtree_control`: what a group below will have.
    pub delegated: BTreeSet<Controller>,
}

/// What `detect` found. Holds for this process as long as nobody moves it to another cgroup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub memory: Place,
    pub pids: Place,
    pub cpu: Place,
    pub v2: Option<Unified>,
    #[serde(skip)]
    pub(super) owner: Owner,
}

impl Facts {
    pub fn place(&self, controller: Controller) -> &Place {
        match controller {
            Controller::Memory => &self.memory,
            Controller::Pids => &self.pids,
            Controller::Cpu => &self.cpu,
        }
    }

    /// Our own cgroup in each hierarchy, each once.
    pub(super) fn dirs(&self) -> BTreeSet<&Path> {
        let v1 = Controller::ALL
            .into_iter()
            .filter_map(|controller| match self.place(controller) {
                Place::V1 { dir } => Some(dir.as_path()),
                Place::V2 | Place::None { .. } => None,
            });
        v1.chain(self.v2.as_ref().map(|unified| unified.dir.as_path()))
            .collect()
    }

    /// The pure part: `read` is asked for the two v2 files only, `writable` for their directories.
    pub(super) fn assemble(
        mountinfo: &[u8],
        cgroup: &[u8],
        owner: Owner,
        read: impl Fn(&Path) -> Option<Vec<u8>>,
        writable: impl Fn(&Path) -> bool,
    ) -> Self {
        let (mounts, own) = (mounts(mountinfo), membership(cgroup));
        let v2 = unified(&mounts, &own, read, writable);
        let place = |controller| place(controller, &mounts, &own, v2.as_ref());
        Self {
            memory: place(Controller::Memory),
            pids: place(Controller::Pids),
            cpu: place(Controller::Cpu),
            v2,
            owner,
        }
    }
}

/// Looks at this process's own cgroups. Never fails: what cannot be read is not there.
pub fn detect() -> Facts {
    let read = |path: &Path| files::read(path).ok();
    let mountinfo = read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    let cgroup = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    Facts::assemble(&mountinfo, &cgroup, Owner::current(), read, is_writable)
}

fn unified(
    mounts: &[Mount],
    own: &Membership,
    read: impl Fn(&Path) -> Option<Vec<u8>>,
    writable: impl Fn(&Path) -> bool,
) -> Option<Unified> {
    let dir = locate(
        mounts.iter().filter(|mount| mount.version == Version::V2),
        own.v2.as_deref()?,
    )?;
    let look = |dir: &Path| {
        let list = |file| read(&dir.join(file)).map(|text| controllers(&text, b' '));
        Some(Unified {
            dir: dir.to_owned(),
            available: list("cgroup.controllers")?,
            delegated: list("cgroup.subtree_control")?,
        })
    };
    // Unreadable means that something else covers the mount point.
    let ours = look(&dir)?;
    let offers = |unified: &Unified| !unified.delegated.is_empty() && writable(&unified.dir);
    if ours.available.is_empty() || offers(&ours) {
        return Some(ours);
    }
    let above = dir.ancestors().skip(1).map_while(look).find(offers);
    Some(above.unwrap_or(ours))
}

/// The kernel binds a controller to one hierarchy only: v1 if it is mounted there, else v2.
fn place(controller: Controller, mounts: &[Mount], own: &Membership, v2: Option<&Unified>) -> Place {
    let v1 = mounts
        .iter()
        .filter(|mount| mount.version == Version::V1 && mount.controllers.contains(&controller));
    let hidden = match own.of_v1(controller) {
        Some(own) => match locate(v1, own) {
            Some(dir) => return Place::V1 { dir },
            None => Some(own),
        },
        None => None,
    };
    if v2.is_some_and(|unified| unified.available.contains(&controller)) {
        return Place::V2;
    }
    let hidden = hidden.or_else(|| own.v2.as_deref().filter(|_| v2.is_none()));
    let reason = match hidden {
        _ if mounts.is_empty() => Reason::NoHierarchy,
        Some(own) => Reason::OutOfView { own: own.to_owned() },
        None => Reason::NoController(controller),
    };
    Place::None { reason }
}

/// `own` below the first of the mounts that shows it, a writable one if there is one.
fn locate<'a>(mounts: impl Iterator<Item = &'a Mount>, own: &Path) -> Option<PathBuf> {
    let mut read_only = None;
    for mount in mounts {
        match (mount.locate(own), mount.access) {
            (Some(dir), Access::ReadWrite) => return Some(dir),
            (Some(dir), Access::ReadOnly) => read_only = read_only.or(Some(dir)),
            (None, _) => {}
        }
    }
    read_only
}
