//! The watched directories, by the kernel's numbers for them: each knows where it lies, so that one that moves takes along all
//! that is in it without a look.
//!
//! Pure: reads no directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::sys::inotify::WatchId;

/// More than a path can have names.
const DEEPEST: usize = 4096;

/// Where a directory lies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Top(PathBuf),
    In(WatchId, OsString),
    /// The project's own, behind the copy that has this path.
    Behind(PathBuf),
    /// It left its place, and was not seen to come to another one.
    Adrift(Instant),
}

#[derive(Debug)]
struct Node {
    place: Place,
    children: BTreeMap<OsString, WatchId>,
    /// How often it changed its place.
    moves: u64,
}

/// Where a directory is now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum At {
    Path(PathBuf),
    /// Soon somewhere, or soon forgotten.
    Unknown,
    Forgotten,
}

/// What came of giving a directory its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placed {
    New,
    Same,
    /// The last place that is known.
    Moved(Option<PathBuf>),
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<WatchId, Node>,
    tops: BTreeMap<PathBuf, WatchId>,
    /// Those adrift, with the path from which they went.
    adrift: BTreeMap<WatchId, Option<PathBuf>>,
}

impl Tree {
    pub(super) fn at(&self, id: WatchId) -> At {
        let (mut names, mut here) = (Vec::new(), id);
        for _ in 0..DEEPEST {
            match self.nodes.get(&here).map(|node| &node.place) {
                Some(Place::In(above, name)) => {
                    names.push(name);
                    here = *above;
                }
                Some(Place::Top(path) | Place::Behind(path)) => {
                    let mut path = path.clone();
                    path.extend(names.iter().rev());
                    return At::Path(path);
                }
                Some(Place::Adrift(_)) => return At::Unknown,
                None => return At::Forgotten,
            }
        }
        At::Forgotten
    }

    pub(super) fn path(&self, id: WatchId) -> Option<PathBuf> {
        match self.at(id) {
            At::Path(path) => Some(path),
            At::Unknown | At::Forgotten => None,
        }
    }

    /// What it lies in, and by which name.
    pub(super) fn above(&self, id: WatchId) -> Option<(WatchId, &OsStr)> {
        match &self.nodes.get(&id)?.place {
            Place::In(above, name) => Some((*above, name)),
            Place::Top(_) | Place::Behind(_) | Place::Adrift(_) => None,
        }
    }

    pub(super) fn find(&self, path: &Path) -> Option<WatchId> {
        path.ancestors().find_map(|top| {
            let mut here = *self.tops.get(top)?;
            for name in path.strip_prefix(top).ok()? {
                here = *self.nodes.get(&here)?.children.get(name)?;
            }
            Some(here)
        })
    }

    /// The directory itself, or for one behind a copy that of the copy.
    pub(super) fn front(&self, id: WatchId) -> Option<WatchId> {
        match &self.nodes.get(&id)?.place {
            Place::Behind(path) => self.find(path),
            Place::Top(_) | Place::In(..) | Place::Adrift(_) => Some(id),
        }
    }

    /// Changes whenever the directory, or one above it, has moved.
    pub(super) fn stamp(&self, id: WatchId) -> u64 {
        let (mut sum, mut here) = (0_u64, id);
        for _ in 0..DEEPEST {
            let Some(node) = self.nodes.get(&here) else { break };
            sum = sum.wrapping_add(node.moves);
            match &node.place {
                Place::In(above, _) => here = *above,
                Place::Top(_) | Place::Behind(_) | Place::Adrift(_) => break,
            }
        }
        sum
    }

    pub(super) fn place_at(&mut self, id: WatchId, path: &Path) -> Placed {
        let (above, name) = (path.parent().and_then(|dir| self.find(dir)), path.file_name());
        match (above, name) {
            (Some(above), Some(name)) => self.place_in(id, above, name),
            (Some(_) | None, _) => self.place(id, Place::Top(path.to_owned())),
        }
    }

    pub(super) fn place_in(&mut self, id: WatchId, above: WatchId, name: &OsStr) -> Placed {
        self.part(id, above);
        self.place(id, Place::In(above, name.to_owned()))
    }

    pub(super) fn place_behind(&mut self, id: WatchId, path: &Path) {
        self.place(id, Place::Behind(path.to_owned()));
    }

    fn place(&mut self, id: WatchId, place: Place) -> Placed {
        let placed = match self.nodes.get(&id) {
            None => Placed::New,
            Some(node) if node.place == place => Placed::Same,
            Some(_) => {
                let last = self.adrift.remove(&id);
                Placed::Moved(last.unwrap_or_else(|| self.path(id)))
            }
        };
        if placed == Placed::Same {
            return placed;
        }
        self.leave(id);
        let before = match &place {
            Place::Top(path) => self.tops.insert(path.clone(), id),
            Place::In(above, name) => {
                let above = self.nodes.get_mut(above);
                above.and_then(|node| node.children.insert(name.clone(), id))
            }
            Place::Behind(_) | Place::Adrift(_) => None,
        };
        let node = self.nodes.entry(id).or_insert_with(|| Node {
            place: place.clone(),
            children: BTreeMap::new(),
            moves: 0,
        });
        node.place = place;
        node.moves += 1;
        // What lay there is somewhere else now.
        if let Some(before) = before.filter(|before| *before != id) {
            self.set_adrift(before, None);
        }
        placed
    }

    /// Takes it out of the list of what lies above it.
    fn leave(&mut self, id: WatchId) {
        let Some(place) = self.nodes.get(&id).map(|node| node.place.clone()) else {
            return;
        };
        match place {
            Place::Top(path) if self.tops.get(&path) == Some(&id) => drop(self.tops.remove(&path)),
            Place::In(above, name) => {
                if let Some(above) = self.nodes.get_mut(&above)
                    && above.children.get(&name) == Some(&id)
                {
                    above.children.remove(&name);
                }
            }
            Place::Top(_) | Place::Behind(_) | Place::Adrift(_) => {}
        }
    }

    fn set_adrift(&mut self, id: WatchId, from: Option<PathBuf>) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.place = Place::Adrift(Instant::now());
            node.moves += 1;
            self.adrift.insert(id, from);
        }
    }

    /// After changes that nobody was told of a directory may seem to lie in itself: what would close the ring goes adrift.
    fn part(&mut self, id: WatchId, above: WatchId) {
        let mut here = above;
        for _ in 0..DEEPEST {
            match self.nodes.get(&here).map(|node| &node.place) {
                Some(Place::In(next, _)) if *next == id => {
                    self.leave(here);
                    return self.set_adrift(here, None);
                }
                Some(Place::In(next, _)) => here = *next,
                Some(Place::Top(_) | Place::Behind(_) | Place::Adrift(_)) | None => return,
            }
        }
    }

    /// A name is gone from a directory.
    pub(super) fn detach(&mut self, above: WatchId, name: &OsStr) {
        let child = self.nodes.get(&above).and_then(|node| node.children.get(name)).copied();
        if let Some(child) = child {
            let from = self.path(child);
            self.leave(child);
            self.set_adrift(child, from);
        }
    }

    /// Its number means nothing any more, nor do those of what lies in it.
    pub(super) fn forget(&mut self, id: WatchId) {
        self.leave(id);
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            self.adrift.remove(&id);
            if let Some(node) = self.nodes.remove(&id) {
                gone.extend(node.children.into_values());
            }
        }
    }

    /// Forgets what has been adrift for so long. If it is seen again, it is new.
    pub(super) fn forget_adrift(&mut self, patience: Duration) {
        let is_old = |id: &&WatchId| match self.nodes.get(id).map(|node| &node.place) {
            Some(Place::Adrift(since)) => since.elapsed() >= patience,
            Some(Place::Top(_) | Place::In(..) | Place::Behind(_)) | None => true,
        };
        let old: Vec<WatchId> = self.adrift.keys().filter(is_old).copied().collect();
        for id in old {
            match self.nodes.get(&id).map(|node| &node.place) {
                Some(Place::Adrift(_)) => self.forget(id),
                Some(Place::Top(_) | Place::In(..) | Place::Behind(_)) | None => drop(self.adrift.remove(&id)),
            }
        }
    }

    pub(super) fn has_adrift(&self) -> bool {
        !self.adrift.is_empty()
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
