//! Directories that a bind mount of the host's shows at two paths: to the kernel they are one, with one number.
//!
//! A change is told once, and is looked at by every path. INVARIANT (bounded): `MOST` other places of one directory, and as many
//! paths of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Warden;
use super::tree::At;
use super::walk::through;
use crate::sys::inotify::WatchId;
use crate::sys::path::open_dir_exact;

const MOST: usize = 64;

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
        if known == path || !self.behind.is_empty() || !self.leads_to(&known, id) {
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
        let held = open_dir_exact(path);
        held.is_ok_and(|held| self.inotify.watch(&through(&held, ".")).is_ok_and(|found| found == id))
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
        for path in self.all(id, &mut Vec::new()) {
            if !all.contains(&path) && itself.is_some() && identity(&path) == itself {
                all.push(path);
            }
        }
        all
    }

    /// Every path of a name in a watched directory.
    pub(super) fn paths(&self, dir: WatchId, name: &OsStr) -> Vec<PathBuf> {
        self.dirs(dir).into_iter().map(|dir| dir.join(name)).collect()
    }

    /// As `dirs`, and those that there may have been. `below` is on the way down: what is mounted in itself is entered once.
    fn all(&self, id: WatchId, below: &mut Vec<WatchId>) -> Vec<PathBuf> {
        if below.iter().filter(|known| **known == id).count() > 1 {
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
                Spot::In(above, name) => all.extend(self.all(*above, below).into_iter().map(|dir| dir.join(name))),
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
