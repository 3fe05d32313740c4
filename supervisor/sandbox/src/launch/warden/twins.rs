//! Directories that a bind mount of the host's shows at two paths: to the kernel they are one, with one number.
//!
//! A change is told once, and is looked at by every path. INVARIANT (bounded): `MOST` other places of one directory, as many
//! paths of it, and `STEPS` on the way to them all. INVARIANT (the host's): one mount shows a directory once, so what the command
//! moves to and fro has no second place, however it looks while it moves.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Warden;
use super::tree::At;
use super::walk::through;
use crate::sys::inotify::WatchId;
use crate::sys::path::open_dir_exact;

const MOST: usize = 64;
const STEPS: usize = 4096;

/// Where a directory is seen besides the place that the tree knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spot {
    Top(PathBuf),
    In(WatchId, OsString),
}

/// Is what was found at a path seen at another one, too?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twin {
    No,
    Known,
    New,
}

pub(super) type Twins = BTreeMap<WatchId, Vec<Spot>>;

impl Warden {
    /// Is a directory that was found at this path known by another one, which still leads to it? It keeps that place: one that is
    /// mounted in itself would lie in itself.
    pub(super) fn twin(&mut self, id: WatchId, path: &Path) -> Twin {
        let At::Path(known) = self.tree.at(id) else {
            return Twin::No;
        };
        // The directories of a copy are not always the same to the kernel.
        if known == path || !self.behind.is_empty() {
            return Twin::No;
        }
        let Some(mount) = self.mount_at(&known, id) else {
            return Twin::No;
        };
        if self.mount_at(path, id).is_none_or(|other| other == mount) {
            return Twin::No;
        }
        if self.dirs(id).iter().any(|dir| dir == path) {
            return Twin::Known;
        }
        let above = path.parent().and_then(|dir| self.tree.find(dir));
        let spot = match (above, path.file_name()) {
            (Some(above), Some(name)) => Spot::In(above, name.to_owned()),
            (Some(_) | None, _) => Spot::Top(path.to_owned()),
        };
        let mut spots = self.twins.remove(&id).unwrap_or_default();
        if spots.len() == MOST {
            spots.retain(|spot| self.place_of(spot).is_some_and(|place| self.leads_to(&place, id)));
        }
        let has_room = spots.len() < MOST;
        if has_room {
            spots.push(spot);
        }
        self.twins.insert(id, spots);
        if has_room { Twin::New } else { Twin::Known }
    }

    fn leads_to(&self, path: &Path, id: WatchId) -> bool {
        self.held_at(path, id).is_some()
    }

    /// By which mount a path leads to a directory, if it does.
    fn mount_at(&self, path: &Path, id: WatchId) -> Option<u64> {
        let held = self.held_at(path, id)?;
        let facts = fs::read_to_string(format!("/proc/self/fdinfo/{}", held.as_raw_fd())).ok()?;
        let mut lines = facts.lines();
        lines.find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
    }

    fn held_at(&self, path: &Path, id: WatchId) -> Option<OwnedFd> {
        let held = open_dir_exact(path).ok()?;
        let found = self.inotify.watch(&through(&held, ".")).ok()?;
        (found == id).then_some(held)
    }

    fn place_of(&self, spot: &Spot) -> Option<PathBuf> {
        match spot {
            Spot::Top(path) => Some(path.clone()),
            Spot::In(above, name) => self.tree.path(*above).map(|dir| dir.join(name)),
        }
    }

    /// Every path of a watched directory, the one that the tree knows first.
    pub(super) fn dirs(&self, id: WatchId) -> Vec<PathBuf> {
        let Some(own) = self.tree.path(id) else {
            return Vec::new();
        };
        if self.twins.is_empty() {
            return vec![own];
        }
        let itself = identity(&own);
        let mut all = vec![own];
        for path in self.all(id, &mut Vec::new(), &mut 0) {
            if !all.contains(&path) && itself.is_some() && identity(&path) == itself {
                all.push(path);
            }
        }
        all
    }

    /// The same, of one that may be on its way to another place: then by the path that it had, and what lies in it comes along.
    pub(super) fn dirs_or(&self, id: WatchId, was: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let dirs = self.dirs(id);
        let was = dirs.is_empty().then(|| was.to_owned());
        dirs.into_iter().chain(was)
    }

    /// Every path of a name in a watched directory.
    pub(super) fn paths(&self, dir: WatchId, name: &OsStr) -> Vec<PathBuf> {
        self.dirs(dir).into_iter().map(|dir| dir.join(name)).collect()
    }

    /// As `dirs`, and those that there may have been. `below` is on the way down: what is mounted in itself is entered once.
    fn all(&self, id: WatchId, below: &mut Vec<WatchId>, steps: &mut usize) -> Vec<PathBuf> {
        *steps += 1;
        if *steps > STEPS || below.iter().filter(|known| **known == id).count() > 1 {
            return Vec::new();
        }
        below.push(id);
        let own = match self.tree.above(id) {
            Some((above, name)) => Some(Spot::In(above, name.to_owned())),
            None => self.tree.path(id).map(Spot::Top),
        };
        let mut all = Vec::new();
        for spot in own.iter().chain(self.twins.get(&id).into_iter().flatten()) {
            match spot {
                Spot::Top(path) => all.push(path.clone()),
                Spot::In(above, name) => {
                    let above = self.all(*above, below, steps);
                    all.extend(above.into_iter().map(|dir| dir.join(name)));
                }
            }
        }
        below.pop();
        all.truncate(MOST);
        all
    }

    /// A directory that left the place that was known of it is still where else it was seen.
    pub(super) fn resettle(&mut self) {
        let mut twins = std::mem::take(&mut self.twins);
        for (id, spots) in &mut twins {
            if self.tree.at(*id) != At::Unknown {
                continue;
            }
            let is_there = |spot: &Spot| self.place_of(spot).is_some_and(|place| self.leads_to(&place, *id));
            if let Some(at) = spots.iter().position(is_there) {
                match spots.remove(at) {
                    Spot::Top(path) => self.tree.place_at(*id, &path),
                    Spot::In(above, name) => self.tree.place_in(*id, above, &name),
                };
            }
        }
        self.twins = twins;
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}
