//! Directories that appeared, moved, or in which changes were lost: watched, and searched for what is in them already.
//!
//! One directory after the other, and the entries of one as far as the time goes. A directory is watched first and listed then,
//! so that nothing falls between the two.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::leads::Whose;
use super::tree::{At, Placed};
use super::twins::Twin;
use super::{PATIENCE, Pattern, SLICE, Warden};
use crate::sys::inotify::WatchId;
use crate::sys::path::open_path;

/// How long something is looked for at a path that nothing is seen to change. It has gone with something that nobody watches.
const MISSING: Duration = Duration::from_secs(1);

/// Directories that are not at their path: since when nothing above them is seen to move.
pub(super) type Missed = BTreeMap<WatchId, (Instant, u64)>;

/// A directory that is being listed.
#[derive(Debug)]
pub(super) struct Listing {
    dir: WatchId,
    path: PathBuf,
    held: OwnedFd,
    entries: fs::ReadDir,
    /// Which patterns can match in it, and by which name they know it.
    views: Vec<(usize, PathBuf)>,
}

/// What came of a look.
enum Look {
    Done,
    /// It is not where it was thought to be: changes that were not read yet will tell.
    Missed,
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A path that leads to what is held, and not further.
pub(super) fn through(held: &OwnedFd, name: impl AsRef<Path>) -> PathBuf {
    Path::new("/proc/self/fd").join(held.as_raw_fd().to_string()).join(name)
}

impl Warden {
    /// Watches what is at this path now.
    pub(super) fn watch(&mut self, dir: &Path) -> Option<WatchId> {
        self.watch_behind(dir);
        let id = self.watch_by(dir, dir)?;
        if self.twin(id, dir) == Twin::No {
            self.tree.place_at(id, dir);
        }
        Some(id)
    }

    fn watch_by(&mut self, way: &Path, dir: &Path) -> Option<WatchId> {
        match self.inotify.watch(way) {
            Ok(id) => Some(id),
            Err(error) => {
                if !is_absent(&error) {
                    self.blind.insert(dir.to_owned());
                }
                None
            }
        }
    }

    /// Watches the project's own directory where a copy of it is watched.
    fn watch_behind(&mut self, dir: &Path) {
        let layers = self.behind.iter().filter(|(at, _)| dir.starts_with(at));
        let Some((at, real)) = layers.max_by_key(|(at, _)| at.components().count()) else {
            return;
        };
        let Ok(real) = dir.strip_prefix(at).map(|inside| real.join(inside)) else {
            return;
        };
        if let Some(id) = self.watch_by(&real, dir) {
            self.tree.place_behind(id, dir);
        }
    }

    /// Watches every directory between a path and the top of its tree: whichever of them is replaced, or missing now, must
    /// be seen to appear.
    pub(super) fn watch_above(&mut self, path: &Path) {
        let roots = self.roots.iter().filter(|root| path.starts_with(root));
        let top = roots.max_by_key(|root| root.components().count()).cloned();
        let above = path.ancestors().skip(1);
        let dirs: Vec<PathBuf> = match &top {
            Some(top) => above
                .take_while(|dir| dir.starts_with(top))
                .map(Path::to_owned)
                .collect(),
            None => above.filter(|dir| dir.is_dir()).take(1).map(Path::to_owned).collect(),
        };
        // From the top: what is replaced meanwhile is seen by the watch above it.
        for dir in dirs.iter().rev() {
            self.watch(dir);
        }
    }

    /// Looks at everything again, since changes were lost.
    pub(super) fn look_again(&mut self) {
        self.look_for_names(Path::new("/"));
        self.look_for_all_aside();
        let linked = self.patterns.iter().flat_map(|pattern| &pattern.watch.aliases);
        let linked: Vec<WatchId> = linked.filter_map(|alias| self.tree.find(&alias.real)).collect();
        linked.into_iter().for_each(|dir| self.unlisted.push(dir));
        self.leads.touch_all();
    }

    /// The names and the patterns' own directories that lie in a directory.
    fn look_for_names(&mut self, dir: &Path) {
        let below = self.names.range(dir.to_owned()..).map(|(name, _)| name);
        let below: Vec<PathBuf> = below.take_while(|name| name.starts_with(dir)).cloned().collect();
        let bases = self.patterns.iter().map(|pattern| &pattern.watch.base);
        let bases: Vec<PathBuf> = bases.filter(|base| base.starts_with(dir)).cloned().collect();
        self.look_at(below, &bases);
    }

    /// A directory from which a pattern is looked for.
    fn look_from(&mut self, base: &Path) {
        self.watch_above(base);
        if let Some(id) = self.watch(base) {
            self.unlisted.push(id);
        }
    }

    pub(super) fn look_at(&mut self, names: Vec<PathBuf>, bases: &[PathBuf]) {
        for name in names {
            self.watch_above(&name);
            self.due.push(name);
        }
        bases.iter().for_each(|base| self.look_from(base));
    }

    /// A handle on a watched directory, if it lies where it is thought to.
    fn hold(&mut self, dir: WatchId, path: &Path) -> Option<OwnedFd> {
        let held = open_path(path).ok()?;
        // The directories of a copy are not always the same to the kernel.
        let is_it = !self.behind.is_empty()
            || match self.inotify.watch(&through(&held, ".")) {
                Ok(id) => id == dir,
                Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
            };
        if is_it {
            self.missed.remove(&dir);
        }
        is_it.then_some(held)
    }

    /// A directory is not where it was thought to be. Is there more to be heard of it?
    fn may_come_back(&mut self, dir: WatchId) -> bool {
        let stamp = self.tree.stamp(dir);
        let (since, known) = self.missed.entry(dir).or_insert_with(|| (Instant::now(), stamp));
        if *known != stamp {
            (*since, *known) = (Instant::now(), stamp);
        }
        let may = since.elapsed() < MISSING;
        if !may {
            self.missed.remove(&dir);
        }
        may
    }

    /// Looks at directories that came, for as long as a part of a turn may take.
    pub(super) fn look_at_arrived(&mut self) {
        let end = Instant::now() + SLICE;
        for _ in 0..self.arrived.len() {
            let Some((named, since)) = self.arrived.pop() else {
                break;
            };
            self.beaten |= since.elapsed() >= PATIENCE;
            if let Look::Missed = self.arrive(named.0, &named.1)
                && self.may_come_back(named.0)
            {
                self.arrived.push_since(named, since);
            }
            if Instant::now() >= end {
                break;
            }
        }
    }

    fn arrive(&mut self, dir: WatchId, name: &OsStr) -> Look {
        let path = match self.tree.at(dir) {
            At::Path(path) => path,
            At::Unknown => return Look::Missed,
            At::Forgotten => return Look::Done,
        };
        let Some(held) = self.hold(dir, &path) else {
            return Look::Missed;
        };
        let full = path.join(name);
        let all = self.paths(dir, name);
        if all.iter().all(|path| self.is_hidden(path)) {
            return Look::Done;
        }
        for path in &all {
            self.look_for_names(path);
            self.look_for_aside(path);
        }
        if self.views(&all).is_empty() {
            return Look::Done;
        }
        self.watch_behind(&full);
        let Some(id) = self.watch_by(&through(&held, name), &full) else {
            return Look::Done;
        };
        match self.twin(id, &full) {
            Twin::No => {}
            Twin::Known => return Look::Done,
            Twin::New => {
                self.unlisted.push(id);
                return Look::Done;
            }
        }
        match self.tree.place_in(id, dir, name) {
            Placed::Same => {}
            Placed::Moved(Some(from)) if self.is_same_at(&from, &full) => {}
            Placed::New | Placed::Moved(_) => self.unlisted.push(id),
        }
        Look::Done
    }

    /// Has a directory that was moved, and all in it, been seen by every pattern as it is now?
    fn is_same_at(&self, from: &Path, to: &Path) -> bool {
        let is_same = |pattern: &Pattern| pattern.watch.aliases.is_empty() && pattern.search().is_same_at(from, to);
        let is_plain = self.behind.is_empty() && self.twins.is_empty() && !self.leads.lie_in(from);
        is_plain && self.patterns.iter().all(is_same)
    }

    /// The patterns that can match in a directory, and by which name they know it.
    fn views(&self, paths: &[PathBuf]) -> Vec<(usize, PathBuf)> {
        let patterns = self.patterns.iter().enumerate();
        let views = patterns.flat_map(|(number, pattern)| {
            let names = paths.iter().flat_map(|path| pattern.watch.names(path));
            let names = names.filter(|name| pattern.glob.can_match_below(name));
            names.map(move |name| (number, name))
        });
        views.collect()
    }

    /// Lists directories, for as long as a part of a turn may take.
    pub(super) fn list_some(&mut self) {
        let end = Instant::now() + SLICE;
        let mut left = self.unlisted.len();
        loop {
            match self.listing.take() {
                Some(mut listing) => {
                    if let Some(entry) = listing.entries.next() {
                        self.meet(&listing, entry);
                        self.listing = Some(listing);
                    }
                }
                None if left == 0 => break,
                None => {
                    left -= 1;
                    let Some((dir, since)) = self.unlisted.pop() else { break };
                    self.beaten |= since.elapsed() >= PATIENCE;
                    if let Look::Missed = self.open(dir)
                        && self.may_come_back(dir)
                    {
                        self.unlisted.push_since(dir, since);
                    }
                }
            }
            if Instant::now() >= end {
                break;
            }
        }
    }

    fn open(&mut self, dir: WatchId) -> Look {
        let path = match self.tree.at(dir) {
            At::Path(path) => path,
            At::Unknown => return Look::Missed,
            At::Forgotten => return Look::Done,
        };
        let views = self.views(&self.dirs(dir));
        if views.is_empty() {
            return Look::Done;
        }
        let Some(held) = self.hold(dir, &path) else {
            return Look::Missed;
        };
        match fs::read_dir(through(&held, "")) {
            Ok(entries) => {
                self.listing = Some(Listing {
                    dir,
                    path,
                    held,
                    entries,
                    views,
                });
            }
            Err(error) if is_absent(&error) => {}
            Err(_) => self.hide_whole(dir, &path, &views),
        }
        Look::Done
    }

    /// A directory that cannot be listed: no match is missed because it could not be seen.
    fn hide_whole(&mut self, dir: WatchId, path: &Path, views: &[(usize, PathBuf)]) {
        let first = views.first().and_then(|(number, _)| self.patterns.get(*number));
        if let Some(clause) = first.map(|pattern| pattern.watch.clause.clone()) {
            for path in self.dirs_or(dir, path) {
                self.extra.push((path, clause.clone()));
            }
        }
    }

    fn meet(&mut self, listing: &Listing, entry: io::Result<fs::DirEntry>) {
        let Ok(entry) = entry else {
            return self.hide_whole(listing.dir, &listing.path, &listing.views);
        };
        let Ok(found) = entry.file_type() else { return };
        let name = entry.file_name();
        let full = listing.path.join(&name);
        let all: Vec<PathBuf> = self
            .dirs_or(listing.dir, &listing.path)
            .map(|dir| dir.join(&name))
            .collect();
        let (mut enters, mut led) = (false, Vec::new());
        for (number, relative) in &listing.views {
            let Some(pattern) = self.patterns.get(*number) else {
                continue;
            };
            let here = relative.join(&name);
            let met = pattern.search().meet(full.clone(), &here, found);
            let clause = pattern.watch.clause.clone();
            if let Some(hidden) = met.hidden {
                if all.iter().any(|path| self.is_hidden(path)) {
                    self.fresh.push((listing.dir, name.clone()));
                } else {
                    self.extra.push((hidden, clause));
                }
            }
            if met.leads {
                led.push(Whose::Pattern(*number, here));
            }
            enters |= met.enter;
        }
        led.into_iter().for_each(|whose| self.lead(&full, whose));
        if enters && !all.iter().all(|path| self.is_hidden(path)) {
            self.watch_behind(&full);
            if let Some(id) = self.watch_by(&through(&listing.held, &name), &full) {
                let twin = self.twin(id, &full);
                if twin == Twin::No {
                    self.tree.place_in(id, listing.dir, &name);
                }
                if twin != Twin::Known {
                    self.unlisted.push(id);
                }
            }
        }
    }
}
